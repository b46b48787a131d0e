//===- InferBounds.cpp - Bounds, and what lies beyond them ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %x = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n)
//       : !tile.view<2 x bf16> -> tensor<4x4096xbf16>
//   %f = arith.extf %x : tensor<4x4096xbf16> to tensor<4x4096xf32>
//   %m = tile.reduce maximum %f axis 1 extent(%n)
//
// becomes, if %v lies at a multiple of 16 bytes and its row stride and %n are
// multiples of 8,
//
//   %x = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n)
//       {alignment = 16, beyond = 0xFF80 : bf16, divisor = 8, in_bounds = [false, false]}
//   %f = arith.extf %x
//   %m = tile.reduce maximum %f axis 1 extent(%n) beyond_neutral
//
// The `beyond` of the loads are chosen together, by trying the identities of what
// the tiles are reduced by: each that leaves fewer operations in need of a
// `tile.fill_beyond` is kept. One that nobody looks at is left out.
//
//===----------------------------------------------------------------------===//

#include "passes/BeyondAnalysis.h"
#include "passes/ElementFolding.h"
#include "passes/IndexFacts.h"
#include "passes/Passes.h"
#include "passes/Place.h"
#include "passes/Reductions.h"

#include "ir/Tile.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

namespace wavetile {
#define GEN_PASS_DEF_INFERBOUNDS
#include "passes/Passes.h.inc"
} // namespace wavetile

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// Sets what is provable of the addresses of one load or store.
template <typename AccessOp> class AccessBounds {
public:
  AccessBounds(AccessOp op, RankedTensorType tile, IndexFacts &facts)
      : op(op), tile(tile), facts(facts), view(op.getView().template getDefiningOp<ViewOp>()) {}

  void set() {
    if (!view)
      return;
    // Places that indices give are not known.
    if (op.getIndices().empty())
      op.setAlignment(alignment());
    else
      op.removeAlignmentAttr();
    int64_t divides = divisor();
    if (divides > 1)
      op.setDivisor(divides);
    else
      op.removeDivisorAttr();
    SmallVector<bool> inBounds(tile.getRank());
    for (int64_t dim = 0; dim < tile.getRank(); ++dim)
      inBounds[dim] = facts.constant(op.getExtents()[dim]) == tile.getDimSize(dim);
    for (auto [viewDim, tileDim] : llvm::enumerate(op.getDims()))
      if (tileDim >= 0)
        inBounds[tileDim] = isInBounds(viewDim, tileDim);
    op.setInBounds(inBounds);
  }

private:
  /// A power of two of bytes that divides the address of each innermost row.
  int64_t alignment() {
    int64_t elementBytes = std::max(1u, tile.getElementTypeBitWidth() / 8);
    int64_t bytes = facts.alignment(view.getPointer());
    for (auto [viewDim, tileDim] : llvm::enumerate(op.getDims())) {
      int64_t stride = facts.divisor(view.getStrides()[viewDim]) * elementBytes;
      bytes = std::gcd(bytes, facts.divisor(op.getOffsets()[viewDim]) * stride);
      bool isOuter = tileDim >= 0 && tileDim + 1 < tile.getRank() && tile.getDimSize(tileDim) != 1;
      if (isOuter)
        bytes = std::gcd(bytes, stride);
    }
    return bytes & -bytes;
  }

  /// Divides where the innermost dimension ends.
  int64_t divisor() {
    if (tile.getRank() == 0)
      return 1;
    Value extent = op.getExtents().back();
    const int64_t *viewDim = llvm::find(op.getDims(), tile.getRank() - 1);
    if (viewDim == op.getDims().end())
      return facts.divisor(extent);
    size_t at = viewDim - op.getDims().begin();
    return facts.divisorOfEnd(op.getOffsets()[at], extent, view.getSizes()[at]);
  }

  bool isInBounds(unsigned viewDim, unsigned tileDim) {
    Value offset = op.getOffsets()[viewDim], extent = op.getExtents()[tileDim];
    return facts.constant(extent) == tile.getDimSize(tileDim) && facts.isNonNegative(offset) &&
           facts.endsWithin(offset, extent, view.getSizes()[viewDim]);
  }

  AccessOp op;
  RankedTensorType tile;
  IndexFacts &facts;
  ViewOp view;
};
} // namespace

