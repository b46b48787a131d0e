//===- Arithmetic.h - Arithmetic whose rare cases are looked for once -----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules for NaN cost more than the operation. `arithmetic` takes an operation that is right for
// usual values and one that is right for all, computes 32 lanes with the first, and does them again
// with the second if any of them was not usual:
//
//   arithmetic<ResultIsNumber, F32(F32, F32)>("v_add_f32", plainSum, add)
//
// `packedArithmetic` does the same to both halves of f32 pairs.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ARITHMETIC_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ARITHMETIC_H

#include "runtime/emulator/instructions/Lanes.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

/// Usual: the result is no NaN.
struct ResultIsNumber {
  template <typename T, typename... V> WAVETILE_INLINE static bool unusual(T result, V...) {
    return result != result;
  }
};
/// Usual: no operand is a NaN.
struct OperandsAreNumbers {
  template <typename T, typename... V> WAVETILE_INLINE static bool unusual(T, V... values) {
    return ((values != values) | ...);
  }
};

template <typename Policy, typename Fast, typename Exact, typename R, typename... S>
struct ArithmeticHandlers {
  template <size_t... I>
  WAVETILE_INLINE static void lanes(const Wave &wave, uint32_t *result,
                                    const uint32_t *const *sources, const uint32_t *active,
                                    uint32_t kept, std::index_sequence<I...>) {
    const unsigned stride = wave.waveSize;
    const Mode mode = wave.mode;
    const uint32_t *const source[] = {sources[I]...};
    for (unsigned base = 0; base < stride; base += 32) {
      alignas(64) typename R::Value values[32];
      uint32_t anyUnusual = 0;
#pragma clang loop vectorize(assume_safety)
      for (unsigned i = 0; i < 32; ++i) {
        auto value = Fast{}(S::load(source[I], base + i, stride)...);
        values[i] = value;
        anyUnusual |= Policy::unusual(value, S::load(source[I], base + i, stride)...) ? 1u : 0u;
      }
      if (__builtin_expect(anyUnusual != 0, 0)) {
#pragma clang loop vectorize(assume_safety)
        for (unsigned i = 0; i < 32; ++i)
          values[i] = call<Exact>(Lane{base + i, mode, 0}, S::load(source[I], base + i, stride)...);
      }
#pragma clang loop vectorize(assume_safety)
      for (unsigned i = 0; i < 32; ++i)
        R::store(result, base + i, stride, active[base + i], kept, values[i]);
    }
  }
  template <size_t... I>
  WAVETILE_INLINE static const Record *direct(Wave &wave, const Record *record,
                                              std::index_sequence<I...> indices) {
    const uint32_t *sources[] = {directSource<S>(wave, record->sources[I], I)...};
    lanes(wave, wave.row(record->destination), sources, wave.activeRow(), wave.keptByHalfResult,
          indices);
    return record + 1;
  }
  static const Record *direct(Wave &wave, const Record *record) {
    if (__builtin_expect(!wave.mode.usual, 0))
      return prepared(wave, record);
    return direct(wave, record, std::index_sequence_for<S...>());
  }
  static const Record *prepared(Wave &wave, const Record *record) {
    constexpr Signature signature = VectorHandlers<ModeUse::Full, Exact, R, S...>::signature;
    PreparedOperands operands;
    prepareOperands(wave, record, signature, operands);
    if (__builtin_expect(!wave.mode.usual, 0)) {
      flushSources(wave, signature, operands);
      ModeRounding rounding(roundingOf<ModeUse::Full>(wave.mode, signature));
      return finish(wave, record, signature, operands);
    }
    return finish(wave, record, signature, operands);
  }

private:
  WAVETILE_INLINE static const Record *
  finish(Wave &wave, const Record *record, const Signature &signature, PreparedOperands &operands) {
    lanes(wave, operands.result, operands.sources, operands.active, 0,
          std::index_sequence_for<S...>());
    finishResult(wave, record, signature, operands);
    return record + 1;
  }
};

