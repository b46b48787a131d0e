//===- Elementwise.cpp - Applies arith and math to elements -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Execution.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::interpreter;
using llvm::APInt;

static LogicalResult runConstant(Frame &frame, arith::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense) {
    frame.set(op.getResult(), Tile::scalar(op.getType(), toBits(op.getValue())));
    return success();
  }
  Tile tile(dense.getElementType(), dense.getType().getShape());
  for (auto [position, value] : llvm::enumerate(dense.getValues<Attribute>()))
    tile.set(position, toBits(cast<TypedAttr>(value)));
  frame.set(op.getResult(), std::move(tile));
  return success();
}

/// A select only looks at the side it takes, and not at the condition where both sides are alike.
static LogicalResult runSelect(Frame &frame, arith::SelectOp op) {
  const Tile &condition = frame.tile(op.getCondition());
  const Tile &sides = frame.tile(op.getTrueValue()), &otherwise = frame.tile(op.getFalseValue());
  Tile tile(sides.getElementType(), sides.getShape());
  for (const Tile *operand : {&condition, &sides, &otherwise})
    if (operand->getCulprit())
      tile.setCulprit(operand->getCulprit());
  for (size_t i = 0; i < tile.size(); ++i) {
    // A scalar condition counts for every element.
    Element taken = condition[condition.getShape().empty() ? 0 : i];
    if (taken)
      tile.set(i, taken->isOne() ? sides[i] : otherwise[i]);
    else if (sides[i] == otherwise[i])
      tile.set(i, sides[i]);
  }
  frame.set(op.getResult(), std::move(tile));
  return success();
}

LogicalResult interpreter::runElementwise(Frame &frame, Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return runConstant(frame, constant);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return runSelect(frame, select);
  ElementFunction function;
  if (isa<arith::ArithDialect>(op->getDialect()))
    function = getArithFunction(op);
  else if (isa<math::MathDialect>(op->getDialect()))
    function = getMathFunction(op);
  if (!function)
    return op->emitOpError("has no interpretation");

  SmallVector<const Tile *, 3> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&frame.tile(operand));
  Tile tile(getElementTypeOrSelf(op->getResult(0)), operands.front()->getShape());
  for (const Tile *operand : operands)
    if (operand->getCulprit())
      tile.setCulprit(operand->getCulprit());

  SmallVector<APInt, 3> elements;
  for (size_t i = 0; i < tile.size(); ++i) {
    elements.clear();
    for (const Tile *operand : operands)
      if (Element element = (*operand)[i])
        elements.push_back(std::move(*element));
    if (elements.size() != operands.size())
      continue;
    Element result = function(elements);
    if (!result && !tile.getCulprit())
      tile.setCulprit(op);
    tile.set(i, result);
  }
  frame.set(op->getResult(0), std::move(tile));
  return success();
}
