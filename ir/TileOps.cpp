//===- TileOps.cpp - Verifiers and syntax of tile operations ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/Tile.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

#define GET_OP_CLASSES
#include "ir/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

/// Checks that two tile types agree in sizes and names (not in element type or
/// layout).
static LogicalResult checkSameShape(Operation *op, RankedTensorType actual,
                                    RankedTensorType expected, const Twine &what) {
  if (actual.getShape() != expected.getShape() || getDimNames(actual) != getDimNames(expected))
    return op->emitOpError() << what << " must have the shape of "
                             << withElementType(expected, actual.getElementType()) << ", not "
                             << actual;
  return success();
}

static LogicalResult checkAxis(Operation *op, int64_t axis, int64_t count) {
  if (axis < 0 || axis >= count)
    return op->emitOpError() << "axis " << axis << " is not in [0, " << count << ")";
  return success();
}

/// Checks that each dimension of `part` is that of the tile or has size one.
static LogicalResult checkPart(Operation *op, RankedTensorType part, RankedTensorType tile,
                               StringRef what) {
  bool fits = part.getRank() == tile.getRank();
  for (int64_t dim = 0; fits && dim < tile.getRank(); ++dim)
    fits = part.getDimSize(dim) == 1 || (part.getDimSize(dim) == tile.getDimSize(dim) &&
                                         getDimName(part, dim) == getDimName(tile, dim));
  if (!fits)
    return op->emitOpError() << what << " " << part << " must have the rank of " << tile
                             << " and in each dimension its size or size one";
  return success();
}

/// Checks the tiles that say where each element lies, and which ones are left out.
template <typename Op> static LogicalResult checkIndices(Op op, RankedTensorType tile) {
  ArrayRef<int64_t> indexDims = op.getIndexDims().value_or(ArrayRef<int64_t>());
  if (indexDims.size() != op.getIndices().size())
    return op.emitOpError("needs one entry of index_dims for each tile of indices");
  for (auto [position, dim] : llvm::enumerate(indexDims)) {
    if (dim < 0 || dim >= op.getView().getType().getRank() || op.getDims()[dim] != -1 ||
        llvm::is_contained(indexDims.take_front(position), dim))
      return op.emitOpError() << "cannot index dimension " << dim
                              << ": it must be one of the view along which no dimension of the "
                                 "tile runs, named once";
    auto type = cast<RankedTensorType>(op.getIndices()[position].getType());
    if (!type.getElementType().isInteger(32) && !type.getElementType().isInteger(64))
      return op.emitOpError() << "indices must be i32 or i64, not " << type.getElementType();
    if (failed(checkPart(op, type, tile, "indices")))
      return failure();
  }
  if (!op.getMask())
    return success();
  auto mask = cast<RankedTensorType>(op.getMask().getType());
  if (!mask.getElementType().isInteger(1))
    return op.emitOpError() << "mask must be i1, not " << mask.getElementType();
  return checkPart(op, mask, tile, "mask");
}

/// Checks what loads, stores and atomics share.
template <typename Op>
static LogicalResult checkAccess(Op op, RankedTensorType tile,
                                 std::optional<ArrayRef<bool>> inBounds) {
  ViewType view = op.getView().getType();
  size_t offsetCount = op.getOffsets().size(), extentCount = op.getExtents().size();
  ArrayRef<int64_t> dims = op.getDims();
  if (tile.getElementType() != view.getElementType())
    return op.emitOpError() << "tile of " << tile.getElementType() << " in a view of "
                            << view.getElementType();
  if (offsetCount != size_t(view.getRank()) || dims.size() != size_t(view.getRank()))
    return op.emitOpError() << "needs one offset and one entry of dims for each of the "
                            << view.getRank() << " dimensions of the view";
  if (extentCount != size_t(tile.getRank()))
    return op.emitOpError() << "needs one extent for each of the " << tile.getRank()
                            << " dimensions of the tile";
  int64_t next = 0;
  bool hasIndices = !op.getIndices().empty();
  for (int64_t dim : dims) {
    if (dim == -1)
      continue;
    if (hasIndices ? dim < next || dim >= tile.getRank() : dim != next)
      return op.emitOpError("dims must name each dimension of the tile once, in order");
    next = dim + 1;
  }
  if (!hasIndices && next != tile.getRank())
    return op.emitOpError("dims must name each dimension of the tile once, in order");
  if (inBounds && inBounds->size() != size_t(tile.getRank()))
    return op.emitOpError("in_bounds needs one entry for each dimension of the tile");
  return checkIndices(op, tile);
}

