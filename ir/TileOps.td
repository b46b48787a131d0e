//===- TileOps.td - Operations of the tile dialect --------*- tablegen -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_TILEOPS
#define WAVETILE_IR_TILEOPS

include "ir/TileTypes.td"
include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

include "ir/TileTextOps.td"

//===----------------------------------------------------------------------===//
// Kernels and loops
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, Symbol,
                                       SingleBlock]> {
  let summary = "the device code between two pieces of host code";
  let description = [{
    Becomes one launch plan. Arguments are `!tile.pointer`s (one for each tensor),
    `index` (one for each distinct size, stride or integer scalar), and scalars
    `f32`/`f64`. Argument attributes: `tile.align` (bytes that divide the address),
    `tile.divisor` (divides the value), `tile.binding` (where a launch finds the
    value: its number in the launch plan's list of pointers, integers or floats),
    `tile.name` (for people), `tile.hint` (an integer value typical of the launch,
    for heuristics only).

    `wide_offsets` says that some byte offset may pass 2^31. `disjoint` says that
    no two tensors overlap.

    The body holds constants, index arithmetic, views, scratch buffers, guards and
    top-level loops, which run one after the other.

    Example:
    ```mlir
    tile.kernel @scale(%x: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
                       %n: index {tile.binding = 0 : i64}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
      tile.parallel (%c0) to (%n) dims ["i"] {
      ^bb0(%begin: index, %extent: index):
        %a = tile.load %v[%begin] dims [0] extents(%extent)
            : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[i]>>
        %b = arith.addf %a, %a : tensor<?xf32, #tile.dims<[i]>>
        tile.store %b, %v[%begin] dims [0] extents(%extent)
            : tensor<?xf32, #tile.dims<[i]>>, !tile.view<1 x f32>
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       UnitAttr:$wide_offsets, UnitAttr:$disjoint);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return {}; }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, ParentOneOf<["KernelOp", "ProgramOp"]>]> {
  let summary = "ends a kernel or program";
  let description = [{ Example: `tile.return` }];
  let assemblyFormat = "attr-dict";
}

def Tile_ParallelOp : Tile_Op<"parallel", [SingleBlockImplicitTerminator<"YieldOp">,
                                           SameVariadicOperandSize, HasParent<"KernelOp">,
                                           RecursiveMemoryEffects]> {
  let summary = "a top-level loop: blocks of an iteration space, in no order";
  let description = [{
    Covers `lower` to `upper` in each dimension by blocks of that dimension's block
    size. The body's arguments are, for each dimension, the begin of the block and
    then its extent (the block size, or what is left in the last block). After bind
    `block_sizes` gives the sizes and `waves` the number of waves that work on a
    block.

    Example:
    ```mlir
    tile.parallel (%c0, %c0) to (%m, %n) dims ["rows", "cols"] {
    ^bb0(%row: index, %rows: index, %col: index, %cols: index):
      ...
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$lower, Variadic<Index>:$upper, StrArrayAttr:$dims,
                       OptionalAttr<DenseI64ArrayAttr>:$block_sizes,
                       OptionalAttr<I64Attr>:$waves);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $lower `)` `to` `(` $upper `)` `dims` $dims (`block_sizes` $block_sizes^)?
    (`waves` $waves^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumDims() { return getDims().size(); }
    ::llvm::StringRef getDimName(unsigned dim) {
      return ::llvm::cast<::mlir::StringAttr>(getDims()[dim]).getValue();
    }
    ::mlir::BlockArgument getBegin(unsigned dim) { return getBody().getArgument(2 * dim); }
    ::mlir::BlockArgument getExtent(unsigned dim) { return getBody().getArgument(2 * dim + 1); }
  }];
}

def Tile_ForOp : Tile_Op<"for", [SingleBlockImplicitTerminator<"YieldOp">,
                                 AllTypesMatch<["inits", "results"]>, RecursiveMemoryEffects]> {
  let summary = "a loop over the blocks of one dimension, in order, inside a block";
  let description = [{
    The body's arguments are the begin and the extent of the step, then the carried
    values; `tile.yield` gives their next values and the results are the last ones
    (the initial ones if there is no step). `full` says that every step has the
    full block size as its extent.

    Example:
    ```mlir
    %sum = tile.for (%c0) to (%n) dim "k" carries(%zero) : tensor<?xf32, #tile.dims<[rows]>> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<?xf32, #tile.dims<[rows]>>):
      ...
      tile.yield %next : tensor<?xf32, #tile.dims<[rows]>>
    }
    ```
  }];
  let arguments = (ins Index:$lower, Index:$upper, StrAttr:$dim, Variadic<AnyType>:$inits,
                       OptionalAttr<I64Attr>:$block_size, UnitAttr:$full);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $lower `)` `to` `(` $upper `)` `dim` $dim (`block_size` $block_size^)?
    (`full` $full^)? (`carries` `(` $inits^ `)` `:` type($results))? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getBegin() { return getBody().getArgument(0); }
    ::mlir::BlockArgument getExtent() { return getBody().getArgument(1); }
    ::mlir::Block::BlockArgListType getCarried() { return getBody().getArguments().drop_front(2); }
    YieldOp getYield();
  }];
}

