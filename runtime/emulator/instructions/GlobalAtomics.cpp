//===- GlobalAtomics.cpp - Atomics of GLOBAL and FLAT instructions --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/AddressSpaces.h"
#include "runtime/emulator/instructions/Atomics.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

template <typename Space, typename Op, typename T>
const Record *atomic(Wave &wave, const Record *record) {
  typename Space::Lanes lanes;
  bool returns = record->modifiers & modifier::returnsValue;
  if (!Space::addresses(wave, record, atomicForm(sizeof(T), returns), lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  const uint32_t *data = wave.row(record->sources[1]);
  uint32_t *result = returns ? wave.row(record->destination) : nullptr;
  forActive(lanes.active, [&](unsigned lane) {
    T old = atomics::update<Op>(reinterpret_cast<T *>(lanes.address[lane]),
                                wordOf<T>(data, lane, stride));
    if (returns)
      setWord<T>(result, lane, stride, old);
  });
  countBytes(wave, lanes, sizeof(T), true);
  return record + 1;
}

template <typename Space, typename Op, typename T>
const Record *compareAndSwap(Wave &wave, const Record *record) {
  typename Space::Lanes lanes;
  bool returns = record->modifiers & modifier::returnsValue;
  if (!Space::addresses(wave, record, compareAndSwapForm(sizeof(T), returns), lanes))
    return nullptr;
  constexpr unsigned registers = sizeof(T) / 4;
  const unsigned stride = wave.waveSize;
  const uint32_t *data = wave.row(record->sources[1]);
  uint32_t *result = returns ? wave.row(record->destination) : nullptr;
  forActive(lanes.active, [&](unsigned lane) {
    T value = wordOf<T>(data, lane, stride);
    T comparison = wordOf<T>(data + registers * stride, lane, stride);
    T old =
        atomics::compareAndSwap<Op>(reinterpret_cast<T *>(lanes.address[lane]), value, comparison);
    if (returns)
      setWord<T>(result, lane, stride, old);
  });
  countBytes(wave, lanes, sizeof(T), true);
  return record + 1;
}

constexpr auto atomicClass = InstructionClass::GlobalAtomic;

/// One instruction in both spaces, in gfx9's and gfx11's names.
// Template arguments cannot be in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define BOTH(GFX9, GFX11, FUNCTION, OP, TYPE)                                                      \
  memory("global_atomic_" GFX9 " global_atomic_" GFX11, Shape::Flat, atomicClass,                  \
         FUNCTION<GlobalSpace, atomics::OP, TYPE>),                                                \
      memory("flat_atomic_" GFX9 " flat_atomic_" GFX11, Shape::Flat, atomicClass,                  \
             FUNCTION<FlatSpace, atomics::OP, TYPE>)
// NOLINTEND(bugprone-macro-parentheses)
#define ATOMIC(GFX9, GFX11, OP, TYPE) BOTH(GFX9, GFX11, atomic, OP, TYPE)

constexpr Instruction table[] = {
    ATOMIC("add", "add_u32", Add, uint32_t),
    ATOMIC("sub", "sub_u32", Subtract, uint32_t),
    ATOMIC("csub_u32", "sub_clamp_u32", SubtractClamped, uint32_t),
    ATOMIC("cond_sub", "cond_sub_u32", SubtractIfEnough, uint32_t),
    ATOMIC("smin", "min_i32", MinimumSigned, uint32_t),
    ATOMIC("umin", "min_u32", MinimumUnsigned, uint32_t),
    ATOMIC("smax", "max_i32", MaximumSigned, uint32_t),
    ATOMIC("umax", "max_u32", MaximumUnsigned, uint32_t),
    ATOMIC("and", "and_b32", And, uint32_t),
    ATOMIC("or", "or_b32", Or, uint32_t),
    ATOMIC("xor", "xor_b32", Xor, uint32_t),
    ATOMIC("inc", "inc_u32", Increment, uint32_t),
    ATOMIC("dec", "dec_u32", Decrement, uint32_t),
    ATOMIC("swap", "swap_b32", Exchange, uint32_t),
    ATOMIC("add_x2", "add_u64", Add, uint64_t),
    ATOMIC("sub_x2", "sub_u64", Subtract, uint64_t),
    ATOMIC("smin_x2", "min_i64", MinimumSigned, uint64_t),
    ATOMIC("umin_x2", "min_u64", MinimumUnsigned, uint64_t),
    ATOMIC("smax_x2", "max_i64", MaximumSigned, uint64_t),
    ATOMIC("umax_x2", "max_u64", MaximumUnsigned, uint64_t),
    ATOMIC("and_x2", "and_b64", And, uint64_t),
    ATOMIC("or_x2", "or_b64", Or, uint64_t),
    ATOMIC("xor_x2", "xor_b64", Xor, uint64_t),
    ATOMIC("inc_x2", "inc_u64", Increment, uint64_t),
    ATOMIC("dec_x2", "dec_u64", Decrement, uint64_t),
    ATOMIC("swap_x2", "swap_b64", Exchange, uint64_t),
    ATOMIC("add_f32", "add_f32", AddFloat, uint32_t),
    ATOMIC("min_f32", "min_num_f32", MinimumFloat, uint32_t),
    ATOMIC("max_f32", "max_num_f32", MaximumFloat, uint32_t),
    ATOMIC("add_f64", "add_f64", AddFloat, uint64_t),
    ATOMIC("min_f64", "min_f64", MinimumFloat, uint64_t),
    ATOMIC("max_f64", "max_f64", MaximumFloat, uint64_t),
    ATOMIC("pk_add_f16", "pk_add_f16", AddPackedHalf, uint32_t),
    ATOMIC("pk_add_bf16", "pk_add_bf16", AddPackedBFloat16, uint32_t),
    BOTH("cmpswap", "cmpswap_b32", compareAndSwap, CompareBits, uint32_t),
    BOTH("cmpswap_x2", "cmpswap_b64", compareAndSwap, CompareBits, uint64_t),
    BOTH("cmpswap_f32", "cmpswap_f32", compareAndSwap, CompareFloats, uint32_t),
};

} // namespace

InstructionRows globalAtomics() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
