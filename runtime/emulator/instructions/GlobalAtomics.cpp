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
    WAVETILE_MEMORY_ATOMICS(ATOMIC),
    ATOMIC("csub_u32", "sub_clamp_u32", SubtractClamped, uint32_t),
    BOTH("cmpswap", "cmpswap_b32", compareAndSwap, CompareBits, uint32_t),
    BOTH("cmpswap_x2", "cmpswap_b64", compareAndSwap, CompareBits, uint64_t),
    BOTH("cmpswap_f32", "cmpswap_f32", compareAndSwap, CompareFloats, uint32_t),
};

} // namespace

InstructionRows globalAtomics() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
