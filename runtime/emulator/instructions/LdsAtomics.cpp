//===- LdsAtomics.cpp - Read-modify-write operations on LDS ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes are served in order, and no other wave comes between: plain loads and stores do.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Atomics.h"
#include "runtime/emulator/instructions/Lds.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// Replaces each active lane's word at its address plus \p offset by what \p change makes of the
/// old one, which goes to \p result if there is one.
template <typename T, typename Change>
WAVETILE_INLINE void modify(Wave &wave, const uint32_t *addresses, uint32_t offset,
                            uint32_t *result, Change change) {
  const unsigned stride = wave.waveSize;
  forActive(wave.exec(), [&](unsigned lane) {
    uint64_t target = ldsAddress(wave, addresses[lane], offset);
    T old = loadFrom<T>(target);
    storeTo<T>(target, change(lane, old));
    if (result)
      setWord<T>(result, lane, stride, old);
  });
}

template <typename Op, typename T, bool returns>
const Record *atomic(Wave &wave, const Record *record) {
  if (!accessLds(wave, record, atomicForm(sizeof(T), returns)))
    return nullptr;
  const atomics::Denormals denormals = atomics::inLds(wave);
  const unsigned stride = wave.waveSize;
  const uint32_t *data = wave.row(record->sources[1]);
  modify<T>(wave, wave.row(record->sources[0]), record->immediate,
            returns ? wave.row(record->destination) : nullptr, [&](unsigned lane, T old) {
              return Op::apply(old, wordOf<T>(data, lane, stride), denormals);
            });
  return record + 1;
}

/// Compare and swap: gfx9 has the comparison first (`cmpst`), gfx11 the new value (`cmpstore`).
template <typename Op, typename T, bool returns, bool comparisonFirst>
const Record *compareAndSwap(Wave &wave, const Record *record) {
  constexpr unsigned dataSource = comparisonFirst ? 2 : 1, comparisonSource = 3 - dataSource;
  if (!accessLds(
          wave, record,
          atomicForm(sizeof(T), returns).ofSource(dataSource).comparedWith(comparisonSource)))
    return nullptr;
  const atomics::Denormals denormals = atomics::inLds(wave);
  const unsigned stride = wave.waveSize;
  const uint32_t *data = wave.row(record->sources[dataSource]);
  const uint32_t *comparison = wave.row(record->sources[comparisonSource]);
  modify<T>(wave, wave.row(record->sources[0]), record->immediate,
            returns ? wave.row(record->destination) : nullptr, [&](unsigned lane, T old) {
              return Op::apply(old, wordOf<T>(data, lane, stride),
                               wordOf<T>(comparison, lane, stride), denormals);
            });
  return record + 1;
}

/// Operations with two operands: the form says that the first is changed by and compared with the
/// second, which is what checks need to know of them.
struct MaskedOr {
  template <typename T> static T apply(T old, T mask, T value) { return (old & ~mask) | value; }
};
struct Wrap {
  static uint32_t apply(uint32_t old, uint32_t limit, uint32_t value) {
    return old >= limit ? old - limit : old + value;
  }
};
template <typename Op, typename T, bool returns>
const Record *atomicOfTwo(Wave &wave, const Record *record) {
  if (!accessLds(wave, record, atomicForm(sizeof(T), returns).ofSource(1).comparedWith(2)))
    return nullptr;
  const unsigned stride = wave.waveSize;
  const uint32_t *first = wave.row(record->sources[1]), *second = wave.row(record->sources[2]);
  modify<T>(wave, wave.row(record->sources[0]), record->immediate,
            returns ? wave.row(record->destination) : nullptr, [&](unsigned lane, T old) {
              return Op::apply(old, wordOf<T>(first, lane, stride),
                               wordOf<T>(second, lane, stride));
            });
  return record + 1;
}

/// Two exchanges at two offsets.
template <typename T, unsigned step> const Record *exchangeTwo(Wave &wave, const Record *record) {
  constexpr unsigned dwords = sizeof(T) / 4;
  constexpr AccessForm form = atomicForm(sizeof(T), true);
  TwoOffsets offsets(record, sizeof(T) * step);
  AddressCopy addresses(wave, record->sources[0]);
  if (!accessLds(wave, record, addresses.row, offsets.first, form) ||
      !accessLds(wave, record, addresses.row, offsets.second, form.ofSource(2).ofPart(dwords)))
    return nullptr;
  const unsigned stride = wave.waveSize;
  // The result may lie over the data.
  T data[2][maximumWaveSize];
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned lane = 0; lane < stride; ++lane)
      data[i][lane] = wordOf<T>(wave.row(record->sources[1 + i]), lane, stride);
  uint32_t *result = wave.row(record->destination);
  modify<T>(wave, addresses.row, offsets.first, result,
            [&](unsigned lane, T) { return data[0][lane]; });
  modify<T>(wave, addresses.row, offsets.second, result + dwords * stride,
            [&](unsigned lane, T) { return data[1][lane]; });
  return record + 1;
}

