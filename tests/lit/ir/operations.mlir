// Every operation is read back as it was written.
// RUN: wavetile-opt %s | wavetile-opt | FileCheck %s
// RUN: wavetile-opt %s --mlir-print-op-generic | wavetile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @unbound(
// CHECK-SAME: %[[X:.*]]: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
// CHECK-SAME: %[[N:.*]]: index {tile.binding = 0 : i64, tile.divisor = 8 : i64}, %[[EPS:.*]]: f32)
// CHECK-SAME: attributes {disjoint, wide_offsets}
tile.kernel @unbound(%x: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
                     %n: index {tile.binding = 0 : i64, tile.divisor = 8 : i64}, %eps: f32)
    attributes {disjoint, wide_offsets} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tile.guard %[[N]] at_most 4096 "cols <= capacity"
  tile.guard %n at_most 4096 "cols <= capacity"
  // CHECK: tile.scratch(%[[N]], %{{.*}}) : <f32>
  %s = tile.scratch (%n, %c1) : !tile.pointer<f32>
  // CHECK: %[[V:.*]] = tile.view %[[X]] sizes(%[[N]], %[[N]]) strides(%[[N]], %{{.*}}) : <bf16> -> <2 x bf16>
  %v = tile.view %x sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.block_size "rows"
  %b = tile.block_size "rows"
  // CHECK: tile.parallel(%{{.*}}) to(%[[N]]) dims ["rows"] {
  // CHECK-NEXT: ^bb0(%[[ROW:.*]]: index, %[[ROWS:.*]]: index):
  tile.parallel (%c0) to (%n) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    // CHECK: %[[A:.*]] = tile.load %[[V]][%[[ROW]], %{{.*}}] dims [0, 1] extents(%[[ROWS]], %[[N]])
    // CHECK-SAME: {beyond = 0xFF80 : bf16, pad = 1.000000e+00 : bf16} : <2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n)
        {pad = 1.0 : bf16, beyond = 0xFF80 : bf16}
        : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
    // CHECK: tile.load %[[V]][%[[ROW]], %{{.*}}] dims [-1, -1] : <2 x bf16> -> tensor<bf16>
    %element = tile.load %v[%row, %c0] dims [-1, -1] : !tile.view<2 x bf16> -> tensor<bf16>
    // CHECK: tile.full %[[EPS]] : f32 -> tensor<?xf32, #tile.dims<[rows]>>
    %zero = tile.full %eps : f32 -> tensor<?xf32, #tile.dims<[rows]>>
    // CHECK: tile.for(%{{.*}}) to(%[[N]]) dim "cols" carries(%{{.*}}) : tensor<?xf32, #tile.dims<[rows]>> {
    // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[ACC:.*]]: tensor<?xf32, #tile.dims<[rows]>>):
    %sum = tile.for (%c0) to (%n) dim "cols" carries(%zero) : tensor<?xf32, #tile.dims<[rows]>> {
    ^bb0(%begin: index, %extent: index, %acc: tensor<?xf32, #tile.dims<[rows]>>):
      // CHECK: tile.yield %[[ACC]] : tensor<?xf32, #tile.dims<[rows]>>
      tile.yield %acc : tensor<?xf32, #tile.dims<[rows]>>
    }
    // CHECK: tile.expand_dims %{{.*}} axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    %e = tile.expand_dims %sum axis 1
        : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    // CHECK: tile.broadcast %{{.*}} : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %wide = tile.broadcast %e
        : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?x?xf32, #tile.dims<[cols, rows]>>
    %t = tile.transpose %wide [1, 0]
        : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?x?xf32, #tile.dims<[cols, rows]>>
    // CHECK: tile.reduce maximum %{{.*}} axis 1 extent(%[[N]]) : tensor<?x?xf32
    %m = tile.reduce maximum %wide axis 1 extent(%n)
        : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    // CHECK: tile.store %[[A]], %[[V]][%[[ROW]], %{{.*}}] dims [0, 1] extents(%[[ROWS]], %[[N]])
    // CHECK-SAME: : tensor<?x?xbf16, #tile.dims<[rows, cols]>>, <2 x bf16>
    tile.store %a, %v[%row, %c0] dims [0, 1] extents(%rows, %n)
        : tensor<?x?xbf16, #tile.dims<[rows, cols]>>, !tile.view<2 x bf16>
    // CHECK-NOT: tile.yield
  }
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @bound(
tile.kernel @bound(%x: !tile.pointer<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %v = tile.view %x sizes(%n, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  // CHECK: tile.parallel(%{{.*}}, %{{.*}}) to(%{{.*}}, %{{.*}}) dims ["rows", "cols"] block_sizes [4, 64] waves 4 {
  tile.parallel (%c0, %c0) to (%n, %n) dims ["rows", "cols"] block_sizes [4, 64] waves 4 {
  ^bb0(%row: index, %rows: index, %col: index, %cols: index):
    // CHECK: alignment = 16 : i64, divisor = 4 : i64, in_bounds = array<i1: false, true>
    %a = tile.load %v[%row, %col] dims [0, 1] extents(%rows, %cols)
        {alignment = 16 : i64, divisor = 4 : i64, in_bounds = array<i1: false, true>}
        : !tile.view<2 x f32> -> tensor<4x64xf32>
    // CHECK: tile.fill_beyond %{{.*}} axis 1 extent(%{{.*}}) with 0.000000e+00 : f32 : tensor<4x64xf32>
    %f = tile.fill_beyond %a axis 1 extent(%cols) with 0.0 : f32 : tensor<4x64xf32>
    // CHECK: tile.reduce sum %{{.*}} axis 1 extent(%{{.*}}) reassociate beyond_neutral : tensor<4x64xf32> -> tensor<4xf32>
    %s = tile.reduce sum %f axis 1 extent(%cols) reassociate beyond_neutral
        : tensor<4x64xf32> -> tensor<4xf32>
    // CHECK: tile.iota : tensor<64xi64>
    %i = tile.iota : tensor<64xi64>
    %i1 = tile.expand_dims %i axis 0 : tensor<64xi64> -> tensor<1x64xi64>
    // CHECK: tile.squeeze_dims %{{.*}} axis 0 : tensor<1x64xi64> -> tensor<64xi64>
    %i0 = tile.squeeze_dims %i1 axis 0 : tensor<1x64xi64> -> tensor<64xi64>
    %j = tile.broadcast %i1 : tensor<1x64xi64> -> tensor<4x64xi64>
    // CHECK: %{{.*}}, %{{.*}} = tile.arg_reduce minimum %{{.*}}, %{{.*}} axis 1 extent(%{{.*}}) beyond_neutral
    // CHECK-SAME: : tensor<4x64xf32>, tensor<4x64xi64> -> tensor<4xf32>, tensor<4xi64>
    %least, %where = tile.arg_reduce minimum %f, %j axis 1 extent(%cols) beyond_neutral
        : tensor<4x64xf32>, tensor<4x64xi64> -> tensor<4xf32>, tensor<4xi64>
    %t = tile.transpose %f [1, 0] : tensor<4x64xf32> -> tensor<64x4xf32>
    %acc = tile.full %zero : f32 -> tensor<4x4xf32>
    // CHECK: tile.for(%{{.*}}) to(%{{.*}}) dim "k" block_size 64 full carries(%{{.*}}) : tensor<4x4xf32> {
    %d = tile.for (%c0) to (%n) dim "k" block_size 64 full carries(%acc) : tensor<4x4xf32> {
    ^bb0(%begin: index, %extent: index, %sum: tensor<4x4xf32>):
      // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} extent(%{{.*}}) beyond_neutral : tensor<4x64xf32>, tensor<64x4xf32>, tensor<4x4xf32>
      %next = tile.dot %f, %t, %sum extent(%extent) beyond_neutral
          : tensor<4x64xf32>, tensor<64x4xf32>, tensor<4x4xf32>
      tile.yield %next : tensor<4x4xf32>
    }
  }
  tile.return
}

// CHECK-LABEL: tile.program @work(%{{.*}}: !tile.pointer<f32> {tile.align = 256 : i64}, %{{.*}}: index)
// CHECK-SAME: attributes {waves = 4 : i64}
tile.program @work(%x: !tile.pointer<f32> {tile.align = 256 : i64}, %n: index)
    attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  // CHECK: tile.block_id 1
  %id = tile.block_id 1
  %a = tile.full %zero : bf16 -> tensor<8x16xbf16>
  // CHECK: %[[S:.*]] = tile.stage_alloc : <2 x{{ ?}}[8, 16] x bf16, unit>
  %s = tile.stage_alloc : !tile.staging<2 x [8, 16] x bf16, unit>
  // CHECK: tile.stage_store %{{.*}}, %[[S]][%{{.*}}] : tensor<8x16xbf16>, <2 x{{ ?}}[8, 16] x bf16, unit>
  tile.stage_store %a, %s[%c0] : tensor<8x16xbf16>, !tile.staging<2 x [8, 16] x bf16, unit>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.stage_load %[[S]][%{{.*}}] : <2 x{{ ?}}[8, 16] x bf16, unit> -> tensor<8x16xbf16>
  %b = tile.stage_load %s[%c0] : !tile.staging<2 x [8, 16] x bf16, unit> -> tensor<8x16xbf16>
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @planned(
tile.kernel @planned(%x: !tile.pointer<f32>, %n: index) {
  %s = tile.scratch (%n) : !tile.pointer<f32>
  // CHECK: tile.launch @work grid(%{{.*}}, %{{.*}}) arguments(%{{.*}}, %{{.*}}) : !tile.pointer<f32>, index
  tile.launch @work grid(%n, %n) arguments(%s, %n) : !tile.pointer<f32>, index
  tile.return
}
