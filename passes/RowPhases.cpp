//===- RowPhases.cpp - Between the reductions of a row ----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/RowPhases.h"

#include "passes/AliasAnalysis.h"
#include "passes/Place.h"
#include "passes/RowDims.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

std::optional<unsigned> RowPhases::axis(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
    if (tensor.isDynamicDim(dim) && getDimName(tensor, dim) == row)
      return dim;
  return std::nullopt;
}

llvm::iterator_range<Block::iterator> RowPhases::operations() const {
  return loop->getRegion(0).front().without_terminator();
}

bool RowPhases::isReduction(Operation *op) const {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return axis(reduce.getSource().getType()) == unsigned(reduce.getAxis());
  if (auto reduce = dyn_cast<ArgReduceOp>(op))
    return axis(reduce.getSource().getType()) == unsigned(reduce.getAxis());
  return false;
}

/// The row occurs twice in a type.
static bool hasRowTwice(Type type, StringAttr row) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::count(getDimNames(tensor), row) > 1;
}

bool RowPhases::isRoot(Operation *op) const {
  return isReduction(op) || isa<StoreOp, PrintOp, AssertOp>(op);
}

/// What must happen as often as the kernel says.
static bool isCounted(Operation *op) {
  auto assembly = dyn_cast<InlineAsmOp>(op);
  return isa<AtomicOp, PrintOp, AssertOp>(op) || (assembly && assembly.getSideEffects());
}

bool RowPhases::needsWholeRow(Operation *op) const {
  if (isa<TakeOp>(op))
    return llvm::any_of(op->getOperandTypes(), [&](Type type) { return axis(type); }) ||
           llvm::any_of(op->getResultTypes(), [&](Type type) { return axis(type); });
  return isa<ScanOp, CombineOp, SortOp>(op) && axis(op->getOperand(0).getType());
}

LogicalResult RowPhases::classify(Report report) {
  for (Operation &op : operations()) {
    auto touchesRow = [&](Operation *inner) {
      return llvm::any_of(inner->getOperandTypes(), [&](Type type) { return axis(type); }) ||
             llvm::any_of(inner->getResultTypes(), [&](Type type) { return axis(type); });
    };
    unsigned level = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        if (definition && levels.contains(definition))
          level = std::max(level, levels[definition] + (isReduction(definition) ? 1 : 0));
      }
    });
    levels[&op] = level;

    bool nested = op.getNumRegions() != 0;
    if (auto assembly = dyn_cast<InlineAsmOp>(op);
        assembly && assembly.getSideEffects() && axis(assembly.getResult(0).getType()))
      return report(&op, "its assembly has side effects"), failure();
    if (needsWholeRow(&op))
      return report(&op, "it needs the whole row"), failure();
    bool touches = op.walk([&](Operation *inner) {
                       return touchesRow(inner) ? WalkResult::interrupt() : WalkResult::advance();
                     }).wasInterrupted();
    if (nested && touches)
      return report(&op, "a loop inside it uses the whole row"), failure();
    if (!touches)
      continue;
    for (Type type : op.getResultTypes())
      if (hasRowTwice(type, row))
        return report(&op, "a tile has the row in two dimensions"), failure();
    if (auto dot = dyn_cast<DotOp>(op); dot && getDimName(dot.getLhs().getType(), 1) == row)
      return report(&op, "a dot along it needs the whole row"), failure();
    if (isa<AtomicOp>(op))
      return report(&op, "an atomic on it must happen once"), failure();
    wide.insert(&op);

    bool agree = true;
    forEachExtent(&op, [&](RankedTensorType type, unsigned dim, Value extent) {
      if (axis(type) != dim)
        return;
      if (!length)
        length = extent;
      agree &= length == extent;
    });
    if (!agree)
      return report(&op, "its operations disagree on how long it is"), failure();
    if (isRoot(&op))
      phases = std::max(phases, level + 1);
  }
  if (!length)
    return report(loop, "nothing says how long it is"), failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Memory order
//===----------------------------------------------------------------------===//

