//===- DeviceMatrixRoundingTest.cpp - How matrix products are summed ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random and special values against an implementation that shares nothing with the emulator: exact
// integers of 512 bits, which are cut and rounded where arXiv 2511.10909 says that CDNA3's matrix
// cores do so, and chains of std::fma.
//
//===----------------------------------------------------------------------===//

#include "DeviceMatrixSupport.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <map>

namespace wavetile::device::test {
namespace {

using llvm::APFloat;
using llvm::APInt;
using enum Element;

// --- Values ---

const llvm::fltSemantics &semanticsOf(Element element) {
  switch (element) {
  case F16:
    return APFloat::IEEEhalf();
  case BF16:
    return APFloat::BFloat();
  case Fp8Fnuz:
    return APFloat::Float8E4M3FNUZ();
  case Bf8Fnuz:
    return APFloat::Float8E5M2FNUZ();
  case Fp8Ocp:
    return APFloat::Float8E4M3FN();
  case Bf8Ocp:
    return APFloat::Float8E5M2();
  case Fp6:
    return APFloat::Float6E2M3FN();
  case Bf6:
    return APFloat::Float6E3M2FN();
  case Fp4:
    return APFloat::Float4E2M1FN();
  default:
    return APFloat::IEEEsingle();
  }
}
APFloat valueOf(Element element, uint32_t code) {
  if (element == XF32) { // Of f32's mantissa 10 bits.
    bool isNaN = (code & 0x7fffffff) > 0x7f800000;
    code = isNaN ? code | 0x400000 : code & ~0x1fffu;
  }
  return APFloat(semanticsOf(element), APInt(bitsOf(element), code));
}
float asFloat(APFloat value) {
  bool inexact;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  EXPECT_FALSE(inexact);
  return value.convertToFloat();
}

// --- The hardware's sums ---

/// significand * 2^exponent, exactly.
struct Exact {
  APInt significand{512, 0};
  int exponent = 0;
};

/// A value as significand * 2^(exponent - 256), with the exponent of its format: that of the
/// leading bit or the least one; -126 for zero.
Exact split(float value, int minimumExponent) {
  if (value == 0)
    return {APInt(512, 0), -126};
  int exponent = std::max(std::ilogb(value), minimumExponent);
  double scaled = std::ldexp(static_cast<double>(value), 40 - exponent);
  EXPECT_EQ(scaled, std::floor(scaled));
  APInt significand(512, static_cast<uint64_t>(static_cast<int64_t>(scaled)), true);
  return {significand.shl(256 - 40), exponent};
}
/// Keeps `bits` of the 256 fractional bits of a value at `exponent`, at a larger exponent.
APInt cut(const Exact &x, int largest, unsigned bits, bool towardZero) {
  unsigned shift = static_cast<unsigned>(std::min(500, largest - x.exponent));
  unsigned dropped = 256 - bits;
  auto down = [&](const APInt &value) {
    // Once: bits that the first shift would drop decide about the direction too.
    APInt shifted = value.sext(1024).ashr(shift + dropped);
    return shifted.trunc(512).shl(dropped);
  };
  if (towardZero && x.significand.isNegative())
    return -down(-x.significand);
  return down(x.significand);
}
/// significand * 2^(exponent - 256) as f32, to nearest even.
float rounded(const APInt &significand, int exponent) {
  if (significand.isZero())
    return 0;
  APFloat wide(APFloat::IEEEquad()); // 113 bits: more than any sum here has.
  EXPECT_LT(significand.abs().getActiveBits() - significand.abs().countr_zero(), 113u);
  EXPECT_EQ(wide.convertFromAPInt(significand, true, APFloat::rmNearestTiesToEven), APFloat::opOK);
  wide = scalbn(wide, exponent - 256, APFloat::rmNearestTiesToEven);
  bool inexact;
  wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  return wide.convertToFloat();
}

/// The products of some k, which are cut toward zero to 24 bits of the largest.
Exact sumOfProducts(const std::vector<Exact> &products) {
  Exact sum;
  sum.exponent = INT32_MIN;
  for (const Exact &product : products)
    sum.exponent = std::max(sum.exponent, product.exponent);
  for (const Exact &product : products)
    sum.significand += cut(product, sum.exponent, 24, true);
  return sum;
}

struct Term {
  float a, b;
  int scale = 0;
};
/// One group of k.
float hardwareGroup(float c, const std::vector<Term> &terms, int minimumA, int minimumB,
                    bool is8Bit) {
  double sum = c;
  bool positive = false, negative = false;
  for (const Term &term : terms) {
    double product = std::ldexp(static_cast<double>(term.a) * term.b, term.scale);
    sum += product;
    positive |= product >= 0x1p128;
    negative |= product <= -0x1p128;
  }
  if (!std::isfinite(sum))
    return static_cast<float>(sum);
  if (positive || negative)
    return positive && negative ? NAN : positive ? INFINITY : -INFINITY;
  std::vector<Exact> halves[2];
  for (size_t i = 0; i < terms.size(); ++i) {
    Exact a = split(terms[i].a, minimumA), b = split(terms[i].b, minimumB);
    // The significands have 256 fractional bits, their low 128 are 0.
    Exact product = {a.significand.ashr(128) * b.significand.ashr(128),
                     a.exponent + b.exponent + terms[i].scale};
    halves[is8Bit ? i % 2 : 0].push_back(product);
  }
  Exact s = sumOfProducts(halves[0]);
  if (is8Bit && !halves[1].empty()) {
    Exact odd = sumOfProducts(halves[1]);
    int largest = std::max(s.exponent, odd.exponent);
    s = {cut(s, largest, 24, false) + cut(odd, largest, 24, false), largest};
  }
  Exact other = split(c, -126);
  int largest = std::max(s.exponent, other.exponent);
  if (is8Bit && other.exponent < largest - 25)
    other.significand = APInt(512, 0);
  APInt total = cut(s, largest, 31, false) + cut(other, largest, 24, false);
  return rounded(total, largest);
}

// --- Instructions ---

struct Instruction {
  const char *target, *mnemonic;
  unsigned side, depth, group;
  Element a, b;
  const char *modifiers = "";
  bool isWave = false; ///< WMMA of gfx11 with 32 lanes.
};
/// The least exponent of normal numbers.
int minimumExponent(Element element) {
  switch (element) {
  case F16:
  case Bf8Ocp:
    return -14;
  case Fp8Fnuz:
    return -7;
  case Bf8Fnuz:
    return -15;
  case Fp8Ocp:
    return -6;
  case Bf6:
    return -2;
  case Fp6:
  case Fp4:
    return 0;
  default:
    return -126;
  }
}

const Instruction instructions[] = {
    {"gfx942", "v_mfma_f32_16x16x16_f16", 16, 16, 8, F16, F16},
    {"gfx942", "v_mfma_f32_32x32x8_bf16", 32, 8, 8, BF16, BF16},
    {"gfx942", "v_mfma_f32_16x16x8_xf32", 16, 8, 4, XF32, XF32},
    {"gfx942", "v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 16, Fp8Fnuz, Fp8Fnuz},
    {"gfx942", "v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 16, Bf8Fnuz, Fp8Fnuz},
    {"gfx942", "v_mfma_f32_16x16x4_f32", 16, 4, 0, F32, F32},
    {"gfx950", "v_mfma_f32_16x16x32_bf16", 16, 32, 8, BF16, BF16},
    {"gfx950", "v_mfma_f32_32x32x16_f16", 32, 16, 8, F16, F16},
    {"gfx950", "v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 16, Fp8Ocp, Bf8Ocp},
    {"gfx950", "v_mfma_f32_16x16x128_f8f6f4", 16, 128, 16, Fp8Ocp, Fp4, "cbsz:0 blgp:4"},
    {"gfx950", "v_mfma_f32_32x32x64_f8f6f4", 32, 64, 16, Bf6, Fp6, "cbsz:3 blgp:2"},
    {"gfx1150", "v_wmma_f32_16x16x16_bf16", 16, 16, 8, BF16, BF16, "", true},
};

/// How elements are chosen.
enum class Mix { Near, Wide, Special };

uint32_t randomCode(std::mt19937 &random, Element element, Mix mix) {
  uint32_t mask = ~0u >> (32 - bitsOf(element)), code = static_cast<uint32_t>(random()) & mask;
  bool isWide = element == BF16 || element == XF32 || element == F32;
  unsigned mantissaBits = bitsOf(element) == 32 ? 23 : 7;
  if (isWide && mix == Mix::Near) // Exponents of which few are cut away altogether.
    code = (code & ~(0xffu << mantissaBits)) | static_cast<uint32_t>(117 + random() % 20)
                                                   << mantissaBits;
  if (isWide && mix == Mix::Wide)
    code = (code & ~(0xffu << mantissaBits)) | static_cast<uint32_t>(67 + random() % 120)
                                                   << mantissaBits;
  if (random() % 16 == 0)
    code &= 1u << (bitsOf(element) - 1); // A zero, or FNUZ's NaN.
  if (mix != Mix::Special && !valueOf(element, code).isFinite())
    code = 0;
  return code;
}
float randomC(std::mt19937 &random, Mix mix) {
  uint32_t bits = static_cast<uint32_t>(random());
  if (mix == Mix::Near)
    bits = (bits & 0x807fffff) | static_cast<uint32_t>(112 + random() % 30) << 23;
  if (mix == Mix::Wide)
    bits = (bits & 0x807fffff) | static_cast<uint32_t>(60 + random() % 130) << 23;
  if (random() % 16 == 0)
    bits &= 0x80000000;
  if (mix == Mix::Special && random() % 8 != 0)
    bits = (bits & 0x807fffff) | static_cast<uint32_t>(110 + random() % 40) << 23;
  return std::bit_cast<float>(bits);
}

/// Which of a lane's elements hold k, for the shapes above.
std::pair<unsigned, unsigned> operandPlace(const Instruction &i, Element format, unsigned row,
                                           unsigned k) {
  if (i.isWave)
    return {k, row};
  unsigned pieces = 64 / i.side;
  bool isChosen = *i.modifiers != '\0';
  unsigned run = isChosen && bitsOf(format) == 8 ? 16 : i.depth / pieces;
  return {k / run / pieces * run + k % run, k / run % pieces * i.side + row};
}
std::pair<unsigned, unsigned> resultPlace(const Instruction &i, unsigned row, unsigned column) {
  if (i.isWave)
    return {row / 2, row % 2 * 16 + column};
  if (i.side == 32)
    return {4 * (row / 8) + row % 4, 32 * (row / 4 % 2) + column};
  return {row % 4, 16 * (row / 4) + column};
}

unsigned lanesOf(const Instruction &i) { return i.isWave ? 32 : 64; }
/// Its machine code, which is assembled once.
const std::vector<uint8_t> &programOf(const Instruction &i) {
  static std::map<const Instruction *, std::vector<uint8_t>> programs;
  std::vector<uint8_t> &program = programs[&i];
  if (!program.empty())
    return program;
  unsigned results = i.side * i.side / lanesOf(i);
  unsigned elements = i.isWave ? i.depth : i.side * i.depth / 64;
  auto rows = [&](Element element) { return std::max(1u, elements * bitsOf(element) / 32); };
  std::string text = std::string(i.mnemonic) + " " + registers('v', 100, results) + ", " +
                     registers('v', 0, rows(i.a)) + ", " + registers('v', 32, rows(i.b)) + ", " +
                     registers('v', 64, results) + " " + i.modifiers + "\n";
  program = assemble(i.target, {text})[0];
  return program;
}

void check(const Instruction &i, MatrixRounding rounding, Mix mix, unsigned seed) {
  WaveUnderTest test(i.target, programOf(i));
  test.roundMatricesAs(rounding);
  auto file = [&](unsigned r, unsigned l) -> uint32_t & { return test.vgpr(r, l); };
  std::mt19937 random(seed);
  std::vector<float> a(i.side * i.depth), b(a.size()), c(i.side * i.side);
  for (unsigned row = 0; row < i.side; ++row)
    for (unsigned k = 0; k < i.depth; ++k) {
      auto fill = [&](unsigned first, Element element, float &value) {
        // Special values are rare, so that most sums stay finite.
        bool special = mix == Mix::Special && random() % 200 == 0;
        uint32_t code = randomCode(random, element, special ? mix : Mix::Near);
        if (mix == Mix::Wide)
          code = randomCode(random, element, mix);
        auto [index, lane] = operandPlace(i, element, row, k);
        putElement(file, first, bitsOf(element), index, lane, code);
        value = asFloat(valueOf(element, code));
      };
      fill(0, i.a, a[row * i.depth + k]);
      fill(32, i.b, b[row * i.depth + k]);
    }
  for (unsigned row = 0; row < i.side; ++row)
    for (unsigned column = 0; column < i.side; ++column) {
      auto [index, lane] = resultPlace(i, row, column);
      c[row * i.side + column] = randomC(random, mix);
      file(64 + index, lane) = std::bit_cast<uint32_t>(c[row * i.side + column]);
    }
  test.run();
  unsigned group = rounding == MatrixRounding::Hardware ? i.group : 0;
  for (unsigned row = 0; row < i.side; ++row)
    for (unsigned column = 0; column < i.side; ++column) {
      if (group != 0 && (row + column + seed) % 3 != 0)
        continue; // A third for each seed, for exact sums are slow.
      float sum = c[row * i.side + column];
      for (unsigned k = 0; k < i.depth; k += group == 0 ? 1 : group) {
        if (group == 0) {
          sum = std::fma(a[row * i.depth + k], b[column * i.depth + k], sum);
          continue;
        }
        std::vector<Term> terms;
        for (unsigned j = k; j < k + group; ++j)
          terms.push_back({a[row * i.depth + j], b[column * i.depth + j]});
        sum = hardwareGroup(sum, terms, minimumExponent(i.a), minimumExponent(i.b), group == 16);
      }
      auto [index, lane] = resultPlace(i, row, column);
      uint32_t expected = std::isnan(sum) ? 0x7fc00000u : std::bit_cast<uint32_t>(sum);
      ASSERT_EQ(file(100 + index, lane), expected)
          << i.target << " " << i.mnemonic << ", row " << row << ", column " << column << ", seed "
          << seed << ", mix " << static_cast<int>(mix);
    }
}

TEST(DeviceMatrixRounding, HardwareSumsGroups) {
  for (const Instruction &i : instructions)
    for (unsigned seed = 0; seed < 3; ++seed)
      for (Mix mix : {Mix::Near, Mix::Wide, Mix::Special})
        check(i, MatrixRounding::Hardware, mix, seed);
}
TEST(DeviceMatrixRounding, OtherwiseEachProductIsFused) {
  for (const Instruction &i : instructions)
    for (Mix mix : {Mix::Near, Mix::Wide, Mix::Special})
      check(i, MatrixRounding::FusedMultiplyAdd, mix, 7);
}

/// The results that the paper shows to tell the model from others.
float dot(const char *target, const char *mnemonic, std::vector<uint16_t> a,
          std::vector<uint16_t> b, float c) {
  WaveUnderTest test(target, std::string(mnemonic) + " v[8:11], v[0:1], v[2:3], v[4:7]\n");
  test.roundMatricesAs(MatrixRounding::Hardware);
  for (unsigned k = 0; k < a.size(); ++k) {
    auto file = [&](unsigned r, unsigned l) -> uint32_t & { return test.vgpr(r, l); };
    putElement(file, 0, 16, k % 4, k / 4 * 16, a[k]);
    putElement(file, 2, 16, k % 4, k / 4 * 16, b[k]);
  }
  test.vgpr(4, 0) = std::bit_cast<uint32_t>(c);
  test.run();
  return std::bit_cast<float>(test.vgpr(8, 0));
}
TEST(DeviceMatrixRounding, IsAsymmetricAndDropsSmallProducts) {
  auto f16 = [](std::vector<uint16_t> a, std::vector<uint16_t> b, float c) {
    return dot("gfx942", "v_mfma_f32_16x16x16_f16", std::move(a), std::move(b), c);
  };
  // 2^15 * 2^15 and 2^-14 * 2^-14 are 58 binades apart: the small one is cut to zero.
  EXPECT_EQ(f16({0x7800, 0x7800, 0x0400}, {0x7800, 0xf800, 0x0400}, 0), 0.0f);
  // c = -2^-30 beside a sum of 1: cut toward minus infinity to 24 bits of 1, which is -2^-24, half
  // a unit in the last place below 1.
  EXPECT_EQ(f16({0x3c00}, {0x3c00}, -std::ldexp(1.0f, -30)), 1.0f - std::ldexp(1.0f, -24));
  EXPECT_EQ(f16({0x3c00}, {0x3c00}, std::ldexp(1.0f, -30)), 1.0f);
  // The ninth k is in the next group, and so is added to what the first eight became.
  std::vector<uint16_t> a(9, 0), b(9, 0);
  a[0] = b[0] = 0x7800, a[8] = 0x7800, b[8] = 0xf800;
  a[1] = b[1] = 0x0400;
  EXPECT_EQ(f16(a, b, 0), 0.0f);
}

} // namespace
} // namespace wavetile::device::test
