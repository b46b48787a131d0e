//===- Tile.h - The tile dialect -------------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, attributes and operations of the `tile` dialect, and the questions
// about tile types that every pass asks. `docs/tile-dialect.md` is generated
// from the TableGen files beside this one.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_TILE_H
#define WAVETILE_IR_TILE_H

#include "ir/Layout.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/TileDialect.h.inc"
#include "ir/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TileAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.h.inc"

namespace wavetile::tile {

class YieldOp;

/// Names of the attributes of kernel arguments.
inline constexpr llvm::StringLiteral alignAttrName = "tile.align";
inline constexpr llvm::StringLiteral divisorAttrName = "tile.divisor";
inline constexpr llvm::StringLiteral bindingAttrName = "tile.binding";
inline constexpr llvm::StringLiteral nameAttrName = "tile.name";
inline constexpr llvm::StringLiteral hintAttrName = "tile.hint";

/// The module attribute that holds the bound Config (a dictionary).
inline constexpr llvm::StringLiteral configAttrName = "tile.config";

/// The name of a static dimension in `#tile.dims`.
inline constexpr llvm::StringLiteral staticDimName = "_";

/// The tensor type with this shape; `names` are dropped if no size is dynamic.
mlir::RankedTensorType getTileType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                                   llvm::ArrayRef<mlir::StringAttr> names);

/// The name of dimension `dim` of a tile type, `_` if its size is static.
mlir::StringAttr getDimName(mlir::RankedTensorType type, unsigned dim);

/// All names of a tile type.
llvm::SmallVector<mlir::StringAttr> getDimNames(mlir::RankedTensorType type);

/// The layout of a tile type after layout assignment, or null.
LayoutAttr getLayout(mlir::RankedTensorType type);

/// `type` with the dimension removed, inserted with size one, or of another
/// element type; names go along, a layout is dropped.
mlir::RankedTensorType dropDim(mlir::RankedTensorType type, unsigned dim);
mlir::RankedTensorType insertUnitDim(mlir::RankedTensorType type, unsigned dim);
mlir::RankedTensorType withElementType(mlir::RankedTensorType type, mlir::Type elementType);

/// Whether an element type is one of the four floats of 8 bits that matrices have.
bool isFp8(mlir::Type elementType);

} // namespace wavetile::tile

#define GET_OP_CLASSES
#include "ir/TileOps.h.inc"

#endif // WAVETILE_IR_TILE_H
