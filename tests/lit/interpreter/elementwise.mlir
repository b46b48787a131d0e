// Each operation computes in its type and rounds once.
// RUN: wavetile-opt --tile-interpret %s -split-input-file -o /dev/null | FileCheck %s

// Printed with as few digits as say which number it is. 1 + 2^-9 is not a bf16 and a tie goes to even; 2049 is not an f16; e4m3fn has no infinity.
// CHECK: bf16s = [1, 1.016, -0, NaN]
// CHECK: f16s = [2048, +Inf, 0.099976, 5.9605E-8]
// CHECK: fp8s = [448, NaN, 0.102, -1.13]
module attributes {tile.inputs = {bf16s = dense<0.0> : tensor<4xbf16>,
    f16s = dense<0.0> : tensor<4xf16>, fp8s = dense<0.0> : tensor<4xf8E4M3FN>}} {
  tile.kernel @rounding(%b: !tile.pointer<bf16> {tile.name = "bf16s"},
                        %h: !tile.pointer<f16> {tile.name = "f16s"},
                        %q: !tile.pointer<f8E4M3FN> {tile.name = "fp8s"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bv = tile.view %b sizes(%c4) strides(%c1) : !tile.pointer<bf16> -> !tile.view<1 x bf16>
    %hv = tile.view %h sizes(%c4) strides(%c1) : !tile.pointer<f16> -> !tile.view<1 x f16>
    %qv = tile.view %q sizes(%c4) strides(%c1) : !tile.pointer<f8E4M3FN> -> !tile.view<1 x f8E4M3FN>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %ones = arith.constant dense<[1.0, 1.0078125, -0.0, 0x7F80]> : tensor<4xbf16>
      %small = arith.constant dense<[0.001953125, 0.00390625, -0.0, 0xFF80]> : tensor<4xbf16>
      %sum = arith.addf %ones, %small : tensor<4xbf16>
      tile.store %sum, %bv[%c0] dims [0] extents(%c4) : tensor<4xbf16>, !tile.view<1 x bf16>

      %wide = arith.constant dense<[2049.0, 65520.0, 0.1, 5.0e-8]> : tensor<4xf32>
      %half = arith.truncf %wide : tensor<4xf32> to tensor<4xf16>
      tile.store %half, %hv[%c0] dims [0] extents(%c4) : tensor<4xf16>, !tile.view<1 x f16>

      %numbers = arith.constant dense<[460.0, 500.0, 0.1, -1.1]> : tensor<4xf32>
      %quarter = arith.truncf %numbers : tensor<4xf32> to tensor<4xf8E4M3FN>
      tile.store %quarter, %qv[%c0] dims [0] extents(%c4) : tensor<4xf8E4M3FN>, !tile.view<1 x f8E4M3FN>
    }
    tile.return
  }
}

// -----

// Integers wrap; quotients round as they say; predicates and selects.
// CHECK: out = [-126, -3, -4, -3, -1, 1, 127, 5]
module attributes {tile.inputs = {out = dense<0> : tensor<8xi8>}} {
  tile.kernel @integers(%out: !tile.pointer<i8> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %o = tile.view %out sizes(%c8) strides(%c1) : !tile.pointer<i8> -> !tile.view<1 x i8>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %big = arith.constant 127 : i8
      %three = arith.constant 3 : i8
      %two = arith.constant 2 : i8
      %minus7 = arith.constant -7 : i8
      %sum = arith.addi %big, %three : i8
      %truncated = arith.divsi %minus7, %two : i8
      %floor = arith.floordivsi %minus7, %two : i8
      %ceiling = arith.ceildivsi %minus7, %two : i8
      %rest = arith.remsi %minus7, %two : i8
      %less = arith.cmpi slt, %minus7, %two : i8
      %one = arith.extui %less : i1 to i8
      %unsignedLess = arith.cmpi ult, %minus7, %two : i8
      %taken = arith.select %unsignedLess, %two, %big : i8
      %real = arith.constant 5.9 : f32
      %integer = arith.fptosi %real : f32 to i8
      %t0 = tile.full %sum : i8 -> tensor<1xi8>
      %t1 = tile.full %truncated : i8 -> tensor<1xi8>
      %t2 = tile.full %floor : i8 -> tensor<1xi8>
      %t3 = tile.full %ceiling : i8 -> tensor<1xi8>
      %t4 = tile.full %rest : i8 -> tensor<1xi8>
      %t5 = tile.full %one : i8 -> tensor<1xi8>
      %t6 = tile.full %taken : i8 -> tensor<1xi8>
      %t7 = tile.full %integer : i8 -> tensor<1xi8>
      tile.store %t0, %o[%c0] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
      tile.store %t1, %o[%c1] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
      tile.store %t2, %o[%c2] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
      tile.store %t3, %o[%c3] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
      tile.store %t4, %o[%c4] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
      tile.store %t5, %o[%c5] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
      tile.store %t6, %o[%c6] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
      tile.store %t7, %o[%c7] dims [0] extents(%c1) : tensor<1xi8>, !tile.view<1 x i8>
    }
    tile.return
  }
}
