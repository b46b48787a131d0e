// RUN: wavetile-opt %s --tile-bind-config --split-input-file | FileCheck %s

// Names become sizes in results, block arguments and region results.
module attributes {tile.config = {rows = 4 : i64, k = 32 : i64, waves = 2 : i64}} {
// CHECK-LABEL: tile.kernel @row_sums
tile.kernel @row_sums(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
                      %out: !tile.pointer<f32> {tile.binding = 1 : i64},
                      %m: index {tile.binding = 0 : i64}, %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %xv = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %ov = tile.view %out sizes(%m) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // CHECK: tile.parallel{{.*}}dims ["rows"] block_sizes [4] waves 2
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    // CHECK: tile.full %{{.*}} : f32 -> tensor<4xf32>
    %init = tile.full %zero : f32 -> tensor<?xf32, #tile.dims<[rows]>>
    // CHECK: tile.for{{.*}}dim "k" block_size 32 carries({{.*}}) : tensor<4xf32>
    // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: tensor<4xf32>)
    %sum = tile.for (%c0) to (%n) dim "k" carries(%init) : tensor<?xf32, #tile.dims<[rows]>> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<?xf32, #tile.dims<[rows]>>):
      // CHECK: -> tensor<4x32xf32>
      %a = tile.load %xv[%row, %begin] dims [0, 1] extents(%rows, %extent)
          : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, k]>>
      %s = tile.reduce sum %a axis 1 extent(%extent)
          : tensor<?x?xf32, #tile.dims<[rows, k]>> -> tensor<?xf32, #tile.dims<[rows]>>
      %next = arith.addf %acc, %s : tensor<?xf32, #tile.dims<[rows]>>
      tile.yield %next : tensor<?xf32, #tile.dims<[rows]>>
    }
    tile.store %sum, %ov[%row] dims [0] extents(%rows)
        : tensor<?xf32, #tile.dims<[rows]>>, !tile.view<1 x f32>
  }
  tile.return
}
// CHECK-NOT: tensor<?
}

// -----

// tile.block_size is the size.
module attributes {tile.config = {i = 256 : i64, waves = 1 : i64}} {
// CHECK-LABEL: tile.kernel @block_size
tile.kernel @block_size(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
    // CHECK: %[[SIZE:.*]] = arith.constant 256 : index
    // CHECK: arith.subi %{{.*}}, %[[SIZE]]
    %size = tile.block_size "i"
    %rest = arith.subi %extent, %size : index
  }
  tile.return
}
// CHECK-NOT: tile.block_size
}
