// RUN: wavetile-opt --tile-interpret %s -split-input-file -o /dev/null | FileCheck %s

// Scans combine in the order of the index and look only below the extent; backwards from the last
// element below it. What lies beyond has no value.
// CHECK: out = {{\[\[}}1, 3, 6, 7], [6, 5, 3, 7]]
module attributes {tile.inputs = {out = dense<7.0> : tensor<2x4xf32>}} {
  tile.kernel @scan(%out: !tile.pointer<f32> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %o = tile.view %out sizes(%c2, %c4) strides(%c4, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %x = arith.constant dense<[1.0, 2.0, 3.0, 100.0]> : tensor<4xf32>
      %s = tile.scan (%x) axis 0 extent(%c3) : tensor<4xf32> {
      ^bb0(%a: f32, %b: f32):
        %sum = arith.addf %a, %b : f32
        tile.yield %sum : f32
      }
      tile.store %s, %o[%c0, %c0] dims [-1, 0] extents(%c3) : tensor<4xf32>, !tile.view<2 x f32>
      %r = tile.scan (%x) axis 0 extent(%c3) reverse : tensor<4xf32> {
      ^bb0(%a: f32, %b: f32):
        %sum = arith.addf %a, %b : f32
        tile.yield %sum : f32
      }
      tile.store %r, %o[%c1, %c0] dims [-1, 0] extents(%c3) : tensor<4xf32>, !tile.view<2 x f32>
    }
    tile.return
  }
}

// -----

// A function that does not commute: the last of two; and where each sorted element was, NaN last.
// CHECK: values = {{\[\[}}1, 2, 2, NaN], [NaN, 2, 2, 1]]
// CHECK: places = {{\[\[}}2, 0, 3, 1], [1, 0, 3, 2]]
// CHECK: last = [100, 2]
module attributes {tile.inputs = {values = dense<7.0> : tensor<2x4xf32>,
                                  places = dense<7> : tensor<2x4xi64>,
                                  last = dense<7.0> : tensor<2xf32>}} {
  tile.kernel @sort(%values: !tile.pointer<f32> {tile.name = "values"},
                    %places: !tile.pointer<i64> {tile.name = "places"},
                    %last: !tile.pointer<f32> {tile.name = "last"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %v = tile.view %values sizes(%c2, %c4) strides(%c4, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
    %p = tile.view %places sizes(%c2, %c4) strides(%c4, %c1) : !tile.pointer<i64> -> !tile.view<2 x i64>
    %l = tile.view %last sizes(%c2) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %x = arith.constant dense<[2.0, 0x7FC00000, 1.0, 2.0, 100.0]> : tensor<5xf32>
      %a, %i = tile.sort %x axis 0 extent(%c4) : tensor<5xf32> -> tensor<5xi64>
      %d, %j = tile.sort %x axis 0 extent(%c4) descending : tensor<5xf32> -> tensor<5xi64>
      tile.store %a, %v[%c0, %c0] dims [-1, 0] extents(%c4) : tensor<5xf32>, !tile.view<2 x f32>
      tile.store %d, %v[%c1, %c0] dims [-1, 0] extents(%c4) : tensor<5xf32>, !tile.view<2 x f32>
      tile.store %i, %p[%c0, %c0] dims [-1, 0] extents(%c4) : tensor<5xi64>, !tile.view<2 x i64>
      tile.store %j, %p[%c1, %c0] dims [-1, 0] extents(%c4) : tensor<5xi64>, !tile.view<2 x i64>
      %all = tile.combine (%x) axis 0 extent(%c5) : tensor<5xf32> -> tensor<f32> {
      ^bb0(%before: f32, %one: f32):
        tile.yield %one : f32
      }
      %four = tile.combine (%x) axis 0 extent(%c4) : tensor<5xf32> -> tensor<f32> {
      ^bb0(%before: f32, %one: f32):
        tile.yield %one : f32
      }
      tile.store %all, %l[%c0] dims [-1] : tensor<f32>, !tile.view<1 x f32>
      tile.store %four, %l[%c1] dims [-1] : tensor<f32>, !tile.view<1 x f32>
    }
    tile.return
  }
}

// -----

// Elements by index, in two dimensions.
// CHECK: out = [6, 1, 4]
module attributes {tile.inputs = {out = dense<7> : tensor<3xi32>}} {
  tile.kernel @take(%out: !tile.pointer<i32> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %o = tile.view %out sizes(%c3) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
    tile.parallel (%c0) to (%c1) dims ["one"] block_sizes [1] {
    ^bb0(%begin: index, %extent: index):
      %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
      %i = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
      %j = arith.constant dense<[2, 0, 0]> : tensor<3xi64>
      %t = tile.take %x[%i, %j] : tensor<2x3xi32>, tensor<3xi64>, tensor<3xi64> -> tensor<3xi32>
      tile.store %t, %o[%c0] dims [0] extents(%c3) : tensor<3xi32>, !tile.view<1 x i32>
    }
    tile.return
  }
}
