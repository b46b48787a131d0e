//===- RaceAnalysis.cpp - Accesses of different iterations ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/RaceAnalysis.h"

#include "passes/LinearForm.h"
#include "passes/Place.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

/// Where an access lies along one dimension of its tensor: from `first` on, one element
/// (`extent` null) or `extent` of them; nothing is known if `known` is not set.
struct Range {
  bool known = false;
  LinearForm first;
  Value extent;
};

struct Access {
  Operation *op;
  Value view;
  SmallVector<Range> ranges;
  bool masked;
  bool isStore() const { return isa<StoreOp>(op); }
};

/// The accesses of one top-level loop, and what is known of its iterations.
class LoopRaces {
public:
  LoopRaces(ParallelOp loop, bool disjoint);

  void find(SmallVectorImpl<Race> &races);

private:
  void add(Operation *op, const Place &place);
  std::optional<Race> check(const Access &store, const Access &other);

  // Freedom.
  bool separates(unsigned dim, const Access &a, const Access &b);
  bool separatesAt(unsigned dim, const Range &a, const Range &b);
  std::optional<LinearForm> relativeToBlock(unsigned dim, const Range &range);
  std::optional<LinearForm> relativeToNumber(unsigned dim, const Range &range);
  bool happensOnce(unsigned dim, const Access &access);

  // Proof.
  bool certainlyMeet(unsigned dim, const Access &a, const Access &b);
  bool certainlyMeetAt(unsigned dim, Value size, const Range &a, const Range &b);
  bool alwaysRuns(const Access &access);
  bool variesWith(unsigned dim, Value value);
  bool variesWith(unsigned dim, const LinearForm &form);

  bool hasSeveralIterations(unsigned dim);
  IntegerAttr fixedSize(unsigned dim);
  bool isInvariant(const LinearForm &form);
  bool isNumber(unsigned dim, Value value);

  ParallelOp loop;
  bool disjoint;
  bool ordered = false; // by atomics
  SmallVector<Access> accesses;
  SmallVector<bool> several; // for each dimension
};

} // namespace

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

static std::string nameOf(Value view) {
  StringAttr name = getTensorName(view.getDefiningOp<ViewOp>());
  return name ? name.str() : "the tensor";
}

LoopRaces::LoopRaces(ParallelOp loop, bool disjoint) : loop(loop), disjoint(disjoint) {
  for (unsigned dim = 0; dim < loop.getNumDims(); ++dim)
    several.push_back(hasSeveralIterations(dim));
  loop.walk([&](Operation *op) {
    if (auto atomic = dyn_cast<AtomicOp>(op))
      ordered |= atomic.getOrder() != MemoryOrder::Relaxed;
    else if (std::optional<Place> place = Place::of(op))
      add(op, *place);
  });
}

void LoopRaces::add(Operation *op, const Place &place) {
  Access access{op, place.view, {}, bool(place.mask)};
  for (auto [viewDim, offset] : llvm::enumerate(place.offsets)) {
    Range range;
    const int64_t *found = llvm::find(place.indexDims, int64_t(viewDim));
    if (found != place.indexDims.end()) {
      // Numbers that are those of a loop's block, moved by the same for all.
      TileForm form = tileFormOf(place.indices[found - place.indexDims.begin()]);
      if (form.known) {
        range.first = form.first + linearFormOf(offset);
        if (form.dim)
          for (auto [dim, extent] : llvm::enumerate(place.extents))
            if (getDimName(place.tile, dim) == form.dim)
              range.extent = extent;
        range.known = !form.dim || range.extent;
      }
    } else {
      range.known = true;
      range.first = linearFormOf(offset);
      if (int64_t dim = place.dims[viewDim]; dim >= 0)
        range.extent = place.extents[dim];
    }
    access.ranges.push_back(range);
  }
  accesses.push_back(std::move(access));
}

/// The block size that the kernel itself gives a dimension, or null.
IntegerAttr LoopRaces::fixedSize(unsigned dim) {
  auto sizes = loop->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(configAttrName);
  return sizes ? sizes.getAs<IntegerAttr>(loop.getDimName(dim)) : IntegerAttr();
}

bool LoopRaces::hasSeveralIterations(unsigned dim) {
  std::optional<int64_t> lower = hintOf(loop.getLower()[dim]), upper = hintOf(loop.getUpper()[dim]);
  if (!lower || !upper)
    return true;
  IntegerAttr size = fixedSize(dim);
  return *upper - *lower > (size ? size.getInt() : 1);
}

//===----------------------------------------------------------------------===//
// Freedom
//===----------------------------------------------------------------------===//

/// Whether a value is the same for all iterations of the loop and all that happens in one.
bool LoopRaces::isInvariant(const LinearForm &form) {
  return llvm::all_of(form.terms, [&](auto term) {
    return !loop->isAncestor(term.first.getParentRegion()->getParentOp());
  });
}

