//===- Reductions.cpp - tile.reduce and tile.arg_reduce ---------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As `Layout::reduction` says: each lane combines its registers, lanes combine
// by DPP and permlane, waves by one exchange through LDS in wave order, so that
// the result is the same in every run.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// How elements of one type are combined.
struct Combiner {
  Lowering &state;
  tile::ReductionKind kind;

  Value operator()(Value a, Value b) const {
    OpBuilder &builder = state.builder;
    Location loc = state.loc;
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(a));
    switch (kind) {
    case tile::ReductionKind::Sum:
      return isFloat ? LLVM::FAddOp::create(builder, loc, a, b).getResult() : state.add(a, b);
    case tile::ReductionKind::Product:
      return isFloat ? LLVM::FMulOp::create(builder, loc, a, b).getResult() : state.mul(a, b);
    case tile::ReductionKind::Maximum:
      return isFloat ? LLVM::MaximumOp::create(builder, loc, a, b).getResult()
                     : LLVM::SMaxOp::create(builder, loc, a, b).getResult();
    case tile::ReductionKind::Minimum:
      return isFloat ? LLVM::MinimumOp::create(builder, loc, a, b).getResult()
                     : LLVM::SMinOp::create(builder, loc, a, b).getResult();
    case tile::ReductionKind::And:
      return state.bitAnd(a, b);
    case tile::ReductionKind::Or:
      return state.bitOr(a, b);
    }
    llvm_unreachable("all kinds are handled");
  }

  bool isExtremum() const {
    return kind == tile::ReductionKind::Maximum || kind == tile::ReductionKind::Minimum;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Within a lane
//===----------------------------------------------------------------------===//

/// Combines values in `chains` interleaved chains, which hides latency and lets three-operand
/// instructions form, then the chains in order.
static Value combineChains(ArrayRef<Value> values, unsigned chains, Combine combine) {
  SmallVector<Value> heads(values.take_front(chains));
  for (auto [index, value] : llvm::enumerate(values.drop_front(heads.size())))
    heads[index % chains] = combine(heads[index % chains], value);
  Value result = heads.front();
  for (Value head : ArrayRef(heads).drop_front())
    result = combine(result, head);
  return result;
}

constexpr unsigned chainCount = 4;

/// The largest or smallest f32 of many, NaN if any is: a maximum that ignores NaN and one test for
/// NaN for two elements, where the target has no instruction that does both.
static Value combineExtremum(Lowering &state, const Combiner &combiner, ArrayRef<Value> values) {
  bool isMaximum = combiner.kind == tile::ReductionKind::Maximum;
  OpBuilder &builder = state.builder;
  auto ignoringNan = [&](Value a, Value b) -> Value {
    if (isMaximum)
      return LLVM::MaxNumOp::create(builder, state.loc, a, b);
    return LLVM::MinNumOp::create(builder, state.loc, a, b);
  };
  Value result = combineChains(values, chainCount, ignoringNan);
  SmallVector<Value> tests;
  for (unsigned i = 0; i < values.size(); i += 2)
    tests.push_back(LLVM::FCmpOp::create(builder, state.loc, LLVM::FCmpPredicate::uno, values[i],
                                         values[std::min<size_t>(i + 1, values.size() - 1)]));
  Value anyNan =
      combineChains(tests, chainCount, [&](Value a, Value b) { return state.bitOr(a, b); });
  Value nan = state.constantFloat(result.getType(), std::numeric_limits<double>::quiet_NaN());
  return state.select(anyNan, nan, result);
}

/// Whether `registers` are whole chunks of `width`, in order.
static bool areWholeChunks(ArrayRef<unsigned> registers, unsigned width) {
  if (width == 1 || registers.size() % width != 0)
    return false;
  for (unsigned i = 0; i < registers.size(); i += width)
    for (unsigned j = 0; j < width; ++j)
      if (registers[i] % width != 0 || registers[i + j] != registers[i] + j)
        return false;
  return true;
}

static Value combineRegisters(Lowering &state, const Combiner &combiner,
                              const TileRegisters &source, ArrayRef<Value> unpacked,
                              ArrayRef<unsigned> registers) {
  if (!combiner.isExtremum() && areWholeChunks(registers, source.width)) {
    SmallVector<Value> chunks;
    for (unsigned i = 0; i < registers.size(); i += source.width)
      chunks.push_back(source.chunks[registers[i] / source.width]);
    Value chunk = combineChains(chunks, chainCount, combiner);
    Value result = state.extract(chunk, 0);
    for (unsigned i = 1; i < source.width; ++i)
      result = combiner(result, state.extract(chunk, i));
    return result;
  }
  SmallVector<Value> values =
      llvm::map_to_vector(registers, [&](unsigned reg) { return unpacked[reg]; });
  bool hasInstruction =
      state.target.arithmetic().maximum3F32 || state.target.arithmetic().maximumF32;
  if (combiner.isExtremum() && values.front().getType().isF32() && values.size() > 2 &&
      !hasInstruction)
    return combineExtremum(state, combiner, values);
  return combineChains(values, chainCount, combiner);
}

//===----------------------------------------------------------------------===//
// Between waves
//===----------------------------------------------------------------------===//

namespace {

/// Slots in LDS through which waves exchange one value of each register: slot (register, kept lane
/// bits, kept wave bits, reduced wave bits), the last fastest, so that a lane reads its group's
/// values in one piece.
class WaveExchange {
public:
  WaveExchange(Lowering &state, const Reduction &reduction, const Layout &source,
               unsigned elementBytes)
      : state(state), elementBytes(elementBytes) {
    unsigned laneMask = 0, waveMask = 0;
    for (unsigned mask : reduction.laneMasks)
      laneMask |= mask;
    for (unsigned mask : reduction.waveMasks)
      waveMask |= mask;
    members = 1u << llvm::popcount(waveMask);
    Value group = gather(state.waveId, source.waveCount() - 1, waveMask, /*keep=*/false, {}, 0);
    unsigned groupBits = llvm::Log2_32(source.waveCount()) - llvm::popcount(waveMask);
    group =
        gather(state.laneId, source.laneCount() - 1, laneMask, /*keep=*/false, group, groupBits);
    groups = (source.waveCount() / members) * (source.laneCount() >> llvm::popcount(laneMask));
    member = gather(state.waveId, source.waveCount() - 1, waveMask, /*keep=*/true, {}, 0);
    this->group = group;
  }

  unsigned bytes(unsigned registers) const { return registers * groups * members * elementBytes; }

  void write(unsigned base, unsigned reg, Value value) {
    Value slot = groupSlot();
    if (member)
      slot = slot ? state.add(slot, member) : member;
    LLVM::StoreOp::create(state.builder, state.loc, value, pointer(base, reg, slot), elementBytes);
  }

  SmallVector<Value> read(unsigned base, unsigned reg, Type element) {
    Type type = members == 1 ? element : VectorType::get(members, element);
    unsigned alignment = std::min(16u, members * elementBytes);
    Value vector = LLVM::LoadOp::create(state.builder, state.loc, type,
                                        pointer(base, reg, groupSlot()), alignment);
    SmallVector<Value> values;
    for (unsigned i = 0; i < members; ++i)
      values.push_back(members == 1 ? vector : state.extract(vector, i));
    return values;
  }

private:
  /// Compresses the bits of `number` that are in `mask` (or, without `keep`, not in it) and puts
  /// them above the `shift` bits of `below`.
  Value gather(Value number, unsigned allBits, unsigned mask, bool keep, Value below,
               unsigned shift) {
    Value result = below;
    unsigned wanted = keep ? mask : allBits & ~mask;
    for (unsigned bit = 0, position = shift; wanted >> bit; ++bit) {
      if (!(wanted >> bit & 1))
        continue;
      Value part = state.bitAnd(state.shiftRight(number, bit), state.constantI32(1));
      part = state.shiftLeft(part, position++);
      result = result ? state.bitOr(result, part) : part;
    }
    return result;
  }

  /// The slot of the group's first member, without the register's part.
  Value groupSlot() { return group ? state.mul(group, state.constantI32(members)) : Value(); }

  Value pointer(unsigned base, unsigned reg, Value slot) {
    Value offset = slot ? state.mul(slot, state.constantI32(elementBytes)) : Value();
    return state.ldsPointer(base + reg * groups * members * elementBytes, offset);
  }

  Lowering &state;
  unsigned elementBytes;
  unsigned members = 1, groups = 1;
  Value member, group;
};

} // namespace

/// A barrier is needed before slots are written again, which happens only in loops.
static void barrierBeforeReuse(Lowering &state) {
  if (state.enclosingLoop)
    state.workgroupBarrier();
}

static void combineAcrossWaves(Lowering &state, const Reduction &reduction, const Layout &source,
                               MutableArrayRef<Value> values, Combine combine) {
  if (reduction.waveMasks.empty())
    return;
  Type type = values.front().getType();
  unsigned bytes = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  WaveExchange exchange(state, reduction, source, bytes);
  unsigned base = state.allocateLds(exchange.bytes(values.size()));
  barrierBeforeReuse(state);
  for (auto [reg, value] : llvm::enumerate(values))
    exchange.write(base, reg, value);
  state.workgroupBarrier();
  for (auto [reg, value] : llvm::enumerate(values))
    value = combineChains(exchange.read(base, reg, type), 1, combine);
}

//===----------------------------------------------------------------------===//
// tile.reduce
//===----------------------------------------------------------------------===//

/// The type in which elements are combined: 16-bit floats in f32, bool as i32 (for the lanes).
static Type combinedType(Lowering &state, Type element) {
  if (element.isF16() || element.isBF16())
    return state.builder.getF32Type();
  if (element.isInteger() && element.getIntOrFloatBitWidth() < 32)
    return state.i32();
  return state.registerType(element);
}

static Value convertForReduction(Lowering &state, Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (from.isF16() || from.isBF16())
    return extendFloat(state, value, from, to);
  if (to.isF16() || to.isBF16())
    return truncateFloat(state, value, from, to);
  Type type = to;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), to);
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return LLVM::TruncOp::create(state.builder, state.loc, type, value);
  if (from.isInteger(1))
    return LLVM::ZExtOp::create(state.builder, state.loc, type, value);
  return LLVM::SExtOp::create(state.builder, state.loc, type, value);
}

