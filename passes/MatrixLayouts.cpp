//===- MatrixLayouts.cpp - Tiles of matrix instructions ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/MatrixLayouts.h"

#include "ir/Tile.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace wavetile;

std::optional<ElementKind> wavetile::elementKindOf(Type type) {
  return llvm::TypeSwitch<Type, std::optional<ElementKind>>(type)
      .Case([](Float16Type) { return ElementKind::F16; })
      .Case([](BFloat16Type) { return ElementKind::BF16; })
      .Case([](Float32Type) { return ElementKind::F32; })
      .Case([](Float64Type) { return ElementKind::F64; })
      .Case([](Float8E4M3FNType) { return ElementKind::F8E4M3FN; })
      .Case([](Float8E5M2Type) { return ElementKind::F8E5M2; })
      .Case([](Float8E4M3FNUZType) { return ElementKind::F8E4M3FNUZ; })
      .Case([](Float8E5M2FNUZType) { return ElementKind::F8E5M2FNUZ; })
      .Case([](IntegerType integer) -> std::optional<ElementKind> {
        switch (integer.getWidth()) {
        case 8:
          return ElementKind::I8;
        case 32:
          return ElementKind::I32;
        case 64:
          return ElementKind::I64;
        default:
          return std::nullopt;
        }
      })
      .Default([](Type) { return std::nullopt; });
}

namespace {

/// Bits of the power-of-two part of a size.
unsigned atomBits(int64_t size) { return llvm::countr_zero(uint64_t(size)); }

using Basis = MatrixOperand::Basis;

/// The bits of one index of an instruction (m, n or k) that registers move.
unsigned registerBitsOf(const MatrixOperand &operand, unsigned index) {
  unsigned bits = 0;
  for (const Basis &basis : operand.registerBases)
    bits |= basis[index];
  return bits;
}

/// Where the bits of an instruction's index lie in the index of the tile. The tile's bits that no
/// instruction bit takes are repetitions and, from the top, waves.
class IndexBits {
public:
  /// `inRegisters` are the instruction's bits that a lane's registers move: they come first, then
  /// repetitions until a lane has `contiguous` neighbours, then the instruction's other bits.
  IndexBits(unsigned instructionBits, unsigned inRegisters, unsigned tileBits, unsigned contiguous,
            unsigned waveBits)
      : place(instructionBits) {
    unsigned next = 0;
    for (unsigned bit = 0; bit < instructionBits; ++bit)
      if (inRegisters >> bit & 1)
        place[bit] = next++;
    unsigned spare = tileBits - instructionBits - waveBits;
    for (; (1u << next) < contiguous && repetitions.size() < spare; ++next)
      repetitions.push_back(next);
    for (unsigned bit = 0; bit < instructionBits; ++bit)
      if (!(inRegisters >> bit & 1))
        place[bit] = next++;
    while (repetitions.size() < spare)
      repetitions.push_back(next++);
    for (unsigned bit = 0; bit < waveBits; ++bit)
      waves.push_back(next++);
  }

  /// An index of the instruction as an index of the tile.
  int64_t tileIndex(int64_t index) const {
    int64_t result = 0;
    for (auto [bit, to] : llvm::enumerate(place))
      if (index >> bit & 1)
        result |= int64_t(1) << to;
    return result;
  }

  llvm::SmallVector<unsigned> place, repetitions, waves;
};

/// Builds the layout of an operand or result from the instruction's and the index bits.
class OperandLayout {
public:
  explicit OperandLayout(bool transposed) : transposed(transposed) {}