/// ds_condxchg32: each half of the word is replaced if its data's top bit is set, without that bit.
const Record *conditionalExchange(Wave &wave, const Record *record) {
  const uint32_t *registers = wave.row(record->sources[0]);
  alignas(64) uint32_t addresses[maximumWaveSize];
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    addresses[lane] = (registers[lane] + record->immediate) & 0xfff8;
  if (!accessLds(wave, record, addresses, 0, atomicForm(8, true)))
    return nullptr;
  const unsigned stride = wave.waveSize;
  const uint32_t *data = wave.row(record->sources[1]);
  modify<uint64_t>(
      wave, addresses, 0, wave.row(record->destination), [&](unsigned lane, uint64_t old) {
        uint32_t halves[2];
        for (unsigned i = 0; i < 2; ++i) {
          uint32_t value = data[i * stride + lane];
          halves[i] = value >> 31 ? value & 0x7fffffff : static_cast<uint32_t>(old >> (32 * i));
        }
        return halves[0] | static_cast<uint64_t>(halves[1]) << 32;
      });
  return record + 1;
}

/// Adds the number of active lanes to the word at M0 plus the offset, or subtracts it, once for the
/// wave; every lane gets the old word.
template <bool appends> const Record *appendOrConsume(Wave &wave, const Record *record) {
  uint64_t exec = wave.exec();
  uint64_t address = uint64_t(wave.scalars[scalar::M0]) + record->immediate;
  int lane = exec ? __builtin_ctzll(exec) : -1;
  if (address + 4 > wave.workgroup->ldsBytes)
    return fail(wave, record, FaultKind::LdsOutOfBounds, lane, address, 4, true);
  if (address % 4 != 0)
    return fail(wave, record, FaultKind::Misaligned, lane, address, 4, true);
  if (exec == 0)
    return record + 1;
  // The wave's count is no register: nothing is said of the data.
  constexpr AccessForm form = atomicForm(4, true).ofSource(AccessForm::noSource);
  if (isObserved(wave) && !reportOffsets(wave, record, AccessSpace::Lds, nullptr,
                                         static_cast<uint32_t>(address), exec & -exec, form))
    return nullptr;
  uint64_t target = reinterpret_cast<uint64_t>(wave.workgroup->lds) + address;
  uint32_t old = loadFrom<uint32_t>(target);
  uint32_t count = static_cast<uint32_t>(__builtin_popcountll(exec));
  storeTo<uint32_t>(target, appends ? old + count : old - count);
  uint32_t *row = wave.row(record->destination);
  forActive(exec, [&](unsigned active) { row[active] = old; });
  return record + 1;
}

constexpr auto lds = InstructionClass::Lds;

#define ATOMIC(NAME, OP, TYPE) memory("ds_" NAME, Shape::Lds, lds, atomic<atomics::OP, TYPE, false>)
#define ATOMIC_RETURNING(NAMES, OP, TYPE)                                                          \
  memory(NAMES, Shape::Lds, lds, atomic<atomics::OP, TYPE, true>)
/// Both forms of an atomic whose name ends in its type.
#define ATOMICS(NAME, TYPES, OP, TYPE)                                                             \
  ATOMIC(NAME "_" TYPES, OP, TYPE), ATOMIC_RETURNING("ds_" NAME "_rtn_" TYPES, OP, TYPE)
#define COMPARE(TYPES, OP, TYPE)                                                                   \
  memory("ds_cmpst_" TYPES, Shape::Lds, lds, compareAndSwap<atomics::OP, TYPE, false, true>),      \
      memory("ds_cmpst_rtn_" TYPES, Shape::Lds, lds,                                               \
             compareAndSwap<atomics::OP, TYPE, true, true>),                                       \
      memory("ds_cmpstore_" TYPES, Shape::Lds, lds,                                                \
             compareAndSwap<atomics::OP, TYPE, false, false>),                                     \
      memory("ds_cmpstore_rtn_" TYPES, Shape::Lds, lds,                                            \
             compareAndSwap<atomics::OP, TYPE, true, false>)

