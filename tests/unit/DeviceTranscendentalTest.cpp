//===- DeviceTranscendentalTest.cpp - Approximate instructions against MPFR ==//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The true values are MPFR's, to 120 bits; the bound is the one that the instruction's row states,
// in units of the last place of the true value. All operands of f16, a dense sample of f32 and f64.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"
#include "evidence/CoverageOfTarget.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <mpfr.h>

#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <set>

namespace wavetile::device::test {
namespace {

struct Real {
  mpfr_t value;
  Real() { mpfr_init2(value, 120); }
  ~Real() { mpfr_clear(value); }
  Real(const Real &) = delete;
  Real &operator=(const Real &) = delete;
};

/// y = f(x).
using Function = void (*)(mpfr_t y, const mpfr_t x);
void exponential(mpfr_t y, const mpfr_t x) { mpfr_exp2(y, x, MPFR_RNDN); }
void logarithm(mpfr_t y, const mpfr_t x) { mpfr_log2(y, x, MPFR_RNDN); }
void reciprocal(mpfr_t y, const mpfr_t x) { mpfr_ui_div(y, 1, x, MPFR_RNDN); }
void reciprocalRoot(mpfr_t y, const mpfr_t x) {
  mpfr_rec_sqrt(y, x, MPFR_RNDN);
  if (mpfr_zero_p(x) && mpfr_signbit(x)) // MPFR gives +Inf.
    mpfr_set_inf(y, -1);
}
void root(mpfr_t y, const mpfr_t x) { mpfr_sqrt(y, x, MPFR_RNDN); }
/// Of turns. Beyond 256 of them AMD's documents give 0 and 1.
void sine(mpfr_t y, const mpfr_t x) {
  if (mpfr_number_p(x) && mpfr_cmpabs_ui(x, 256) > 0)
    mpfr_set_zero(y, 1);
  else
    mpfr_sinu(y, x, 1, MPFR_RNDN);
}
void cosine(mpfr_t y, const mpfr_t x) {
  if (mpfr_number_p(x) && mpfr_cmpabs_ui(x, 256) > 0)
    mpfr_set_ui(y, 1, MPFR_RNDN);
  else
    mpfr_cosu(y, x, 1, MPFR_RNDN);
}
const std::map<std::string, Function> functions = {{"exp", exponential},
                                                   {"log", logarithm},
                                                   {"rcp", reciprocal},
                                                   {"rsq", reciprocalRoot},
                                                   {"sqrt", root},
                                                   {"sin", sine},
                                                   {"cos", cosine},
                                                   {"exp_legacy", exponential},
                                                   {"log_legacy", logarithm},
                                                   {"rcp_iflag", reciprocal}};

/// A format, and whether its denormals are taken for zeros.
struct FormatRules {
  const llvm::fltSemantics &semantics;
  unsigned bits, precision;
  int leastExponent; ///< Of a normal number.
  bool flushes;
};
FormatRules rulesOf(const std::string &name) {
  if (name.ends_with("f16"))
    return {llvm::APFloat::IEEEhalf(), 16, 11, -14, false};
  if (name.ends_with("f64"))
    return {llvm::APFloat::IEEEdouble(), 64, 53, -1022, false};
  return {llvm::APFloat::IEEEsingle(), 32, 24, -126, true};
}
double toDouble(const FormatRules &rules, uint64_t bits) {
  llvm::APFloat value(rules.semantics, llvm::APInt(rules.bits, bits));
  if (rules.flushes && value.isDenormal())
    return std::copysign(0.0, value.isNegative() ? -1.0 : 1.0);
  bool lost = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

/// How far \p got is from f(\p x), in units of the last place of that; infinity if it is not even
/// of the right kind.
double distance(const FormatRules &rules, Function f, uint64_t x, uint64_t got) {
  static Real operand, exact, error;
  double value = toDouble(rules, x), result = toDouble(rules, got);
  mpfr_set_d(operand.value, value, MPFR_RNDN);
  f(exact.value, operand.value);
  if (mpfr_nan_p(exact.value))
    return std::isnan(result) ? 0 : INFINITY;
  if (std::isnan(result))
    return INFINITY;
  if (mpfr_zero_p(exact.value) || mpfr_inf_p(exact.value)) {
    bool same = mpfr_get_d(exact.value, MPFR_RNDN) == result;
    // A zero at the end of an argument's range has no documented sign, nor has sin of whole turns.
    return same ? 0 : INFINITY;
  }
  int exponent = static_cast<int>(mpfr_get_exp(exact.value)) - 1;
  if (rules.flushes && exponent < rules.leastExponent)
    return result == 0 || std::fabs(result) == std::ldexp(1.0, rules.leastExponent) ? 0 : INFINITY;
  int unit = std::max(exponent, rules.leastExponent) - static_cast<int>(rules.precision) + 1;
  if (std::isinf(result)) // Beyond the largest number by rounding.
    mpfr_set_ui_2exp(error.value, 1,
                     rules.bits == 16   ? 16
                     : rules.bits == 32 ? 128
                                        : 1024,
                     MPFR_RNDN);
  else
    mpfr_set_d(error.value, std::fabs(result), MPFR_RNDN);
  if (std::signbit(result))
    mpfr_neg(error.value, error.value, MPFR_RNDN);
  if (std::isinf(result) && mpfr_sgn(error.value) == mpfr_sgn(exact.value) &&
      mpfr_cmpabs(exact.value, error.value) >= 0)
    return 0;
  mpfr_sub(error.value, error.value, exact.value, MPFR_RNDN);
  mpfr_mul_2si(error.value, error.value, -unit, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.value, MPFR_RNDA));
}

/// All of f16; of longer formats what has edges, and random bits of all exponents.
std::vector<uint64_t> operandsOf(const FormatRules &rules, std::mt19937_64 &random) {
  std::vector<uint64_t> operands;
  if (rules.bits == 16) {
    for (uint64_t x = 0; x < 0x10000; ++x)
      operands.push_back(x);
    return operands;
  }
  bool isSingle = rules.bits == 32;
  unsigned mantissa = rules.precision - 1;
  uint64_t exponents = isSingle ? 256 : 2048, bias = isSingle ? 127 : 1023;
  uint64_t all = (uint64_t(1) << mantissa) - 1;
  for (uint64_t sign : {uint64_t(0), uint64_t(1) << (rules.bits - 1)})
    for (uint64_t exponent = 0; exponent < exponents; ++exponent)
      for (uint64_t m : {uint64_t(0), uint64_t(1), all, all - 1, all / 2, random() & all})
        operands.push_back(sign | exponent << mantissa | m);
  unsigned count = isSingle ? 60000 : 20000;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t bits = random() & (isSingle ? 0xffffffff : ~uint64_t(0));
    // Most of what is interesting is near 1, and up to 256.
    uint64_t near = bias - 12 + random() % 21;
    if (i % 4)
      bits = (bits & (uint64_t(1) << (rules.bits - 1) | all)) | near << mantissa;
    operands.push_back(bits);
  }
  return operands;
}

class Sweep {
public:
  Sweep(const std::string &target, const CoveredInstruction &row)
      : row(row), rules(rulesOf(row.mnemonic)), isScalar(row.mnemonic.starts_with("v_s_")) {
    std::string to = isScalar ? "s4" : "v2", from = isScalar ? "s2" : "v0";
    if (rules.bits == 64)
      to = "v[2:3]", from = "v[0:1]";
    std::string encoding = row.encoding.starts_with("VOP3") ? "_e64 " : "_e32 ";
    std::string suffix = isScalar ? " " : encoding;
    test = std::make_unique<WaveUnderTest>(target, row.mnemonic + suffix + to + ", " + from);
  }
  std::vector<uint64_t> run(const std::vector<uint64_t> &operands) {
    std::vector<uint64_t> results;
    uint64_t mask = rules.bits == 16 ? 0xffff : 0xffffffff;
    unsigned lanes = isScalar ? 1 : test->size();
    for (size_t begin = 0; begin < operands.size(); begin += lanes) {
      size_t count = std::min<size_t>(lanes, operands.size() - begin);
      for (unsigned lane = 0; lane < count; ++lane) {
        uint64_t x = operands[begin + lane];
        if (isScalar) {
          test->sgpr(2) = static_cast<uint32_t>(x);
          continue;
        }
        test->vgpr(0, lane) = static_cast<uint32_t>(x);
        test->vgpr(1, lane) = static_cast<uint32_t>(x >> 32);
      }
      test->restart();
      test->run();
      for (unsigned lane = 0; lane < count; ++lane) {
        uint64_t low = isScalar ? test->sgpr(4) : test->vgpr(2, lane);
        uint64_t high = rules.bits == 64 ? uint64_t(test->vgpr(3, lane)) << 32 : 0;
        results.push_back((low & mask) | high);
      }
    }
    return results;
  }