static void setAccessBounds(Operation *root, IndexFacts &facts) {
  root->walk([&](LoadOp load) { AccessBounds<LoadOp>(load, load.getType(), facts).set(); });
  root->walk([&](StoreOp store) {
    AccessBounds<StoreOp>(store, store.getValue().getType(), facts).set();
  });
}

//===----------------------------------------------------------------------===//
// What looks beyond extents
//===----------------------------------------------------------------------===//

namespace {

/// An operand of a reduction or dot, and what it wants beyond the extent.
struct Demand {
  Operation *op;
  unsigned operand;
  unsigned axis;
  Value extent;
  TypedAttr wanted;

  Value value() const { return op->getOperand(operand); }
};

/// Chooses what the loads of one top-level loop put beyond their extents.
class BeyondChooser {
public:
  BeyondChooser(Block &body, IndexFacts &facts) : body(body), facts(facts), analysis(facts) {}

  void run();

private:
  void collect();
  unsigned analyse();
  bool isMet(const Demand &demand, bool &exception);
  bool isRedundant(FillBeyondOp fill);
  bool mayLeaveView(LoadOp load);
  SmallVector<TypedAttr> candidates(LoadOp load);
  void choose();
  void apply();
  void applyTo(const Demand &demand);
  void treatEmptyRow(ReduceOp reduce);

  Block &body;
  IndexFacts &facts;
  BeyondAnalysis analysis;
  SmallVector<LoadOp> loads;
  SmallVector<FillBeyondOp> fills;
  SmallVector<Demand> demands;
  llvm::DenseMap<Operation *, TypedAttr> chosen;
};

} // namespace

void BeyondChooser::collect() {
  body.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LoadOp load) { loads.push_back(load); })
        .Case([&](FillBeyondOp fill) { fills.push_back(fill); })
        .Case([&](ReduceOp reduce) {
          TypedAttr wanted = getIdentity(reduce.getKind(), reduce.getType().getElementType());
          demands.push_back({op, 0, unsigned(reduce.getAxis()), reduce.getExtent(), wanted});
        })
        .Case([&](ArgReduceOp reduce) {
          TypedAttr wanted =
              getIdentity(reduce.getKind(), reduce.getSource().getType().getElementType());
          demands.push_back({op, 0, unsigned(reduce.getAxis()), reduce.getExtent(), wanted});
        })
        .Case([&](DotOp dot) {
          for (unsigned operand : {0, 1}) {
            auto type = cast<RankedTensorType>(dot->getOperand(operand).getType());
            demands.push_back({op, operand, 1 - operand, dot.getExtent(),
                               getIdentity(ReductionKind::Sum, type.getElementType())});
          }
        });
  });
}

/// Indices grow along `axis`, so that those beyond an extent lose a tie.
static bool isIncreasing(Value indices, unsigned axis) {
  Operation *op = indices.getDefiningOp();
  if (!op)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](IotaOp) { return axis == 0; })
      .Case([&](BroadcastOp broadcast) {
        return broadcast.getSource().getType().getDimSize(axis) != 1 &&
               isIncreasing(broadcast.getSource(), axis);
      })
      .Case([&](ExpandDimsOp expand) {
        if (unsigned(expand.getAxis()) == axis)
          return false;
        return isIncreasing(expand.getSource(), axis - (unsigned(expand.getAxis()) < axis));
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](auto cast) { return isIncreasing(cast.getIn(), axis); })
      .Case([&](arith::AddIOp add) {
        auto isShift = [&](Value value) { return value.getDefiningOp<FullOp>(); };
        return (isShift(add.getRhs()) && isIncreasing(add.getLhs(), axis)) ||
               (isShift(add.getLhs()) && isIncreasing(add.getRhs(), axis));
      })
      .Default([](Operation *) { return false; });
}

