//===- TileTextOps.td - Prints, assertions and assembly ----*- tablegen -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations with text in them: what a kernel says, and instructions by name.
// Included by TileOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_TILETEXTOPS
#define WAVETILE_IR_TILETEXTOPS

def Tile_PrintOp : Tile_Op<"print", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "prints the elements of tiles";
  let description = [{
    The tiles, of floats and i64, have one shape. Each element below the extents makes a
    line, such as `x [3, 5]: 1.5, 2`: the text, its indices moved by `offsets`, and what the
    tiles hold there, floats with as many digits as tell them apart. Without tiles there is
    one line of the text. Lines have no order.

    Example:
    ```mlir
    tile.print "x" (%x : tensor<?xf32, #tile.dims<[rows]>>) offsets(%begin) extents(%rows)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values, Variadic<Index>:$offsets,
                       Variadic<Index>:$extents, StrAttr:$text);
  let assemblyFormat = [{
    $text (`(` $values^ `:` type($values) `)`)? (`offsets` `(` $offsets^ `)`)?
    (`extents` `(` $extents^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Decimal digits that tell any two numbers of a floating-point type apart.
    static unsigned getDigits(::mlir::Type element);
  }];
}

def Tile_AssertOp : Tile_Op<"assert", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "ends the launch if an element of a tile is false";
  let description = [{
    Looks at elements below the extents. Where one is false, the text and its indices
    moved by `offsets` are printed, and nothing of the launch goes on.

    Example:
    ```mlir
    tile.assert %c, "x is positive" offsets(%begin) extents(%rows)
        : tensor<?xi1, #tile.dims<[rows]>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$condition, Variadic<Index>:$offsets,
                       Variadic<Index>:$extents, StrAttr:$text);
  let assemblyFormat = [{
    $condition `,` $text (`offsets` `(` $offsets^ `)`)? (`extents` `(` $extents^ `)`)? attr-dict
    `:` type($condition)
  }];
  let hasVerifier = 1;
}

def Tile_InlineAsmOp : Tile_Op<"inline_asm", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the target's own instructions on each element of tiles";
  let description = [{
    All tiles have one shape. `assembly` computes `pack` elements of each result from as
    many of each operand; which elements come together is not said. Elements below 32 bits
    come packed in registers of 32, from the lowest bits up, wider ones in two registers.
    `constraints` are LLVM's, for the registers of the results and then of the operands.
    With `side_effects` it is not removed, moved or repeated.

    Example:
    ```mlir
    %r = tile.inline_asm "v_max_f32 $0, $1, $2" "=v,v,v" pack 1 (%a, %b)
        : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$assembly, StrAttr:$constraints, I64Attr:$pack,
                       Variadic<AnyRankedTensor>:$operands, UnitAttr:$side_effects);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $assembly $constraints `pack` $pack (`side_effects` $side_effects^)? `(` $operands `)`
    attr-dict `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

#endif // WAVETILE_IR_TILETEXTOPS