static std::optional<ArrayRef<bool>> optionalArray(DenseBoolArrayAttr attr) {
  return attr ? std::optional<ArrayRef<bool>>(attr.asArrayRef()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Kernels and loops
//===----------------------------------------------------------------------===//

template <typename Op>
static ParseResult parseFunctionLike(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, Op::getFunctionTypeAttrName(result.name), buildType,
      Op::getArgAttrsAttrName(result.name), Op::getResAttrsAttrName(result.name));
}

template <typename Op> static void printFunctionLike(OpAsmPrinter &printer, Op op) {
  function_interface_impl::printFunctionOp(printer, op, /*isVariadic=*/false,
                                           op.getFunctionTypeAttrName(), op.getArgAttrsAttrName(),
                                           op.getResAttrsAttrName());
}

template <typename Op> static LogicalResult verifyFunctionLike(Op op) {
  if (!op.getFunctionType().getResults().empty())
    return op.emitOpError("has results; kernels store them");
  if (op.getBody().getArgumentTypes() != TypeRange(op.getFunctionType().getInputs()))
    return op.emitOpError("body arguments differ from the function type");
  for (Type type : op.getFunctionType().getInputs())
    if (!isa<PointerType, IndexType, Float32Type, Float64Type>(type))
      return op.emitOpError() << "argument of type " << type
                              << "; expected a pointer, index, f32 or f64";
  return success();
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunctionLike<KernelOp>(parser, result);
}
void KernelOp::print(OpAsmPrinter &printer) { printFunctionLike(printer, *this); }
LogicalResult KernelOp::verify() { return verifyFunctionLike(*this); }

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunctionLike<ProgramOp>(parser, result);
}
void ProgramOp::print(OpAsmPrinter &printer) { printFunctionLike(printer, *this); }

LogicalResult ProgramOp::verify() {
  if (int64_t(getWaves()) <= 0)
    return emitOpError("needs at least one wave");
  return verifyFunctionLike(*this);
}

LogicalResult LaunchOp::verify() {
  if (getGrid().empty() || getGrid().size() > 3)
    return emitOpError("needs a grid of one to three dimensions");
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto program = module ? module.lookupSymbol<ProgramOp>(getProgram()) : ProgramOp();
  if (!program)
    return emitOpError() << "there is no program @" << getProgram();
  if (program.getArgumentTypes() != getArguments().getTypes())
    return emitOpError("arguments differ in type from those of the program");
  return success();
}

LogicalResult ParallelOp::verify() {
  unsigned count = getNumDims();
  if (getLower().size() != count || getUpper().size() != count)
    return emitOpError("needs a lower and an upper bound for each name");
  if (getBody().getNumArguments() != 2 * count ||
      !llvm::all_of(getBody().getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("body needs a begin and an extent of type index for each name");
  if (auto sizes = getBlockSizes()) {
    if (sizes->size() != count)
      return emitOpError("needs a block size for each name");
    if (llvm::any_of(*sizes, [](int64_t size) { return size <= 0; }))
      return emitOpError("block sizes must be positive");
  }
  if (getWaves() && int64_t(*getWaves()) <= 0)
    return emitOpError("needs at least one wave");
  if (!cast<YieldOp>(getBody().front().getTerminator()).getValues().empty())
    return emitOpError("body yields values; a top-level loop carries none");
  return success();
}

YieldOp ForOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

LogicalResult ForOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 2 + getInits().size() || !getBegin().getType().isIndex() ||
      !getExtent().getType().isIndex())
    return emitOpError("body needs a begin and an extent of type index, then the carried values");
  if (ValueRange(getCarried()).getTypes() != getInits().getTypes())
    return emitOpError("body arguments and initial values differ in type");
  if (getYield().getValues().getTypes() != getInits().getTypes())
    return emitOpError("yielded and initial values differ in type");
  if (getBlockSize() && int64_t(*getBlockSize()) <= 0)
    return emitOpError("block size must be positive");
  return success();
}

YieldOp IfOp::getThenYield() { return cast<YieldOp>(getThenBody().front().getTerminator()); }
YieldOp IfOp::getElseYield() { return cast<YieldOp>(getElseBody().front().getTerminator()); }

LogicalResult IfOp::verify() {
  for (YieldOp yield : {getThenYield(), getElseYield()})
    if (yield.getValues().getTypes() != getResultTypes())
      return emitOpError("yielded values and results differ in type");
  return success();
}

YieldOp WhileOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }
Value WhileOp::getCondition() {
  return cast<YieldOp>(getBefore().front().getTerminator()).getValues().front();
}