/// The element, repeated any number of times, reduces to itself.
static bool isIdempotent(ReductionKind kind) {
  return kind != ReductionKind::Sum && kind != ReductionKind::Product;
}

bool BeyondChooser::isMet(const Demand &demand, bool &exception) {
  exception = false;
  auto type = cast<RankedTensorType>(demand.value().getType());
  if (auto reduce = dyn_cast<ArgReduceOp>(demand.op);
      reduce && facts.constant(demand.extent) != type.getDimSize(demand.axis) &&
      !isIncreasing(reduce.getIndices(), demand.axis))
    return false;
  if (facts.constant(demand.extent) == type.getDimSize(demand.axis))
    return true;
  if (auto reduce = dyn_cast<ReduceOp>(demand.op);
      reduce && isIdempotent(reduce.getKind()) && facts.isPositive(demand.extent) &&
      analysis.lookup(demand.value(), demand.axis).isUniform())
    return true;
  // Where a whole row of an operand is NaN, so is the row of the product; but in
  // an empty product no element is.
  bool mayExcept = !isa<DotOp>(demand.op) || facts.isPositive(demand.extent);
  return analysis.holdsBeyond(demand.value(), demand.axis, demand.extent, demand.wanted,
                              mayExcept ? &exception : nullptr);
}

bool BeyondChooser::isRedundant(FillBeyondOp fill) {
  if (facts.constant(fill.getExtent()) == fill.getType().getDimSize(fill.getAxis()))
    return true;
  return analysis.holdsBeyond(fill.getSource(), fill.getAxis(), fill.getExtent(), fill.getValue(),
                              /*exception=*/nullptr);
}

/// Runs the analysis with the current choice; the number of selects it needs.
unsigned BeyondChooser::analyse() {
  analysis.run(body, [&](LoadOp load) { return chosen.lookup(load); });
  bool exception;
  return llvm::count_if(demands, [&](const Demand &d) { return !isMet(d, exception); }) +
         llvm::count_if(fills, [&](FillBeyondOp fill) { return !isRedundant(fill); });
}

/// What elements outside the view are.
static TypedAttr padOf(LoadOp load) {
  return load.getPad().value_or(getIdentity(ReductionKind::Sum, load.getType().getElementType()));
}

/// Whether elements within the extents may lie outside the view. They are `pad`, so that no other
/// value may stand beyond the extents: the lowering keeps lanes out of both in one way.
bool BeyondChooser::mayLeaveView(LoadOp load) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  if (!view || !Place::of(load)->isStrided())
    return true;
  for (auto [offset, size, dim] :
       llvm::zip_equal(load.getOffsets(), view.getSizes(), load.getDims())) {
    bool stays = dim < 0 ? facts.isInside(offset, size)
                         : facts.isNonNegative(offset) &&
                               facts.endsWithin(offset, load.getExtents()[dim], size);
    if (!stays)
      return true;
  }
  return false;
}

/// The identities of everything in the loop, for elements of this type; zero
/// first, which costs least to put into a register.
SmallVector<TypedAttr> BeyondChooser::candidates(LoadOp load) {
  Type element = load.getType().getElementType();
  if (mayLeaveView(load))
    return {padOf(load)};
  SmallVector<TypedAttr> found = {getIdentity(ReductionKind::Sum, element)};
  auto add = [&](TypedAttr value) {
    if (!llvm::is_contained(found, value))
      found.push_back(value);
  };
  for (const Demand &demand : demands) {
    if (auto reduce = dyn_cast<ReduceOp>(demand.op)) {
      bool logical =
          reduce.getKind() == ReductionKind::And || reduce.getKind() == ReductionKind::Or;
      if (!logical || element.isInteger())
        add(getIdentity(reduce.getKind(), element));
    } else if (auto reduce = dyn_cast<ArgReduceOp>(demand.op)) {
      add(getIdentity(reduce.getKind(), element));
    }
  }
  for (FillBeyondOp fill : fills)
    if (fill.getValue().getType() == element)
      add(fill.getValue());
  return found;
}