  void addInstruction(const MatrixOperand &operand, const IndexBits &first,
                      const IndexBits &second) {
    for (const Basis &basis : operand.registerBases)
      registers.push_back(coordinates(first.tileIndex(basis[0]), second.tileIndex(basis[1])));
    for (const Basis &basis : operand.laneBases)
      lanes.push_back(coordinates(first.tileIndex(basis[0]), second.tileIndex(basis[1])));
  }
  void addRepetitions(const IndexBits &bits, unsigned index) {
    for (unsigned bit : bits.repetitions)
      registers.push_back(along(index, bit));
  }
  void addWaves(const IndexBits &bits, unsigned index) {
    for (unsigned bit : bits.waves)
      waves.push_back(along(index, bit));
  }
  void addReplicatedWaves(const IndexBits &bits) {
    waves.append(bits.waves.size(), coordinates(0, 0));
  }
  llvm::Expected<Layout> build(llvm::ArrayRef<int64_t> shape) {
    return Layout::fromBases(shape, registers, lanes, waves);
  }

private:
  Coordinates coordinates(int64_t first, int64_t second) {
    return transposed ? Coordinates{second, first} : Coordinates{first, second};
  }
  Coordinates along(unsigned index, unsigned bit) {
    int64_t value = int64_t(1) << bit;
    return index == 0 ? coordinates(value, 0) : coordinates(0, value);
  }

  bool transposed;
  llvm::SmallVector<Coordinates> registers, lanes, waves;
};

/// How many waves lie along M and along N.
struct WaveGrid {
  unsigned m, n;
};

} // namespace

/// The split that reads least from LDS, which is the squarest part of the tile for each wave, among
/// those in which a wave still has a whole instruction.
static std::optional<WaveGrid> splitWaves(const DotShape &shape, unsigned tileM, unsigned tileN) {
  std::optional<WaveGrid> best;
  double bestCost = 0;
  for (unsigned m = 1; m <= shape.waves; m *= 2) {
    unsigned n = shape.waves / m;
    if (atomBits(shape.m) < llvm::Log2_32(m * tileM) ||
        atomBits(shape.n) < llvm::Log2_32(n * tileN))
      continue;
    double cost = double(shape.m) / m + double(shape.n) / n;
    if (best && cost >= bestCost)
      continue;
    best = WaveGrid{m, n};
    bestCost = cost;
  }
  return best;
}

static llvm::Expected<DotLayouts> layoutsFor(const MatrixInstruction &instruction,
                                             const DotShape &shape, WaveGrid waves) {
  // Registers of the result move along the instruction's m.
  bool swapped = shape.contiguousDim == 1;
  const MatrixOperand &lhs = swapped ? instruction.b : instruction.a;
  const MatrixOperand &rhs = swapped ? instruction.a : instruction.b;
  unsigned along = registerBitsOf(instruction.accumulator, 0);
  unsigned across = registerBitsOf(instruction.accumulator, 1);
  unsigned contiguousK = std::max(1u, 128 / elementBits(shape.lhs));

  unsigned bitsM = llvm::Log2_32(instruction.m), bitsN = llvm::Log2_32(instruction.n);
  unsigned waveBitsM = llvm::Log2_32(waves.m), waveBitsN = llvm::Log2_32(waves.n);
  auto indexOf = [&](bool isInstructionM, int64_t size, unsigned waveBits) {
    return IndexBits(isInstructionM ? bitsM : bitsN, isInstructionM ? along : across,
                     atomBits(size), isInstructionM ? shape.contiguousElements : 1, waveBits);
  };
  IndexBits m = indexOf(!swapped, shape.m, waveBitsM), n = indexOf(swapped, shape.n, waveBitsN);
  // The operand's k is its second index in A and its first in B.
  IndexBits k(llvm::Log2_32(instruction.k), registerBitsOf(instruction.a, 1), atomBits(shape.k),
              contiguousK, 0);

  // In the result the instruction's first index is its m; a swapped instruction sees the transpose.
  OperandLayout result(swapped);
  result.addInstruction(instruction.accumulator, swapped ? n : m, swapped ? m : n);
  result.addRepetitions(n, swapped ? 0 : 1);
  result.addRepetitions(m, swapped ? 1 : 0);
  result.addWaves(m, swapped ? 1 : 0);
  result.addWaves(n, swapped ? 0 : 1);

  // lhs is (M, K): A as it is, or B, whose first index is k, transposed.
  OperandLayout left(swapped);
  left.addInstruction(lhs, swapped ? k : m, swapped ? m : k);
  left.addRepetitions(k, swapped ? 0 : 1);
  left.addRepetitions(m, swapped ? 1 : 0);
  left.addWaves(m, swapped ? 1 : 0);
  left.addReplicatedWaves(n);

  // rhs is (K, N): B as it is, or A transposed.
  OperandLayout right(swapped);
  right.addInstruction(rhs, swapped ? n : k, swapped ? k : n);
  right.addRepetitions(k, swapped ? 1 : 0);
  right.addRepetitions(n, swapped ? 0 : 1);
  right.addReplicatedWaves(m);
  right.addWaves(n, swapped ? 0 : 1);

  llvm::Expected<Layout> lhsLayout = left.build({shape.m, shape.k});
  if (!lhsLayout)
    return lhsLayout.takeError();
  llvm::Expected<Layout> rhsLayout = right.build({shape.k, shape.n});
  if (!rhsLayout)
    return rhsLayout.takeError();
  llvm::Expected<Layout> resultLayout = result.build({shape.m, shape.n});
  if (!resultLayout)
    return resultLayout.takeError();
  return DotLayouts{&instruction, swapped, *lhsLayout, *rhsLayout, *resultLayout};
}