LogicalResult rocm::lowerReduce(Lowering &state, tile::ReduceOp op) {
  if (!op.getBeyondNeutral())
    return op.emitOpError("looks at elements beyond its extent; run tile-infer-bounds first");
  const Layout &source = Lowering::layoutOf(op.getSource());
  auto reduction = source.reduction(op.getAxis());
  if (!reduction || Lowering::layoutOf(op.getResult()) != reduction->result)
    return op.emitOpError("needs the source's layout, without the axis, for its result");
  Type element = state.registerType(op.getType().getElementType());
  Type combined = combinedType(state, element);

  TileRegisters converted;
  TileRegisters from = state.registers(op.getSource());
  converted.width = from.width;
  for (Value chunk : from.chunks)
    converted.chunks.push_back(convertForReduction(state, chunk, element, combined));
  SmallVector<Value> unpacked = state.unpack(converted);

  Combiner combiner{state, op.getKind()};
  SmallVector<Value> values;
  for (const auto &registers : reduction->registers) {
    Value value = combineRegisters(state, combiner, converted, unpacked, registers);
    values.push_back(combineAcrossLanes(state, value, reduction->laneMasks, combiner));
  }
  combineAcrossWaves(state, *reduction, source, values, combiner);
  for (Value &value : values)
    value = convertForReduction(state, value, combined, element);
  state.tiles[op.getResult()] = state.pack(values);
  return success();
}

