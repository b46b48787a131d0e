//===- DeviceWaveMatrixTest.cpp - Matrix instructions (RDNA) --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every WMMA and SWMMAC in waves of 32 and of 64 lanes with random integers, whose products are
// exact. Where elements lie in registers is what AMD's matrix instruction calculator says.
//
//===----------------------------------------------------------------------===//

#include "DeviceMatrixSupport.h"

#include "runtime/emulator/Instruction.h"

#include <map>
#include <set>

namespace wavetile::device::test {
namespace {

using enum Element;

struct Product {
  const char *target, *mnemonic;
  unsigned depth;
  Element a, b, result;
  bool sparse = false;
};

constexpr Product products[] = {
    {"gfx1100", "v_wmma_f32_16x16x16_f16", 16, F16, F16, F32},
    {"gfx1100", "v_wmma_f32_16x16x16_bf16", 16, BF16, BF16, F32},
    {"gfx1100", "v_wmma_f16_16x16x16_f16", 16, F16, F16, F16},
    {"gfx1100", "v_wmma_bf16_16x16x16_bf16", 16, BF16, BF16, BF16},
    {"gfx1100", "v_wmma_i32_16x16x16_iu8", 16, I8, U8, I32},
    {"gfx1100", "v_wmma_i32_16x16x16_iu4", 16, U4, I4, I32},
    {"gfx1151", "v_wmma_f32_16x16x16_f16", 16, F16, F16, F32},
    {"gfx1151", "v_wmma_f32_16x16x16_bf16", 16, BF16, BF16, F32},
    {"gfx1151", "v_wmma_f16_16x16x16_f16", 16, F16, F16, F16},
    {"gfx1151", "v_wmma_bf16_16x16x16_bf16", 16, BF16, BF16, BF16},
    {"gfx1151", "v_wmma_i32_16x16x16_iu8", 16, I8, U8, I32},
    {"gfx1151", "v_wmma_i32_16x16x16_iu4", 16, U4, I4, I32},
    {"gfx1150", "v_wmma_f32_16x16x16_f16", 16, F16, F16, F32},
    {"gfx1150", "v_wmma_f32_16x16x16_bf16", 16, BF16, BF16, F32},
    {"gfx1150", "v_wmma_f16_16x16x16_f16", 16, F16, F16, F16},
    {"gfx1150", "v_wmma_bf16_16x16x16_bf16", 16, BF16, BF16, BF16},
    {"gfx1150", "v_wmma_i32_16x16x16_iu8", 16, I8, U8, I32},
    {"gfx1150", "v_wmma_i32_16x16x16_iu4", 16, U4, I4, I32},
    {"gfx1201", "v_wmma_f32_16x16x16_f16", 16, F16, F16, F32},
    {"gfx1201", "v_wmma_f32_16x16x16_bf16", 16, BF16, BF16, F32},
    {"gfx1201", "v_wmma_f16_16x16x16_f16", 16, F16, F16, F16},
    {"gfx1201", "v_wmma_bf16_16x16x16_bf16", 16, BF16, BF16, BF16},
    {"gfx1201", "v_wmma_f32_16x16x16_fp8_fp8", 16, Fp8Ocp, Fp8Ocp, F32},
    {"gfx1201", "v_wmma_f32_16x16x16_fp8_bf8", 16, Fp8Ocp, Bf8Ocp, F32},
    {"gfx1201", "v_wmma_f32_16x16x16_bf8_fp8", 16, Bf8Ocp, Fp8Ocp, F32},
    {"gfx1201", "v_wmma_f32_16x16x16_bf8_bf8", 16, Bf8Ocp, Bf8Ocp, F32},
    {"gfx1201", "v_wmma_i32_16x16x16_iu8", 16, U8, I8, I32},
    {"gfx1201", "v_wmma_i32_16x16x16_iu4", 16, I4, U4, I32},
    {"gfx1201", "v_wmma_i32_16x16x32_iu4", 32, I4, I4, I32},
    {"gfx1201", "v_swmmac_f32_16x16x32_f16", 32, F16, F16, F32, true},
    {"gfx1201", "v_swmmac_f32_16x16x32_bf16", 32, BF16, BF16, F32, true},
    {"gfx1201", "v_swmmac_f16_16x16x32_f16", 32, F16, F16, F16, true},
    {"gfx1201", "v_swmmac_bf16_16x16x32_bf16", 32, BF16, BF16, BF16, true},
    {"gfx1201", "v_swmmac_f32_16x16x32_fp8_fp8", 32, Fp8Ocp, Fp8Ocp, F32, true},
    {"gfx1201", "v_swmmac_f32_16x16x32_fp8_bf8", 32, Fp8Ocp, Bf8Ocp, F32, true},
    {"gfx1201", "v_swmmac_f32_16x16x32_bf8_fp8", 32, Bf8Ocp, Fp8Ocp, F32, true},
    {"gfx1201", "v_swmmac_f32_16x16x32_bf8_bf8", 32, Bf8Ocp, Bf8Ocp, F32, true},
    {"gfx1201", "v_swmmac_i32_16x16x32_iu8", 32, I8, I8, I32, true},
    {"gfx1201", "v_swmmac_i32_16x16x32_iu4", 32, U4, I4, I32, true},
    {"gfx1201", "v_swmmac_i32_16x16x64_iu4", 64, I4, U4, I32, true},
};

bool isOlder(const Product &p) { return std::string(p.target) != "gfx1201"; }

// --- Places on gfx12 ---

/// Register and first bit in it, and lane without the row or column.
struct Place {
  unsigned row, bit, lane;
};

/// Of A's or B's k; dense products.
Place densePlace(unsigned bits, unsigned depth, unsigned waveSize, unsigned k) {
  unsigned row = 0, lane = 0;
  if (waveSize == 32) {
    if (bits == 16)
      row = 2 * (k / 8) + k / 2 % 2, lane = 16 * (k / 4 % 2);
    else if (bits == 8)
      row = k / 4 % 2, lane = 16 * (k / 8);
    else if (depth == 32)
      row = k / 8 % 2, lane = 16 * (k / 16);
    else
      lane = 16 * (k / 8);
  } else {
    if (bits == 16)
      row = k / 2 % 2, lane = 32 * (k / 8 % 2) + 16 * (k / 4 % 2);
    else if (bits == 8)
      lane = 32 * (k / 4 % 2) + 16 * (k / 8 % 2);
    else if (depth == 16)
      lane = 16 * (k / 8);
    else
      lane = 32 * (k / 8 % 2) + 16 * (k / 16 % 2);
  }
  return {row, bits * (k % (32 / bits)), lane};
}
/// Of the lanes of a sparse product's k.
unsigned sparseLane(unsigned bits, unsigned depth, unsigned waveSize, unsigned k, bool isA) {
  if (waveSize == 32)
    return bits == 16 ? 16 * (k / 8 % 2) : depth == 32 ? 16 * (k / 16) : 16 * (k / 32);
  if (bits == 16)
    return 16 * (k / 8);
  if (depth == 64)
    return 32 * (k / 16 % 2) + 16 * (k / 32);
  if (bits == 4 && isA)
    return 16 * (k / 16);
  return 32 * (k / 8 % 2) + 16 * (k / 16);
}
/// Of B's k in a sparse product.
Place sparsePlaceOfB(unsigned bits, unsigned depth, unsigned waveSize, unsigned k) {
  unsigned row = 0;
  if (waveSize == 32)
    row = bits == 16    ? 4 * (k / 16) + k / 2 % 4
          : bits == 8   ? k / 4 % 4
          : depth == 32 ? k / 8 % 2
                        : k / 8 % 4;
  else
    row = bits == 16 ? k / 2 % 4 : bits == 8 ? k / 4 % 2 : depth == 64 ? k / 8 % 2 : 0;
  return {row, bits * (k % (32 / bits)), sparseLane(bits, depth, waveSize, k, false)};
}
/// Of the two values that a sparse A stores of k to k + 3, the first.
Place sparsePlaceOfA(unsigned bits, unsigned depth, unsigned waveSize, unsigned k) {
  unsigned row = 0, bit = 0;
  if (bits == 16)
    row = waveSize == 32 ? 2 * (k / 16) + k / 4 % 2 : k / 4 % 2;
  else if (waveSize == 32)
    row = bits == 8 ? k / 8 % 2 : depth == 64 ? k / 16 % 2 : 0;
  if (bits != 16)
    bit = 2 * bits * (k / 4 % (16 / bits));
  return {row, bit, sparseLane(bits, depth, waveSize, k, true)};
}
/// The first of the four index bits of k to k + 3, and how many sets there are.
std::pair<unsigned, unsigned> indexBits(unsigned bits, unsigned depth, unsigned waveSize,
                                        unsigned k) {
  if (waveSize == 32) {
    if (bits == 16)
      return {8 * (k / 16) + 4 * (k / 4 % 2), 2};
    return depth == 64 ? std::pair{4 * (k / 4 % 8), 1u} : std::pair{4 * (k / 4 % 4), 2u};
  }
  return bits == 4 ? std::pair{4 * (k / 4 % 4), 2u} : std::pair{4 * (k / 4 % 2), 4u};
}

/// Of (row, column) of C and D.
Place resultPlace(const Product &p, unsigned waveSize, unsigned row, unsigned column,
                  unsigned half) {
  bool is16Bit = bitsOf(p.result) == 16;
  if (isOlder(p)) {
    unsigned rowsOfRegister = waveSize / 16;
    return {row / rowsOfRegister, is16Bit ? 16 * half : 0, row % rowsOfRegister * 16 + column};
  }
  unsigned of32 = waveSize == 32 ? row % 8 : row % 4;
  unsigned lane = waveSize == 32 ? 16 * (row / 8) : 32 * (row / 4 % 2) + 16 * (row / 8);
  return {is16Bit ? of32 / 2 : of32, is16Bit ? 16 * (row % 2) : 0, lane + column};
}

// --- One use of an instruction ---

struct Use {
  Product product;
  unsigned waveSize;
  unsigned indexSet = 0, half = 0;
  unsigned negLow = 0, negHigh = 0; ///< Bits for A, B and C.
  MatrixRounding rounding = MatrixRounding::FusedMultiplyAdd;
};
/// Registers of A, B, C, D and the index.
constexpr unsigned firstA = 0, firstB = 16, firstC = 32, firstD = 48, indexRegister = 60;

bool isSigned(Element element) { return element == I8 || element == I4; }

std::string list(const char *name, unsigned bits) {
  if (bits == 0)
    return "";
  auto bit = [&](unsigned i) { return std::to_string(bits >> i & 1); };
  return std::string(" ") + name + ":[" + bit(0) + "," + bit(1) + "," + bit(2) + "]";
}
std::string textOf(const Use &use) {
  const Product &p = use.product;
  auto rows = [&](Element element, unsigned depth) {
    unsigned elements = isOlder(p) ? depth : 16 * depth / use.waveSize;
    return std::max(1u, elements * bitsOf(element) / 32);
  };
  unsigned results = 256 / use.waveSize;
  if (!isOlder(p) && bitsOf(p.result) == 16)
    results /= 2;
  std::string text =
      std::string(p.mnemonic) + " " + registers('v', firstD, results) + ", " +
      registers('v', firstA, rows(p.a, p.sparse ? p.depth / 2 : p.depth)) + ", " +
      registers('v', firstB, rows(p.b, p.depth)) + ", " +
      (p.sparse ? registers('v', indexRegister, 1) : registers('v', firstC, results));
  if (p.sparse && use.indexSet)
    text += " index_key:" + std::to_string(use.indexSet);
  if (use.half)
    text += " op_sel:[0,0,1]";
  unsigned negLow = use.negLow;
  if (p.result == I32)
    negLow = (isSigned(p.a) ? 1 : 0) | (isSigned(p.b) ? 2 : 0);
  text += list("neg_lo", negLow) + list("neg_hi", use.negHigh);
  return text;
}

/// A value small enough for sums of 16 bits to be exact.
int smallValue(std::mt19937 &random, const Product &p, Element element) {
  int value = randomValue(random, element);
  return bitsOf(p.result) == 16 ? value % (p.result == BF16 ? 2 : 5) : value;
}

void run(const Use &use, std::vector<uint8_t> program) {
  const Product &p = use.product;
  WaveUnderTest test(p.target, std::move(program), use.waveSize);
  test.roundMatricesAs(use.rounding);
  std::mt19937 random(p.depth + use.waveSize + static_cast<unsigned>(textOf(use).size()));
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned lane = 0; lane < use.waveSize; ++lane)
      test.vgpr(row, lane) = 0x7f817f81 ^ row << 8 ^ lane;
  auto put = [&](unsigned first, Place place, unsigned lane, unsigned bits, uint64_t value) {
    auto file = [&](unsigned r, unsigned l) -> uint32_t & { return test.vgpr(r, l); };
    for (unsigned i = 0; i < bits; ++i)
      putElement(file, first + place.row, 1, place.bit + i, lane, value >> i & 1);
  };
  int a[16][64], b[16][64], place[16][64];
  unsigned bits = bitsOf(p.a), stored = p.sparse ? p.depth / 2 : p.depth;
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned j = 0; j < stored; ++j) {
      a[row][j] = smallValue(random, p, p.a), place[row][j] = static_cast<int>(j);
      uint64_t codeOfA = code(p.a, a[row][j]);
      if (isOlder(p)) {
        for (unsigned lane = row; lane < use.waveSize; lane += 16) // Each group has a copy.
          put(firstA, {j * bits / 32, j * bits % 32, 0}, lane, bits, codeOfA);
        continue;
      }
      if (!p.sparse) {
        Place at = densePlace(bits, p.depth, use.waveSize, j);
        put(firstA, at, at.lane + row, bits, codeOfA);
        continue;
      }
      unsigned k = j / 2 * 4;
      Place at = sparsePlaceOfA(bits, p.depth, use.waveSize, k);
      at.bit += j % 2 * bits;
      put(firstA, at, at.lane + row, bits, codeOfA);
      auto [bit, sets] = indexBits(bits, p.depth, use.waveSize, k);
      unsigned index = static_cast<unsigned>(random()) % 4;
      place[row][j] = static_cast<int>(k + index);
      put(indexRegister, {0, bit + 32 / sets * (use.indexSet % sets) + j % 2 * 2, 0}, at.lane + row,
          2, index);
    }
    for (unsigned k = 0; k < p.depth; ++k) {
      b[row][k] = smallValue(random, p, p.b);
      uint64_t codeOfB = code(p.b, b[row][k]);
      if (isOlder(p)) {
        for (unsigned lane = row; lane < use.waveSize; lane += 16)
          put(firstB, {k * bits / 32, k * bits % 32, 0}, lane, bits, codeOfB);
        continue;
      }
      Place at = p.sparse ? sparsePlaceOfB(bits, p.depth, use.waveSize, k)
                          : densePlace(bits, p.depth, use.waveSize, k);
      put(firstB, at, at.lane + row, bits, codeOfB);
    }
  }
  int c[16][16];
  unsigned firstSum = p.sparse ? firstD : firstC;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      c[row][column] = static_cast<int>(random() % 201) - 100;
      Place at = resultPlace(p, use.waveSize, row, column, use.half);
      put(firstSum, at, at.lane, bitsOf(p.result), code(p.result, c[row][column]));
    }
  uint32_t before = test.vgpr(firstD, 3);
  test.wave->setLaneMask(scalar::Exec, 1); // EXEC does not matter.
  test.run();
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      int sum = c[row][column];
      if (use.negHigh & 4)
        sum = std::abs(sum);
      if (use.negLow & 4)
        sum = -sum;
      for (unsigned j = 0; j < stored; ++j) {
        unsigned k = static_cast<unsigned>(place[row][j]);
        int left = a[row][j], right = b[column][k];
        if ((j % 2 ? use.negHigh : use.negLow) & 1)
          left = -left;
        if ((k % 2 ? use.negHigh : use.negLow) & 2)
          right = -right;
        sum += left * right;
      }
      Place at = resultPlace(p, use.waveSize, row, column, use.half);
      uint32_t word = test.vgpr(firstD + at.row, at.lane);
      uint32_t mask = bitsOf(p.result) == 16 ? 0xffff : ~0u;
      ASSERT_EQ(word >> at.bit & mask, code(p.result, sum))
          << "row " << row << ", column " << column;
    }
  if (isOlder(p) && bitsOf(p.result) == 16) { // The other half stays.
    unsigned shift = use.half ? 0 : 16;
    EXPECT_EQ(test.vgpr(firstD, 3) >> shift & 0xffff, before >> shift & 0xffff);
  }
}