template <typename Policy, typename F> struct ArithmeticBuilder;
template <typename Policy, typename R, typename... S> struct ArithmeticBuilder<Policy, R(S...)> {
  template <typename Fast, typename Exact>
  static constexpr Instruction make(const char *names, Fast, Exact) {
    using Handlers = ArithmeticHandlers<Policy, Fast, Exact, R, S...>;
    Instruction row;
    row.names = names;
    row.direct = Handlers::direct;
    row.prepared = Handlers::prepared;
    row.signature = VectorHandlers<ModeUse::Full, Exact, R, S...>::signature;
    row.instructionClass = InstructionClass::VectorAlu;
    return row;
  }
};
template <typename Policy, typename F, typename Fast, typename Exact>
constexpr Instruction arithmetic(const char *names, Fast fast, Exact exact) {
  return ArithmeticBuilder<Policy, F>::make(names, fast, exact);
}

/// f32 pairs: the first rows of all operands, then the second ones.
template <typename Policy, typename Fast, typename Exact, typename... S> struct PairHandlers {
  using Half = ArithmeticHandlers<Policy, Fast, Exact, F32, S...>;
  static constexpr Signature signature = [] {
    Signature s;
    s.result = Type::PackedF32;
    for (size_t i = 0; i < sizeof...(S); ++i)
      s.sources[i] = Type::PackedF32;
    return s;
  }();

  WAVETILE_INLINE static void lanes(Wave &wave, uint32_t *result, const uint32_t **sources,
                                    const uint32_t *active) {
    constexpr auto indices = std::index_sequence_for<S...>();
    Half::lanes(wave, result, sources, active, 0, indices);
    const uint32_t *high[sizeof...(S)];
    for (size_t i = 0; i < sizeof...(S); ++i)
      high[i] = sources[i] + wave.waveSize;
    Half::lanes(wave, result + wave.waveSize, high, active, 0, indices);
  }
  template <size_t... I>
  WAVETILE_INLINE static const Record *direct(Wave &wave, const Record *record,
                                              std::index_sequence<I...>) {
    const uint32_t *sources[] = {directSource<PackedF32>(wave, record->sources[I], I)...};
    lanes(wave, wave.row(record->destination), sources, wave.activeRow());
    return record + 1;
  }
  static const Record *direct(Wave &wave, const Record *record) {
    if (__builtin_expect(!wave.mode.usual, 0))
      return prepared(wave, record);
    return direct(wave, record, std::index_sequence_for<S...>());
  }
  static const Record *prepared(Wave &wave, const Record *record) {
    PreparedOperands operands;
    prepareOperands(wave, record, signature, operands);
    if (__builtin_expect(!wave.mode.usual, 0)) {
      flushSources(wave, signature, operands);
      ModeRounding rounding(wave.mode.rounding32);
      return finish(wave, record, operands);
    }
    return finish(wave, record, operands);
  }

private:
  WAVETILE_INLINE static const Record *finish(Wave &wave, const Record *record,
                                              PreparedOperands &operands) {
    lanes(wave, operands.result, operands.sources, operands.active);
    finishResult(wave, record, signature, operands);
    return record + 1;
  }
};
template <typename F> struct PairBuilder;
template <typename... S> struct PairBuilder<PackedF32(S...)> {
  template <typename Fast, typename Exact>
  static constexpr Instruction make(const char *names, Fast, Exact) {
    using Handlers = PairHandlers<ResultIsNumber, Fast, Exact, std::conditional_t<true, F32, S>...>;
    Instruction row;
    row.names = names;
    row.direct = Handlers::direct;
    row.prepared = Handlers::prepared;
    row.signature = Handlers::signature;
    row.instructionClass = InstructionClass::VectorAlu;
    return row;
  }
};
template <typename F, typename Fast, typename Exact>
constexpr Instruction packedArithmetic(const char *names, Fast fast, Exact exact) {
  return PairBuilder<F>::make(names, fast, exact);
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_ARITHMETIC_H
