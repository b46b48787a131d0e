//===- Atomics.h - Read-modify-write operations on memory -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each works on the bits of a 32- or 64-bit word: the old word and the operand give the new word.
// In global memory it is done with the host's compare-and-swap, so that launches on different
// threads may share memory.
//
// Rules for floats: "Float Memory Atomics" in AMD's CDNA3, RDNA3 and RDNA4 ISA documents, the word
// in memory being the first operand. Where CDNA3 and RDNA3 say that the L2 cache flushes denormals
// of f32 sums, AMD's compiler relies on gfx942, gfx950 and gfx11 keeping them, and so does this.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ATOMICS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ATOMICS_H

#include "runtime/emulator/instructions/Float.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace atomics {

/// Which denormals a float operation flushes. Rounding is always to nearest even.
struct Denormals {
  bool flush32 = false;
  bool flush16_64 = false;
};
/// Operations in LDS do as the wave's MODE says; those in memory keep denormals.
WAVETILE_INLINE Denormals inLds(const Wave &wave) {
  return {wave.mode.flush32, wave.mode.flush16_64};
}
constexpr Denormals inMemory{};

// --- Integers ---

struct Add {
  template <typename T> static T apply(T old, T value, Denormals) { return old + value; }
};
struct Subtract {
  template <typename T> static T apply(T old, T value, Denormals) { return old - value; }
};
struct ReverseSubtract {
  template <typename T> static T apply(T old, T value, Denormals) { return value - old; }
};
/// No less than 0.
struct SubtractClamped {
  template <typename T> static T apply(T old, T value, Denormals) {
    return old < value ? T(0) : old - value;
  }
};
/// Nothing, if it would be less than 0.
struct SubtractIfEnough {
  template <typename T> static T apply(T old, T value, Denormals) {
    return old < value ? old : old - value;
  }
};
struct And {
  template <typename T> static T apply(T old, T value, Denormals) { return old & value; }
};
struct Or {
  template <typename T> static T apply(T old, T value, Denormals) { return old | value; }
};
struct Xor {
  template <typename T> static T apply(T old, T value, Denormals) { return old ^ value; }
};
struct Exchange {
  template <typename T> static T apply(T, T value, Denormals) { return value; }
};
struct MinimumUnsigned {
  template <typename T> static T apply(T old, T value, Denormals) {
    return value < old ? value : old;
  }
};
struct MaximumUnsigned {
  template <typename T> static T apply(T old, T value, Denormals) {
    return value > old ? value : old;
  }
};
struct MinimumSigned {
  template <typename T> static T apply(T old, T value, Denormals) {
    using Signed = std::make_signed_t<T>;
    return static_cast<Signed>(value) < static_cast<Signed>(old) ? value : old;
  }
};
struct MaximumSigned {
  template <typename T> static T apply(T old, T value, Denormals) {
    using Signed = std::make_signed_t<T>;
    return static_cast<Signed>(value) > static_cast<Signed>(old) ? value : old;
  }
};
struct Increment {
  template <typename T> static T apply(T old, T limit, Denormals) {
    return old >= limit ? T(0) : old + 1;
  }
};
struct Decrement {
  template <typename T> static T apply(T old, T limit, Denormals) {
    return old == 0 || old > limit ? limit : old - 1;
  }
};

// --- Floats ---

template <typename T> using FloatOf = std::conditional_t<sizeof(T) == 4, float, double>;

WAVETILE_INLINE float flushedIf(bool flush, float x) { return flush ? flushed(x) : x; }
/// The larger of two numbers, +0 being larger than -0; a number wins over a quiet NaN, a signalling
/// NaN over both and becomes quiet. Denormals that are flushed are so only for the comparison.
template <bool wantMaximum, typename T> WAVETILE_INLINE T extremumOf(T old, T value, bool flush) {
  if (isSignallingNaN(old))
    return quieted(old);
  if (isSignallingNaN(value))
    return quieted(value);
  if (isNaN(old) || isNaN(value))
    return isNaN(value) ? old : value;
  T a = flush ? flushed(old) : old, b = flush ? flushed(value) : value;
  if (a == b)
    return isNegative(old) != isNegative(value) && isNegative(old) == wantMaximum ? value : old;
  return (wantMaximum ? a > b : a < b) ? old : value;
}