namespace {
/// When an access of the original body happens after rolling: narrow operations
/// of level p at time 2p, the loop of phase p at time 2p + 1. Blocks that share a
/// row are only ordered phase by phase, and repeat narrow loads in later ones.
struct Timed {
  Operation *access;
  unsigned first, last;
  bool inLoop;
};
} // namespace

LogicalResult RowPhases::checkMemoryOrder(bool shared, Report report) {
  std::vector<Timed> accesses;
  SmallVector<SmallVector<Operation *>> perPhase;
  for (unsigned phase = 0; phase < phases; ++phase)
    perPhase.push_back(wideOps(phase));
  for (Operation &op : operations()) {
    if (!isWide(&op)) {
      unsigned first = 2 * level(&op), last = first;
      WalkResult walked = op.walk([&](Operation *inner) {
        return shared && isCounted(inner) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return report(&op, "each block that shares it would do this once more"), failure();
      for (Operation *access : getAccesses(&op)) {
        if (shared && isa<LoadOp>(access))
          last = 2 * phases;
        accesses.push_back({access, first, last, false});
      }
      continue;
    }
    if (!isa<LoadOp, StoreOp>(op))
      continue;
    std::optional<unsigned> first, last;
    for (unsigned phase = 0; phase < phases; ++phase)
      if (llvm::is_contained(perPhase[phase], &op)) {
        first = first.value_or(2 * phase + 1);
        last = 2 * phase + 1;
      }
    if (first)
      accesses.push_back({&op, *first, *last, true});
  }

  auto inOrder = [&](const Timed &a, const Timed &b, Alias relation) {
    // Chunk by chunk two wide accesses keep their order, which is enough for
    // elements that meet only themselves.
    if (a.inLoop && b.inLoop)
      return a.last < b.first || (a.last == b.first && relation == Alias::Same);
    if (shared)
      return a.last / 2 < b.first / 2;
    return a.last <= b.first;
  };
  for (size_t later = 0; later < accesses.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const Timed &a = accesses[earlier], &b = accesses[later];
      if (!isWrite(a.access) && !isWrite(b.access))
        continue;
      Alias relation = alias(a.access, b.access);
      if (relation == Alias::None || inOrder(a, b, relation))
        continue;
      report(b.access, "that would change the order of two accesses that may touch the same "
                       "bytes, because tensors may overlap");
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

SmallVector<Operation *> RowPhases::roots(unsigned phase) const {
  SmallVector<Operation *> found;
  for (Operation &op : operations())
    if (isWide(&op) && level(&op) == phase && isRoot(&op))
      found.push_back(&op);
  return found;
}

SmallVector<Operation *> RowPhases::wideOps(unsigned phase) const {
  DenseSet<Operation *> needed;
  SmallVector<Operation *> worklist = roots(phase);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!isReduction(op) && !needed.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && isWide(definition) && !isReduction(definition))
        worklist.push_back(definition);
  }
  SmallVector<Operation *> ordered;
  for (Operation &op : operations())
    if (needed.contains(&op))
      ordered.push_back(&op);
  return ordered;
}

SmallVector<Operation *> RowPhases::narrowOps(unsigned wanted) const {
  SmallVector<Operation *> found;
  for (Operation &op : operations())
    if (!isWide(&op) && levels.contains(&op) && level(&op) == wanted)
      found.push_back(&op);
  return found;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

FailureOr<RowPhases> RowPhases::analyse(ParallelOp loop, StringAttr row, bool shared,
                                        Report report) {
  RowPhases result(loop, row);
  if (failed(result.classify(report)) || failed(result.checkMemoryOrder(shared, report)))
    return failure();
  return result;
}

FailureOr<RowPhases> RowPhases::analyse(ParallelOp loop, StringAttr row, bool shared) {
  return analyse(loop, row, shared, [&](Operation *op, const Twine &why) {
    op->emitError() << "row '" << row.getValue() << "' cannot be walked in chunks: " << why;
  });
}

bool RowPhases::canRoll(ParallelOp loop, StringAttr row, bool shared) {
  return succeeded(analyse(loop, row, shared, [](Operation *, const Twine &) {}));
}