/// Layouts for a dot by fma: a lane has a part of the result and all of K.
static llvm::Expected<DotLayouts> layoutsWithoutInstruction(const TargetInfo &target,
                                                            const DotShape &shape) {
  unsigned laneBits = llvm::Log2_32(target.waveSize()), waveBits = llvm::Log2_32(shape.waves);
  unsigned bitsM = atomBits(shape.m), bitsN = atomBits(shape.n), bitsK = atomBits(shape.k);
  if (bitsM + bitsN < laneBits + waveBits)
    return llvm::createStringError(llvm::Twine("a dot of M ") + llvm::Twine(shape.m) + ", N " +
                                   llvm::Twine(shape.n) + " is too small for " +
                                   llvm::Twine(shape.waves) + " waves of " + target.name() +
                                   "\n  help: give the Config larger blocks, or fewer waves");
  // Neighbours along the stored dimension in a lane, then lanes, then waves, as square as it gets.
  unsigned perLane = bitsM + bitsN - laneBits - waveBits;
  unsigned fast = shape.contiguousDim, slow = 1 - fast;
  unsigned bits[2] = {bitsM, bitsN}, next[2] = {0, 0};
  llvm::SmallVector<std::pair<unsigned, unsigned>> registers, lanes, waves; // dimension, bit
  auto take = [&](auto &list, unsigned dim) { list.push_back({dim, next[dim]++}); };
  unsigned neighbours = std::min({llvm::Log2_32(shape.contiguousElements), perLane, bits[fast]});
  for (unsigned i = 0; i < neighbours; ++i)
    take(registers, fast);
  // As many rows as columns in a lane need the fewest operands: the top bits of each dimension.
  unsigned kept[2];
  kept[fast] = std::min(bits[fast] - next[fast], perLane / 2 - std::min(perLane / 2, neighbours));
  kept[slow] = std::min(bits[slow], perLane - neighbours - kept[fast]);
  kept[fast] = perLane - neighbours - kept[slow];
  auto deal = [&](auto &list, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      bool fastHas = next[fast] + kept[fast] < bits[fast];
      bool slowHas = next[slow] + kept[slow] < bits[slow];
      take(list, fastHas && (i % 2 == 0 || !slowHas) ? fast : slow);
    }
  };
  deal(lanes, laneBits);
  deal(waves, waveBits);
  for (unsigned dim : {slow, fast})
    while (next[dim] < bits[dim])
      take(registers, dim);

  // An operand keeps the result's bits of its own dimension (0: M, 1: N) and has all of K.
  auto build = [&](std::optional<unsigned> operand) {
    Coordinates shapeOf{operand == 1u ? shape.k : shape.m, operand == 0u ? shape.k : shape.n};
    auto basis = [&](std::pair<unsigned, unsigned> bit) {
      Coordinates result(2, 0);
      if (!operand || bit.first == *operand)
        result[bit.first] = int64_t(1) << bit.second;
      return result;
    };
    llvm::SmallVector<Coordinates> registerBases, laneBases, waveBases;
    for (unsigned bit = 0; operand && bit < bitsK; ++bit) {
      Coordinates k(2, 0);
      k[1 - *operand] = int64_t(1) << bit;
      registerBases.push_back(k);
    }
    for (auto bit : registers)
      if (!operand || bit.first == *operand)
        registerBases.push_back(basis(bit));
    for (auto bit : lanes)
      laneBases.push_back(basis(bit));
    for (auto bit : waves)
      waveBases.push_back(basis(bit));
    return Layout::fromBases(shapeOf, registerBases, laneBases, waveBases);
  };
  llvm::Expected<Layout> lhs = build(0), rhs = build(1), result = build(std::nullopt);
  assert(lhs && rhs && result && "each bit is dealt once");
  return DotLayouts{nullptr, false, *lhs, *rhs, *result};
}