void check(const std::vector<Use> &uses) {
  std::map<std::pair<std::string, unsigned>, std::vector<const Use *>> groups;
  for (const Use &use : uses)
    groups[{use.product.target, use.waveSize}].push_back(&use);
  for (const auto &[key, group] : groups) {
    std::vector<std::string> texts;
    for (const Use *use : group)
      texts.push_back(textOf(*use));
    std::vector<std::vector<uint8_t>> programs = assemble(key.first, texts, key.second);
    for (size_t i = 0; i < group.size(); ++i) {
      SCOPED_TRACE(key.first + ", wave of " + std::to_string(key.second) + ": " + texts[i]);
      run(*group[i], programs[i]);
    }
  }
}

TEST(DeviceWaveMatrix, ProductsOfIntegersAreExact) {
  std::vector<Use> uses;
  for (const Product &p : products)
    for (unsigned waveSize : {32u, 64u})
      for (MatrixRounding rounding : {MatrixRounding::FusedMultiplyAdd, MatrixRounding::Hardware}) {
        Use use = {p, waveSize};
        use.rounding = rounding;
        uses.push_back(use);
        unsigned sets = p.sparse ? indexBits(bitsOf(p.a), p.depth, waveSize, 0).second : 1;
        for (use.indexSet = 1; use.indexSet < sets; ++use.indexSet)
          uses.push_back(use);
        use.indexSet = 0;
        if (isOlder(p) && bitsOf(p.result) == 16) {
          use.half = 1;
          uses.push_back(use);
        }
      }
  check(uses);
}

