// RUN: wavetile-opt --tile-interpret %s -split-input-file -o /dev/null | FileCheck %s

// A view with strides of its own; the last block is partial; elements between rows stay.
// CHECK: x = {{\[\[}}1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
// CHECK: out = {{\[\[}}1, 3, 0, 0], [5, 7, 0, 0], [9, 11, 0, 0]]
module attributes {tile.config = {rows = 2}, tile.inputs = {
    x = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xbf16>,
    out = dense<0.0> : tensor<3x4xbf16>}} {
  tile.kernel @strides(%x: !tile.pointer<bf16> {tile.name = "x"},
                       %out: !tile.pointer<bf16> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = tile.view %x sizes(%c3, %c2) strides(%c4, %c2) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
    %o = tile.view %out sizes(%c3, %c2) strides(%c4, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
    tile.parallel (%c0) to (%c3) dims ["rows"] {
    ^bb0(%row: index, %rows: index):
      %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %c2)
          : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
      tile.store %a, %o[%row, %c0] dims [0, 1] extents(%rows, %c2)
          : tensor<?x?xbf16, #tile.dims<[rows, cols]>>, !tile.view<2 x bf16>
    }
    tile.return
  }
}

// -----

// Outside the view a load gives `pad` and a store drops; beyond the extent a load gives
// `beyond`. Indices do not wrap. A one-dimensional tile of a two-dimensional view.
// CHECK: padded = [9, 9, 1, 2, 3, 9, 7, 7]
// CHECK: shifted = {{\[\[}}0, 0, 0], [3, 9, 9]]
module attributes {tile.inputs = {
    x = dense<[1, 2, 3]> : tensor<3xi32>,
    padded = dense<0> : tensor<8xi32>, shifted = dense<0> : tensor<2x3xi32>}} {
  tile.kernel @outside(%x: !tile.pointer<i32> {tile.name = "x"},
                       %padded: !tile.pointer<i32> {tile.name = "padded"},
                       %shifted: !tile.pointer<i32> {tile.name = "shifted"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c8 = arith.constant 8 : index
    %before = arith.constant -2 : index
    %v = tile.view %x sizes(%c3) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    %p = tile.view %padded sizes(%c8) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    %s = tile.view %shifted sizes(%c2, %c3) strides(%c3, %c1) : !tile.pointer<i32> -> !tile.view<2 x i32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] waves 1 {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%before] dims [0] extents(%c6) {pad = 9 : i32, beyond = 7 : i32}
          : !tile.view<1 x i32> -> tensor<8xi32>
      tile.store %a, %p[%c0] dims [0] extents(%c8) : tensor<8xi32>, !tile.view<1 x i32>
      // Elements 2, 3 and 4 of the tile come to columns 0, 1 and 2 of row 1.
      %b = tile.load %v[%c0] dims [0] extents(%c8) {pad = 9 : i32}
          : !tile.view<1 x i32> -> tensor<8xi32>
      tile.store %b, %s[%c1, %before] dims [-1, 0] extents(%c6) : tensor<8xi32>, !tile.view<2 x i32>
      // No row 2: nothing is written.
      tile.store %b, %s[%c2, %c0] dims [-1, 0] extents(%c6) : tensor<8xi32>, !tile.view<2 x i32>
    }
    tile.return
  }
}

// -----

// Tensors may overlap: `out` is `x` from its element 1 on, and each load sees the store
// before it. An absent pad is zero.
// CHECK: x = [1, 1, 1, 1]
module attributes {tile.inputs = {x = dense<[1, 2, 3, 4]> : tensor<4xi8>, out = "x[1]"}} {
  tile.kernel @overlap(%x: !tile.pointer<i8> {tile.name = "x"},
                       %out: !tile.pointer<i8> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %v = tile.view %x sizes(%c3) strides(%c1) : !tile.pointer<i8> -> !tile.view<1 x i8>
    %o = tile.view %out sizes(%c3) strides(%c1) : !tile.pointer<i8> -> !tile.view<1 x i8>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      tile.for (%c0) to (%c3) dim "i" block_size 1 {
      ^bb0(%i: index, %one: index):
        %a = tile.load %v[%i] dims [0] extents(%one) : !tile.view<1 x i8> -> tensor<1xi8>
        tile.store %a, %o[%i] dims [0] extents(%one) : tensor<1xi8>, !tile.view<1 x i8>
      }
    }
    tile.return
  }
}

// -----

// Later loops see what earlier ones left in scratch. Booleans are bytes.
// CHECK: out = [1, 0, 1]
module attributes {tile.inputs = {out = dense<false> : tensor<3xi1>}} {
  tile.kernel @scratch(%out: !tile.pointer<i1> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %s = tile.scratch (%c3) : !tile.pointer<i1>
    %v = tile.view %s sizes(%c3) strides(%c1) : !tile.pointer<i1> -> !tile.view<1 x i1>
    %o = tile.view %out sizes(%c3) strides(%c1) : !tile.pointer<i1> -> !tile.view<1 x i1>
    tile.parallel (%c0) to (%c3) dims ["i"] block_sizes [2] {
    ^bb0(%begin: index, %extent: index):
      %true = arith.constant dense<true> : tensor<2xi1>
      %false = arith.constant dense<false> : tensor<2xi1>
      tile.store %true, %v[%begin] dims [0] extents(%extent) : tensor<2xi1>, !tile.view<1 x i1>
    }
    tile.parallel (%c0) to (%c3) dims ["i"] block_sizes [3] {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%c3) : !tile.view<1 x i1> -> tensor<3xi1>
      %b = arith.constant dense<[true, false, true]> : tensor<3xi1>
      %c = arith.andi %a, %b : tensor<3xi1>
      tile.store %c, %o[%c0] dims [0] extents(%c3) : tensor<3xi1>, !tile.view<1 x i1>
    }
    tile.return
  }
}
