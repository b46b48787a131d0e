//===- PartialBits.h - Arithmetic on values with undefined bits -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value some of whose bits are undefined, and what operations make of it. The rules are those of
// Valgrind's memcheck: a result bit is undefined if some choice of the undefined bits could change
// it, as far as each operation can tell by itself. Bitwise operations, shifts by defined amounts,
// selections, additions, subtractions and integer comparisons are exact when their operands are
// independent; products know their defined low bits; everything else is undefined as a whole if
// any bit of an operand is.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_PARTIALBITS_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_PARTIALBITS_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace wavetile::device::checks {

/// A truth value. `value` means nothing where it is undefined.
struct PartialBit {
  bool value = false;
  bool undefined = false;
};

/// `T` is an unsigned integer. What `value` has in undefined bits is of no meaning.
template <typename T> struct Partial {
  T value = 0;
  T undefined = 0;

  static constexpr unsigned width = std::numeric_limits<T>::digits;

  constexpr Partial() = default;
  constexpr Partial(T value) : value(value) {}
  constexpr Partial(T value, T undefined) : value(value), undefined(undefined) {}

  /// The least and the greatest value that the undefined bits allow.
  constexpr T least() const { return static_cast<T>(value & ~undefined); }
  constexpr T greatest() const { return static_cast<T>(value | undefined); }
  constexpr bool isDefined() const { return undefined == 0; }
  constexpr bool isZero() const { return greatest() == 0; }

  /// Undefined as a whole if any bit of \p operands is.
  template <typename... Operands> static constexpr Partial strict(Operands... operands) {
    return Partial(0, (... || (operands.undefined != 0)) ? static_cast<T>(~T(0)) : T(0));
  }
};

template <typename T> constexpr Partial<T> operator~(Partial<T> a) {
  return {static_cast<T>(~a.value), a.undefined};
}
template <typename T> constexpr Partial<T> operator&(Partial<T> a, Partial<T> b) {
  return {static_cast<T>(a.value & b.value),
          static_cast<T>((a.undefined & b.undefined) | (a.undefined & b.value) |
                         (b.undefined & a.value))};
}
template <typename T> constexpr Partial<T> operator|(Partial<T> a, Partial<T> b) {
  return {static_cast<T>(a.value | b.value),
          static_cast<T>((a.undefined & b.undefined) | (a.undefined & ~b.value) |
                         (b.undefined & ~a.value))};
}
template <typename T> constexpr Partial<T> operator^(Partial<T> a, Partial<T> b) {
  return {static_cast<T>(a.value ^ b.value), static_cast<T>(a.undefined | b.undefined)};
}

/// Carries go upward from undefined bits, and only where they can.
template <typename T> constexpr Partial<T> operator+(Partial<T> a, Partial<T> b) {
  T least = static_cast<T>(a.least() + b.least());
  T greatest = static_cast<T>(a.greatest() + b.greatest());
  return {static_cast<T>(a.value + b.value),
          static_cast<T>(a.undefined | b.undefined | (least ^ greatest))};
}
template <typename T> constexpr Partial<T> operator-(Partial<T> a, Partial<T> b) {
  T least = static_cast<T>(a.least() - b.greatest());
  T greatest = static_cast<T>(a.greatest() - b.least());
  return {static_cast<T>(a.value - b.value),
          static_cast<T>(a.undefined | b.undefined | (least ^ greatest))};
}
/// The low half of the product: its bit i depends on no operand bit above i.
template <typename T> constexpr Partial<T> operator*(Partial<T> a, Partial<T> b) {
  T value = static_cast<T>(static_cast<uint64_t>(a.value) * b.value);
  if (a.isZero() || b.isZero() || (a.isDefined() && b.isDefined()))
    return {value};
  auto lowest = [](T x) { return static_cast<unsigned>(std::countr_zero(x)); };
  unsigned first = Partial<T>::width;
  if (!a.isDefined())
    first = std::min(first, lowest(a.undefined) + lowest(b.greatest()));
  if (!b.isDefined())
    first = std::min(first, lowest(b.undefined) + lowest(a.greatest()));
  return {value, first >= Partial<T>::width ? T(0) : static_cast<T>(~T(0) << first)};
}