TEST(DeviceWaveMatrix, SignsOfHalvesAndOfC) {
  std::vector<Use> uses;
  for (const Product &p : products)
    for (unsigned waveSize : {32u, 64u})
      for (unsigned bits = 0; bits < 64 && p.result != I32 && bitsOf(p.a) == 16; bits += 5) {
        Use use = {p, waveSize};
        use.negLow = bits & 7, use.negHigh = bits >> 3;
        if (p.sparse)
          use.negLow &= 3, use.negHigh &= 3; // There is no third operand to negate.
        uses.push_back(use);
      }
  check(uses);
}

TEST(DeviceWaveMatrix, IntegerSumsSaturateWithClamp) {
  for (const char *clamp : {"", " clamp"}) {
    WaveUnderTest test("gfx1150", std::string("v_wmma_i32_16x16x16_iu8 v[16:23], v[0:3], v[4:7], "
                                              "v[8:15] neg_lo:[1,1,0]") +
                                      clamp);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < 8; ++i) {
        if (i < 4)
          test.vgpr(i, lane) = 0x7f7f7f7f, test.vgpr(4 + i, lane) = 0x7f7f7f7f;
        test.vgpr(8 + i, lane) = 0x7fffffff;
      }
    for (unsigned lane = 0; lane < 32; lane += 16)
      for (unsigned i = 0; i < 4; ++i)
        test.vgpr(4 + i, lane) = 0x81818181; // Column 0: products of 127 and -127.
    for (unsigned lane = 0; lane < 32; lane += 16)
      for (unsigned i = 0; i < 8; ++i)
        test.vgpr(8 + i, lane) = 0x80000001;
    test.run();
    bool saturates = *clamp != '\0';
    uint32_t high = saturates ? 0x7fffffffu : 0x7fffffffu + 16u * 127u * 127u;
    uint32_t low = saturates ? 0x80000000u : 0x80000001u - 16u * 127u * 127u;
    EXPECT_EQ(test.vgpr(19, 21), high);
    EXPECT_EQ(test.vgpr(19, 16), low);
  }
}

