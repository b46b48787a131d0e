//===- Sort.cpp - tile.sort -------------------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bitonic network (K. E. Batcher, "Sorting networks and their applications",
// 1968) on elements with their indices: no two count as equal, so that it keeps
// the order of equal elements. Elements beyond the extent come last.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"
#include "backend_rocm/lowering/Partners.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

struct Item {
  Value key, index, counts;
};

class Sorter {
public:
  Sorter(Lowering &state, Partners &partners, bool descending)
      : state(state), partners(partners), descending(descending) {}

  void run();

  SmallVector<Item> items;

private:
  Value isBefore(const Item &a, const Item &b);
  Item select(Value condition, const Item &a, const Item &b);
  void compareRegisters(unsigned bit, unsigned stage);
  void comparePartners(IndexBit bit, unsigned stage);
  /// Whether items around a register are sorted upwards in a stage, and not downwards.
  Value goesUp(unsigned stage, unsigned reg);

  Lowering &state;
  Partners &partners;
  bool descending;
};

} // namespace

Item Sorter::select(Value condition, const Item &a, const Item &b) {
  return {state.select(condition, a.key, b.key), state.select(condition, a.index, b.index),
          state.select(condition, a.counts, b.counts)};
}

Value Sorter::isBefore(const Item &a, const Item &b) {
  OpBuilder &builder = state.builder;
  Value less, equal;
  Type type = a.key.getType();
  if (isa<FloatType>(type)) {
    auto compare = [&](LLVM::FCmpPredicate predicate, Value x, Value y) -> Value {
      return LLVM::FCmpOp::create(builder, state.loc, predicate, x, y);
    };
    const Item &first = descending ? b : a, &second = descending ? a : b;
    Value firstNan = compare(LLVM::FCmpPredicate::uno, first.key, first.key);
    Value secondNan = compare(LLVM::FCmpPredicate::uno, second.key, second.key);
    // NaN is the largest.
    less =
        state.bitOr(compare(LLVM::FCmpPredicate::olt, first.key, second.key),
                    state.bitAnd(secondNan, state.bitXor(firstNan, state.constant(state.i1(), 1))));
    equal = state.bitOr(compare(LLVM::FCmpPredicate::oeq, a.key, b.key),
                        state.bitAnd(firstNan, secondNan));
  } else {
    bool isFlag = type.isInteger(1);
    auto predicate = isFlag ? (descending ? LLVM::ICmpPredicate::ugt : LLVM::ICmpPredicate::ult)
                            : (descending ? LLVM::ICmpPredicate::sgt : LLVM::ICmpPredicate::slt);
    less = state.compare(predicate, a.key, b.key);
    equal = state.compare(LLVM::ICmpPredicate::eq, a.key, b.key);
  }
  Value earlier = state.compare(LLVM::ICmpPredicate::slt, a.index, b.index);
  Value before = state.bitOr(less, state.bitAnd(equal, earlier));
  Value same = state.compare(LLVM::ICmpPredicate::eq, a.counts, b.counts);
  return state.select(same, before, a.counts);
}

Value Sorter::goesUp(unsigned stage, unsigned reg) {
  if (stage >= partners.bits().size())
    return state.constant(state.i1(), 1);
  return state.bitXor(partners.has(partners.bits()[stage], reg), state.constant(state.i1(), 1));
}

void Sorter::compareRegisters(unsigned bit, unsigned stage) {
  for (unsigned reg = 0; reg < items.size(); ++reg) {
    if (reg >> bit & 1)
      continue;
    Item low = items[reg], high = items[reg | 1u << bit];
    Value keeps = state.compare(LLVM::ICmpPredicate::eq, isBefore(low, high), goesUp(stage, reg));
    items[reg] = select(keeps, low, high);
    items[reg | 1u << bit] = select(keeps, high, low);
  }
}

void Sorter::comparePartners(IndexBit bit, unsigned stage) {
  SmallVector<Value> keys, indices, counts;
  for (const Item &item : items) {
    keys.push_back(item.key);
    indices.push_back(item.index);
    counts.push_back(item.counts);
  }
  keys = partners.read(bit, keys);
  indices = partners.read(bit, indices);
  counts = partners.read(bit, counts);
  for (unsigned reg = 0; reg < items.size(); ++reg) {
    Item other = {keys[reg], indices[reg], counts[reg]};
    // The lower one of the two takes the one that comes first, if they are sorted upwards.
    Value takesFirst =
        state.compare(LLVM::ICmpPredicate::ne, partners.has(bit, reg), goesUp(stage, reg));
    Value keeps = state.compare(LLVM::ICmpPredicate::eq, isBefore(items[reg], other), takesFirst);
    items[reg] = select(keeps, items[reg], other);
  }
}

void Sorter::run() {
  ArrayRef<IndexBit> bits = partners.bits();
  for (unsigned stage = 1; stage <= bits.size(); ++stage)
    for (unsigned step = stage; step-- > 0;) {
      if (bits[step].input == LayoutInput::Register)
        compareRegisters(bits[step].bit, stage);
      else
        comparePartners(bits[step], stage);
    }
}

LogicalResult rocm::lowerSort(Lowering &state, tile::SortOp op) {
  const Layout &layout = Lowering::layoutOf(op.getSource());
  unsigned axis = op.getAxis();
  if (Lowering::layoutOf(op.getValue()) != layout || Lowering::layoutOf(op.getIndex()) != layout)
    return op.emitOpError("needs one layout for its operand and results");
  if (layout.repetitions(axis) != 1)
    return op.emitOpError() << "needs a power of two as the block size of the dimension that it "
                               "sorts along, not "
                            << layout.shape()[axis];
  FailureOr<Partners> partners = Partners::along(state, op, layout, axis);
  if (failed(partners))
    return failure();
  Sorter sorter(state, *partners, op.getDescending());
  Value limit = state.castInteger(state.scalar(op.getExtent()), state.i32());
  SmallVector<Value> keys = state.unpack(state.registers(op.getSource()));
  Type type = keys.front().getType();
  Value nothing = state.constantElement(type, state.builder.getZeroAttr(type));
  for (auto [key, index] : llvm::zip_equal(keys, partners->indices())) {
    Value counts = state.compare(LLVM::ICmpPredicate::slt, index, limit);
    sorter.items.push_back({state.select(counts, key, nothing), index, counts});
  }
  sorter.run();
  SmallVector<Value> values, indices;
  Type indexType = state.registerType(op.getIndex().getType().getElementType());
  for (const Item &item : sorter.items) {
    values.push_back(item.key);
    indices.push_back(state.castInteger(item.index, indexType));
  }
  state.tiles[op.getValue()] = state.pack(values);
  state.tiles[op.getIndex()] = state.pack(indices);
  return success();
}