LogicalResult WhileOp::verify() {
  for (Region *region : {&getBefore(), &getBody()})
    if (region->getArgumentTypes() != getInits().getTypes())
      return emitOpError("body arguments and initial values differ in type");
  ValueRange condition = cast<YieldOp>(getBefore().front().getTerminator()).getValues();
  if (condition.size() != 1 || !condition.front().getType().isInteger(1))
    return emitOpError("the first region yields one i1");
  if (getYield().getValues().getTypes() != getInits().getTypes())
    return emitOpError("yielded and initial values differ in type");
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  if (getPointer().getType().getElementType() != getType().getElementType())
    return emitOpError("pointer and view differ in element type");
  if (getSizes().size() != size_t(getType().getRank()) || getStrides().size() != getSizes().size())
    return emitOpError("needs one size and one stride for each dimension of the view");
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getViewMutable());
}

void StoreOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getViewMutable());
}

LogicalResult LoadOp::verify() {
  for (std::optional<TypedAttr> value : {getPad(), getBeyond()})
    if (value && value->getType() != getType().getElementType())
      return emitOpError() << "value " << *value << " for a tile of " << getType().getElementType();
  return checkAccess(*this, getType(), optionalArray(getInBoundsAttr()));
}

LogicalResult StoreOp::verify() {
  return checkAccess(*this, getValue().getType(), optionalArray(getInBoundsAttr()));
}

void AtomicOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getViewMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getViewMutable());
}

LogicalResult AtomicOp::verify() {
  Type element = getType().getElementType();
  if (bool(getCompare()) != (getKind() == AtomicKind::CompareExchange))
    return emitOpError("takes 'compare' if it is a compare_exchange, and only then");
  if (getCompare() && getCompare().getType() != getType())
    return emitOpError("value and compare differ in type");
  bool bits = getKind() == AtomicKind::And || getKind() == AtomicKind::Or ||
              getKind() == AtomicKind::Xor || getKind() == AtomicKind::UnsignedMaximum ||
              getKind() == AtomicKind::UnsignedMinimum;
  if (bits && !element.isInteger())
    return emitOpError() << stringifyAtomicKind(getKind()) << " needs integers, not " << element;
  return checkAccess(*this, getType(), std::nullopt);
}

LogicalResult ScalarOp::verify() {
  if (getSource().getType().getRank() != 0)
    return emitOpError() << "source " << getSource().getType() << " has dimensions";
  if (getSource().getType().getElementType() != getType())
    return emitOpError("source and result differ in element type");
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult FullOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return emitOpError("value and element type differ");
  return success();
}

LogicalResult IotaOp::verify() {
  if (getType().getRank() != 1 || !getType().getElementType().isIntOrIndex())
    return emitOpError("result must be a one-dimensional tile of integers");
  return success();
}

LogicalResult ExpandDimsOp::verify() {
  if (failed(checkAxis(*this, getAxis(), getType().getRank())))
    return failure();
  if (getSource().getType().getElementType() != getType().getElementType())
    return emitOpError("source and result differ in element type");
  return checkSameShape(*this, getType(), insertUnitDim(getSource().getType(), getAxis()),
                        "result");
}

LogicalResult SqueezeDimsOp::verify() {
  RankedTensorType source = getSource().getType();
  if (failed(checkAxis(*this, getAxis(), source.getRank())))
    return failure();
  if (source.getDimSize(getAxis()) != 1)
    return emitOpError() << "dimension " << getAxis() << " of " << source << " has not size one";
  if (source.getElementType() != getType().getElementType())
    return emitOpError("source and result differ in element type");
  return checkSameShape(*this, getType(), dropDim(source, getAxis()), "result");
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType source = getSource().getType();
  if (source.getRank() != getType().getRank())
    return emitOpError("source and result must have the same rank; use tile.expand_dims");
  if (source.getElementType() != getType().getElementType())
    return emitOpError("source and result differ in element type");
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    if (source.getDimSize(dim) == 1)
      continue;
    if (source.getDimSize(dim) != getType().getDimSize(dim) ||
        getDimName(source, dim) != getDimName(getType(), dim))
      return emitOpError() << "dimension " << dim
                           << " is neither of size one nor that of the result";
  }
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType source = getSource().getType();
  ArrayRef<int64_t> permutation = getPermutation();
  if (!isPermutationVector(permutation) || permutation.size() != size_t(source.getRank()))
    return emitOpError("needs a permutation of the source's dimensions");
  SmallVector<StringAttr> names;
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) {
    shape.push_back(source.getDimSize(dim));
    names.push_back(getDimName(source, dim));
  }
  return checkSameShape(*this, getType(), getTileType(shape, source.getElementType(), names),
                        "result");
}