  const CoveredInstruction &row;
  const FormatRules rules;

private:
  bool isScalar;
  std::unique_ptr<WaveUnderTest> test;
};

class DeviceTranscendental : public testing::TestWithParam<const char *> {};

TEST_P(DeviceTranscendental, WithinTheBoundThatTheRowStates) {
  std::string target = GetParam();
  uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  std::set<std::string> seen;
  for (const CoveredInstruction &row : evidence::coverageOf(target)) {
    bool isPlain =
        row.encoding == "VOP1" || (row.encoding == "VOP3" && row.mnemonic.starts_with("v_s_"));
    if (row.support != Support::Approximate || !isPlain || !seen.insert(row.mnemonic).second)
      continue;
    size_t begin = row.mnemonic.starts_with("v_s_") ? 4 : 2;
    std::string name = row.mnemonic.substr(begin, row.mnemonic.rfind("_f") - begin);
    auto function = functions.find(name);
    ASSERT_NE(function, functions.end()) << row.mnemonic << " has no function of MPFR's";
    Sweep sweep(target, row);
    std::vector<uint64_t> operands = operandsOf(sweep.rules, random);
    if (begin == 4 && operands.size() > 0x10000) // A launch an operand.
      operands.resize(0x4000);
    std::vector<uint64_t> results = sweep.run(operands);
    double worst = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      double ulp = distance(sweep.rules, function->second, operands[i], results[i]);
      worst = std::max(worst, ulp);
      ASSERT_LE(ulp, double(row.ulp))
          << row.mnemonic << std::hex << " of 0x" << operands[i] << " gives 0x" << results[i];
    }
    std::cout << "  " << row.mnemonic << ": " << worst << " ulp of " << row.ulp << ", "
              << operands.size() << " operands\n";
  }
  EXPECT_GE(seen.size(), 15u);
}
INSTANTIATE_TEST_SUITE_P(Targets, DeviceTranscendental, testing::Values("gfx942", "gfx1201"));

} // namespace
} // namespace wavetile::device::test
