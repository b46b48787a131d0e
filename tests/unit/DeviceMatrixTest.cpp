//===- DeviceMatrixTest.cpp - Matrix instructions (CDNA) ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every dense and sparse product of gfx942 and gfx950 with random integers, whose products are
// exact. Where elements lie in registers is taken from AMD's matrix instruction calculator, and for
// the formats of gfx950 from AMD's "Matrix Core Programming on AMD CDNA3 and CDNA4"; it is written
// down here in another form than in the emulator.
//
//===----------------------------------------------------------------------===//

#include "DeviceMatrixSupport.h"

#include "runtime/emulator/Decoder.h"

#include <map>
#include <set>

namespace wavetile::device::test {
namespace {

using enum Element;

/// cbsz, abid and blgp, as bits.
struct Modifiers {
  unsigned cbsz = 0, abid = 0, blgp = 0;

  std::string str() const {
    std::string text;
    for (auto [name, value] : {std::pair{"cbsz", cbsz}, {"abid", abid}, {"blgp", blgp}})
      if (value)
        text += std::string(" ") + name + ":" + std::to_string(value);
    return text;
  }
};

struct Product {
  const char *target;
  const char *mnemonic;
  unsigned side, depth, blocks;
  Element a, b;
  Modifiers modifiers = {};
  bool sparse = false;
};

bool choosesFormats(const Product &p) {
  return std::string(p.mnemonic).find("f8f6f4") != std::string::npos;
}
Element resultOf(const Product &p) { return p.a == I8 ? I32 : p.a == F64 ? F64 : F32; }

// --- Places ---

/// A place in registers: an element of a lane.
struct Place {
  unsigned element, lane;
};
/// Of (row, column) of a result.
Place resultPlace(const Product &p, unsigned block, unsigned row, unsigned column) {
  if (p.side == 32) // row = 8 * (i / 4) + 4 * (l / 32) + i % 4
    return {16 * block + 4 * (row / 8) + row % 4, 32 * (row / 4 % 2) + column};
  if (p.a == F64) // row = 4 * i + l / 16
    return p.side == 16 ? Place{row / 4, 16 * (row % 4) + column}
                        : Place{0u, 16 * row + 4 * block + column};
  if (p.side == 16) // row = 4 * (l / 16) + i
    return {4 * block + row % 4, 16 * (row / 4) + column};
  return {row, 4 * block + column};
}
/// Of A's (row, k) or B's (k, column), of `depth` k. Of the formats that an instruction chooses,
/// those of 8 bits lie 16 k at a time in a lane.
Place operandPlace(const Product &p, Element format, unsigned depth, unsigned block, unsigned row,
                   unsigned k) {
  unsigned pieces = 64 / (p.side * p.blocks);
  unsigned run = choosesFormats(p) && bitsOf(format) == 8 ? 16 : depth / pieces;
  unsigned piece = k / run % pieces;
  return {k / run / pieces * run + k % run, row + p.side * (block + p.blocks * piece)};
}
/// The quarters of a wave that blgp makes the quarters of B's lanes.
constexpr unsigned lanePatterns[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                         {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};

// --- One instruction ---

enum class File { Vgpr, Agpr };
struct Registers {
  unsigned a = 0, b = 32, c = 64, d = 100, index = 140, scaleA = 141, scaleB = 142;
};

/// How a product is used.
struct Use {
  Product product;
  Registers at = {};
  File inputs = File::Vgpr, results = File::Vgpr;
  const char *constantText = nullptr; ///< In the place of C.
  int constant = 0;
};

unsigned rowsOf(const Product &p, Element element, unsigned depth) {
  return (p.side * depth * p.blocks * bitsOf(element) / 64 + 31) / 32;
}
unsigned resultCount(const Product &p) { return p.side * p.side * p.blocks / 64; }
unsigned resultRows(const Product &p) { return resultCount(p) * bitsOf(resultOf(p)) / 32; }

std::string textOf(const Use &use) {
  const Product &p = use.product;
  auto operand = [&](File file, unsigned first, unsigned count) {
    return registers(file == File::Agpr ? 'a' : 'v', first, count);
  };
  unsigned depthOfA = p.sparse ? p.depth / 2 : p.depth;
  std::string result = std::string(p.mnemonic) + " " +
                       operand(use.results, use.at.d, resultRows(p)) + ", " +
                       operand(use.inputs, use.at.a, rowsOf(p, p.a, depthOfA)) + ", " +
                       operand(use.inputs, use.at.b, rowsOf(p, p.b, p.depth)) + ", ";
  if (p.sparse)
    result += operand(File::Vgpr, use.at.index, 1);
  else
    result += use.constantText ? use.constantText : operand(use.results, use.at.c, resultRows(p));
  return result + " " + p.modifiers.str();
}

/// A wave with random integers in all lanes of A, B and C. Everything else is junk.
class ProductUnderTest {
  auto file(File which) {
    return [this, which](unsigned row, unsigned lane) -> uint32_t & {
      return which == File::Agpr ? test.agpr(row, lane) : test.vgpr(row, lane);
    };
  }

public:
  ProductUnderTest(const Use &use, std::vector<uint8_t> program, unsigned seed = 0)
      : p(use.product), at(use.at), inputs(use.inputs), results(use.results),
        constantC(use.constantText != nullptr), constant(use.constant),
        random(static_cast<unsigned>(textOf(use).size() + p.depth) + 1000 * seed),
        test(p.target, std::move(program)) {
    for (unsigned row = 0; row < 160; ++row)
      for (unsigned lane = 0; lane < 64; ++lane) {
        test.vgpr(row, lane) = 0x7f817f81 ^ row << 8 ^ lane;
        test.agpr(row, lane) = 0xff91ff91 ^ row << 8 ^ lane;
      }
    fill(at.a, p.a, p.sparse ? p.depth / 2 : p.depth, a);
    fill(at.b, p.b, p.depth, b);
    if (p.sparse)
      for (unsigned lane = 0; lane < 64; ++lane)
        test.vgpr(at.index, lane) = static_cast<uint32_t>(random());
    unsigned firstC = p.sparse ? at.d : at.c;
    for (unsigned i = 0; i < resultCount(p) && !constantC; ++i)
      for (unsigned lane = 0; lane < 64; ++lane) {
        c.push_back(static_cast<int>(random() % 2001) - 1000);
        putElement(file(results), firstC, bitsOf(resultOf(p)), i, lane,
                   code(resultOf(p), c.back()));
      }
    test.wave->setLaneMask(scalar::Exec, 1); // EXEC does not matter.
  }

  /// Runs it and compares all results.
  void check(MatrixRounding rounding) {
    test.roundMatricesAs(rounding);
    test.run();
    for (unsigned block = 0; block < p.blocks; ++block)
      for (unsigned row = 0; row < p.side; ++row)
        for (unsigned column = 0; column < p.side; ++column) {
          Place place = resultPlace(p, block, row, column);
          int sum = c.empty() ? constant : c[place.element * 64 + place.lane];
          sum += sumOfProducts(block, row, column);
          ASSERT_EQ(getElement(file(results), at.d, bitsOf(resultOf(p)), place.element, place.lane),
                    code(resultOf(p), sum) & mask(resultOf(p)))
              << "block " << block << ", row " << row << ", column " << column;
        }
  }

private:
  static uint64_t mask(Element element) { return ~uint64_t(0) >> (64 - bitsOf(element)); }
  /// values[element * 64 + lane]
  void fill(unsigned first, Element element, unsigned depth, std::vector<int> &values) {
    unsigned count = p.side * depth * p.blocks / 64;
    for (unsigned i = 0; i < count; ++i)
      for (unsigned lane = 0; lane < 64; ++lane) {
        values.push_back(randomValue(random, element));
        putElement(file(inputs), first, bitsOf(element), i, lane, code(element, values.back()));
      }
  }
  int sumOfProducts(unsigned block, unsigned row, unsigned column) {
    unsigned receivers = 1u << p.modifiers.cbsz, pattern = p.modifiers.blgp;
    bool isControl = choosesFormats(p) || p.sparse || p.a == F64;
    unsigned blockOfA = isControl ? block : block - block % receivers + p.modifiers.abid;
    auto valueOfB = [&](unsigned k) {
      Place place = operandPlace(p, p.b, p.depth, block, column, k);
      unsigned lane =
          isControl ? place.lane : lanePatterns[pattern][place.lane / 16] * 16 + place.lane % 16;
      return b[place.element * 64 + lane];
    };
    unsigned negated = p.a == F64 ? pattern : 0;
    EXPECT_EQ(negated, 0u) << "signs have a test of their own";
    int sum = 0;
    for (unsigned k = 0; k < (p.sparse ? p.depth / 2 : p.depth); ++k) {
      Place place = operandPlace(p, p.a, p.sparse ? p.depth / 2 : p.depth, blockOfA, row, k);
      unsigned kOfB = k;
      if (p.sparse) {
        // Two bits a stored value, in sets of as many bits as a lane's values need.
        unsigned stored = p.depth / 2 / (64 / p.side), sets = 32 / (2 * stored);
        unsigned set = p.modifiers.cbsz == 0 ? p.modifiers.abid % sets : 0;
        uint32_t index = test.vgpr(at.index, place.lane);
        kOfB = k / 2 * 4 + (index >> (2 * stored * set + 2 * place.element) & 3);
      }
      sum += a[place.element * 64 + place.lane] * valueOfB(kOfB);
    }
    return sum;
  }

  Product p;
  Registers at;
  File inputs, results;
  bool constantC;
  int constant;
  std::mt19937 random;
  WaveUnderTest test;
  std::vector<int> a, b, c;
};

/// Checks all uses; each target's code is assembled at once.
void check(const std::vector<Use> &uses) {
  std::map<std::string, std::vector<const Use *>> byTarget;
  for (const Use &use : uses)
    byTarget[use.product.target].push_back(&use);
  for (const auto &[target, usesOfTarget] : byTarget) {
    std::vector<std::string> texts;
    for (const Use *use : usesOfTarget)
      texts.push_back(textOf(*use));
    std::vector<std::vector<uint8_t>> programs = assemble(target, texts);
    ASSERT_EQ(programs.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      SCOPED_TRACE(target + ": " + texts[i]);
      // Every product has several uses.
      auto rounding = i % 2 ? MatrixRounding::Hardware : MatrixRounding::FusedMultiplyAdd;
      const Product &p = usesOfTarget[i]->product;
      unsigned rounds = std::max(1u, 256 / (p.side * p.side * p.blocks)); // Of 256 sums together.
      for (unsigned round = 0; round < rounds; ++round)
        ProductUnderTest(*usesOfTarget[i], programs[i], round).check(rounding);
    }
  }
}

// --- All instructions ---

#define BOTH(...)                                                                                  \
  {"gfx942", __VA_ARGS__}, { "gfx950", __VA_ARGS__ }
#define FLOAT8(TARGET, PREFIX, SHAPE, SIDE, DEPTH, FP8, BF8, ...)                                  \
  {TARGET, PREFIX SHAPE "_fp8_fp8", SIDE, DEPTH, 1, FP8, FP8, __VA_ARGS__},                        \
      {TARGET, PREFIX SHAPE "_fp8_bf8", SIDE, DEPTH, 1, FP8, BF8, __VA_ARGS__},                    \
      {TARGET, PREFIX SHAPE "_bf8_fp8", SIDE, DEPTH, 1, BF8, FP8, __VA_ARGS__}, {                  \
    TARGET, PREFIX SHAPE "_bf8_bf8", SIDE, DEPTH, 1, BF8, BF8, __VA_ARGS__                         \
  }
#define MFMA_FLOAT8(TARGET, SHAPE, SIDE, DEPTH, FP8, BF8)                                          \
  FLOAT8(TARGET, "v_mfma_f32_", SHAPE, SIDE, DEPTH, FP8, BF8, {})

const Product denseProducts[] = {
    BOTH("v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, F32, F32),
    BOTH("v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, F32, F32),
    BOTH("v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, F32, F32),
    BOTH("v_mfma_f32_32x32x2_f32", 32, 2, 1, F32, F32),
    BOTH("v_mfma_f32_16x16x4_f32", 16, 4, 1, F32, F32),
    BOTH("v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, F16, F16),
    BOTH("v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, F16, F16),
    BOTH("v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, F16, F16),
    BOTH("v_mfma_f32_32x32x8_f16", 32, 8, 1, F16, F16),
    BOTH("v_mfma_f32_16x16x16_f16", 16, 16, 1, F16, F16),
    BOTH("v_mfma_f32_32x32x4_2b_bf16", 32, 4, 2, BF16, BF16),
    BOTH("v_mfma_f32_16x16x4_4b_bf16", 16, 4, 4, BF16, BF16),
    BOTH("v_mfma_f32_4x4x4_16b_bf16", 4, 4, 16, BF16, BF16),
    BOTH("v_mfma_f32_32x32x8_bf16", 32, 8, 1, BF16, BF16),
    BOTH("v_mfma_f32_16x16x16_bf16", 16, 16, 1, BF16, BF16),
    BOTH("v_mfma_i32_32x32x4_2b_i8", 32, 4, 2, I8, I8),
    BOTH("v_mfma_i32_16x16x4_4b_i8", 16, 4, 4, I8, I8),
    BOTH("v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, I8, I8),
    BOTH("v_mfma_i32_32x32x16_i8", 32, 16, 1, I8, I8),
    BOTH("v_mfma_i32_16x16x32_i8", 16, 32, 1, I8, I8),
    BOTH("v_mfma_f64_16x16x4_f64", 16, 4, 1, F64, F64),
    BOTH("v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, F64, F64),
    {"gfx942", "v_mfma_f32_16x16x8_xf32", 16, 8, 1, XF32, XF32},
    {"gfx942", "v_mfma_f32_32x32x4_xf32", 32, 4, 1, XF32, XF32},
    MFMA_FLOAT8("gfx942", "16x16x32", 16, 32, Fp8Fnuz, Bf8Fnuz),
    MFMA_FLOAT8("gfx942", "32x32x16", 32, 16, Fp8Fnuz, Bf8Fnuz),
    MFMA_FLOAT8("gfx950", "16x16x32", 16, 32, Fp8Ocp, Bf8Ocp),
    MFMA_FLOAT8("gfx950", "32x32x16", 32, 16, Fp8Ocp, Bf8Ocp),
    {"gfx950", "v_mfma_f32_32x32x16_f16", 32, 16, 1, F16, F16},
    {"gfx950", "v_mfma_f32_16x16x32_f16", 16, 32, 1, F16, F16},
    {"gfx950", "v_mfma_f32_32x32x16_bf16", 32, 16, 1, BF16, BF16},
    {"gfx950", "v_mfma_f32_16x16x32_bf16", 16, 32, 1, BF16, BF16},
    {"gfx950", "v_mfma_i32_32x32x32_i8", 32, 32, 1, I8, I8},
    {"gfx950", "v_mfma_i32_16x16x64_i8", 16, 64, 1, I8, I8},
};

/// Also for several values of the modifiers that choose an index set.
std::vector<Product> sparseProducts() {
  const Product shapes[] = {
      BOTH("v_smfmac_f32_16x16x32_f16", 16, 32, 1, F16, F16, {}, true),
      BOTH("v_smfmac_f32_32x32x16_f16", 32, 16, 1, F16, F16, {}, true),
      BOTH("v_smfmac_f32_16x16x32_bf16", 16, 32, 1, BF16, BF16, {}, true),
      BOTH("v_smfmac_f32_32x32x16_bf16", 32, 16, 1, BF16, BF16, {}, true),
      BOTH("v_smfmac_i32_16x16x64_i8", 16, 64, 1, I8, I8, {}, true),
      BOTH("v_smfmac_i32_32x32x32_i8", 32, 32, 1, I8, I8, {}, true),
      FLOAT8("gfx942", "v_smfmac_f32_", "16x16x64", 16, 64, Fp8Fnuz, Bf8Fnuz, {}, true),
      FLOAT8("gfx942", "v_smfmac_f32_", "32x32x32", 32, 32, Fp8Fnuz, Bf8Fnuz, {}, true),
      FLOAT8("gfx950", "v_smfmac_f32_", "16x16x64", 16, 64, Fp8Ocp, Bf8Ocp, {}, true),
      FLOAT8("gfx950", "v_smfmac_f32_", "32x32x32", 32, 32, Fp8Ocp, Bf8Ocp, {}, true),
      FLOAT8("gfx950", "v_smfmac_f32_", "16x16x128", 16, 128, Fp8Ocp, Bf8Ocp, {}, true),
      FLOAT8("gfx950", "v_smfmac_f32_", "32x32x64", 32, 64, Fp8Ocp, Bf8Ocp, {}, true),
      {"gfx950", "v_smfmac_f32_16x16x64_f16", 16, 64, 1, F16, F16, {}, true},
      {"gfx950", "v_smfmac_f32_32x32x32_f16", 32, 32, 1, F16, F16, {}, true},
      {"gfx950", "v_smfmac_f32_16x16x64_bf16", 16, 64, 1, BF16, BF16, {}, true},
      {"gfx950", "v_smfmac_f32_32x32x32_bf16", 32, 32, 1, BF16, BF16, {}, true},
      {"gfx950", "v_smfmac_i32_16x16x128_i8", 16, 128, 1, I8, I8, {}, true},
      {"gfx950", "v_smfmac_i32_32x32x64_i8", 32, 64, 1, I8, I8, {}, true},
  };
  std::vector<Product> result;
  for (const Product &shape : shapes)
    for (Modifiers modifiers : {Modifiers{}, {0, 1}, {0, 2}, {0, 3}, {1, 3}, {3, 0}}) {
      result.push_back(shape);
      result.back().modifiers = modifiers;
    }
  return result;
}

/// Each pair of formats.
std::vector<Product> chosenFormats() {
  static constexpr Element formats[] = {Fp8Ocp, Bf8Ocp, Fp6, Bf6, Fp4};
  std::vector<Product> result;
  for (unsigned i = 0; i < 25; ++i) {
    Element a = formats[i / 5], b = formats[i % 5];
    Modifiers modifiers = {i / 5, 0, i % 5};
    result.push_back({"gfx950", "v_mfma_f32_16x16x128_f8f6f4", 16, 128, 1, a, b, modifiers});
    result.push_back({"gfx950", "v_mfma_f32_32x32x64_f8f6f4", 32, 64, 1, a, b, modifiers});
  }
  return result;
}

/// Every way to name the registers of these.
std::vector<Use> allUses(llvm::ArrayRef<Product> products) {
  std::vector<Use> uses;
  for (const Product &p : products) {
    uses.push_back({p});
    uses.push_back({p, {}, File::Agpr, File::Agpr});
    uses.push_back({p, {}, File::Agpr, File::Vgpr});
    Registers inPlace, overA;
    inPlace.d = inPlace.c;
    uses.push_back({p, inPlace});
    if (p.sparse)
      continue; // Adds to its destination.
    overA.d = overA.a;
    uses.push_back({p, overA});
    uses.push_back({p, {}, File::Vgpr, File::Vgpr, "0", 0});
    if (resultOf(p) == I32)
      uses.push_back({p, {}, File::Vgpr, File::Agpr, "-7", -7});
    else
      uses.push_back({p, {}, File::Vgpr, File::Agpr, "-4.0", -4});
  }
  return uses;
}
TEST(DeviceMatrix, DenseProductsOfIntegersAreExact) { check(allUses(denseProducts)); }
TEST(DeviceMatrix, SparseProductsOfIntegersAreExact) { check(allUses(sparseProducts())); }
TEST(DeviceMatrix, EachPairOfFormatsIsExact) { check(allUses(chosenFormats())); }

// --- Modifiers ---

TEST(DeviceMatrixModifiers, BlocksAndLanesAreBroadcast) {
  std::vector<Use> uses;
  for (const Product &shape : denseProducts) {
    if (shape.a == F64 || shape.a == XF32 || (shape.blocks == 1 && shape.a != F32))
      continue;
    for (unsigned size = 0; 1u << size <= shape.blocks; ++size)
      for (unsigned block = 0; block < 1u << size; ++block)
        for (unsigned pattern = 0; pattern < 8; ++pattern)
          if ((size + block + pattern) % 3 == 0) { // A third of all; every value of each field.
            uses.push_back({shape});
            uses.back().product.modifiers = {size, block, pattern};
          }
  }
  check(uses);
}

/// What AMD documents for other instructions is refused where a row does not have it.
TEST(DeviceMatrixModifiers, OthersAreRefused) {
  for (const char *text : {"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3] blgp:1",
                           "v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], 0 cbsz:1",
                           "v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[6:7], 0 blgp:2",
                           "v_mfma_f32_32x32x4_2b_f16 v[0:31], v[32:33], v[34:35], 0 cbsz:2",
                           "v_mfma_f32_32x32x4_2b_f16 v[0:31], v[32:33], v[34:35], 0 abid:1"}) {
    std::vector<uint8_t> code = assemble("gfx942", {std::string(text)})[0];
    auto program = llvm::cantFail(Program::decode(code, 0x1000, "gfx942"));
    auto refusals = program->refusals(0x1000, 0x1000 + code.size());
    ASSERT_EQ(refusals.size(), 1u) << text;
    EXPECT_EQ(refusals[0].mnemonic.find("v_mfma"), 0u);
  }
}

TEST(DeviceMatrixModifiers, DoublesTakeSigns) {
  for (unsigned signs = 0; signs < 8; ++signs) {
    std::string neg = std::string(" neg:[") + (signs & 1 ? "1," : "0,") +
                      (signs & 2 ? "1," : "0,") + (signs & 4 ? "1]" : "0]");
    WaveUnderTest test("gfx942",
                       "v_mfma_f64_16x16x4_f64 v[8:15], v[0:1], v[2:3], v[16:23]" + neg + "\n");
    auto set = [&](unsigned row, double value) {
      for (unsigned lane = 0; lane < 64; ++lane)
        putElement([&](unsigned r, unsigned l) -> uint32_t & { return test.vgpr(r, l); }, row, 64,
                   0, lane, std::bit_cast<uint64_t>(value + lane % 16));
    };
    set(0, 3), set(2, 5);
    for (unsigned i = 0; i < 4; ++i)
      set(16 + 2 * i, 1000);
    test.run();
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned column = 0; column < 16; ++column) {
        double product = (3.0 + row) * (5.0 + column) * 4;
        double expected = ((signs & 1) != (signs >> 1 & 1) ? -product : product) +
                          (signs & 4 ? -1000.0 - column : 1000.0 + column);
        uint64_t bits =
            getElement([&](unsigned r, unsigned l) -> uint32_t & { return test.vgpr(r, l); },
                       8 + row / 4 * 2, 64, 0, 16 * (row % 4) + column);
        ASSERT_EQ(std::bit_cast<double>(bits), expected) << neg;
      }
  }
}

// --- Scales ---

/// A product with scales: a byte of a dword of each lane, which op_sel and op_sel_hi name.
struct ScaledUse {
  unsigned side, depth, formatA, formatB, byteA, byteB;

  Element element(unsigned format) const {
    static constexpr Element formats[] = {Fp8Ocp, Bf8Ocp, Fp6, Bf6, Fp4};
    return formats[format];
  }
  Product product() const {
    const char *name =
        side == 16 ? "v_mfma_scale_f32_16x16x128_f8f6f4" : "v_mfma_scale_f32_32x32x64_f8f6f4";
    return {"gfx950", name, side, depth, 1, element(formatA), element(formatB)};
  }
  std::string text() const {
    auto bits = [&](unsigned bit) {
      return std::to_string(byteA >> bit & 1) + "," + std::to_string(byteB >> bit & 1) + ",0]";
    };
    Product p = product();
    return std::string(p.mnemonic) + " " + registers('v', 100, resultCount(p)) + ", " +
           registers('v', 0, bitsOf(p.a)) + ", " + registers('v', 32, bitsOf(p.b)) + ", " +
           registers('v', 100, resultCount(p)) + ", v80, v81 op_sel:[" + bits(0) + " op_sel_hi:[" +
           bits(1) + " cbsz:" + std::to_string(formatA) + " blgp:" + std::to_string(formatB);
  }
};
/// The scale of k 32 b to 32 b + 31 of row m is in lane side * b + m, whatever lane holds the
/// elements.
void checkScales(const ScaledUse &use, std::vector<uint8_t> program, MatrixRounding rounding) {
  auto [side, depth, formatA, formatB, byteA, byteB] = use;
  Product p = use.product();
  Element a = p.a, b = p.b;
  unsigned results = resultCount(p);
  WaveUnderTest test("gfx950", std::move(program));
  test.roundMatricesAs(rounding);
  auto file = [&](unsigned r, unsigned l) -> uint32_t & { return test.vgpr(r, l); };
  std::mt19937 random(formatA * 5 + formatB);
  std::vector<int> left(side * depth), right(side * depth);
  for (unsigned m = 0; m < side; ++m)
    for (unsigned k = 0; k < depth; ++k) {
      Place place = operandPlace(p, a, depth, 0, m, k);
      left[m * depth + k] = randomValue(random, a);
      putElement(file, 0, bitsOf(a), place.element, place.lane, code(a, left[m * depth + k]));
      place = operandPlace(p, b, depth, 0, m, k);
      right[m * depth + k] = randomValue(random, b);
      putElement(file, 32, bitsOf(b), place.element, place.lane, code(b, right[m * depth + k]));
    }
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(80, lane) = static_cast<uint32_t>(random());
    test.vgpr(81, lane) = static_cast<uint32_t>(random());
    putElement(file, 80, 8, byteA, lane, 127 + lane * 7 % 5);
    putElement(file, 81, 8, byteB, lane, 127 + lane * 3 % 5);
    for (unsigned i = 0; i < results; ++i)
      test.vgpr(100 + i, lane) = std::bit_cast<uint32_t>(static_cast<float>(lane + i));
  }
  test.run();
  for (unsigned row = 0; row < side; ++row)
    for (unsigned column = 0; column < side; ++column) {
      Place place = resultPlace(p, 0, row, column);
      int sum = static_cast<int>(place.lane + place.element);
      for (unsigned k = 0; k < depth; ++k) {
        unsigned laneA = side * (k / 32) + row, laneB = side * (k / 32) + column;
        sum += left[row * depth + k] * right[column * depth + k] << (laneA * 7 % 5 + laneB * 3 % 5);
      }
      ASSERT_EQ(test.vgpr(100 + place.element, place.lane),
                std::bit_cast<uint32_t>(static_cast<float>(sum)))
          << use.text() << ", row " << row << ", column " << column;
    }
}
TEST(DeviceMatrixScale, EachBlockOf32HasItsScale) {
  std::vector<ScaledUse> uses;
  std::vector<std::string> texts;
  for (unsigned a = 0; a < 5; ++a)
    for (unsigned b = 0; b < 5; ++b) {
      uses.push_back({16, 128, a, b, (a + b) % 4, (a + 2 * b + 1) % 4});
      uses.push_back({32, 64, a, b, (a + 3 * b) % 4, (a + b + 2) % 4});
    }
  for (const ScaledUse &use : uses)
    texts.push_back(use.text());
  std::vector<std::vector<uint8_t>> programs = assemble("gfx950", texts);
  for (size_t i = 0; i < uses.size(); ++i)
    for (MatrixRounding rounding : {MatrixRounding::FusedMultiplyAdd, MatrixRounding::Hardware})
      checkScales(uses[i], programs[i], rounding);
}

float scaledOnes(uint32_t scaleA, uint32_t scaleB, float c) {
  WaveUnderTest test("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[100:103], v[0:3], v[32:35], "
                               "v[100:103], v80, v81 op_sel_hi:[0,0,0] cbsz:4 blgp:4\n");
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      test.vgpr(i, lane) = test.vgpr(32 + i, lane) = 0x22222222; // 1.0
      test.vgpr(100 + i, lane) = std::bit_cast<uint32_t>(c);
    }
    test.vgpr(80, lane) = scaleA, test.vgpr(81, lane) = scaleB;
  }
  test.run();
  return std::bit_cast<float>(test.vgpr(102, 17));
}
TEST(DeviceMatrixScale, MayLieOutsideTheRangeOfResults) {
  EXPECT_EQ(scaledOnes(127, 127, 0), 128.0f);
  EXPECT_EQ(scaledOnes(0, 254, 0), 128.0f);
  EXPECT_EQ(scaledOnes(254, 0, 2), 130.0f);
  EXPECT_EQ(scaledOnes(0, 0, 0), 0.0f);
  EXPECT_EQ(scaledOnes(0, 110, 0), std::ldexp(128.0f, -144));
  EXPECT_EQ(scaledOnes(254, 128, 0), INFINITY);
  EXPECT_EQ(std::bit_cast<uint32_t>(scaledOnes(255, 127, 0)), 0x7fc00000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(scaledOnes(127, 255, 0)), 0x7fc00000u);
}
// --- Special values ---

TEST(DeviceMatrixSpecial, NaNMeetsOneRowAndColumn) {
  WaveUnderTest test("gfx950", "v_mfma_f32_16x16x16_bf16 v[100:103], v[0:1], v[32:33], 1.0\n");
  // A[5][9] is NaN, all else 0: row 5 of the result is NaN.
  test.vgpr(0, 16 * (9 / 4) + 5) = 0x7fc1u << 16;
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(test.vgpr(100 + i, lane), 4 * (lane / 16) + i == 5 ? 0x7fc00000u : 0x3f800000u);
}

TEST(DeviceMatrixSpecial, Float16DenormalsAndInfinities) {
  for (bool flush : {false, true}) {
    WaveUnderTest test("gfx942", "v_mfma_f32_16x16x16_f16 v[100:103], v[0:1], v[32:33], 0\n");
    test.vgpr(0, 3) = 0x0001;  // A[3][0] = 2^-24
    test.vgpr(32, 7) = 0x4000; // B[0][7] = 2
    test.vgpr(0, 8) = 0x7c00;  // A[8][0] = infinity
    test.wave->mode.set(flush ? 0x300 : 0x3f0);
    test.run();
    auto element = [&](unsigned row, unsigned column) {
      return test.vgpr(100 + row % 4, 16 * (row / 4) + column);
    };
    EXPECT_EQ(element(3, 7), std::bit_cast<uint32_t>(std::ldexp(1.0f, -23)));
    EXPECT_EQ(element(8, 7), 0x7f800000u);
    EXPECT_EQ(element(8, 6), 0x7fc00000u); // Infinity times 0.
  }
}

/// MODE does not matter: f32 denormals are kept as sources, as C and as results.
TEST(DeviceMatrixSpecial, Float32DenormalsAreKeptInEveryMode) {
  WaveUnderTest test("gfx942", "v_mfma_f32_16x16x4_f32 v[4:7], v0, v1, v[8:11]\n");
  test.vgpr(0, 2) = 0x00000003; // A[2][0]
  test.vgpr(1, 9) = 0x40000000; // B[0][9] = 2
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(8 + 2, lane) = 0x00000010;
  test.wave->mode.set(0x3c0);
  test.run();
  EXPECT_EQ(test.vgpr(4 + 2, 9), 0x16u);
  EXPECT_EQ(test.vgpr(4 + 2, 8), 0x10u);
}

/// Only the values that are stored are multiplied: no zero meets an infinity.
TEST(DeviceMatrixSpecial, SparseProductsSkipInfinities) {
  WaveUnderTest test("gfx942", "v_smfmac_f32_16x16x32_f16 v[100:103], v[0:1], v[32:35], v50\n");
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(50, lane) = 0x55 & ~0x11u; // Places 0 and 1 of each four.
    for (unsigned i = 0; i < 2; ++i)
      test.vgpr(i, lane) = 0x3c003c00;
    for (unsigned i = 0; i < 4; ++i)
      test.vgpr(32 + i, lane) = i % 2 ? 0x7c007c00 : 0x40003c00; // 1, 2, infinity, infinity
  }
  test.run();
  EXPECT_EQ(test.vgpr(101, 33), std::bit_cast<uint32_t>(24.0f));
}

/// Bits that xf32 does not have are cut, but a NaN whose payload is in them remains one.
TEST(DeviceMatrixSpecial, XFloat32IsCut) {
  WaveUnderTest test("gfx942", "v_mfma_f32_16x16x8_xf32 v[4:7], v[0:1], v[2:3], 0\n");
  test.vgpr(0, 1) = 0x3f801fff; // A[1][0] = 1 and what is cut
  test.vgpr(0, 2) = 0x7f800001; // A[2][0] is NaN
  test.vgpr(2, 3) = 0xc0401fff; // B[0][3] = -3 and what is cut
  test.run();
  EXPECT_EQ(test.vgpr(4 + 1, 3), std::bit_cast<uint32_t>(-3.0f));
  EXPECT_EQ(test.vgpr(4 + 2, 3), 0x7fc00000u);
}

/// Assemblers refuse a D that overlaps C in part; here D is moved on by two registers.
TEST(DeviceMatrixSpecial, ResultsMayOverlapASourceInPart) {
  std::vector<uint8_t> code =
      assemble("gfx942", {"v_mfma_f32_32x32x2_f32 v[16:31], v0, v1, v[16:31]"})[0];
  ASSERT_EQ(code[0], 16);
  code[0] = 18;
  WaveUnderTest test("gfx942", code);
  for (unsigned lane = 0; lane < 64; ++lane) {
    test.vgpr(0, lane) = test.vgpr(1, lane) = 0x3f800000;
    for (unsigned i = 0; i < 16; ++i)
      test.vgpr(16 + i, lane) = std::bit_cast<uint32_t>(static_cast<float>(100 * i + lane));
  }
  test.run();
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 16; ++i)
      EXPECT_EQ(std::bit_cast<float>(test.vgpr(18 + i, lane)),
                static_cast<float>(100 * i + lane + 2));
}

// --- Completeness ---

TEST(DeviceMatrixTables, EveryRowOfTheseTargetsIsTested) {
  std::set<std::string> tested;
  auto add = [&](const auto &products) {
    for (const Product &p : products)
      tested.insert(p.mnemonic);
  };
  add(denseProducts), add(sparseProducts()), add(chosenFormats());
  tested.insert("v_mfma_scale_f32_16x16x128_f8f6f4");
  tested.insert("v_mfma_scale_f32_32x32x64_f8f6f4");
  const InstructionTables &tables = *instructionTables();
  for (size_t t = 0; t < tables.count; ++t)
    for (size_t i = 0; i < tables.begin[t].count; ++i) {
      const Instruction &row = tables.begin[t].begin[i];
      llvm::StringRef name = llvm::StringRef(row.names).split('@').first;
      if (row.isMatrixProduct() && name.contains("fma"))
        EXPECT_TRUE(tested.count(name.str())) << row.names;
    }
}

} // namespace
} // namespace wavetile::device::test