//===----------------------------------------------------------------------===//
// tile.arg_reduce
//===----------------------------------------------------------------------===//

namespace {

struct Candidate {
  Value value, index;
};

} // namespace

/// The better of two: NaN before all, then the larger (smaller) value, then the smaller index.
static Candidate betterOf(Lowering &state, bool maximum, Candidate a, Candidate b) {
  OpBuilder &builder = state.builder;
  Location loc = state.loc;
  Value better, tie;
  if (isa<FloatType>(a.value.getType())) {
    auto compare = [&](LLVM::FCmpPredicate predicate, Value x, Value y) -> Value {
      return LLVM::FCmpOp::create(builder, loc, predicate, x, y);
    };
    Value nanA = compare(LLVM::FCmpPredicate::uno, a.value, a.value);
    Value nanB = compare(LLVM::FCmpPredicate::uno, b.value, b.value);
    Value more =
        compare(maximum ? LLVM::FCmpPredicate::ogt : LLVM::FCmpPredicate::olt, b.value, a.value);
    Value onlyB = state.bitAnd(nanB, state.bitXor(nanA, state.constant(state.i1(), 1)));
    better = state.bitOr(more, onlyB);
    tie =
        state.bitOr(compare(LLVM::FCmpPredicate::oeq, a.value, b.value), state.bitAnd(nanA, nanB));
  } else {
    better = state.compare(maximum ? LLVM::ICmpPredicate::sgt : LLVM::ICmpPredicate::slt, b.value,
                           a.value);
    tie = state.compare(LLVM::ICmpPredicate::eq, a.value, b.value);
  }
  Value earlier = state.compare(LLVM::ICmpPredicate::slt, b.index, a.index);
  Value takeB = state.bitOr(better, state.bitAnd(tie, earlier));
  return {state.select(takeB, b.value, a.value), state.select(takeB, b.index, a.index)};
}

