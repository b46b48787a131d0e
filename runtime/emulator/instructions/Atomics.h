//===- Atomics.h - Read-modify-write operations on memory -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each works on the bits of a 32- or 64-bit word: the old word and the operand give the new word.
// Done with the host's compare-and-swap, so that launches on different threads may share memory.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ATOMICS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ATOMICS_H

#include "runtime/emulator/instructions/Float.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace atomics {

constexpr Mode numberMode{false, true, false, false};

struct Add {
  template <typename T> static T apply(T old, T value) { return old + value; }
};
struct Subtract {
  template <typename T> static T apply(T old, T value) { return old - value; }
};
struct ReverseSubtract {
  template <typename T> static T apply(T old, T value) { return value - old; }
};
struct And {
  template <typename T> static T apply(T old, T value) { return old & value; }
};
struct Or {
  template <typename T> static T apply(T old, T value) { return old | value; }
};
struct Xor {
  template <typename T> static T apply(T old, T value) { return old ^ value; }
};
struct Exchange {
  template <typename T> static T apply(T, T value) { return value; }
};
struct MinimumUnsigned {
  template <typename T> static T apply(T old, T value) { return value < old ? value : old; }
};
struct MaximumUnsigned {
  template <typename T> static T apply(T old, T value) { return value > old ? value : old; }
};
struct MinimumSigned {
  template <typename T> static T apply(T old, T value) {
    using Signed = std::make_signed_t<T>;
    return static_cast<Signed>(value) < static_cast<Signed>(old) ? value : old;
  }
};
struct MaximumSigned {
  template <typename T> static T apply(T old, T value) {
    using Signed = std::make_signed_t<T>;
    return static_cast<Signed>(value) > static_cast<Signed>(old) ? value : old;
  }
};
struct Increment {
  template <typename T> static T apply(T old, T limit) { return old >= limit ? T(0) : old + 1; }
};
struct Decrement {
  template <typename T> static T apply(T old, T limit) {
    return old == 0 || old > limit ? limit : old - 1;
  }
};
template <typename T> using FloatOf = std::conditional_t<sizeof(T) == 4, float, double>;
struct AddFloat {
  template <typename T> static T apply(T old, T value) {
    return bitsOf(add(__builtin_bit_cast(FloatOf<T>, old), __builtin_bit_cast(FloatOf<T>, value)));
  }
};
struct MinimumFloat {
  template <typename T> static T apply(T old, T value) {
    return bitsOf(minimumNumber(__builtin_bit_cast(FloatOf<T>, old),
                                __builtin_bit_cast(FloatOf<T>, value), numberMode));
  }
};
struct MaximumFloat {
  template <typename T> static T apply(T old, T value) {
    return bitsOf(maximumNumber(__builtin_bit_cast(FloatOf<T>, old),
                                __builtin_bit_cast(FloatOf<T>, value), numberMode));
  }
};
struct AddPackedHalf {
  static uint32_t apply(uint32_t old, uint32_t value) {
    uint32_t low = halfFrom(add(fromHalf(old), fromHalf(value)));
    uint32_t high = halfFrom(add(fromHalf(old >> 16), fromHalf(value >> 16)));
    return low | high << 16;
  }
};
struct AddPackedBFloat16 {
  static uint32_t apply(uint32_t old, uint32_t value) {
    uint32_t low = bfloat16From(add(fromBFloat16(old & 0xffff), fromBFloat16(value & 0xffff)));
    uint32_t high = bfloat16From(add(fromBFloat16(old >> 16), fromBFloat16(value >> 16)));
    return low | high << 16;
  }
};

/// Applies an operation to the word at \p target, which is aligned; gives the old word.
template <typename Op, typename T> WAVETILE_INLINE T update(T *target, T value) {
  T old = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(target, &old, Op::apply(old, value), false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED))
    ;
  return old;
}
template <typename T> WAVETILE_INLINE T compareAndSwap(T *target, T value, T expected) {
  T old = expected;
  __atomic_compare_exchange_n(target, &old, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  return old;
}

} // namespace atomics
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ATOMICS_H