/// Types that are multiplied one by one, as they are or after one conversion.
static bool hasFma(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::F32:
  case ElementKind::F64:
  case ElementKind::I8:
  case ElementKind::I32:
  case ElementKind::I64:
    return true;
  default:
    return false;
  }
}

llvm::SmallVector<const MatrixInstruction *>
wavetile::matrixInstructionsFor(const TargetInfo &target, ElementKind lhs, ElementKind rhs,
                                std::optional<int64_t> depth) {
  llvm::SmallVector<const MatrixInstruction *> result;
  for (const MatrixInstruction &instruction : target.matrixInstructions())
    if (instruction.a.element == lhs && instruction.b.element == rhs &&
        (!depth || *depth % instruction.k == 0))
      result.push_back(&instruction);
  return result;
}

std::optional<ElementKind> wavetile::widenedKind(const TargetInfo &target, Type lhs, Type rhs,
                                                 std::optional<int64_t> depth) {
  if (!tile::isFp8(lhs) ||
      !matrixInstructionsFor(target, *elementKindOf(lhs), *elementKindOf(rhs), depth).empty())
    return std::nullopt;
  return ElementKind::BF16;
}

static bool isBetter(const MatrixInstruction &a, const MatrixInstruction &b, unsigned preferred) {
  bool aPreferred = a.m == preferred, bPreferred = b.m == preferred;
  if (preferred && aPreferred != bPreferred)
    return aPreferred;
  // Multiplications per cycle, then the smaller tile, which leaves more freedom.
  uint64_t aRate = uint64_t(a.m) * a.n * a.k * b.cycles,
           bRate = uint64_t(b.m) * b.n * b.k * a.cycles;
  if (aRate != bRate)
    return aRate > bRate;
  return a.m < b.m;
}

llvm::Expected<DotLayouts> wavetile::chooseDotLayouts(const TargetInfo &target,
                                                      const DotShape &shape) {
  const MatrixInstruction *best = nullptr;
  WaveGrid bestWaves{1, 1};
  bool anyOfType = false, anyOfDepth = false;
  bool swapped = shape.contiguousDim == 1;
  for (const MatrixInstruction *candidate :
       matrixInstructionsFor(target, swapped ? shape.rhs : shape.lhs,
                             swapped ? shape.lhs : shape.rhs, std::nullopt)) {
    if (candidate->accumulator.element != shape.result)
      continue;
    anyOfType = true;
    unsigned tileM = swapped ? candidate->n : candidate->m;
    unsigned tileN = swapped ? candidate->m : candidate->n;
    if (shape.k % candidate->k != 0)
      continue;
    anyOfDepth = true;
    std::optional<WaveGrid> waves = splitWaves(shape, tileM, tileN);
    if (!waves)
      continue;
    if (best && !isBetter(*candidate, *best, shape.preferredSize))
      continue;
    best = candidate;
    bestWaves = *waves;
  }
  if (best)
    return layoutsFor(*best, shape, bestWaves);
  // So are products with fewer terms than any instruction sums, such as outer products.
  if (!anyOfDepth && hasFma(shape.lhs) && hasFma(shape.rhs) && hasFma(shape.result))
    return layoutsWithoutInstruction(target, shape);
  if (!anyOfType)
    return llvm::createStringError(target.name() +
                                   " has no matrix instruction for these element types");
  return llvm::createStringError(
      llvm::Twine("no matrix instruction of ") + target.name() + " tiles M " +
      llvm::Twine(shape.m) + ", N " + llvm::Twine(shape.n) + ", K " + llvm::Twine(shape.k) +
      " over " + llvm::Twine(shape.waves) +
      " waves\n  help: give the Config larger blocks, whose sizes are powers of two");
}