def Tile_IfOp : Tile_Op<"if", [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments,
                               RecursiveMemoryEffects]> {
  let summary = "one of two pieces of code, by a condition that a block has one of";
  let description = [{
    The results are what the piece that runs yields.

    Example:
    ```mlir
    %r = tile.if %c : tensor<4xf32> {
      tile.yield %a : tensor<4xf32>
    } else {
      tile.yield %b : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins I1:$condition);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$then_body, SizedRegion<1>:$else_body);
  let assemblyFormat = [{
    $condition (`:` type($results)^)? attr-dict-with-keyword $then_body `else` $else_body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getThenYield();
    YieldOp getElseYield();
  }];
}

def Tile_WhileOp : Tile_Op<"while", [SingleBlockImplicitTerminator<"YieldOp">,
                                     AllTypesMatch<["inits", "results"]>,
                                     RecursiveMemoryEffects]> {
  let summary = "a loop as long as a condition holds that a block has one of";
  let description = [{
    Both regions take the carried values. The first yields the condition, an i1; if it
    holds, the second runs and yields the next values. The results are the values for
    which it does not hold.

    Example:
    ```mlir
    %r = tile.while (%a) : index {
    ^bb0(%v: index):
      %c = arith.cmpi slt, %v, %n : index
      tile.yield %c : i1
    } do {
    ^bb0(%v: index):
      %next = arith.addi %v, %v : index
      tile.yield %next : index
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`(` $inits^ `)` `:` type($results))? attr-dict-with-keyword $before `do` $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getBeforeArguments() { return getBefore().getArguments(); }
    ::mlir::Block::BlockArgListType getCarried() { return getBody().getArguments(); }
    ::mlir::Value getCondition();
    YieldOp getYield();
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a step of a loop, or a piece of code that gives values";
  let description = [{ Example: `tile.yield %next : tensor<4xf32>` }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ (void)odsState; }]>];
}

def Tile_GuardOp : Tile_Op<"guard", [HasParent<"KernelOp">]> {
  let summary = "a condition under which this variant of the kernel may serve a launch";
  let description = [{
    `value` must be at most `bound`; checked by the launcher, not by the kernel.

    Example: `tile.guard %n at_most 4096 "cols <= capacity"`
  }];
  let arguments = (ins Index:$value, I64Attr:$bound, StrAttr:$reason);
  let assemblyFormat = "$value `at_most` $bound $reason attr-dict";
}

def Tile_BlockSizeOp : Tile_Op<"block_size", [Pure]> {
  let summary = "the block size of a named dimension";
  let description = [{ Replaced by a constant at bind. Example: `tile.block_size "rows"` }];
  let arguments = (ins StrAttr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
}

//===----------------------------------------------------------------------===//
// Launch plans (made by tile-plan)
//===----------------------------------------------------------------------===//

def Tile_ProgramOp : Tile_Op<"program", [IsolatedFromAbove, FunctionOpInterface, Symbol,
                                         SingleBlock]> {
  let summary = "the code of one GPU kernel: what one workgroup does";
  let description = [{
    Made by `tile-plan` from one top-level loop. `waves` waves work on one block;
    `tile.block_id` says on which. Argument attributes are those of `tile.kernel`
    (without `tile.binding`).

    Example: `tile.program @scale_1f0c2a3b(%x: !tile.pointer<f32>, %n: index) attributes {waves = 4 : i64} { ... }`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       I64Attr:$waves, UnitAttr:$wide_offsets, UnitAttr:$disjoint);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return {}; }
  }];
}

