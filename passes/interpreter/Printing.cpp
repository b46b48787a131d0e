//===- Printing.cpp - What a kernel says ------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;
using namespace wavetile::interpreter;

/// Calls `visit` with each element below the extents: where it is, and its indices moved by the
/// offsets, such as " [3, 5]".
template <typename Op>
static LogicalResult
forEachShown(Frame &frame, Op op, ArrayRef<int64_t> shape,
             llvm::function_ref<LogicalResult(size_t, const std::string &)> visit) {
  FailureOr<SmallVector<int64_t, 4>> offsets =
      frame.integers(op, op.getOffsets(), "has as an offset");
  if (failed(offsets))
    return failure();
  SmallVector<int64_t, 4> extents;
  for (auto [value, size] : llvm::zip_equal(op.getExtents(), shape)) {
    FailureOr<int64_t> extent = frame.extent(op, value, size);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  LogicalResult result = success();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, size_t position) {
    bool isBelow = llvm::all_of(llvm::zip_equal(index, extents),
                                [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
    if (failed(result) || !isBelow)
      return;
    SmallVector<std::string> places;
    for (auto [place, offset] : llvm::zip_equal(index, *offsets))
      places.push_back(std::to_string(place + offset));
    result = visit(position, places.empty() ? "" : " [" + llvm::join(places, ", ") + "]");
  });
  return result;
}

static std::string printed(Type type, const llvm::APInt &bits) {
  if (!isa<FloatType>(type))
    return std::to_string(bits.getSExtValue());
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", int(PrintOp::getDigits(type)),
                                                 toFloat(type, bits).convertToDouble());
  return text;
}

LogicalResult interpreter::runPrint(Frame &frame, PrintOp op) {
  if (op.getValues().empty()) {
    llvm::outs() << op.getText() << "\n";
    return success();
  }
  SmallVector<const Tile *> tiles;
  for (Value value : op.getValues())
    tiles.push_back(&frame.tile(value));
  return forEachShown(
      frame, op, tiles.front()->getShape(), [&](size_t position, const std::string &place) {
        SmallVector<std::string> numbers;
        for (const Tile *tile : tiles) {
          Element element = (*tile)[position];
          if (!element)
            return reportUndefined(op, *tile, position, "prints");
          numbers.push_back(printed(tile->getElementType(), *element));
        }
        llvm::outs() << op.getText() << place << ": " << llvm::join(numbers, ", ") << "\n";
        return success();
      });
}

LogicalResult interpreter::runAssert(Frame &frame, AssertOp op) {
  const Tile &condition = frame.tile(op.getCondition());
  return forEachShown(frame, op, condition.getShape(),
                      [&](size_t position, const std::string &place) -> LogicalResult {
                        Element element = condition[position];
                        if (!element)
                          return reportUndefined(op, condition, position, "checks");
                        if (!element->isOne())
                          return op.emitOpError()
                                 << "does not hold" << place << ": " << op.getText();
                        return success();
                      });
}