/// Shifts by the low bits of \p amount that the width asks for.
template <typename T, typename A>
constexpr Partial<T> shiftLeft(Partial<T> a, Partial<A> amount, unsigned mask) {
  if (amount.undefined & mask)
    return a.isZero() ? a : Partial<T>(0, static_cast<T>(~T(0)));
  unsigned n = amount.value & mask;
  return {static_cast<T>(a.value << n), static_cast<T>(a.undefined << n)};
}
template <typename T, typename A>
constexpr Partial<T> shiftRight(Partial<T> a, Partial<A> amount, unsigned mask) {
  if (amount.undefined & mask)
    return a.isZero() ? a : Partial<T>(0, static_cast<T>(~T(0)));
  unsigned n = amount.value & mask;
  return {static_cast<T>(a.value >> n), static_cast<T>(a.undefined >> n)};
}
template <typename T, typename A>
constexpr Partial<T> shiftRightArithmetic(Partial<T> a, Partial<A> amount, unsigned mask) {
  using S = std::make_signed_t<T>;
  if (amount.undefined & mask)
    return a.isZero() ? a : Partial<T>(0, static_cast<T>(~T(0)));
  unsigned n = amount.value & mask;
  return {static_cast<T>(static_cast<S>(a.value) >> n),
          static_cast<T>(static_cast<S>(a.undefined) >> n)};
}

/// The low \p from bits, extended by their sign.
template <typename T> constexpr Partial<T> signExtended(Partial<T> a, unsigned from) {
  unsigned up = Partial<T>::width - from;
  using S = std::make_signed_t<T>;
  auto extend = [up](T x) { return static_cast<T>(static_cast<S>(static_cast<T>(x << up)) >> up); };
  return {extend(a.value), extend(a.undefined)};
}

/// `condition ? a : b`. An undefined condition leaves the bits in which both agree.
template <typename T>
constexpr Partial<T> select(PartialBit condition, Partial<T> a, Partial<T> b) {
  if (condition.undefined)
    return {a.value, static_cast<T>(a.undefined | b.undefined | (a.value ^ b.value))};
  return condition.value ? a : b;
}

/// How many zeros are below the lowest one: known if that one and all below it are. What it is, and
/// what there is for no one, is not asked.
template <typename T> constexpr Partial<uint32_t> trailingZeros(Partial<T> a) {
  T one = static_cast<T>(a.least() & -a.least());
  bool known = a.isZero() || (one != 0 && (a.undefined & static_cast<T>(one - 1)) == 0);
  return {0, known ? 0 : ~0u};
}
/// The same from the top.
template <typename T> constexpr Partial<uint32_t> leadingZeros(Partial<T> a) {
  unsigned zeros = static_cast<unsigned>(std::countl_zero(a.least()));
  bool known = a.isZero() || static_cast<unsigned>(std::countl_zero(a.undefined)) > zeros;
  return {0, known ? 0 : ~0u};
}

/// Whether \p a is not zero: known as soon as one defined bit is set.
template <typename T> constexpr PartialBit nonZero(Partial<T> a) {
  bool known = a.least() != 0;
  return {known, !known && a.undefined != 0};
}
/// Equality: known to fail as soon as one pair of defined bits differs.
template <typename T> constexpr PartialBit equal(Partial<T> a, Partial<T> b) {
  T both = static_cast<T>(~(a.undefined | b.undefined));
  if ((a.value ^ b.value) & both)
    return {false, false};
  return {true, static_cast<T>(~both) != 0};
}
/// `a < b`, known if the ranges of both do not overlap.
template <typename T> constexpr PartialBit less(Partial<T> a, Partial<T> b) {
  if (a.greatest() < b.least())
    return {true, false};
  if (a.least() >= b.greatest())
    return {false, false};
  return {false, true};
}
/// For signed comparisons: adding half the range keeps the order of signed values.
template <typename T> constexpr Partial<T> biased(Partial<T> a) {
  return {static_cast<T>(a.value ^ (T(1) << (Partial<T>::width - 1))), a.undefined};
}
constexpr PartialBit operator!(PartialBit a) { return {!a.value, a.undefined}; }

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_PARTIALBITS_H