constexpr Instruction table[] = {
    ATOMICS("add", "u32", Add, uint32_t),
    ATOMICS("sub", "u32", Subtract, uint32_t),
    ATOMICS("rsub", "u32", ReverseSubtract, uint32_t),
    ATOMICS("inc", "u32", Increment, uint32_t),
    ATOMICS("dec", "u32", Decrement, uint32_t),
    ATOMICS("min", "i32", MinimumSigned, uint32_t),
    ATOMICS("max", "i32", MaximumSigned, uint32_t),
    ATOMICS("min", "u32", MinimumUnsigned, uint32_t),
    ATOMICS("max", "u32", MaximumUnsigned, uint32_t),
    ATOMICS("and", "b32", And, uint32_t),
    ATOMICS("or", "b32", Or, uint32_t),
    ATOMICS("xor", "b32", Xor, uint32_t),
    ATOMICS("sub_clamp", "u32", SubtractClamped, uint32_t),
    ATOMICS("cond_sub", "u32", SubtractIfEnough, uint32_t),
    ATOMICS("add", "f32", AddFloat, uint32_t),
    ATOMICS("min", "f32", MinimumFloat, uint32_t),
    ATOMICS("max", "f32", MaximumFloat, uint32_t),
    ATOMICS("min_num", "f32", MinimumFloat, uint32_t),
    ATOMICS("max_num", "f32", MaximumFloat, uint32_t),
    ATOMICS("pk_add", "f16", AddPackedHalf, uint32_t),
    ATOMICS("pk_add", "bf16", AddPackedBFloat16, uint32_t),
    ATOMICS("add", "u64", Add, uint64_t),
    ATOMICS("sub", "u64", Subtract, uint64_t),
    ATOMICS("rsub", "u64", ReverseSubtract, uint64_t),
    ATOMICS("inc", "u64", Increment, uint64_t),
    ATOMICS("dec", "u64", Decrement, uint64_t),
    ATOMICS("min", "i64", MinimumSigned, uint64_t),
    ATOMICS("max", "i64", MaximumSigned, uint64_t),
    ATOMICS("min", "u64", MinimumUnsigned, uint64_t),
    ATOMICS("max", "u64", MaximumUnsigned, uint64_t),
    ATOMICS("and", "b64", And, uint64_t),
    ATOMICS("or", "b64", Or, uint64_t),
    ATOMICS("xor", "b64", Xor, uint64_t),
    ATOMICS("add", "f64", AddFloat, uint64_t),
    ATOMICS("min", "f64", MinimumFloat, uint64_t),
    ATOMICS("max", "f64", MaximumFloat, uint64_t),
    ATOMICS("min_num", "f64", MinimumFloat, uint64_t),
    ATOMICS("max_num", "f64", MaximumFloat, uint64_t),
    ATOMIC_RETURNING("ds_wrxchg_rtn_b32 ds_storexchg_rtn_b32", Exchange, uint32_t),
    ATOMIC_RETURNING("ds_wrxchg_rtn_b64 ds_storexchg_rtn_b64", Exchange, uint64_t),
    COMPARE("b32", CompareBits, uint32_t),
    COMPARE("b64", CompareBits, uint64_t),
    COMPARE("f32", CompareFloats, uint32_t),
    COMPARE("f64", CompareFloats, uint64_t),
    memory("ds_mskor_b32", Shape::Lds, lds, atomicOfTwo<MaskedOr, uint32_t, false>),
    memory("ds_mskor_rtn_b32", Shape::Lds, lds, atomicOfTwo<MaskedOr, uint32_t, true>),
    memory("ds_mskor_b64", Shape::Lds, lds, atomicOfTwo<MaskedOr, uint64_t, false>),
    memory("ds_mskor_rtn_b64", Shape::Lds, lds, atomicOfTwo<MaskedOr, uint64_t, true>),
    memory("ds_wrap_rtn_b32", Shape::Lds, lds, atomicOfTwo<Wrap, uint32_t, true>),
    memory("ds_wrxchg2_rtn_b32 ds_storexchg_2addr_rtn_b32", Shape::Lds, lds,
           exchangeTwo<uint32_t, 1>),
    memory("ds_wrxchg2_rtn_b64 ds_storexchg_2addr_rtn_b64", Shape::Lds, lds,
           exchangeTwo<uint64_t, 1>),
    memory("ds_wrxchg2st64_rtn_b32 ds_storexchg_2addr_stride64_rtn_b32", Shape::Lds, lds,
           exchangeTwo<uint32_t, 64>),
    memory("ds_wrxchg2st64_rtn_b64 ds_storexchg_2addr_stride64_rtn_b64", Shape::Lds, lds,
           exchangeTwo<uint64_t, 64>),
    memory("ds_condxchg32_rtn_b64", Shape::Lds, lds, conditionalExchange),
    memory("ds_append", Shape::Lds, lds, appendOrConsume<true>),
    memory("ds_consume", Shape::Lds, lds, appendOrConsume<false>),
};

} // namespace

InstructionRows ldsAtomics() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
