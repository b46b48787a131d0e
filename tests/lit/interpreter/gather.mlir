// RUN: wavetile-opt --tile-interpret %s -split-input-file -o /dev/null | FileCheck %s

// Rows by a tile of indices: equal ones, one below the view and one beyond it.
// CHECK: out = {{\[\[}}5, 6], [1, 2], [5, 6], [7, 7], [7, 7]]
module attributes {tile.config = {rows = 4, cols = 2}, tile.inputs = {
    x = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>,
    at = dense<[2, 0, 2, -1, 3]> : tensor<5xi64>, out = dense<0> : tensor<5x2xi32>}} {
  tile.kernel @gather(%x: !tile.pointer<i32> {tile.name = "x"},
                      %at: !tile.pointer<i64> {tile.name = "at"},
                      %out: !tile.pointer<i32> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c3, %c2) strides(%c2, %c1) : !tile.pointer<i32> -> !tile.view<2 x i32>
    %a = tile.view %at sizes(%c5) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
    %o = tile.view %out sizes(%c5, %c2) strides(%c2, %c1) : !tile.pointer<i32> -> !tile.view<2 x i32>
    tile.parallel (%c0) to (%c5) dims ["rows"] {
    ^bb0(%row: index, %rows: index):
      %i = tile.load %a[%row] dims [0] extents(%rows)
          : !tile.view<1 x i64> -> tensor<?xi64, #tile.dims<[rows]>>
      %e = tile.expand_dims %i axis 1
          : tensor<?xi64, #tile.dims<[rows]>> -> tensor<?x1xi64, #tile.dims<[rows, _]>>
      %g = tile.load %v[%c0, %c0] dims [-1, 1] at [0](%e : tensor<?x1xi64, #tile.dims<[rows, _]>>)
          extents(%rows, %c2) {pad = 7 : i32}
          : !tile.view<2 x i32> -> tensor<?x?xi32, #tile.dims<[rows, cols]>>
      tile.store %g, %o[%row, %c0] dims [0, 1] extents(%rows, %c2)
          : tensor<?x?xi32, #tile.dims<[rows, cols]>>, !tile.view<2 x i32>
    }
    tile.return
  }
}

// -----

// A mask leaves elements out; the offset is added to each index; a store goes where indices say.
// CHECK: out = [0, 30, 0, 10, 0]
module attributes {tile.inputs = {
    x = dense<[10, 20, 30]> : tensor<3xi32>, out = dense<0> : tensor<5xi32>}} {
  tile.kernel @scatter(%x: !tile.pointer<i32> {tile.name = "x"},
                       %out: !tile.pointer<i32> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %x sizes(%c3) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    %o = tile.view %out sizes(%c5) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] waves 1 {
    ^bb0(%begin: index, %extent: index):
      %a = tile.load %v[%c0] dims [0] extents(%c3) : !tile.view<1 x i32> -> tensor<4xi32>
      %iota = tile.iota : tensor<4xi64>
      %two = arith.constant dense<2> : tensor<4xi64>
      %one = arith.constant dense<1> : tensor<4xi64>
      %i = arith.subi %two, %iota : tensor<4xi64>
      %m = arith.cmpi ne, %iota, %one : tensor<4xi64>
      tile.store %a, %o[%c1] dims [-1] at [0](%i : tensor<4xi64>) mask(%m : tensor<4xi1>) extents(%c3)
          : tensor<4xi32>, !tile.view<1 x i32>
    }
    tile.return
  }
}

// -----

// Equal places are combined one after the other; a compare_exchange writes where it agrees.
// CHECK: counts = [2, 1]
// CHECK: owner = [-1, 4]
// CHECK: old = [-1, 0]
module attributes {tile.inputs = {
    at = dense<[0, 1, 0]> : tensor<3xi64>, counts = dense<0> : tensor<2xi32>,
    owner = dense<[-1, 0]> : tensor<2xi32>, old = dense<7> : tensor<2xi32>}} {
  tile.kernel @atomics(%at: !tile.pointer<i64> {tile.name = "at"},
                       %counts: !tile.pointer<i32> {tile.name = "counts"},
                       %owner: !tile.pointer<i32> {tile.name = "owner"},
                       %old: !tile.pointer<i32> {tile.name = "old"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %a = tile.view %at sizes(%c3) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
    %c = tile.view %counts sizes(%c2) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    %o = tile.view %owner sizes(%c2) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    %p = tile.view %old sizes(%c2) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] waves 1 {
    ^bb0(%begin: index, %extent: index):
      %i = tile.load %a[%c0] dims [0] extents(%c3) : !tile.view<1 x i64> -> tensor<4xi64>
      %one = arith.constant dense<1> : tensor<4xi32>
      %r = tile.atomic add %one, %c[%c0] dims [-1] at [0](%i : tensor<4xi64>) extents(%c3)
          order relaxed scope device : tensor<4xi32>, !tile.view<1 x i32>
      %zero = arith.constant dense<0> : tensor<2xi32>
      %four = arith.constant dense<4> : tensor<2xi32>
      %s = tile.atomic compare_exchange %four, %o[%c0] dims [0] compare(%zero : tensor<2xi32>)
          extents(%c2) order acquire_release scope system : tensor<2xi32>, !tile.view<1 x i32>
      tile.store %s, %p[%c0] dims [0] extents(%c2) : tensor<2xi32>, !tile.view<1 x i32>
    }
    tile.return
  }
}