/// Where the range lies relative to the loop's block along a dimension, if it lies in the block
/// but for a distance that is the same for all iterations.
std::optional<LinearForm> LoopRaces::relativeToBlock(unsigned dim, const Range &range) {
  LinearForm begin = LinearForm::of(loop.getBegin(dim));
  for (auto [value, factor] : range.first.terms) {
    if (factor != 1)
      continue;
    LinearForm rest = range.first - LinearForm::of(value);
    if (value == loop.getBegin(dim) && (!range.extent || range.extent == loop.getExtent(dim)))
      return isInvariant(rest) ? std::optional(rest) : std::nullopt;
    // A loop over the block, in smaller blocks.
    auto argument = dyn_cast<BlockArgument>(value);
    auto inner = argument ? dyn_cast<ForOp>(argument.getOwner()->getParentOp()) : ForOp();
    if (!inner || argument != inner.getBegin() ||
        (range.extent && range.extent != inner.getExtent()))
      continue;
    LinearForm lower = linearFormOf(inner.getLower()) - begin;
    LinearForm length = linearFormOf(inner.getUpper()) - linearFormOf(inner.getLower());
    if (length == LinearForm::of(loop.getExtent(dim)) && isInvariant(lower + rest))
      return lower + rest;
  }
  return std::nullopt;
}

/// Whether a value is the number of the loop's block: its begin divided by the block size.
bool LoopRaces::isNumber(unsigned dim, Value value) {
  auto quotient = value.getDefiningOp<arith::FloorDivSIOp>();
  if (!quotient)
    return false;
  auto size = quotient.getRhs().getDefiningOp<BlockSizeOp>();
  bool isSize = size && size.getDim() == loop.getDimName(dim);
  if (auto constant = quotient.getRhs().getDefiningOp<arith::ConstantIndexOp>()) {
    IntegerAttr fixed = fixedSize(dim);
    isSize = fixed && fixed.getInt() == constant.value();
  }
  LinearForm distance = linearFormOf(quotient.getLhs()) - LinearForm::of(loop.getBegin(dim));
  LinearForm lower = linearFormOf(loop.getLower()[dim]);
  return isSize && distance == LinearForm() - lower;
}

/// For one element whose place is a multiple of the loop's begin or block number, and the rest.
std::optional<LinearForm> LoopRaces::relativeToNumber(unsigned dim, const Range &range) {
  if (range.extent)
    return std::nullopt;
  for (auto [value, factor] : range.first.terms) {
    if (value != loop.getBegin(dim) && !isNumber(dim, value))
      continue;
    LinearForm rest = range.first - LinearForm::of(value) * factor;
    if (isInvariant(rest))
      return range.first;
  }
  return std::nullopt;
}

bool LoopRaces::separatesAt(unsigned dim, const Range &a, const Range &b) {
  if (!a.known || !b.known)
    return false;
  std::optional<LinearForm> first = relativeToBlock(dim, a), second = relativeToBlock(dim, b);
  if (first && second && *first == *second)
    return true;
  first = relativeToNumber(dim, a), second = relativeToNumber(dim, b);
  return first && second && *first == *second;
}

/// Whether the access is made by one iteration along a dimension only: under an `if` that says so.
bool LoopRaces::happensOnce(unsigned dim, const Access &access) {
  for (Operation *op = access.op; op != loop; op = op->getParentOp()) {
    auto choice = dyn_cast<IfOp>(op->getParentOp());
    if (!choice || op->getParentRegion() != &choice.getThenBody())
      continue;
    auto condition = choice.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!condition || condition.getPredicate() != arith::CmpIPredicate::eq)
      continue;
    LinearForm difference = linearFormOf(condition.getLhs()) - linearFormOf(condition.getRhs());
    if (relativeToNumber(dim, {true, difference, nullptr}))
      return true;
  }
  return false;
}

/// Whether two iterations that differ along a dimension touch different elements.
bool LoopRaces::separates(unsigned dim, const Access &a, const Access &b) {
  if (happensOnce(dim, a) && (a.op == b.op || happensOnce(dim, b)))
    return true;
  for (auto [first, second] : llvm::zip_equal(a.ranges, b.ranges))
    if (separatesAt(dim, first, second))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Proof
//===----------------------------------------------------------------------===//

/// Whether a value may differ from iteration to iteration along a dimension.
bool LoopRaces::variesWith(unsigned dim, Value value) {
  SmallVector<Value> pending = {value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second || !loop->isAncestor(next.getParentRegion()->getParentOp()))
      continue;
    if (next == loop.getBegin(dim) || next == loop.getExtent(dim))
      return true;
    Operation *op = next.getDefiningOp();
    if (!op) {
      op = cast<BlockArgument>(next).getOwner()->getParentOp();
      if (op == loop)
        continue;
      auto inner = dyn_cast<ForOp>(op);
      if (inner && (next == inner.getBegin() || next == inner.getExtent())) {
        pending.push_back(inner.getLower());
        pending.push_back(inner.getUpper());
        continue;
      }
    }
    // What a loop carries, and what an `if` gives, depends on all that is in them.
    op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  }
  return false;
}