void BeyondChooser::choose() {
  for (LoadOp load : loads)
    chosen[load] = candidates(load).front();
  unsigned needed = analyse();
  for (bool improved = true; improved && needed != 0;) {
    improved = false;
    for (LoadOp load : loads) {
      for (TypedAttr candidate : candidates(load)) {
        TypedAttr before = chosen[load];
        if (candidate == before)
          continue;
        chosen[load] = candidate;
        unsigned now = analyse();
        if (now < needed) {
          needed = now;
          improved = true;
        } else {
          chosen[load] = before;
        }
      }
    }
  }
  for (LoadOp load : loads) {
    TypedAttr before = chosen[load];
    chosen[load] = TypedAttr();
    if (analyse() > needed)
      chosen[load] = before;
  }
  analyse();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// What lies beyond is only neutral if the row has an element that is NaN; a row
/// without elements reduces to the identity.
void BeyondChooser::treatEmptyRow(ReduceOp reduce) {
  if (reduce.getBeyondNeutral() || facts.isPositive(reduce.getExtent()))
    return;
  OpBuilder builder(reduce);
  builder.setInsertionPointAfter(reduce);
  Location loc = reduce.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isEmpty =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, reduce.getExtent(), zero);
  Value identity = arith::ConstantOp::create(
      builder, loc, getIdentity(reduce.getKind(), reduce.getType().getElementType()));
  Value full = FullOp::create(builder, loc, reduce.getType(), identity);
  auto select = arith::SelectOp::create(builder, loc, isEmpty, full, reduce.getResult());
  reduce.getResult().replaceAllUsesExcept(select.getResult(), select);
}

void BeyondChooser::applyTo(const Demand &demand) {
  bool exception;
  if (isMet(demand, exception)) {
    if (exception && isa<ReduceOp>(demand.op))
      treatEmptyRow(cast<ReduceOp>(demand.op));
    return;
  }
  OpBuilder builder(demand.op);
  Location loc = demand.op->getLoc();
  auto fill = [&](unsigned operand, TypedAttr value) {
    Value source = demand.op->getOperand(operand);
    demand.op->setOperand(operand, FillBeyondOp::create(builder, loc, source.getType(), source,
                                                        builder.getI64IntegerAttr(demand.axis),
                                                        demand.extent, value));
  };
  fill(demand.operand, demand.wanted);
  // Indices that do not grow must not win a tie either.
  if (auto reduce = dyn_cast<ArgReduceOp>(demand.op);
      reduce && !isIncreasing(reduce.getIndices(), demand.axis))
    fill(1, getIdentity(ArgReductionKind::Minimum, reduce.getIndices().getType().getElementType()));
}

void BeyondChooser::apply() {
  for (const Demand &demand : demands)
    applyTo(demand);
  for (const Demand &demand : demands)
    llvm::TypeSwitch<Operation *>(demand.op).Case<ReduceOp, ArgReduceOp, DotOp>(
        [](auto op) { op.setBeyondNeutral(true); });
  for (LoadOp load : loads) {
    if (TypedAttr value = chosen[load])
      load.setBeyondAttr(value);
    else
      load.removeBeyondAttr();
  }
  for (FillBeyondOp fill : fills) {
    if (!isRedundant(fill))
      continue;
    fill.getResult().replaceAllUsesWith(fill.getSource());
    fill.erase();
  }
}

void BeyondChooser::run() {
  collect();
  choose();
  apply();
}

namespace {
struct InferBounds : wavetile::impl::InferBoundsBase<InferBounds> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<ParallelOp, ProgramOp>(op))
        return;
      IndexFacts facts;
      setAccessBounds(op, facts);
      BeyondChooser(op->getRegion(0).front(), facts).run();
    });
  }
};
} // namespace

std::unique_ptr<Pass> wavetile::createInferBoundsPass() { return std::make_unique<InferBounds>(); }
