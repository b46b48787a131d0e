//===- CoalescedLayouts.cpp - Layouts for loads and stores ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/CoalescedLayouts.h"

#include "passes/Passes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace wavetile;

template <typename Op> static std::optional<unsigned> contiguousDimOf(Op op) {
  auto view = op.getView().template getDefiningOp<tile::ViewOp>();
  if (!view)
    return std::nullopt;
  for (auto [viewDim, dim] : llvm::enumerate(op.getDims()))
    if (dim >= 0 && matchPattern(view.getStrides()[viewDim], m_One()))
      return dim;
  return std::nullopt;
}

std::optional<unsigned> CoalescedLayouts::contiguousDim(tile::LoadOp op) {
  return contiguousDimOf(op);
}

std::optional<unsigned> CoalescedLayouts::contiguousDim(tile::StoreOp op) {
  return contiguousDimOf(op);
}

static unsigned memoryBits(RankedTensorType type) {
  return type.getElementType().isIndex() ? 64 : std::max(8u, type.getElementTypeBitWidth());
}

CoalescedLayouts::CoalescedLayouts(tile::ProgramOp program, const TargetInfo &target)
    : target(target), waves(program.getWaves()) {
  auto record = [&](RankedTensorType type, std::optional<unsigned> fast) {
    if (fast)
      accesses.push_back({SmallVector<int64_t, 4>(type.getShape()), *fast, memoryBits(type)});
  };
  program.walk([&](tile::LoadOp op) { record(op.getType(), contiguousDim(op)); });
  program.walk([&](tile::StoreOp op) { record(op.getValue().getType(), contiguousDim(op)); });
  if (auto lanes = program->getAttrOfType<IntegerAttr>(rowLanesAttrName))
    rowLanes = lanes.getInt();
  if (auto count = program->getAttrOfType<IntegerAttr>(rowWavesAttrName))
    rowWaves = count.getInt();
}

unsigned CoalescedLayouts::fastDim(ArrayRef<int64_t> shape) const {
  // Stores count like loads; the first access decides a tie.
  std::optional<unsigned> best;
  unsigned bestCount = 0;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    unsigned count = llvm::count_if(accesses, [&](const Access &access) {
      return ArrayRef<int64_t>(access.shape) == shape && access.fastDim == dim;
    });
    if (count > bestCount) {
      best = dim;
      bestCount = count;
    }
  }
  return best.value_or(shape.empty() ? 0 : shape.size() - 1);
}

static unsigned powerOfTwoPart(int64_t size) { return 1u << llvm::countr_zero(uint64_t(size)); }

unsigned CoalescedLayouts::vectorElements(RankedTensorType type, unsigned dim) const {
  unsigned bits = 0;
  for (const Access &access : accesses)
    if (access.shape[access.fastDim] == type.getDimSize(dim))
      bits = bits ? std::min(bits, access.elementBits) : access.elementBits;
  if (!bits)
    bits = memoryBits(type);
  unsigned vector = target.globalMemory().widestAccessBits / bits;
  vector = std::min(vector, powerOfTwoPart(type.getDimSize(dim)));
  // Rather have all lanes at work than wide accesses in some.
  int64_t lanes = int64_t(waves) * target.waveSize();
  while (vector > 1 && type.getNumElements() / vector < lanes)
    vector /= 2;
  return vector;
}

namespace {

/// Powers of two for each dimension of a tile.
struct Distribution {
  SmallVector<unsigned> order, elements, lanes, waves;

  explicit Distribution(unsigned rank, unsigned fast)
      : elements(rank, 1), lanes(rank, 1), waves(rank, 1) {
    if (rank == 0)
      return;
    order.push_back(fast);
    for (unsigned dim = rank; dim-- > 0;)
      if (dim != fast)
        order.push_back(dim);
  }
};

} // namespace

/// How many of `left` items fit in what `taken` leaves of a dimension.
static unsigned fitting(int64_t size, unsigned taken, unsigned left) {
  unsigned room = std::max(1u, powerOfTwoPart(size) / taken);
  return std::min(left, room);
}

/// Lanes from the fastest dimension on, waves from the slowest; what is left over replicates along
/// the fastest (lanes) and is given to it (waves).
static void fillLanesAndWaves(Distribution &spread, ArrayRef<int64_t> shape, unsigned lanes,
                              unsigned waves) {
  unsigned lanesLeft = lanes, wavesLeft = waves;
  for (unsigned dim : spread.order) {
    unsigned count = spread.lanes[dim] > 1 ? spread.lanes[dim]
                                           : fitting(shape[dim], spread.elements[dim], lanesLeft);
    spread.lanes[dim] = count;
    lanesLeft /= count;
  }
  spread.lanes[spread.order.front()] *= lanesLeft;
  for (unsigned dim : llvm::reverse(spread.order)) {
    unsigned count = fitting(shape[dim], spread.elements[dim] * spread.lanes[dim], wavesLeft);
    spread.waves[dim] *= count;
    wavesLeft /= count;
  }
  spread.waves[spread.order.front()] *= wavesLeft;
}

Layout CoalescedLayouts::layoutAlong(RankedTensorType type, unsigned fast) const {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.empty())
    return Layout::replicated(shape, target.waveSize(), waves);
  Distribution spread(shape.size(), fast);
  spread.elements[fast] = vectorElements(type, fast);
  unsigned lanesAlong = powerOfTwoPart(shape[fast]) / spread.elements[fast];
  bool isRowTile = shape.size() == 2 && fast == 1 && rowLanes && rowWaves;
  if (isRowTile && *rowLanes <= lanesAlong && *rowLanes * *rowWaves <= lanesAlong &&
      powerOfTwoPart(shape[0]) >= (target.waveSize() / *rowLanes) * (waves / *rowWaves)) {
    spread.lanes = {target.waveSize() / *rowLanes, *rowLanes};
    spread.waves = {waves / *rowWaves, *rowWaves};
  } else {
    fillLanesAndWaves(spread, shape, target.waveSize(), waves);
  }
  return Layout::blocked(shape, spread.order, spread.elements, spread.lanes, spread.waves);
}