TEST(DeviceWaveMatrix, HalfResultsKeepTheOtherHalf) {
  WaveUnderTest test("gfx1150", "v_wmma_f16_16x16x16_f16 v[32:39], v[0:7], v[16:23], v[32:39] "
                                "op_sel:[0,0,1]\n");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      test.vgpr(i, lane) = test.vgpr(16 + i, lane) = 0x3c003c00; // 1.0
      test.vgpr(32 + i, lane) = 0x40001234;                      // 2.0 in the high half
    }
  test.run();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i)
      EXPECT_EQ(test.vgpr(32 + i, lane), 0x4c801234u); // 18
}

TEST(DeviceWaveMatrix, EveryRowIsTested) {
  std::set<std::string> tested;
  for (const Product &p : products)
    tested.insert(p.mnemonic);
  const InstructionTables &tables = *instructionTables();
  for (size_t t = 0; t < tables.count; ++t)
    for (size_t i = 0; i < tables.begin[t].count; ++i) {
      const Instruction &row = tables.begin[t].begin[i];
      llvm::StringRef name = llvm::StringRef(row.names).split('@').first;
      if (row.isMatrixProduct() && !name.contains("fma"))
        EXPECT_TRUE(tested.count(name.str())) << row.names;
    }
}

} // namespace
} // namespace wavetile::device::test
