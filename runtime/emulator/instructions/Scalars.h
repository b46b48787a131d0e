//===- Scalars.h - Scalar instructions made from their meaning ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   scalar<U32(U32, U32)>("s_and_b32", [](Scc &scc, uint32_t a, uint32_t b) {...})
//
// A lambda may take the SCC bit first, to read or to set, or the wave's mode. A result type of void
// compares.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_SCALARS_H
#define WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_SCALARS_H

#include "runtime/emulator/Instruction.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Wave.h"

#include <type_traits>
#include <utility>

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace scalarops {

using Scc = uint32_t;

template <typename T, Type type_> struct Word {
  using Value = T;
  static constexpr Type type = type_;
  WAVETILE_INLINE static T load(const Wave &wave, Operand operand) {
    return __builtin_bit_cast(T, wave.read32(operand));
  }
  WAVETILE_INLINE static void store(Wave &wave, Operand operand, T value) {
    wave.scalars[operand.index()] = __builtin_bit_cast(uint32_t, value);
  }
};
using U32 = Word<uint32_t, Type::B32>;
using I32 = Word<int32_t, Type::B32>;
using F32 = Word<float, Type::F32>;
/// f16 in the low half, as bits.
using H16 = Word<uint32_t, Type::F16>;

template <typename T, Type type_> struct DoubleWord {
  using Value = T;
  static constexpr Type type = type_;
  WAVETILE_INLINE static T load(const Wave &wave, Operand operand) {
    return static_cast<T>(wave.read64(operand));
  }
  WAVETILE_INLINE static void store(Wave &wave, Operand operand, T value) {
    wave.setScalar64(operand.index(), static_cast<uint64_t>(value));
  }
};
using U64 = DoubleWord<uint64_t, Type::B64>;
using I64 = DoubleWord<int64_t, Type::I64>;

struct Nothing {
  static constexpr Type type = Type::None;
};
template <typename R> struct RowOf {
  using T = R;
};
template <> struct RowOf<void> {
  using T = Nothing;
};

template <typename Op, typename R, typename... S> struct ScalarHandler {
  template <size_t... I>
  WAVETILE_INLINE static const Record *run(Wave &wave, const Record *record,
                                           std::index_sequence<I...>) {
    auto evaluate = [&] {
      if constexpr (std::is_invocable_v<Op, Scc &, typename S::Value...>)
        return Op{}(wave.scalars[scalar::Scc], S::load(wave, record->sources[I])...);
      else if constexpr (std::is_invocable_v<Op, const Mode &, typename S::Value...>)
        return Op{}(std::as_const(wave.mode), S::load(wave, record->sources[I])...);
      else
        return Op{}(S::load(wave, record->sources[I])...);
    };
    if constexpr (std::is_void_v<R>)
      evaluate();
    else
      R::store(wave, record->destination, evaluate());
    return record + 1;
  }
  static const Record *execute(Wave &wave, const Record *record) {
    return run(wave, record, std::index_sequence_for<S...>());
  }
};

template <typename F> struct ScalarBuilder;
template <typename R, typename... S> struct ScalarBuilder<R(S...)> {
  template <typename Op> static constexpr Instruction make(const char *names, Op) {
    Instruction row;
    row.names = names;
    row.direct = ScalarHandler<Op, R, S...>::execute;
    row.signature.result = RowOf<R>::T::type;
    unsigned i = 0;
    ((row.signature.sources[i++] = S::type), ...);
    row.instructionClass = InstructionClass::ScalarAlu;
    if (std::is_invocable_v<Op, Scc &, typename S::Value...>)
      row.flags |= rowflag::touchesScc;
    return row;
  }
};
template <typename F, typename Op> constexpr Instruction scalar(const char *names, Op op) {
  return ScalarBuilder<F>::make(names, op);
}

/// A scalar instruction with a handler of its own.
constexpr Instruction special(const char *names, Signature signature, Handler handler) {
  Instruction row;
  row.names = names;
  row.direct = handler;
  row.signature = signature;
  row.instructionClass = InstructionClass::ScalarAlu;
  return row;
}

} // namespace scalarops
} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_INSTRUCTIONS_SCALARS_H
