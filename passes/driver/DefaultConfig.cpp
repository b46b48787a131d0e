//===- DefaultConfig.cpp - A Config from shapes and the target --*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a search starts, and what runs without one. Three kinds of top-level
// loops are told apart by what is in them: matrix products, row kernels (some
// dimension is a full slice) and the rest, which is elementwise. Sizes come from
// the `tile.hint`s of the arguments; what the user gave is never changed, and
// what is left to choose adapts to it.
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "passes/LinearForm.h"
#include "passes/MatrixLayouts.h"
#include "passes/RowDims.h"
#include "passes/RowPhases.h"

#include "ir/Tile.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

/// Work items of a workgroup where nothing asks for more.
constexpr int64_t usualThreads = 256;
/// Elements of a row that a lane holds: preferred; where rows share a wave; and at
/// the most.
constexpr int64_t elementsPerLane = 64;
constexpr int64_t elementsPerPartialWave = 80;
constexpr int64_t mostElementsPerLane = 128;
/// A row tile may be larger than the row by this part of itself.
constexpr double tolerableIdle = 0.15;
/// Sizes that are not known at compile time are taken to be this.
constexpr int64_t unknownRow = 4096;
constexpr int64_t unknownLoop = 1 << 20;

class Chooser {
public:
  Chooser(const TargetInfo &target, Config config) : target(target), config(std::move(config)) {}

  llvm::Error addLoop(ParallelOp loop);
  Config take() { return std::move(config); }

private:
  using Dims = llvm::MapVector<StringAttr, NamedDim>;

  llvm::Error addProduct(ParallelOp loop, DotOp dot, const Dims &dims);
  llvm::Error addRows(ParallelOp loop, StringAttr row, const Dims &dims);
  llvm::Error addElementwise(ParallelOp loop, const Dims &dims);
  llvm::Error addGridRow(ParallelOp loop, StringAttr row, int64_t length, int64_t vector);
  llvm::Error addLoopedRow(ParallelOp loop, StringAttr row, int64_t vector);
  llvm::Error addResidentRow(ParallelOp loop, StringAttr row, int64_t length, int64_t vector);

  /// Waves of a workgroup where nothing asks for more.
  int64_t usualWaves() const {
    return std::min<int64_t>(usualThreads / target.waveSize(), target.maxWavesPerWorkgroup());
  }
  /// Sets the key unless it is there.
  template <typename Value> llvm::Error choose(StringRef key, Value value) {
    return config.contains(key) ? llvm::Error::success() : config.set(key, ConfigValue(value));
  }
  llvm::Error chooseBlocks(ParallelOp loop, int64_t elements);
  int64_t givenRowsPerBlock(ParallelOp loop) const;
  bool holdsBatch(ParallelOp loop, DotOp dot) const;
  int64_t elementsBeside(ParallelOp loop, StringAttr name) const;

  const TargetInfo &target;
  Config config;
};

} // namespace

//===----------------------------------------------------------------------===//
// Questions about a loop
//===----------------------------------------------------------------------===//

static int64_t span(Value lower, Value upper) {
  std::optional<int64_t> begin = hintOf(lower), end = hintOf(upper);
  return begin && end ? std::max<int64_t>(1, *end - *begin) : unknownLoop;
}

static int64_t loopLength(ParallelOp loop, StringAttr name) {
  for (unsigned dim = 0; dim < loop.getNumDims(); ++dim)
    if (loop.getDims()[dim] == name)
      return span(loop.getLower()[dim], loop.getUpper()[dim]);
  int64_t length = unknownLoop;
  loop.walk([&](ForOp inner) {
    if (inner.getDimAttr() == name)
      length = span(inner.getLower(), inner.getUpper());
  });
  return length;
}

static int64_t rowLength(const NamedDim &row) {
  if (row.extents.empty())
    return unknownRow;
  // A row of a call without elements takes as little as one of one element.
  int64_t longest = 1;
  for (Value extent : row.extents)
    longest = std::max(longest, hintOf(extent).value_or(unknownRow));
  return longest;
}

/// Elements of the widest access, for the narrowest element that is accessed
/// along `name` (along any dimension, if null).
static int64_t vectorElements(ParallelOp loop, StringAttr name, const TargetInfo &target) {
  return target.globalMemory().widestAccessBits / narrowestAccessBits(loop, name);
}

static int64_t ceilPowerOf2(int64_t value) {
  return int64_t(llvm::PowerOf2Ceil(std::max<int64_t>(1, value)));
}
static int64_t floorPowerOf2(int64_t value) {
  return int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(1, value))));
}

//===----------------------------------------------------------------------===//
// Elementwise loops
//===----------------------------------------------------------------------===//

