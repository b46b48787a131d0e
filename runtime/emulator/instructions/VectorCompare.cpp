//===- VectorCompare.cpp - Vector comparisons -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// v_cmp writes a bit a lane, 0 for lanes that are off; v_cmpx writes EXEC.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Float.h"
#include "runtime/emulator/instructions/Lanes.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// The bit of v_cmp_class that a value falls under.
template <typename T> uint32_t WAVETILE_INLINE classOf(T x) {
  bool negative = isNegative(x);
  uint32_t result = negative ? 1u << 3 : 1u << 8;
  result = isDenormal(x) ? (negative ? 1u << 4 : 1u << 7) : result;
  result = isZero(x) ? (negative ? 1u << 5 : 1u << 6) : result;
  result = isInfinity(x) ? (negative ? 1u << 2 : 1u << 9) : result;
  return isNaN(x) ? (isSignallingNaN(x) ? 1u << 0 : 1u << 1) : result;
}
uint32_t WAVETILE_INLINE classOfHalf(uint32_t x) {
  uint32_t magnitude = x & 0x7fff;
  bool negative = (x & 0x8000) != 0;
  uint32_t result = negative ? 1u << 3 : 1u << 8;
  result = magnitude < 0x400 ? (negative ? 1u << 4 : 1u << 7) : result;
  result = magnitude == 0 ? (negative ? 1u << 5 : 1u << 6) : result;
  result = magnitude == 0x7c00 ? (negative ? 1u << 2 : 1u << 9) : result;
  return magnitude > 0x7c00 ? (magnitude & 0x200 ? 1u << 1 : 1u << 0) : result;
}

#define COMPARISON(TYPE, CONDITION, SUFFIX, EXPRESSION)                                            \
  vector<MaskBit(TYPE, TYPE)>("v_cmp_" CONDITION "_" SUFFIX,                                       \
                              [](TYPE::Value a, TYPE::Value b) -> bool { return EXPRESSION; }),    \
      vector<MaskBit(TYPE, TYPE)>("v_cmpx_" CONDITION "_" SUFFIX,                                  \
                                  [](TYPE::Value a, TYPE::Value b) -> bool { return EXPRESSION; }) \
          .with(rowflag::writesExec)

#define INTEGER_COMPARISONS(TYPE, SUFFIX)                                                          \
  COMPARISON(TYPE, "lt", SUFFIX, a < b), COMPARISON(TYPE, "eq", SUFFIX, a == b),                   \
      COMPARISON(TYPE, "le", SUFFIX, a <= b), COMPARISON(TYPE, "gt", SUFFIX, a > b),               \
      COMPARISON(TYPE, "ne", SUFFIX, a != b), COMPARISON(TYPE, "ge", SUFFIX, a >= b),              \
      COMPARISON(TYPE, "f", SUFFIX, ((void)a, (void)b, false)),                                    \
      COMPARISON(TYPE, "t", SUFFIX, ((void)a, (void)b, true))

#define FLOAT_COMPARISONS(TYPE, SUFFIX)                                                            \
  COMPARISON(TYPE, "lt", SUFFIX, a < b), COMPARISON(TYPE, "eq", SUFFIX, a == b),                   \
      COMPARISON(TYPE, "le", SUFFIX, a <= b), COMPARISON(TYPE, "gt", SUFFIX, a > b),               \
      COMPARISON(TYPE, "lg", SUFFIX, (a < b) | (a > b)), COMPARISON(TYPE, "ge", SUFFIX, a >= b),   \
      COMPARISON(TYPE, "o", SUFFIX, (a == a) & (b == b)),                                          \
      COMPARISON(TYPE, "u", SUFFIX, (a != a) | (b != b)),                                          \
      COMPARISON(TYPE, "nge", SUFFIX, !(a >= b)),                                                  \
      COMPARISON(TYPE, "nlg", SUFFIX, !((a < b) | (a > b))),                                       \
      COMPARISON(TYPE, "ngt", SUFFIX, !(a > b)), COMPARISON(TYPE, "nle", SUFFIX, !(a <= b)),       \
      COMPARISON(TYPE, "neq", SUFFIX, !(a == b)), COMPARISON(TYPE, "nlt", SUFFIX, !(a < b)),       \
      COMPARISON(TYPE, "f", SUFFIX, ((void)a, (void)b, false)),                                    \
      COMPARISON(TYPE, "tru", SUFFIX, ((void)a, (void)b, true)),                                   \
      COMPARISON(TYPE, "t", SUFFIX, ((void)a, (void)b, true))

#define CLASS_COMPARISON(NAME, FLAGS)                                                              \
  vector<MaskBit(F32, U32), ModeUse::None>(                                                        \
      NAME "_class_f32", [](float a, uint32_t b) -> bool { return (classOf(a) & b) != 0; })        \
      .with(FLAGS),                                                                                \
      vector<MaskBit(F64, U32), ModeUse::None>(                                                    \
          NAME "_class_f64", [](double a, uint32_t b) -> bool { return (classOf(a) & b) != 0; })   \
          .with(FLAGS),                                                                            \
      vector<MaskBit(BitsF16, U16)>(NAME "_class_f16", [](uint16_t a, uint16_t b) -> bool {        \
        return (classOfHalf(a) & b) != 0;                                                          \
      }).with(FLAGS)

constexpr Instruction table[] = {
    INTEGER_COMPARISONS(I32, "i32"),
    INTEGER_COMPARISONS(U32, "u32"),
    INTEGER_COMPARISONS(I64, "i64"),
    INTEGER_COMPARISONS(U64, "u64"),
    INTEGER_COMPARISONS(I16, "i16"),
    INTEGER_COMPARISONS(U16, "u16"),
    FLOAT_COMPARISONS(F32, "f32"),
    FLOAT_COMPARISONS(F64, "f64"),
    FLOAT_COMPARISONS(F16, "f16"),
    CLASS_COMPARISON("v_cmp", 0),
    CLASS_COMPARISON("v_cmpx", rowflag::writesExec),
};

} // namespace

InstructionRows vectorCompare() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
