// RUN: wavetile-opt %s --tile-select-reduction-strategy --split-input-file | FileCheck %s

// Resident: a guard, and 64 lanes of one wave along each row.
module attributes {tile.config = {rows = 4 : i64, cols = 4096 : i64, waves = 4 : i64}} {
// CHECK-LABEL: tile.kernel @resident
// CHECK: tile.guard %{{.*}} at_most 4096 "cols <= capacity"
// CHECK: tile.parallel{{.*}} attributes {tile.row_lanes = 64 : i64, tile.row_waves = 1 : i64}
// CHECK: tile.load
// CHECK-NOT: tile.for
tile.kernel @resident(%x: !tile.pointer<bf16> {tile.binding = 0 : i64}, %m: index {tile.binding = 0 : i64},
                      %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
    tile.store %a, %v[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xbf16, #tile.dims<[rows, cols]>>, !tile.view<2 x bf16>
  }
  tile.return
}
}

// -----

// Short rows: 128 elements of 16 bits are 16 lanes, so a wave has four rows.
module attributes {tile.config = {rows = 16 : i64, cols = 128 : i64, waves = 4 : i64}} {
// CHECK-LABEL: tile.kernel @short_rows
// CHECK: tile.parallel{{.*}} attributes {tile.row_lanes = 16 : i64, tile.row_waves = 1 : i64}
tile.kernel @short_rows(%x: !tile.pointer<bf16> {tile.binding = 0 : i64}, %m: index {tile.binding = 0 : i64},
                        %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
    tile.store %a, %v[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xbf16, #tile.dims<[rows, cols]>>, !tile.view<2 x bf16>
  }
  tile.return
}
}

// -----

// One row for the block: all waves lie along it.
module attributes {tile.config = {rows = 1 : i64, cols = 32768 : i64, waves = 8 : i64}} {
// CHECK-LABEL: tile.kernel @block
// CHECK: tile.parallel{{.*}} attributes {tile.row_lanes = 64 : i64, tile.row_waves = 8 : i64}
tile.kernel @block(%x: !tile.pointer<bf16> {tile.binding = 0 : i64}, %m: index {tile.binding = 0 : i64},
                   %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, cols]>>
    tile.store %a, %v[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xbf16, #tile.dims<[rows, cols]>>, !tile.view<2 x bf16>
  }
  tile.return
}
}

// -----

// Looped: a phase up to each reduction and one for the store; x is loaded again,
// also where the result overwrites it element for element.
module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, cols.strategy = "looped", waves = 2 : i64}} {
// CHECK-LABEL: tile.kernel @looped(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {tile.binding = 1 : i64}
// CHECK-NOT: tile.guard
// CHECK: tile.parallel
// CHECK: ^bb0(%[[ROW:.*]]: index, %[[ROWS:.*]]: index):
// CHECK: %[[INIT:.*]] = tile.full %{{.*}} : f32 -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
// CHECK: %[[ACC:.*]] = tile.for(%{{.*}}) to(%[[N]]) dim "cols" carries(%[[INIT]])
// CHECK: ^bb0(%[[BEGIN:.*]]: index, %[[EXTENT:.*]]: index, %[[CARRIED:.*]]: tensor
// CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[ROW]], %[[BEGIN]]] dims [0, 1] extents(%[[ROWS]], %[[EXTENT]])
// CHECK: %[[FILLED:.*]] = tile.fill_beyond %[[A]] axis 1 extent(%[[EXTENT]]) with 0.000000e+00
// CHECK: %[[NEXT:.*]] = arith.addf %[[CARRIED]], %[[FILLED]] fastmath<reassoc,contract>
// CHECK: tile.yield %[[NEXT]]
// CHECK: %[[SIZE:.*]] = tile.block_size "cols"
// CHECK: %[[SUM:.*]] = tile.reduce sum %[[ACC]] axis 1 extent(%[[SIZE]]) reassociate
// CHECK: tile.expand_dims %[[SUM]]
// CHECK: tile.for(%{{.*}}) to(%[[N]]) dim "cols" {
// CHECK: tile.load
// CHECK: tile.broadcast
// CHECK: arith.divf
// CHECK: tile.store %{{.*}}[%[[ROW]], %{{.*}}]
// CHECK-NOT: tile.for
tile.kernel @looped(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %m: index {tile.binding = 0 : i64},
                    %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %s = tile.reduce sum %a axis 1 extent(%n) reassociate : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    %s1 = tile.expand_dims %s axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    %sb = tile.broadcast %s1 : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %q = arith.divf %a, %sb : tensor<?x?xf32, #tile.dims<[rows, cols]>>
    tile.store %q, %v[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xf32, #tile.dims<[rows, cols]>>, !tile.view<2 x f32>
  }
  tile.return
}
}

// -----