/// Chooses the block sizes of the loop's dimensions, last dimension first, so that
/// together they have about `elements`.
llvm::Error Chooser::chooseBlocks(ParallelOp loop, int64_t elements) {
  for (unsigned dim = loop.getNumDims(); dim-- > 0;) {
    auto name = cast<StringAttr>(loop.getDims()[dim]);
    int64_t size = std::min(ceilPowerOf2(loopLength(loop, name)), elements);
    if (dim != 0)
      size = std::min(size, int64_t(target.waveSize()) * 8);
    if (llvm::Error error = choose(name, size))
      return error;
    elements = std::max<int64_t>(1, elements / *config.integer(name));
  }
  return llvm::Error::success();
}

/// The largest number of elements that tiles with the dimension `name` have along dimensions whose
/// sizes are known already.
int64_t Chooser::elementsBeside(ParallelOp loop, StringAttr name) const {
  int64_t most = 1;
  loop.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !llvm::is_contained(getDimNames(tensor), name))
        continue;
      int64_t elements = 1;
      for (StringAttr other : getDimNames(tensor))
        if (other != name)
          elements *= config.integer(other).value_or(1);
      most = std::max(most, elements);
    }
  });
  return most;
}

llvm::Error Chooser::addElementwise(ParallelOp loop, const Dims &dims) {
  int64_t vector = std::max<int64_t>(8, vectorElements(loop, {}, target));
  if (llvm::Error error = choose("waves", usualWaves()))
    return error;
  const int64_t blockElements = *config.integer("waves") * target.waveSize() * vector;
  int64_t elements = blockElements;
  // A loop inside walks its dimension with all lanes of a wave.
  for (const auto &[name, dim] : dims) {
    if (dim.kind != NamedDim::Kind::For)
      continue;
    int64_t size = std::min(ceilPowerOf2(loopLength(loop, name)), target.waveSize() * vector);
    size = std::clamp<int64_t>(blockElements / elementsBeside(loop, name), 1, size);
    if (llvm::Error error = choose(name, size))
      return error;
    elements = std::max<int64_t>(1, elements / *config.integer(name));
  }
  return chooseBlocks(loop, elements);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// The matrix instruction with the smallest tile, of those for the operands' types, or null.
static const MatrixInstruction *smallestInstruction(DotOp dot, const TargetInfo &target) {
  Type lhs = dot.getLhs().getType().getElementType(), rhs = dot.getRhs().getType().getElementType();
  std::optional<ElementKind> lhsKind = elementKindOf(lhs), rhsKind = elementKindOf(rhs);
  if (!lhsKind || !rhsKind)
    return nullptr;
  if (std::optional<ElementKind> widened = widenedKind(target, lhs, rhs, std::nullopt))
    lhsKind = rhsKind = widened;
  const MatrixInstruction *smallest = nullptr;
  for (const MatrixInstruction *candidate :
       matrixInstructionsFor(target, *lhsKind, *rhsKind, std::nullopt))
    if (!smallest || std::tie(candidate->m, candidate->k) < std::tie(smallest->m, smallest->k))
      smallest = candidate;
  return smallest;
}

/// Whether a block has several results of such a dot: a tile with its dimensions and one more.
bool Chooser::holdsBatch(ParallelOp loop, DotOp dot) const {
  StringAttr m = getDimName(dot.getType(), 0), n = getDimName(dot.getType(), 1);
  auto isBatch = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() < 3)
      return false;
    auto names = getDimNames(tensor);
    return llvm::is_contained(names, m) && llvm::is_contained(names, n) &&
           llvm::any_of(names, [&](StringAttr name) {
             return name != m && name != n && name.getValue() != staticDimName &&
                    config.integer(name) != 1;
           });
  };
  return loop
      .walk([&](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isBatch) ? WalkResult::interrupt()
                                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

llvm::Error Chooser::addProduct(ParallelOp loop, DotOp dot, const Dims &dims) {
  RankedTensorType lhs = dot.getLhs().getType(), rhs = dot.getRhs().getType();
  int64_t bits = lhs.getElementType().getIntOrFloatBitWidth();
  const MatrixInstruction *instruction = smallestInstruction(dot, target);
  // The matrices of a batch go through LDS to where the product of each of them wants it.
  bool isSmall = holdsBatch(loop, dot);
  // Without a matrix instruction each lane holds all of K that its results need.
  int64_t side = isSmall ? 16 : instruction ? 128 : 64;
  int64_t least = std::max<int64_t>(16, instruction ? instruction->k : 0);
  // 128 bytes of a row of an operand are a cache line.
  int64_t depth = instruction && !isSmall ? std::clamp<int64_t>(1024 / bits, least, 128) : least;
  const std::pair<StringAttr, int64_t> wanted[] = {
      {getDimName(lhs, 0), side}, {getDimName(rhs, 1), side}, {getDimName(lhs, 1), depth}};
  int64_t results = 1;
  for (auto [index, entry] : llvm::enumerate(wanted)) {
    auto [name, size] = entry;
    auto found = dims.find(name);
    if (found == dims.end())
      continue;
    int64_t length = found->second.kind == NamedDim::Kind::Row ? rowLength(found->second)
                                                               : loopLength(loop, name);
    // Matrix instructions have at least 16 rows and columns.
    int64_t smallest = index < 2 ? 16 : least;
    int64_t fitted = std::clamp<int64_t>(ceilPowerOf2(length), smallest, size);
    if (found->second.kind == NamedDim::Kind::Row)
      fitted = std::max<int64_t>(smallest, ceilPowerOf2(length));
    if (llvm::Error error = choose(name, fitted))
      return error;
    if (index < 2)
      results *= *config.integer(name);
  }
  int64_t waves = std::clamp<int64_t>(floorPowerOf2(results / (16 * int64_t(target.waveSize()))), 1,
                                      usualWaves());
  if (llvm::Error error = choose("waves", waves))
    return error;
  if (llvm::Error error = choose("matrix", int64_t(16)))
    return error;
  llvm::DenseSet<StringAttr> multiplied;
  loop.walk([&](DotOp other) {
    for (RankedTensorType type : {other.getLhs().getType(), other.getRhs().getType()})
      multiplied.insert_range(getDimNames(type));
  });
  for (const auto &[name, dim] : dims) {
    if (name.getValue() == staticDimName)
      continue;
    // A row is held as a whole; what matrix instructions see has at least their size.
    int64_t size = dim.kind == NamedDim::Kind::Row ? ceilPowerOf2(rowLength(dim)) : 16;
    if (multiplied.contains(name))
      size = std::max<int64_t>(16, size);
    if (llvm::Error error = choose(name, size))
      return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Row kernels
//===----------------------------------------------------------------------===//

/// How many rows the Config already gives to a block; what it leaves open counts
/// as one.
int64_t Chooser::givenRowsPerBlock(ParallelOp loop) const {
  int64_t rows = 1;
  for (Attribute name : loop.getDims())
    rows *= config.integer(cast<StringAttr>(name)).value_or(1);
  return rows;
}

/// Enough blocks of a few chunks each to fill the device, each row shared by a
/// power of two of them.
llvm::Error Chooser::addGridRow(ParallelOp loop, StringAttr row, int64_t length, int64_t vector) {
  if (llvm::Error error = choose("waves", usualWaves()))
    return error;
  int64_t chunk = *config.integer("waves") * target.waveSize() * vector * 2;
  if (llvm::Error error = choose(row, chunk))
    return error;
  int64_t rows = 1;
  for (Attribute name : loop.getDims()) {
    rows *= loopLength(loop, cast<StringAttr>(name));
    if (llvm::Error error = choose(cast<StringAttr>(name), int64_t(1)))
      return error;
  }
  int64_t blocks = ceilPowerOf2(llvm::divideCeil(2 * target.device().computeUnits, rows));
  blocks = std::min(blocks, floorPowerOf2(llvm::divideCeil(length, *config.integer(row))));
  return choose((row.getValue() + ".blocks").str(), std::clamp<int64_t>(blocks, 2, 1024));
}

/// Four vectors of each lane in flight, shared by the rows that a block is given.
llvm::Error Chooser::addLoopedRow(ParallelOp loop, StringAttr row, int64_t vector) {
  int64_t waves = std::min<int64_t>(8, target.maxWavesPerWorkgroup());
  if (llvm::Error error = choose("waves", waves))
    return error;
  int64_t elements = *config.integer("waves") * target.waveSize() * vector * 4;
  return choose(row, std::max(vector, elements / floorPowerOf2(givenRowsPerBlock(loop))));
}

/// Whether something sorts along the row, which works on powers of two.
static bool isSorted(ParallelOp loop, StringAttr row) {
  return loop
      .walk([&](SortOp sort) {
        RankedTensorType type = sort.getSource().getType();
        return getDimName(type, sort.getAxis()) == row ? WalkResult::interrupt()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The tile of a row held in registers, in the order of preference: some lanes of
/// a wave, a wave, several waves. Sizes are whole vectors of all lanes that share
/// the row, so that one code object serves every length up to its own.
llvm::Error Chooser::addResidentRow(ParallelOp loop, StringAttr row, int64_t length,
                                    int64_t vector) {
  int64_t waveSize = target.waveSize();
  int64_t wanted = config.integer(row).value_or(length);
  if (!config.contains(row) && isSorted(loop, row))
    wanted = ceilPowerOf2(wanted);
  auto rounded = [&](int64_t lanes) {
    return int64_t(llvm::alignTo(wanted, std::max(lanes * vector, rowGranule)));
  };
  auto idle = [&](int64_t lanes) { return 1.0 - double(wanted) / double(rounded(lanes)); };

  // Fewer lanes to a row leave less of the tile idle.
  int64_t lanes = std::min(waveSize, ceilPowerOf2(llvm::divideCeil(wanted, vector)));
  while (lanes > 8 && idle(lanes) > tolerableIdle &&
         rounded(lanes / 2) <= lanes / 2 * elementsPerPartialWave)
    lanes /= 2;

  int64_t rowWaves = 1;
  if (lanes == waveSize && rounded(lanes) > lanes * elementsPerLane) {
    int64_t most = config.integer("waves").value_or(std::min(16u, target.maxWavesPerWorkgroup()));
    while (rowWaves < most && rounded(lanes * rowWaves) > lanes * rowWaves * elementsPerLane)
      rowWaves *= 2;
    while (rowWaves > 1 && idle(lanes * rowWaves) > tolerableIdle &&
           rounded(lanes * rowWaves / 2) <= lanes * rowWaves / 2 * mostElementsPerLane)
      rowWaves /= 2;
  }
  if (llvm::Error error = choose(row, rounded(lanes * rowWaves)))
    return error;

  int64_t waves = rowWaves > 1 ? rowWaves : usualWaves();
  if (llvm::Error error = choose("waves", waves))
    return error;
  int64_t rowsPerBlock =
      std::max<int64_t>(1, *config.integer("waves") / rowWaves) * (waveSize / lanes);
  return chooseBlocks(loop, rowsPerBlock);
}

llvm::Error Chooser::addRows(ParallelOp loop, StringAttr row, const Dims &dims) {
  int64_t length = rowLength(dims.find(row)->second);
  int64_t vector = vectorElements(loop, row, target);
  std::string key = (row.getValue() + ".strategy").str();

  if (!config.contains(key)) {
    int64_t rows = 1;
    for (Attribute name : loop.getDims())
      rows *= loopLength(loop, cast<StringAttr>(name));
    int64_t waves = config.integer("waves").value_or(std::min(16u, target.maxWavesPerWorkgroup()));
    int64_t most = waves * target.waveSize() * mostElementsPerLane / givenRowsPerBlock(loop);
    bool idleDevice = rows * 4 <= int64_t(target.device().computeUnits) && length >= most / 2;
    const char *strategy = "resident";
    if (idleDevice && !config.contains(row) && RowPhases::canRoll(loop, row, /*shared=*/true))
      strategy = "grid";
    else if (length > most && config.integer(row).value_or(0) < length &&
             RowPhases::canRoll(loop, row, /*shared=*/false))
      strategy = "looped";
    if (llvm::Error error = config.set(key, ConfigValue(std::string(strategy))))
      return error;
  }
  std::string strategy = *config.string(key);
  if (strategy == "grid")
    return addGridRow(loop, row, length, vector);
  llvm::Error error = strategy == "looped" ? addLoopedRow(loop, row, vector)
                                           : addResidentRow(loop, row, length, vector);
  if (error)
    return error;
  return chooseBlocks(loop, 1);
}

llvm::Error Chooser::addLoop(ParallelOp loop) {
  Dims dims = getNamedDims(loop);
  DotOp dot;
  loop.walk([&](DotOp op) { dot = op; });
  if (dot)
    return addProduct(loop, dot, dims);
  bool hasRow = false;
  for (const auto &[name, dim] : dims) {
    if (dim.kind != NamedDim::Kind::Row)
      continue;
    hasRow = true;
    if (llvm::Error error = addRows(loop, name, dims))
      return error;
  }
  // Loops inside a row kernel take what is left.
  return hasRow && llvm::none_of(
                       dims, [](auto &entry) { return entry.second.kind == NamedDim::Kind::For; })
             ? llvm::Error::success()
             : addElementwise(loop, dims);
}

llvm::Expected<Config> wavetile::completeConfig(ModuleOp module, const TargetInfo &target,
                                                const Config &given) {
  Chooser chooser(target, given);
  for (KernelOp kernel : module.getOps<KernelOp>())
    for (ParallelOp loop : kernel.getOps<ParallelOp>())
      if (llvm::Error error = chooser.addLoop(loop))
        return std::move(error);
  return chooser.take();
}
