//===- VectorExtrema.cpp - Minimum and maximum of gfx12 -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gfx12 has IEEE 754-2019's two families: v_min_num and v_max_num, where a number wins over a NaN,
// and v_minimum and v_maximum, where a NaN wins. See Extrema.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Extrema.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// f16 as its bits: what the host makes of a signalling NaN is not relied on.
struct HalfBits {
  using Value = Float16;
  static constexpr Type type = Type::F16;
  WAVETILE_INLINE static Float16 load(const uint32_t *row, unsigned lane, unsigned) {
    return {static_cast<uint16_t>(row[lane])};
  }
  WAVETILE_INLINE static void store(uint32_t *row, unsigned lane, unsigned, uint32_t active,
                                    uint32_t kept, Float16 value) {
    row[lane] = blend(active, (row[lane] & kept) | value.bits, row[lane]);
  }
};

#define BINARY(NAME, TYPE, FUNCTION)                                                               \
  vector<TYPE(TYPE, TYPE)>(                                                                        \
      NAME, [](Lane lane, TYPE::Value a, TYPE::Value b) { return FUNCTION(a, b, lane.mode); })
#define TERNARY(NAME, TYPE, EXPRESSION)                                                            \
  vector<TYPE(TYPE, TYPE, TYPE)>(NAME,                                                             \
                                 [](Lane lane, TYPE::Value a, TYPE::Value b, TYPE::Value c) {      \
                                   const Mode &mode = lane.mode;                                   \
                                   return EXPRESSION;                                              \
                                 })
#define OF_TWO(SUFFIX, TYPE)                                                                       \
  BINARY("v_min_num_" SUFFIX, TYPE, minimumNumber2019),                                            \
      BINARY("v_max_num_" SUFFIX, TYPE, maximumNumber2019),                                        \
      BINARY("v_minimum_" SUFFIX, TYPE, minimum2019),                                              \
      BINARY("v_maximum_" SUFFIX, TYPE, maximum2019)
#define OF_THREE(SUFFIX, TYPE)                                                                     \
  TERNARY("v_min3_num_" SUFFIX, TYPE, minimumNumber2019(minimumNumber2019(a, b, mode), c, mode)),  \
      TERNARY("v_max3_num_" SUFFIX, TYPE,                                                          \
              maximumNumber2019(maximumNumber2019(a, b, mode), c, mode)),                          \
      TERNARY("v_minmax_num_" SUFFIX, TYPE,                                                        \
              maximumNumber2019(minimumNumber2019(a, b, mode), c, mode)),                          \
      TERNARY("v_maxmin_num_" SUFFIX, TYPE,                                                        \
              minimumNumber2019(maximumNumber2019(a, b, mode), c, mode)),                          \
      TERNARY("v_med3_num_" SUFFIX, TYPE, medianNumber2019(a, b, c, mode)),                        \
      TERNARY("v_minimummaximum_" SUFFIX, TYPE, maximum2019(minimum2019(a, b, mode), c, mode)),    \
      TERNARY("v_maximumminimum_" SUFFIX, TYPE, minimum2019(maximum2019(a, b, mode), c, mode))
#define PACKED(NAME, FUNCTION)                                                                     \
  vector<PackedF16(PackedF16, PackedF16)>(NAME, [](Lane lane, uint32_t x, uint32_t y) {            \
    Float16 low =                                                                                  \
        FUNCTION(Float16{static_cast<uint16_t>(x)}, Float16{static_cast<uint16_t>(y)}, lane.mode); \
    Float16 high = FUNCTION(Float16{static_cast<uint16_t>(x >> 16)},                               \
                            Float16{static_cast<uint16_t>(y >> 16)}, lane.mode);                   \
    return low.bits | static_cast<uint32_t>(high.bits) << 16;                                      \
  })

constexpr Instruction table[] = {
    OF_TWO("f32", F32),
    OF_TWO("f64", F64),
    OF_TWO("f16", HalfBits),
    OF_THREE("f32", F32),
    OF_THREE("f16", HalfBits),
    TERNARY("v_minimum3_f16", HalfBits, minimum2019(minimum2019(a, b, mode), c, mode)),
    TERNARY("v_maximum3_f16", HalfBits, maximum2019(maximum2019(a, b, mode), c, mode)),
    PACKED("v_pk_min_num_f16", minimumNumber2019),
    PACKED("v_pk_max_num_f16", maximumNumber2019),
    PACKED("v_pk_minimum_f16", minimum2019),
    PACKED("v_pk_maximum_f16", maximum2019),
};

} // namespace

InstructionRows vectorExtrema() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
