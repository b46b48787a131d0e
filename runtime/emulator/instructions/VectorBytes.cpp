//===- VectorBytes.cpp - Sums of differences and other work on bytes -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

uint32_t WAVETILE_INLINE difference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/// The sum of the differences of four bytes; `masked` leaves out those whose reference is 0.
template <bool masked> uint32_t WAVETILE_INLINE byteDifferences(uint32_t a, uint32_t reference) {
  uint32_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    uint32_t x = a >> shift & 0xff, y = reference >> shift & 0xff;
    sum += masked && y == 0 ? 0 : difference(x, y);
  }
  return sum;
}
/// Four sums of 16 bits, each a byte further on in the first operand.
template <bool masked>
uint64_t WAVETILE_INLINE quadDifferences(uint64_t a, uint32_t reference, uint64_t addend) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t sum = byteDifferences<masked>(static_cast<uint32_t>(a >> (8 * i)), reference) +
                   static_cast<uint32_t>(addend >> (16 * i) & 0xffff);
    result |= static_cast<uint64_t>(sum & 0xffff) << (16 * i);
  }
  return result;
}
/// The same with sums of 32 bits, in four registers.
const Record *quadDifferences32(Wave &wave, const Record *record) {
  auto word = [&](unsigned operand, unsigned index, unsigned lane) -> uint32_t {
    Operand from = record->sources[operand];
    if (from.kind() == OperandKind::Scalar)
      return index == 0 ? wave.read32(from) : wave.scalars[from.index() + index];
    if (from.kind() == OperandKind::Constant && index > 1)
      return 0;
    return wave.row(from)[index * wave.waveSize + lane];
  };
  uint32_t *result = wave.row(record->destination);
  forActive(wave.exec(), [&](unsigned lane) {
    uint64_t a = word(0, 0, lane) | static_cast<uint64_t>(word(0, 1, lane)) << 32;
    uint32_t reference = word(1, 0, lane), sums[4];
    for (unsigned i = 0; i < 4; ++i)
      sums[i] =
          byteDifferences<true>(static_cast<uint32_t>(a >> (8 * i)), reference) + word(2, i, lane);
    for (unsigned i = 0; i < 4; ++i)
      result[i * wave.waveSize + lane] = sums[i];
  });
  return record + 1;
}

uint32_t WAVETILE_INLINE saturatedTo(int32_t x, int32_t low, int32_t high) {
  return static_cast<uint32_t>(x < low ? low : x > high ? high : x);
}
uint16_t WAVETILE_INLINE bytePair(uint32_t low, uint32_t high) {
  return static_cast<uint16_t>((low & 0xff) | high << 8);
}

constexpr Instruction table[] = {
    vector<U32(U32, U32, U32)>("v_sad_hi_u8",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return (byteDifferences<false>(a, b) << 16) + c;
                               }),
    vector<U32(U32, U32, U32)>("v_sad_u16",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 return difference(a & 0xffff, b & 0xffff) +
                                        difference(a >> 16, b >> 16) + c;
                               }),
    vector<U32(U32, U32, U32)>(
        "v_sad_u32", [](uint32_t a, uint32_t b, uint32_t c) { return difference(a, b) + c; }),
    vector<U32(U32, U32, U32)>(
        "v_msad_u8",
        [](uint32_t a, uint32_t b, uint32_t c) { return byteDifferences<true>(a, b) + c; }),
    vector<U64(U64, U32, U64)>(
        "v_qsad_pk_u16_u8",
        [](uint64_t a, uint32_t b, uint64_t c) { return quadDifferences<false>(a, b, c); }),
    vector<U64(U64, U32, U64)>(
        "v_mqsad_pk_u16_u8",
        [](uint64_t a, uint32_t b, uint64_t c) { return quadDifferences<true>(a, b, c); }),
    crossLane("v_mqsad_u32_u8", {Type::Any, {Type::B64, Type::B32, Type::Any}, false},
              quadDifferences32),
    // The average of bytes, rounded up where the third operand's byte is odd.
    vector<U32(U32, U32, U32)>("v_lerp_u8",
                               [](uint32_t a, uint32_t b, uint32_t c) {
                                 uint32_t result = 0;
                                 for (unsigned shift = 0; shift < 32; shift += 8) {
                                   uint32_t sum =
                                       (a >> shift & 0xff) + (b >> shift & 0xff) + (c >> shift & 1);
                                   result |= (sum >> 1) << shift;
                                 }
                                 return result;
                               }),
    vector<U16(U32)>("v_sat_pk_u8_i16",
                     [](uint32_t a) {
                       return bytePair(saturatedTo(static_cast<int16_t>(a), 0, 255),
                                       saturatedTo(static_cast<int16_t>(a >> 16), 0, 255));
                     }),
    vector<U16(I32, I32, U32)>("v_ashr_pk_i8_i32",
                               [](int32_t a, int32_t b, uint32_t c) {
                                 return bytePair(saturatedTo(a >> (c & 31), -128, 127),
                                                 saturatedTo(b >> (c & 31), -128, 127));
                               })
        .with(rowflag::keepsHalf),
    vector<U16(I32, I32, U32)>("v_ashr_pk_u8_i32",
                               [](int32_t a, int32_t b, uint32_t c) {
                                 return bytePair(saturatedTo(a >> (c & 31), 0, 255),
                                                 saturatedTo(b >> (c & 31), 0, 255));
                               })
        .with(rowflag::keepsHalf),
};

} // namespace

InstructionRows vectorBytes() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
