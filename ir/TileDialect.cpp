//===- TileDialect.cpp - Registration, types and attributes -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

#include "ir/TileDialect.cpp.inc"
#include "ir/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TileAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TileAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/TileOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #tile.dims
//===----------------------------------------------------------------------===//

static bool isKeyword(StringRef text) {
  return !text.empty() && (llvm::isAlpha(text.front()) || text.front() == '_') &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; });
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName) ||
      parser.parseGreater())
    return {};
  return DimsAttr::get(parser.getContext(), names);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getNames(), printer, [&](StringAttr name) {
    if (isKeyword(name.getValue()))
      printer << name.getValue();
    else
      printer << name;
  });
  printer << "]>";
}

//===----------------------------------------------------------------------===//
// #tile.layout
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc location;
  if (parser.parseLess() || parser.getCurrentLocation(&location) || parser.parseString(&text) ||
      parser.parseGreater())
    return {};
  llvm::Expected<Layout> layout = Layout::parse(text);
  if (!layout) {
    parser.emitError(location, "malformed layout: ") << llvm::toString(layout.takeError());
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLayout().str() << "\">";
}

//===----------------------------------------------------------------------===//
// Questions about tile types
//===----------------------------------------------------------------------===//

RankedTensorType tile::getTileType(ArrayRef<int64_t> shape, Type elementType,
                                   ArrayRef<StringAttr> names) {
  assert(shape.size() == names.size() && "one name for each dimension");
  if (!ShapedType::isDynamicShape(shape))
    return RankedTensorType::get(shape, elementType);
  SmallVector<StringAttr> kept(names);
  auto none = StringAttr::get(elementType.getContext(), staticDimName);
  for (auto [size, name] : llvm::zip_equal(shape, kept))
    if (!ShapedType::isDynamic(size))
      name = none;
  return RankedTensorType::get(shape, elementType, DimsAttr::get(elementType.getContext(), kept));
}

StringAttr tile::getDimName(RankedTensorType type, unsigned dim) {
  if (auto dims = dyn_cast_if_present<DimsAttr>(type.getEncoding()))
    return dims.getNames()[dim];
  return StringAttr::get(type.getContext(), staticDimName);
}

SmallVector<StringAttr> tile::getDimNames(RankedTensorType type) {
  SmallVector<StringAttr> names;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    names.push_back(getDimName(type, dim));
  return names;
}

LayoutAttr tile::getLayout(RankedTensorType type) {
  return dyn_cast_if_present<LayoutAttr>(type.getEncoding());
}

RankedTensorType tile::dropDim(RankedTensorType type, unsigned dim) {
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<StringAttr> names = getDimNames(type);
  shape.erase(shape.begin() + dim);
  names.erase(names.begin() + dim);
  return getTileType(shape, type.getElementType(), names);
}

RankedTensorType tile::insertUnitDim(RankedTensorType type, unsigned dim) {
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<StringAttr> names = getDimNames(type);
  shape.insert(shape.begin() + dim, 1);
  names.insert(names.begin() + dim, StringAttr::get(type.getContext(), staticDimName));
  return getTileType(shape, type.getElementType(), names);
}

bool tile::isFp8(Type elementType) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType>(elementType);
}

RankedTensorType tile::withElementType(RankedTensorType type, Type elementType) {
  return getTileType(type.getShape(), elementType, getDimNames(type));
}