LogicalResult rocm::lowerArgReduce(Lowering &state, tile::ArgReduceOp op) {
  if (!op.getBeyondNeutral())
    return op.emitOpError("looks at elements beyond its extent; run tile-infer-bounds first");
  const Layout &source = Lowering::layoutOf(op.getSource());
  auto reduction = source.reduction(op.getAxis());
  if (!reduction || Lowering::layoutOf(op.getIndices()) != source ||
      Lowering::layoutOf(op.getValue()) != reduction->result ||
      Lowering::layoutOf(op.getIndex()) != reduction->result)
    return op.emitOpError("needs one layout for its operands, and that without the axis for its "
                          "results");
  bool maximum = op.getKind() == tile::ArgReductionKind::Maximum;
  SmallVector<Value> sources = state.unpack(state.registers(op.getSource()));
  SmallVector<Value> indices = state.unpack(state.registers(op.getIndices()));
  SmallVector<Value> values, places;
  for (const auto &registers : reduction->registers) {
    Candidate best{sources[registers.front()], indices[registers.front()]};
    for (unsigned reg : ArrayRef(registers).drop_front())
      best = betterOf(state, maximum, best, {sources[reg], indices[reg]});
    unsigned done = 0;
    for (unsigned mask : reduction->laneMasks) {
      bool uniformBelow = (done & (mask - 1)) == mask - 1;
      best = betterOf(state, maximum, best,
                      {readLaneXor(state, best.value, mask, uniformBelow),
                       readLaneXor(state, best.index, mask, uniformBelow)});
      done |= mask;
    }
    values.push_back(best.value);
    places.push_back(best.index);
  }
  if (!reduction->waveMasks.empty()) {
    Type valueType = values.front().getType(), indexType = places.front().getType();
    auto bytes = [](Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); };
    WaveExchange valueExchange(state, *reduction, source, bytes(valueType));
    WaveExchange indexExchange(state, *reduction, source, bytes(indexType));
    unsigned valueBase = state.allocateLds(valueExchange.bytes(values.size()));
    unsigned indexBase = state.allocateLds(indexExchange.bytes(values.size()));
    barrierBeforeReuse(state);
    for (unsigned reg = 0; reg < values.size(); ++reg) {
      valueExchange.write(valueBase, reg, values[reg]);
      indexExchange.write(indexBase, reg, places[reg]);
    }
    state.workgroupBarrier();
    for (unsigned reg = 0; reg < values.size(); ++reg) {
      SmallVector<Value> all = valueExchange.read(valueBase, reg, valueType);
      SmallVector<Value> where = indexExchange.read(indexBase, reg, indexType);
      Candidate best{all.front(), where.front()};
      for (unsigned i = 1; i < all.size(); ++i)
        best = betterOf(state, maximum, best, {all[i], where[i]});
      values[reg] = best.value;
      places[reg] = best.index;
    }
  }
  state.tiles[op.getValue()] = state.pack(values);
  state.tiles[op.getIndex()] = state.pack(places);
  return success();
}
