//===- LayoutConversion.cpp - tile.convert_layout ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By the cheapest means that fits, as `Conversion` classifies: nothing, other
// registers, a butterfly between lanes, or LDS with a swizzle that keeps both
// sides free of bank conflicts where one exists.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/LdsAccess.h"
#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// Whether every destination register is one register of lane ^ mask.
static bool isButterfly(const Conversion &conversion, unsigned registers) {
  if (conversion.registerSelectLanes())
    return false;
  for (unsigned reg = 0; reg < registers; ++reg)
    if (!conversion.laneXorMask(reg))
      return false;
  return true;
}

static SmallVector<Value> convertByLanes(Lowering &state, const Conversion &conversion,
                                         ArrayRef<Value> source, unsigned registers) {
  SmallVector<Value> result;
  for (unsigned reg = 0; reg < registers; ++reg) {
    unsigned mask = *conversion.laneXorMask(reg);
    Value from = source[conversion.source({reg, 0, 0}).reg];
    result.push_back(mask ? readLaneXor(state, from, mask, /*uniformBelow=*/false) : from);
  }
  return result;
}

static SmallVector<Value> convertThroughLds(Lowering &state, const Layout &from, const Layout &to,
                                            ArrayRef<Value> source) {
  Type element = source.front().getType();
  bool isFlag = element.isInteger(1);
  SmallVector<Value> values(source);
  if (isFlag) {
    element = state.builder.getI8Type();
    for (Value &value : values)
      value = LLVM::ZExtOp::create(state.builder, state.loc, element, value);
  }
  Layout lds = Layout::lds(from.shape());
  unsigned base = state.allocateLds(lds.allocatedElements() * Lowering::bytesOf(element));
  if (state.enclosingLoop)
    state.workgroupBarrier();
  writeLds(state, {base, {}, lds}, from, values);
  state.workgroupBarrier();
  SmallVector<Value> result = readLds(state, {base, {}, lds}, to, element);
  if (isFlag)
    for (Value &value : result)
      value = LLVM::TruncOp::create(state.builder, state.loc, state.i1(), value);
  return result;
}

LogicalResult rocm::lowerConvertLayout(Lowering &state, tile::ConvertLayoutOp op) {
  const Layout &from = Lowering::layoutOf(op.getSource());
  const Layout &to = Lowering::layoutOf(op.getResult());
  Conversion conversion(from, to);
  if (conversion.kind() == Conversion::Kind::None) {
    state.tiles[op.getResult()] = state.registers(op.getSource());
    return success();
  }
  SmallVector<Value> source = state.unpack(state.registers(op.getSource()));
  SmallVector<Value> result;
  if (conversion.kind() == Conversion::Kind::Registers) {
    for (unsigned reg = 0; reg < to.registerCount(); ++reg)
      result.push_back(source[conversion.sourceRegister(reg)]);
  } else if (conversion.kind() == Conversion::Kind::Wave &&
             isButterfly(conversion, to.registerCount())) {
    result = convertByLanes(state, conversion, source, to.registerCount());
  } else {
    result = convertThroughLds(state, from, to, source);
  }
  state.tiles[op.getResult()] = state.pack(result);
  return success();
}