def Tile_LaunchOp : Tile_Op<"launch", [HasParent<"KernelOp">, AttrSizedOperandSegments]> {
  let summary = "runs a program on each block of a grid";
  let description = [{
    `grid` is the number of blocks in each of up to three dimensions; an empty grid
    runs nothing.

    Example: `tile.launch @scale_1f0c2a3b grid(%blocks) arguments(%x, %n) : !tile.pointer<f32>, index`
  }];
  let arguments = (ins FlatSymbolRefAttr:$program, Variadic<Index>:$grid,
                       Variadic<AnyType>:$arguments);
  let assemblyFormat = [{
    $program `grid` `(` $grid `)` (`arguments` `(` $arguments^ `)` `:` type($arguments))? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_BlockIdOp : Tile_Op<"block_id", [Pure]> {
  let summary = "the number of this block in one dimension of the grid";
  let description = [{ A grid has up to three dimensions. Example: `tile.block_id 0` }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2>]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_ViewOp : Tile_Op<"view", [Pure, SameVariadicOperandSize]> {
  let summary = "a strided view of the tensor at a pointer";
  let description = [{
    Sizes and strides are in elements. Two views whose sizes are the same SSA value
    have equal sizes.

    Example:
    `%v = tile.view %x sizes(%m, %n) strides(%s, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>`
  }];
  let arguments = (ins Tile_PointerType:$pointer, Variadic<Index>:$sizes, Variadic<Index>:$strides);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $pointer `sizes` `(` $sizes `)` `strides` `(` $strides `)` attr-dict
    `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScratchOp : Tile_Op<"scratch", [HasParent<"KernelOp">,
                                         MemoryEffects<[MemAlloc]>]> {
  let summary = "a contiguous buffer in global memory that lives for one launch plan";
  let description = [{
    Its contents are undefined until stored. Two scratch buffers never overlap, nor
    does one overlap an argument.

    Example: `%s = tile.scratch (%m, %c64) : !tile.pointer<f32>`
  }];
  let arguments = (ins Variadic<Index>:$sizes);
  let results = (outs Tile_PointerType:$result);
  let assemblyFormat = "`(` $sizes `)` attr-dict `:` type($result)";
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
                                   DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads a tile from a view";
  let description = [{
    `offsets` has one `index` for each dimension of the view: where the tile begins
    there. `dims` says for each of them which dimension of the tile runs along it,
    or -1 if none does; each dimension of the tile is named exactly once, in
    increasing order. `extents` has one value for each dimension of the tile.

    Along a dimension of the view that `index_dims` names, the place of an element is
    the offset plus its element of the tile of integers in `indices` that stands at
    the same position (a gather). Such a tile has the result's rank and in each
    dimension its size, or size one; no dimension of the tile runs along the
    dimension that it indexes. With indices, `dims` need not name every dimension of
    the tile. `mask` is a tile of i1 of that kind; where it is false, the indices are
    not looked at.

    Elements at or beyond an extent have no value. Elements within the extents that
    are outside the view, or that the mask leaves out, are `pad` (zero if absent).
    Indices do not wrap around.

    Set by passes: `beyond`, the value that the lowering shall put in elements at or
    beyond an extent (absent: nobody looks at them); `alignment`, a number of bytes
    that divides the address of the first element of every innermost row of the
    tile; `divisor`, a number of elements that divides where the innermost dimension
    ends, at its extent or at the end of the view;
    `in_bounds`, for each dimension of the tile whether all its elements are within
    the extent and the view.

    Example:
    ```mlir
    %v = tile.load %x[%row, %c0] dims [0, 1] extents(%rows, %n)
        : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
    %g = tile.load %x[%c0, %c0] dims [-1, 1] at [0](%i : tensor<?x1xi64, #tile.dims<[rows, _]>>)
        extents(%rows, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$offsets, Variadic<Index>:$extents,
                       Variadic<AnyRankedTensor>:$indices, Optional<AnyRankedTensor>:$mask,
                       DenseI64ArrayAttr:$dims, OptionalAttr<DenseI64ArrayAttr>:$index_dims,
                       OptionalAttr<TypedAttrInterface>:$pad,
                       OptionalAttr<TypedAttrInterface>:$beyond, OptionalAttr<I64Attr>:$alignment,
                       OptionalAttr<I64Attr>:$divisor, OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $view `[` $offsets `]` `dims` $dims (`at` $index_dims^ `(` $indices `:` type($indices) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`extents` `(` $extents^ `)`)? attr-dict
    `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments,
                                     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile to a view";
  let description = [{
    Operands and attributes are those of `tile.load`. Elements at or beyond an extent,
    elements outside the view and those that the mask leaves out are not written. Of
    elements whose indices are equal any one may be the last to be written.

    Example:
    ```mlir
    tile.store %v, %out[%row, %c0] dims [0, 1] extents(%rows, %n)
        : tensor<?x?xbf16, #tile.dims<[rows, cols]>>, !tile.view<2 x bf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Tile_ViewType:$view, Variadic<Index>:$offsets,
                       Variadic<Index>:$extents, Variadic<AnyRankedTensor>:$indices,
                       Optional<AnyRankedTensor>:$mask, DenseI64ArrayAttr:$dims,
                       OptionalAttr<DenseI64ArrayAttr>:$index_dims,
                       OptionalAttr<I64Attr>:$alignment, OptionalAttr<I64Attr>:$divisor,
                       OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let assemblyFormat = [{
    $value `,` $view `[` $offsets `]` `dims` $dims
    (`at` $index_dims^ `(` $indices `:` type($indices) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`extents` `(` $extents^ `)`)? attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicOp : Tile_Op<"atomic", [AttrSizedOperandSegments,
                                       AllTypesMatch<["value", "result"]>,
                                       DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads, combines and writes each element of a place in one step";
  let description = [{
    The place is described as in `tile.load`. Each element in the extents, the view and
    the mask is read, combined with `value` as `kind` says and written back, and no
    other access of the tensor by an atomic happens in between. The result is what was
    read; elements that were left out are zero. Of equal places in one tile each is
    combined, in any order. `compare_exchange` writes `value` where the element has the
    bits of `compare`. `order` says which accesses of this block before and behind it
    those of other blocks see in that order; `scope` which blocks.

    Example:
    ```mlir
    %old = tile.atomic add %v, %counts[%c0] dims [-1] at [0](%i : tensor<64xi64>)
        extents(%rows) order relaxed scope device : tensor<64xi32>, !tile.view<1 x i32>
    ```
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, AnyRankedTensor:$value,
                       Optional<AnyRankedTensor>:$compare, Tile_ViewType:$view,
                       Variadic<Index>:$offsets, Variadic<Index>:$extents,
                       Variadic<AnyRankedTensor>:$indices, Optional<AnyRankedTensor>:$mask,
                       DenseI64ArrayAttr:$dims, OptionalAttr<DenseI64ArrayAttr>:$index_dims,
                       Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $value `,` $view `[` $offsets `]` `dims` $dims
    (`at` $index_dims^ `(` $indices `:` type($indices) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`compare` `(` $compare^ `:` type($compare) `)`)?
    (`extents` `(` $extents^ `)`)? `order` $order `scope` $scope attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_ScalarOp : Tile_Op<"scalar", [Pure]> {
  let summary = "the only element of a tile without dimensions";
  let description = [{
    All lanes of a block have the same value, so that bounds and conditions may depend
    on it.

    Example: `tile.scalar %t : tensor<i64> -> i64`
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def Tile_FullOp : Tile_Op<"full", [Pure]> {
  let summary = "a tile with one value in every element";
  let description = [{ Example: `tile.full %zero : f32 -> tensor<?xf32, #tile.dims<[rows]>>` }];
  let arguments = (ins AnyType:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "0, 1, 2, ... along the only dimension of a tile";
  let description = [{ Example: `tile.iota : tensor<?xi64, #tile.dims<[cols]>>` }];
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "inserts a dimension of size one";
  let description = [{
    Example: `tile.expand_dims %x axis 1 : tensor<4xf32> -> tensor<4x1xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `axis` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SqueezeDimsOp : Tile_Op<"squeeze_dims", [Pure]> {
  let summary = "removes a dimension of size one";
  let description = [{
    Example: `tile.squeeze_dims %x axis 1 : tensor<4x1xf32> -> tensor<4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `axis` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a tile along its dimensions of size one";
  let description = [{
    Source and result have the same rank and differ only in dimensions that have
    static size one in the source.

    Example: `tile.broadcast %x : tensor<4x1xf32> -> tensor<4x64xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "permutes the dimensions of a tile";
  let description = [{
    Dimension `i` of the result is dimension `permutation[i]` of the source.

    Example: `tile.transpose %x [1, 0] : tensor<4x64xf32> -> tensor<64x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Combining elements
//===----------------------------------------------------------------------===//

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines the elements of a tile along one dimension";
  let description = [{
    Looks only below `extent`. The result of no elements is the identity of `kind`.
    The result has the source's element type and lacks dimension `axis`. Floating
    point sums and products may be reassociated if `reassociate` is set.
    `beyond_neutral` (set by `tile-infer-bounds`) says that combining the elements
    beyond the extent as well would give the same result, unless the extent is zero.

    Example:
    ```mlir
    %s = tile.reduce sum %x axis 1 extent(%n)
        : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    ```
  }];
  let arguments = (ins Tile_ReductionKindAttr:$kind, AnyRankedTensor:$source, I64Attr:$axis,
                       Index:$extent, UnitAttr:$reassociate, UnitAttr:$beyond_neutral);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $source `axis` $axis `extent` `(` $extent `)` (`reassociate` $reassociate^)?
    (`beyond_neutral` $beyond_neutral^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ArgReduceOp : Tile_Op<"arg_reduce", [Pure]> {
  let summary = "finds the largest or smallest element along one dimension, and its index";
  let description = [{
    `indices` has the shape of `source` and says which index each element counts as.
    Of equal elements the one with the smallest index is taken; NaN counts as larger
    (smaller) than anything, as in torch's argmax (argmin). Looks only below `extent`,
    which must not be zero. `beyond_neutral` is as in `tile.reduce`.

    Example:
    ```mlir
    %v, %i = tile.arg_reduce maximum %x, %j axis 1 extent(%n)
        : tensor<4x64xf32>, tensor<4x64xi64> -> tensor<4xf32>, tensor<4xi64>
    ```
  }];
  let arguments = (ins Tile_ArgReductionKindAttr:$kind, AnyRankedTensor:$source,
                       AnyRankedTensor:$indices, I64Attr:$axis, Index:$extent,
                       UnitAttr:$beyond_neutral);
  let results = (outs AnyRankedTensor:$value, AnyRankedTensor:$index);
  let assemblyFormat = [{
    $kind $source `,` $indices `axis` $axis `extent` `(` $extent `)`
    (`beyond_neutral` $beyond_neutral^)? attr-dict
    `:` type($source) `,` type($indices) `->` type($value) `,` type($index)
  }];
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "matrix product plus accumulator";
  let description = [{
    `lhs` is M x K, `rhs` K x N, `accumulator` and result M x N; the sum runs over
    the k below `extent`. Products and sums are in the accumulator's type: f32 for
    f32, 16-bit and fp8 operands, f64 for f64, i32 for i8. The order of summation is
    the target's. `beyond_neutral` (set by `tile-infer-bounds`) says that the operands
    hold zero at and beyond the extent.

    Example:
    ```mlir
    %c = tile.dot %a, %b, %acc extent(%k) : tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<64x128xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$accumulator,
                       Index:$extent, UnitAttr:$beyond_neutral);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator `extent` `(` $extent `)` (`beyond_neutral` $beyond_neutral^)?
    attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($accumulator)
  }];
  let hasVerifier = 1;
}

def Tile_FillBeyondOp : Tile_Op<"fill_beyond", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "gives a value to the elements of a tile at or beyond an extent";
  let description = [{
    Made by `tile-infer-bounds` where an operation could not otherwise tell the
    elements beyond its extent from the others.

    Example: `tile.fill_beyond %x axis 1 extent(%n) with 0.0 : f32 : tensor<4x64xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$axis, Index:$extent,
                       TypedAttrInterface:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `axis` $axis `extent` `(` $extent `)` `with` $value attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Order along a dimension
//===----------------------------------------------------------------------===//

def Tile_ScanOp : Tile_Op<"scan", [Pure, SingleBlock, AllTypesMatch<["sources", "results"]>]> {
  let summary = "combines the elements of tiles along one dimension with all before them";
  let description = [{
    The body's arguments are what comes before and then one more element of each source; it
    yields both combined, and need only be associative. The result at an index is that of all
    elements up to and with it; if `reverse`, of all from the last one below `extent` down to
    it. The body holds operations of `arith` and `math` on numbers.

    Example:
    ```mlir
    %s = tile.scan (%x) axis 1 extent(%n) : tensor<4x64xf32> {
    ^bb0(%before: f32, %one: f32):
      %sum = arith.addf %before, %one : f32
      tile.yield %sum : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, I64Attr:$axis, Index:$extent,
                       UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis `extent` `(` $extent `)` (`reverse` $reverse^)?
    attr-dict-with-keyword `:` type($sources) $body
  }];
  let hasVerifier = 1;
}

def Tile_CombineOp : Tile_Op<"combine", [Pure, SingleBlock]> {
  let summary = "combines the elements of tiles along one dimension by a function";
  let description = [{
    The body is that of `tile.scan`. The results lack dimension `axis`. Looks only below
    `extent`, which must not be zero.

    Example:
    ```mlir
    %m = tile.combine (%x) axis 1 extent(%n) : tensor<4x64xf32> -> tensor<4xf32> {
    ^bb0(%a: f32, %b: f32):
      %larger = arith.maximumf %a, %b : f32
      tile.yield %larger : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, I64Attr:$axis, Index:$extent);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis `extent` `(` $extent `)`
    attr-dict-with-keyword `:` type($sources) `->` type($results) $body
  }];
  let hasVerifier = 1;
}

def Tile_SortOp : Tile_Op<"sort", [Pure, AllTypesMatch<["source", "value"]>]> {
  let summary = "sorts the elements of a tile along one dimension, and says where each was";
  let description = [{
    Equal elements keep their order; NaN counts as larger than anything, as in torch. Only
    elements below `extent` take part.

    Example:
    `%v, %i = tile.sort %x axis 1 extent(%n) descending : tensor<4x64xf32> -> tensor<4x64xi64>`
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$axis, Index:$extent,
                       UnitAttr:$descending);
  let results = (outs AnyRankedTensor:$value, AnyRankedTensor:$index);
  let assemblyFormat = [{
    $source `axis` $axis `extent` `(` $extent `)` (`descending` $descending^)? attr-dict
    `:` type($source) `->` type($index)
  }];
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take", [Pure]> {
  let summary = "the elements of a tile at indices that tiles hold";
  let description = [{
    `indices` has a tile for each dimension of the source, all of the result's shape. An
    element whose indices are not all in the source has no value.

    Example:
    `%r = tile.take %x[%i, %j] : tensor<4x64xf32>, tensor<8x8xi64> -> tensor<8x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<AnyRankedTensor>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Staging and layouts (made by passes)
//===----------------------------------------------------------------------===//

def Tile_StageAllocOp : Tile_Op<"stage_alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a staging buffer in LDS";
  let description = [{
    Lives for one iteration of the top-level loop around it. Undefined until stored.

    Example: `%s = tile.stage_alloc : !tile.staging<1 x [128, 64] x bf16, unit>`
  }];
  let results = (outs Tile_StagingType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_StageStoreOp : Tile_Op<"stage_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile to one buffer of a staging buffer";
  let description = [{
    Other waves see it after the next `tile.barrier`.

    Example: `tile.stage_store %v, %s[%c0] : tensor<128x64xbf16>, !tile.staging<1 x [128, 64] x bf16, unit>`
  }];
  let arguments = (ins AnyRankedTensor:$value, Tile_StagingType:$staging, Index:$buffer);
  let assemblyFormat = "$value `,` $staging `[` $buffer `]` attr-dict `:` type($value) `,` type($staging)";
  let hasVerifier = 1;
}

def Tile_StageLoadOp : Tile_Op<"stage_load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile from one buffer of a staging buffer";
  let description = [{
    Example: `%v = tile.stage_load %s[%c0] : !tile.staging<1 x [128, 64] x bf16, unit> -> tensor<128x64xbf16>`
  }];
  let arguments = (ins Tile_StagingType:$staging, Index:$buffer);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$staging `[` $buffer `]` attr-dict `:` type($staging) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all waves of a block arrive before any goes on; their LDS accesses are ordered";
  let description = [{ Example: `tile.barrier` }];
  let assemblyFormat = "attr-dict";
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "moves the elements of a tile between registers, lanes and waves";
  let description = [{
    The value is the same, its layout is another.

    Example: `tile.convert_layout %x : tensor<4x64xf32, #tile.layout<"...">> -> tensor<4x64xf32, #tile.layout<"...">>`
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif // WAVETILE_IR_TILEOPS