bool LoopRaces::variesWith(unsigned dim, const LinearForm &form) {
  return llvm::any_of(form.terms, [&](auto term) { return variesWith(dim, term.first); });
}

/// Whether each iteration of the top-level loop makes this access, of at least one element.
bool LoopRaces::alwaysRuns(const Access &access) {
  if (access.masked)
    return false;
  for (Operation *op = access.op->getParentOp(); op != loop; op = op->getParentOp()) {
    auto inner = dyn_cast<ForOp>(op);
    if (!inner)
      return false;
    std::optional<int64_t> lower = hintOf(inner.getLower()), upper = hintOf(inner.getUpper());
    if (!lower || !upper || *lower >= *upper)
      return false;
  }
  return true;
}

/// Whether, of iterations that differ along `dim` only, some certainly touch one index.
bool LoopRaces::certainlyMeetAt(unsigned dim, Value size, const Range &a, const Range &b) {
  if (!a.known || !b.known)
    return false;
  bool firstVaries = variesWith(dim, a.first), secondVaries = variesWith(dim, b.first);
  std::optional<int64_t> length = hintOf(size);
  if (!length || *length < 1)
    return false;
  auto isWhole = [&](const Range &range) {
    return range.extent == size && range.first == LinearForm();
  };
  // The whole of the dimension meets everything in it; so does what is the same for both.
  if (!firstVaries && !secondVaries)
    return (a.first == b.first && bool(a.extent) == bool(b.extent)) || isWhole(a) || isWhole(b);
  auto coversBlocks = [&](const Range &range) {
    std::optional<LinearForm> rest = relativeToBlock(dim, range);
    return rest && *rest == LinearForm() && linearFormOf(loop.getLower()[dim]) == LinearForm() &&
           loop.getUpper()[dim] == size;
  };
  if (firstVaries && secondVaries) {
    // Blocks that are moved by different distances overlap where one ends.
    std::optional<LinearForm> first = relativeToBlock(dim, a), second = relativeToBlock(dim, b);
    if (!first || !second || !a.extent || !b.extent)
      return false;
    LinearForm distance = *first - *second;
    return distance.isConstant() && distance.constant != 0 &&
           std::abs(distance.constant) < *length && (coversBlocks(a) || coversBlocks(b));
  }
  const Range &moving = firstVaries ? a : b, &fixed = firstVaries ? b : a;
  bool inside =
      fixed.first.isConstant() && fixed.first.constant >= 0 && fixed.first.constant < *length;
  return coversBlocks(moving) && (inside || isWhole(fixed));
}

bool LoopRaces::certainlyMeet(unsigned dim, const Access &a, const Access &b) {
  auto view = a.view.getDefiningOp<ViewOp>();
  if (!view || !alwaysRuns(a) || !alwaysRuns(b))
    return false;
  for (auto [size, first, second] : llvm::zip_equal(view.getSizes(), a.ranges, b.ranges))
    if (!certainlyMeetAt(dim, size, first, second))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

std::optional<Race> LoopRaces::check(const Access &store, const Access &other) {
  if (store.view != other.view && (disjoint || store.ranges.size() != other.ranges.size()))
    return std::nullopt;
  Race race{false, store.op, other.op, nameOf(store.view), ""};
  // Two arguments that may overlap are taken to be one tensor: what is separate in that is silent.
  // So are iterations that store one value to one place, which do no harm.
  bool harms = false;
  for (unsigned dim = 0; dim < loop.getNumDims(); ++dim) {
    if (!several[dim] || separates(dim, store, other))
      continue;
    bool varies = other.op != store.op || variesWith(dim, cast<StoreOp>(store.op).getValue());
    harms |= varies;
    if (varies && store.view == other.view && certainlyMeet(dim, store, other)) {
      race.proved = true;
      race.dimension = loop.getDimName(dim).str();
      return race;
    }
  }
  return harms ? std::optional(race) : std::nullopt;
}

void LoopRaces::find(SmallVectorImpl<Race> &races) {
  if (ordered)
    return;
  for (const Access &store : accesses) {
    if (!store.isStore())
      continue;
    std::optional<Race> first;
    for (const Access &other : accesses) {
      std::optional<Race> race = check(store, other);
      if (race && (!first || (race->proved && !first->proved)))
        first = race;
    }
    if (first)
      races.push_back(*first);
  }
}

SmallVector<Race> wavetile::findRaces(KernelOp kernel) {
  SmallVector<Race> races;
  for (ParallelOp loop : kernel.getOps<ParallelOp>())
    LoopRaces(loop, kernel.getDisjoint()).find(races);
  return races;
}