//===----------------------------------------------------------------------===//
// Between memory and LDS
//===----------------------------------------------------------------------===//

/// Bits of the lane number, the one first whose lanes exchange registers most cheaply.
static SmallVector<unsigned> exchangeBits(const TargetInfo &target, unsigned laneBits) {
  const CrossLaneInfo &can = target.crossLane();
  SmallVector<unsigned> result;
  auto add = [&](unsigned bit, bool isCheap) {
    if (isCheap && bit < laneBits && !llvm::is_contained(result, bit))
      result.push_back(bit);
  };
  add(5, can.swapHalves32);
  add(4, can.swapRows16);
  add(0, can.quadPermute);
  add(1, can.quadPermute);
  add(3, can.rowXorMask || can.rowRotate);
  add(2, can.rowXorMask);
  return result;
}

namespace {

/// Deals the bits of the two indices of a tile to registers, lanes and waves.
struct IndexBitDealer {
  unsigned fast, along;
  unsigned fastBits, alongBits;
  unsigned nextFast = 0, nextAlong = 0;

  unsigned fastLeft() const { return fastBits - nextFast; }
  unsigned alongLeft() const { return alongBits - nextAlong; }
  Coordinates basis(unsigned dim, unsigned bit) const {
    Coordinates result(2, 0);
    result[dim] = int64_t(1) << bit;
    return result;
  }
  Coordinates takeFast() { return basis(fast, nextFast++); }
  Coordinates takeAlong() { return basis(along, nextAlong++); }
};

} // namespace

std::optional<StagedLayouts> CoalescedLayouts::exchangedLayouts(RankedTensorType type,
                                                                unsigned fast) const {
  unsigned along = 1 - fast, bits = memoryBits(type);
  unsigned widest = target.globalMemory().widestAccessBits;
  unsigned laneBits = llvm::Log2_32(target.waveSize()), waveBits = llvm::Log2_32(waves);
  IndexBitDealer deal{fast, along, unsigned(llvm::countr_zero(uint64_t(type.getDimSize(fast)))),
                      unsigned(llvm::countr_zero(uint64_t(type.getDimSize(along))))};
  if (deal.fastBits + deal.alongBits < laneBits + waveBits || bits > 32)
    return std::nullopt;
  unsigned perLane = deal.fastBits + deal.alongBits - laneBits - waveBits;
  unsigned vector = llvm::Log2_32(vectorElements(type, fast));
  unsigned run = std::min(llvm::Log2_32(128 / bits), deal.alongBits);
  if (vector > perLane)
    return std::nullopt;
  unsigned runInLane = std::min(run, perLane - vector), exchanged = run - runInLane;
  SmallVector<unsigned> exchangeLanes = exchangeBits(target, laneBits);
  // Registers travel in words of 32 bits.
  unsigned wordBits = llvm::Log2_32(32 / bits);
  if (exchanged > exchangeLanes.size() || vector < wordBits + exchanged)
    return std::nullopt;

  SmallVector<Coordinates> registers, lanes(laneBits), waveBases;
  for (unsigned bit = 0; bit < vector; ++bit)
    registers.push_back(deal.takeFast());
  for (unsigned bit = 0; bit < runInLane; ++bit)
    registers.push_back(deal.takeAlong());
  for (unsigned bit = 0; bit < exchanged; ++bit)
    lanes[exchangeLanes[bit]] = deal.takeAlong();

  // Lanes along memory fill a cache line; the others, which LDS serves together, lie along it.
  unsigned line = llvm::Log2_32(std::max(1u, target.globalMemory().cacheLineBytes * 8 / widest));
  unsigned fastLanes = std::min({line, deal.fastLeft(), laneBits - exchanged});
  unsigned alongLanes = std::min(laneBits - exchanged - fastLanes, deal.alongLeft());
  fastLanes = laneBits - exchanged - alongLanes;
  if (fastLanes > deal.fastLeft())
    return std::nullopt;
  for (Coordinates &lane : lanes)
    if (lane.empty())
      lane = alongLanes ? (--alongLanes, deal.takeAlong()) : deal.takeFast();
  for (unsigned bit = 0; bit < waveBits; ++bit)
    waveBases.push_back(deal.fastLeft() ? deal.takeFast() : deal.takeAlong());
  while (deal.alongLeft())
    registers.push_back(deal.takeAlong());
  while (deal.fastLeft())
    registers.push_back(deal.takeFast());

  auto build = [&] { return Layout::fromBases(type.getShape(), registers, lanes, waveBases); };
  llvm::Expected<Layout> memory = build();
  for (unsigned bit = 0; bit < exchanged; ++bit)
    std::swap(registers[vector - 1 - bit], lanes[exchangeLanes[bit]]);
  llvm::Expected<Layout> lds = build();
  assert(memory && lds && "each bit of each index is dealt once");
  return StagedLayouts{*memory, *lds};
}

StagedLayouts CoalescedLayouts::stagedLayouts(RankedTensorType type, unsigned along,
                                              std::optional<unsigned> known) const {
  unsigned fast = known.value_or(fastDim(type.getShape()));
  if (type.getRank() == 2 && along != fast)
    if (std::optional<StagedLayouts> exchanged = exchangedLayouts(type, fast))
      return *exchanged;
  Layout both = layoutAlong(type, fast);
  return {both, both};
}