//===----------------------------------------------------------------------===//
// Combining elements
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType source = getSource().getType();
  if (failed(checkAxis(*this, getAxis(), source.getRank())))
    return failure();
  Type element = source.getElementType();
  bool logical = getKind() == ReductionKind::And || getKind() == ReductionKind::Or;
  if (logical && !element.isInteger())
    return emitOpError() << "of kind and/or needs integers, not " << element;
  bool compares = getKind() == ReductionKind::Maximum || getKind() == ReductionKind::Minimum;
  if (compares && element.isInteger(1))
    return emitOpError("compares numbers, not i1; use and/or");
  if (getType().getElementType() != element)
    return emitOpError("source and result differ in element type");
  return checkSameShape(*this, getType(), dropDim(source, getAxis()), "result");
}

LogicalResult ArgReduceOp::verify() {
  RankedTensorType source = getSource().getType();
  if (failed(checkAxis(*this, getAxis(), source.getRank())) ||
      failed(checkSameShape(*this, getIndices().getType(), source, "indices")) ||
      failed(checkSameShape(*this, getValue().getType(), dropDim(source, getAxis()), "value")) ||
      failed(checkSameShape(*this, getIndex().getType(), dropDim(source, getAxis()), "index")))
    return failure();
  if (getValue().getType().getElementType() != source.getElementType() ||
      getIndex().getType().getElementType() != getIndices().getType().getElementType())
    return emitOpError("results must have the element types of the operands");
  if (!getIndices().getType().getElementType().isIntOrIndex())
    return emitOpError("indices must be integers");
  if (source.getElementType().isInteger(1))
    return emitOpError("compares numbers, not i1");
  return success();
}

LogicalResult FillBeyondOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return emitOpError() << "value " << getValue() << " for a tile of "
                         << getType().getElementType();
  return checkAxis(*this, getAxis(), getType().getRank());
}

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || result.getRank() != 2)
    return emitOpError("operands must have two dimensions");
  auto agree = [](RankedTensorType a, unsigned i, RankedTensorType b, unsigned j) {
    return a.getDimSize(i) == b.getDimSize(j) && getDimName(a, i) == getDimName(b, j);
  };
  if (!agree(lhs, 1, rhs, 0))
    return emitOpError() << "K differs between " << lhs << " and " << rhs;
  if (!agree(lhs, 0, result, 0) || !agree(rhs, 1, result, 1))
    return emitOpError() << "M or N differs between the operands and " << result;
  // The two fp8 formats may meet.
  Type a = lhs.getElementType(), b = rhs.getElementType(), sum = result.getElementType();
  if (a != b && !(isFp8(a) && isFp8(b)))
    return emitOpError() << "operands of " << a << " and " << b;
  bool fits = isa<FloatType>(a) ? isa<FloatType>(sum) : a.isInteger() && sum.isInteger();
  if (!fits)
    return emitOpError() << "cannot sum products of " << a << " in " << sum;
  return success();
}

//===----------------------------------------------------------------------===//
// What a kernel says, and instructions by name
//===----------------------------------------------------------------------===//

/// Checks that there is an offset and an extent for each dimension.
template <typename Op> static LogicalResult checkPlace(Op op, int64_t rank) {
  if (int64_t(op.getExtents().size()) != rank || int64_t(op.getOffsets().size()) != rank)
    return op.emitOpError() << "needs an offset and an extent for each of " << rank
                            << " dimensions";
  return success();
}

LogicalResult PrintOp::verify() {
  if (getValues().empty())
    return checkPlace(*this, 0);
  auto first = cast<RankedTensorType>(getValues().front().getType());
  for (Value value : getValues()) {
    auto type = cast<RankedTensorType>(value.getType());
    if (failed(checkSameShape(*this, type, first, "each tile")))
      return failure();
    if (!isa<FloatType>(type.getElementType()) && !type.getElementType().isInteger(64))
      return emitOpError() << "prints floats and i64, not " << type.getElementType();
  }
  return checkPlace(*this, first.getRank());
}

unsigned PrintOp::getDigits(Type element) {
  // One more than the digits that p bits hold at least, and one for the step between powers.
  unsigned precision = cast<FloatType>(element).getFPMantissaWidth();
  return 2 + unsigned(precision * 0.30103);
}

LogicalResult AssertOp::verify() {
  if (!getCondition().getType().getElementType().isInteger(1))
    return emitOpError() << "needs a condition of i1, not " << getCondition().getType();
  return checkPlace(*this, getCondition().getType().getRank());
}

void InlineAsmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getSideEffects())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult InlineAsmOp::verify() {
  if (getResults().empty())
    return emitOpError("needs a result");
  if (int64_t(getPack()) < 1)
    return emitOpError("takes at least one element at a time");
  auto first = cast<RankedTensorType>(getResults().front().getType());
  SmallVector<Type> types(getOperandTypes());
  llvm::append_range(types, getResultTypes());
  for (Type type : types)
    if (failed(checkSameShape(*this, cast<RankedTensorType>(type), first, "each tile")))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Staging and layouts
//===----------------------------------------------------------------------===//

static LogicalResult checkStaged(Operation *op, RankedTensorType tile, StagingType staging) {
  if (tile.getShape() != staging.getShape() || tile.getElementType() != staging.getElementType())
    return op->emitOpError() << "tile " << tile << " does not fit " << staging;
  return success();
}

LogicalResult StageStoreOp::verify() {
  return checkStaged(*this, getValue().getType(), getStaging().getType());
}

LogicalResult StageLoadOp::verify() {
  return checkStaged(*this, getType(), getStaging().getType());
}

LogicalResult ConvertLayoutOp::verify() {
  if (getSource().getType().getElementType() != getType().getElementType())
    return emitOpError("source and result differ in element type");
  if (getSource().getType().getShape() != getType().getShape())
    return emitOpError("source and result differ in shape");
  return success();
}

//===----------------------------------------------------------------------===//
// Order along a dimension
//===----------------------------------------------------------------------===//

/// Checks the sources of a scan or combination, and its body.
static LogicalResult checkCombination(Operation *op, OperandRange sources, int64_t axis) {
  if (sources.empty())
    return op->emitOpError("needs a source");
  auto first = cast<RankedTensorType>(sources.front().getType());
  if (failed(checkAxis(op, axis, first.getRank())))
    return failure();
  SmallVector<Type> elements;
  for (Value source : sources) {
    auto type = cast<RankedTensorType>(source.getType());
    if (failed(checkSameShape(op, type, first, "each source")))
      return failure();
    elements.push_back(type.getElementType());
  }
  Block &body = op->getRegion(0).front();
  SmallVector<Type> twice(elements);
  llvm::append_range(twice, elements);
  if (TypeRange(body.getArgumentTypes()) != TypeRange(twice))
    return op->emitOpError("needs a body whose arguments are two elements of each source");
  auto yield = dyn_cast_or_null<YieldOp>(body.empty() ? nullptr : &body.back());
  if (!yield || TypeRange(yield.getValues().getTypes()) != TypeRange(elements))
    return op->emitOpError("needs a body that yields one element of each source");
  for (Operation &inner : body.without_terminator())
    if (!llvm::is_contained({"arith", "math"}, inner.getName().getDialectNamespace()))
      return inner.emitOpError() << "in the body of '" << op->getName()
                                 << "', which may hold arith and math only";
  return success();
}

LogicalResult ScanOp::verify() { return checkCombination(*this, getSources(), getAxis()); }

LogicalResult CombineOp::verify() {
  if (failed(checkCombination(*this, getSources(), getAxis())))
    return failure();
  if (getResults().size() != getSources().size())
    return emitOpError("needs a result for each source");
  for (auto [source, result] : llvm::zip_equal(getSources(), getResults())) {
    auto from = cast<RankedTensorType>(source.getType());
    auto to = cast<RankedTensorType>(result.getType());
    if (to.getElementType() != from.getElementType())
      return emitOpError("source and result differ in element type");
    if (failed(checkSameShape(*this, to, dropDim(from, getAxis()), "result")))
      return failure();
  }
  return success();
}

LogicalResult SortOp::verify() {
  RankedTensorType source = getSource().getType();
  if (failed(checkAxis(*this, getAxis(), source.getRank())) ||
      failed(checkSameShape(*this, getIndex().getType(), source, "index")))
    return failure();
  if (!getIndex().getType().getElementType().isInteger())
    return emitOpError("indices must be integers");
  return success();
}

LogicalResult TakeOp::verify() {
  if (getIndices().size() != size_t(getSource().getType().getRank()))
    return emitOpError("needs a tile of indices for each dimension of the source");
  if (getType().getElementType() != getSource().getType().getElementType())
    return emitOpError("source and result differ in element type");
  for (Value index : getIndices()) {
    auto type = cast<RankedTensorType>(index.getType());
    if (!type.getElementType().isInteger())
      return emitOpError("indices must be integers");
    if (failed(checkSameShape(*this, type, getType(), "each tile of indices")))
      return failure();
  }
  return success();
}