/// 64-bit sums never flush.
struct AddFloat {
  template <typename T> static T apply(T old, T value, Denormals denormals) {
    auto a = __builtin_bit_cast(FloatOf<T>, old), b = __builtin_bit_cast(FloatOf<T>, value);
    if constexpr (sizeof(T) == 4) {
      bool flush = denormals.flush32;
      return bitsOf(flushedIf(flush, add(flushedIf(flush, a), flushedIf(flush, b))));
    } else {
      return bitsOf(add(a, b));
    }
  }
};
template <bool wantMaximum> struct ExtremumFloat {
  template <typename T> static T apply(T old, T value, Denormals denormals) {
    return bitsOf(extremumOf<wantMaximum>(
        __builtin_bit_cast(FloatOf<T>, old), __builtin_bit_cast(FloatOf<T>, value),
        sizeof(T) == 4 ? denormals.flush32 : denormals.flush16_64));
  }
};
using MinimumFloat = ExtremumFloat<false>;
using MaximumFloat = ExtremumFloat<true>;
struct AddPackedHalf {
  static uint32_t half(uint32_t a, uint32_t b, bool flush) {
    auto flushedHalf = [&](uint32_t x) { return flush && (x & 0x7c00) == 0 ? x & 0x8000 : x; };
    return flushedHalf(
        halfFrom(add(fromHalf(flushedHalf(a & 0xffff)), fromHalf(flushedHalf(b & 0xffff)))));
  }
  static uint32_t apply(uint32_t old, uint32_t value, Denormals denormals) {
    return half(old, value, denormals.flush16_64) |
           half(old >> 16, value >> 16, denormals.flush16_64) << 16;
  }
};
struct AddPackedBFloat16 {
  static uint32_t half(uint32_t a, uint32_t b, bool flush) {
    float x = flushedIf(flush, fromBFloat16(a & 0xffff));
    float y = flushedIf(flush, fromBFloat16(b & 0xffff));
    uint32_t sum = bfloat16From(add(x, y));
    return flush && (sum & 0x7f80) == 0 ? sum & 0x8000 : sum;
  }
  static uint32_t apply(uint32_t old, uint32_t value, Denormals denormals) {
    return half(old, value, denormals.flush16_64) |
           half(old >> 16, value >> 16, denormals.flush16_64) << 16;
  }
};

// --- Compare and swap ---

/// What memory holds afterwards.
struct CompareBits {
  template <typename T> static T apply(T old, T value, T comparison, Denormals) {
    return old == comparison ? value : old;
  }
};
/// +0 equals -0, a NaN nothing. What is stored is flushed too.
struct CompareFloats {
  template <typename T> static T apply(T old, T value, T comparison, Denormals denormals) {
    bool flush = sizeof(T) == 4 ? denormals.flush32 : denormals.flush16_64;
    auto number = [&](T bits) {
      auto x = __builtin_bit_cast(FloatOf<T>, bits);
      return flush ? flushed(x) : x;
    };
    return number(old) == number(comparison) ? bitsOf(number(value)) : old;
  }
};

/// Applies an operation to the word at \p target, which is aligned; gives the old word.
template <typename Op, typename T> WAVETILE_INLINE T update(T *target, T value) {
  T old = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(target, &old, Op::apply(old, value, inMemory), false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    ;
  return old;
}
template <typename Op, typename T>
WAVETILE_INLINE T compareAndSwap(T *target, T value, T comparison) {
  T old = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(target, &old, Op::apply(old, value, comparison, inMemory),
                                      false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    ;
  return old;
}

} // namespace atomics
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

/// What global, flat and buffer instructions have alike: the name on gfx9, the name on gfx11, the
/// operation, the word.
#define WAVETILE_MEMORY_ATOMICS(ROW)                                                               \
  ROW("add", "add_u32", Add, uint32_t), ROW("sub", "sub_u32", Subtract, uint32_t),                 \
      ROW("cond_sub", "cond_sub_u32", SubtractIfEnough, uint32_t),                                 \
      ROW("smin", "min_i32", MinimumSigned, uint32_t),                                             \
      ROW("umin", "min_u32", MinimumUnsigned, uint32_t),                                           \
      ROW("smax", "max_i32", MaximumSigned, uint32_t),                                             \
      ROW("umax", "max_u32", MaximumUnsigned, uint32_t), ROW("and", "and_b32", And, uint32_t),     \
      ROW("or", "or_b32", Or, uint32_t), ROW("xor", "xor_b32", Xor, uint32_t),                     \
      ROW("inc", "inc_u32", Increment, uint32_t), ROW("dec", "dec_u32", Decrement, uint32_t),      \
      ROW("swap", "swap_b32", Exchange, uint32_t), ROW("add_x2", "add_u64", Add, uint64_t),        \
      ROW("sub_x2", "sub_u64", Subtract, uint64_t),                                                \
      ROW("smin_x2", "min_i64", MinimumSigned, uint64_t),                                          \
      ROW("umin_x2", "min_u64", MinimumUnsigned, uint64_t),                                        \
      ROW("smax_x2", "max_i64", MaximumSigned, uint64_t),                                          \
      ROW("umax_x2", "max_u64", MaximumUnsigned, uint64_t),                                        \
      ROW("and_x2", "and_b64", And, uint64_t), ROW("or_x2", "or_b64", Or, uint64_t),               \
      ROW("xor_x2", "xor_b64", Xor, uint64_t), ROW("inc_x2", "inc_u64", Increment, uint64_t),      \
      ROW("dec_x2", "dec_u64", Decrement, uint64_t),                                               \
      ROW("swap_x2", "swap_b64", Exchange, uint64_t),                                              \
      ROW("add_f32", "add_f32", AddFloat, uint32_t),                                               \
      ROW("min_f32", "min_num_f32", MinimumFloat, uint32_t),                                       \
      ROW("max_f32", "max_num_f32", MaximumFloat, uint32_t),                                       \
      ROW("add_f64", "add_f64", AddFloat, uint64_t),                                               \
      ROW("min_f64", "min_f64", MinimumFloat, uint64_t),                                           \
      ROW("max_f64", "max_f64", MaximumFloat, uint64_t),                                           \
      ROW("pk_add_f16", "pk_add_f16", AddPackedHalf, uint32_t),                                    \
      ROW("pk_add_bf16", "pk_add_bf16", AddPackedBFloat16, uint32_t)

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ATOMICS_H