// The index of the maximum: a pair of accumulators, and indices that count from
// the start of the row.
module attributes {tile.config = {rows = 1 : i64, cols = 256 : i64, cols.strategy = "looped", waves = 1 : i64}} {
// CHECK-LABEL: tile.kernel @argmax
// CHECK: tile.full %{{.*}} : f32
// CHECK: tile.full %{{.*}} : i64
// CHECK: tile.for
// CHECK: %[[IOTA:.*]] = tile.iota
// CHECK: %[[START:.*]] = tile.full
// CHECK: arith.addi %[[IOTA]], %[[START]]
// CHECK: tile.fill_beyond %{{.*}} with 0xFF800000 : f32
// CHECK: tile.fill_beyond %{{.*}} with 9223372036854775807 : i64
// CHECK: arith.cmpf ugt
// CHECK: tile.yield
// CHECK: tile.arg_reduce maximum
// CHECK: tile.store
tile.kernel @argmax(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %out: !tile.pointer<i64> {tile.binding = 1 : i64},
                    %m: index {tile.binding = 0 : i64}, %n: index {tile.binding = 1 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %out sizes(%m) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %i = tile.iota : tensor<?xi64, #tile.dims<[cols]>>
    %i1 = tile.expand_dims %i axis 0 : tensor<?xi64, #tile.dims<[cols]>> -> tensor<1x?xi64, #tile.dims<[_, cols]>>
    %ib = tile.broadcast %i1 : tensor<1x?xi64, #tile.dims<[_, cols]>> -> tensor<?x?xi64, #tile.dims<[rows, cols]>>
    %value, %index = tile.arg_reduce maximum %a, %ib axis 1 extent(%n)
        : tensor<?x?xf32, #tile.dims<[rows, cols]>>, tensor<?x?xi64, #tile.dims<[rows, cols]>>
        -> tensor<?xf32, #tile.dims<[rows]>>, tensor<?xi64, #tile.dims<[rows]>>
    tile.store %index, %o[%row] dims [0] extents(%rows) : tensor<?xi64, #tile.dims<[rows]>>, !tile.view<1 x i64>
  }
  tile.return
}
}

// -----

// Grid: one loop for the partial sums, one that combines them in order and
// stores; the sum itself is stored by the first block of each row.
module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, cols.strategy = "grid", cols.blocks = 16 : i64, waves = 2 : i64}} {
// CHECK-LABEL: tile.kernel @grid(
// CHECK-SAME: %[[M:[a-z0-9]+]]: index {tile.binding = 0 : i64}
// CHECK: %[[BLOCKS:.*]] = arith.constant 16 : index
// Offsets into scratch are 32 bits wide, too.
// CHECK: %[[COUNT:.*]] = arith.muli %[[BLOCKS]], %[[M]]
// CHECK: tile.guard %[[COUNT]] at_most 536870912 "scratch for cols has at most 2^31 bytes"
// CHECK: %[[SCRATCH:.*]] = tile.scratch(%[[M]], %[[BLOCKS]]) : <f32>
// CHECK: %[[PARTIALS:.*]] = tile.view %[[SCRATCH]]
// CHECK: tile.parallel{{.*}} dims ["rows", "_"]
// CHECK: ^bb0(%[[ROW:.*]]: index, %[[ROWS:.*]]: index, %[[BLOCK:.*]]: index, %{{.*}}: index):
// CHECK: tile.for
// CHECK: %[[PART:.*]] = tile.reduce sum
// CHECK: tile.store %[[PART]], %[[PARTIALS]][%[[ROW]], %[[BLOCK]]] dims [0, -1] extents(%[[ROWS]])
// CHECK: tile.parallel{{.*}} dims ["rows", "_"]
// CHECK: ^bb0(%[[ROW:.*]]: index, %[[ROWS:.*]]: index, %[[BLOCK:.*]]: index, %{{.*}}: index):
// CHECK: %[[ALL:.*]] = tile.load %[[PARTIALS]][%[[ROW]], %{{.*}}] dims [0, 1] extents(%[[ROWS]], %[[BLOCKS]]) : <2 x f32> -> tensor<?x16xf32, #tile.dims<[rows, _]>>
// CHECK: %[[SUM:.*]] = tile.reduce sum %[[ALL]] axis 1 extent(%[[BLOCKS]])
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BLOCK]]
// CHECK: %[[ONCE:.*]] = arith.select %[[FIRST]], %[[ROWS]]
// CHECK: tile.store %[[SUM]], {{.*}} extents(%[[ONCE]])
// CHECK: tile.for
// CHECK: tile.store
// CHECK-NOT: tile.parallel
tile.kernel @grid(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %y: !tile.pointer<f32> {tile.binding = 1 : i64},
                  %out: !tile.pointer<f32> {tile.binding = 2 : i64}, %m: index {tile.binding = 0 : i64},
                  %n: index {tile.binding = 1 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %w = tile.view %y sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %out sizes(%m) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %s = tile.reduce sum %a axis 1 extent(%n) : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    tile.store %s, %o[%row] dims [0] extents(%rows) : tensor<?xf32, #tile.dims<[rows]>>, !tile.view<1 x f32>
    %s1 = tile.expand_dims %s axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    %sb = tile.broadcast %s1 : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %q = arith.divf %a, %sb : tensor<?x?xf32, #tile.dims<[rows, cols]>>
    tile.store %q, %w[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?xf32, #tile.dims<[rows, cols]>>, !tile.view<2 x f32>
  }
  tile.return
}
}

// -----

// Without a phase after the reduction, each row has one block in the last loop.
module attributes {tile.config = {rows = 1 : i64, cols = 1024 : i64, cols.strategy = "grid", cols.blocks = 8 : i64, waves = 2 : i64}} {
// CHECK-LABEL: tile.kernel @grid_sum
// CHECK: tile.parallel{{.*}} dims ["rows", "_"]
// CHECK: tile.parallel{{.*}} dims ["rows"]
// CHECK-NOT: tile.for
// CHECK: tile.store
// CHECK-NOT: tile.parallel
tile.kernel @grid_sum(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %out: !tile.pointer<f32> {tile.binding = 1 : i64},
                      %m: index {tile.binding = 0 : i64}, %n: index {tile.binding = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %out sizes(%m) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
    %s = tile.reduce sum %a axis 1 extent(%n) : tensor<?x?xf32, #tile.dims<[rows, cols]>> -> tensor<?xf32, #tile.dims<[rows]>>
    tile.store %s, %o[%row] dims [0] extents(%rows) : tensor<?xf32, #tile.dims<[rows]>>, !tile.view<1 x f32>
  }
  tile.return
}
}
