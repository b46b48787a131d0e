//===- TileTypes.td - Types and attributes of the tile dialect -*- tablegen -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_TILETYPES
#define WAVETILE_IR_TILETYPES

include "ir/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_PointerType : Tile_Type<"Pointer", "pointer"> {
  let summary = "the address of the first element of a tensor in global memory";
  let description = [{
    What is known of an address (its alignment in bytes) is an attribute of the
    kernel argument, `tile.align`.

    Example: `!tile.pointer<bf16>`
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "a strided tensor in global memory";
  let description = [{
    The value holds the pointer, the sizes and the strides (in elements); the
    type holds the rank and element type. Facts about sizes and strides are
    found at their definitions: constants, and the `tile.divisor` attributes of
    kernel arguments; equal sizes are one SSA value.

    Example: `!tile.view<2 x bf16>` has two dimensions.
  }];
  let parameters = (ins "int64_t":$rank, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $rank `x` $elementType `>`";
}

def Tile_StagingType : Tile_Type<"Staging", "staging"> {
  let summary = "a buffer in LDS that holds tiles on their way to an operand";
  let description = [{
    `shape` is that of one tile, `buffers` how many of them the buffer holds.
    Once `tile-assign-layouts` ran, `layout` maps (offset, buffer) to
    coordinates; until then it is a unit attribute.

    Example: `!tile.staging<1 x [128, 64] x bf16, unit>`
  }];
  let parameters = (ins "int64_t":$buffers, ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, "::mlir::Attribute":$layout);
  let assemblyFormat = "`<` $buffers `x` ` ` `[` $shape `]` ` ` `x` $elementType `,` $layout `>`";
}

def Tile_DimsAttr : Tile_Attr<"Dims", "dims"> {
  let summary = "the names of a tile's dimensions, before a Config is bound";
  let description = [{
    One name for each dimension: that of the loop or of the full slice whose
    block size it has. A dimension of static size is named `_`.

    Example: `tensor<?x1xf32, #tile.dims<[rows, _]>>`
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 0;
}

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout"> {
  let summary = "which element of a tile a register of a lane holds";
  let description = [{
    Wraps a `wavetile::Layout` (see `docs/layouts.md`), printed as readable
    bases in a string. Two attributes are one exactly if the layouts are equal.

    Example: `#tile.layout<"...">`
  }];
  let parameters = (ins AttrParameter<"::wavetile::Layout", "the layout",
                                      "const ::wavetile::Layout &">:$layout);
  let hasCustomAssemblyFormat = 1;
}

def Tile_ReductionKindAttr : I32EnumAttr<"ReductionKind", "how elements are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Product", 1, "product">,
    I32EnumAttrCase<"Maximum", 2, "maximum">,
    I32EnumAttrCase<"Minimum", 3, "minimum">,
    I32EnumAttrCase<"And", 4, "and">,
    I32EnumAttrCase<"Or", 5, "or">,
  ]> {
  let cppNamespace = "::wavetile::tile";
  let description = [{
    `maximum` and `minimum` of floats give NaN if any element is NaN, as torch's
    amax and amin do. `and` and `or` are of i1 and integers.
  }];
}

def Tile_ArgReductionKindAttr : I32EnumAttr<"ArgReductionKind", "which element is looked for", [
    I32EnumAttrCase<"Maximum", 0, "maximum">,
    I32EnumAttrCase<"Minimum", 1, "minimum">,
  ]> {
  let cppNamespace = "::wavetile::tile";
}

def Tile_AtomicKindAttr : I32EnumAttr<"AtomicKind", "what an atomic makes of two elements", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Maximum", 1, "maximum">,
    I32EnumAttrCase<"Minimum", 2, "minimum">,
    I32EnumAttrCase<"UnsignedMaximum", 3, "unsigned_maximum">,
    I32EnumAttrCase<"UnsignedMinimum", 4, "unsigned_minimum">,
    I32EnumAttrCase<"And", 5, "and">,
    I32EnumAttrCase<"Or", 6, "or">,
    I32EnumAttrCase<"Xor", 7, "xor">,
    I32EnumAttrCase<"Exchange", 8, "exchange">,
    I32EnumAttrCase<"CompareExchange", 9, "compare_exchange">,
  ]> {
  let cppNamespace = "::wavetile::tile";
  let description = [{
    `maximum` and `minimum` of floats give NaN if either is NaN.
  }];
}

def Tile_MemoryOrderAttr : I32EnumAttr<"MemoryOrder", "how an atomic orders other accesses", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">,
    I32EnumAttrCase<"Acquire", 1, "acquire">,
    I32EnumAttrCase<"Release", 2, "release">,
    I32EnumAttrCase<"AcquireRelease", 3, "acquire_release">,
  ]> {
  let cppNamespace = "::wavetile::tile";
}

def Tile_MemoryScopeAttr : I32EnumAttr<"MemoryScope", "who takes part in an atomic's order", [
    I32EnumAttrCase<"Block", 0, "block">,
    I32EnumAttrCase<"Device", 1, "device">,
    I32EnumAttrCase<"System", 2, "system">,
  ]> {
  let cppNamespace = "::wavetile::tile";
}

def Tile_RowStrategyAttr : I32EnumAttr<"RowStrategy", "where a row dimension is combined", [
    I32EnumAttrCase<"Resident", 0, "resident">,
    I32EnumAttrCase<"Looped", 1, "looped">,
    I32EnumAttrCase<"Grid", 2, "grid">,
  ]> {
  let cppNamespace = "::wavetile::tile";
  let description = [{
    `resident`: the whole row is held in registers; `looped`: a block walks the
    row in chunks and rolls the elementwise graph between reductions into tile
    loops; `grid`: several blocks share a row and combine through scratch.
  }];
}

#endif // WAVETILE_IR_TILETYPES
