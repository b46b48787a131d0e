// RUN: wavetile-opt %s --tile-plan --split-input-file | FileCheck %s
// Symbols are the same in every run, and others for another target.
// RUN: wavetile-opt %s --tile-plan --split-input-file | grep tile.program > %t.first
// RUN: wavetile-opt %s --tile-plan --split-input-file | grep tile.program > %t.second
// RUN: wavetile-opt %s --tile-plan --split-input-file --target=gfx942 | grep tile.program > %t.other
// RUN: diff %t.first %t.second
// RUN: not diff %t.first %t.other

// A program takes what it uses, in the kernel's order, without bindings.
// CHECK-LABEL: tile.program @pkg_scale_
// CHECK-SAME: {{[0-9a-f]+}}(%[[X:[a-z0-9]+]]: !tile.pointer<f32> {tile.align = 16 : i64}, %[[N:[a-z0-9]+]]: index {tile.divisor = 8 : i64}
// CHECK-SAME: attributes {disjoint, tile.row_lanes = 64 : i64, waves = 4 : i64}
// CHECK: %[[V:.*]] = tile.view %[[X]]
// CHECK: %[[ID:.*]] = tile.block_id 0
// CHECK: %[[BEGIN:.*]] = arith.muli %[[ID]], %[[SIZE:.*]] : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[BEGIN]]
// CHECK: %[[EXTENT:.*]] = arith.minsi %[[LEFT]], %[[SIZE]]
// CHECK: tile.load %[[V]][%[[BEGIN]]] dims [0] extents(%[[EXTENT]])
// CHECK: tile.return
// CHECK: tile.kernel @pkg.scale
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[KN:[a-z0-9]+]], %{{.*}}
// CHECK: tile.launch @pkg_scale_{{[0-9a-f]+}} grid(%[[BLOCKS]]) arguments(%{{.*}}, %[[KN]])
// CHECK-NOT: tile.view
tile.kernel @pkg.scale(%unused: !tile.pointer<f32> {tile.binding = 0 : i64},
                       %x: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
                       %n: index {tile.binding = 0 : i64, tile.divisor = 8 : i64, tile.hint = 9 : i64})
    attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["i"] block_sizes [1024] waves 4
      attributes {tile.row_lanes = 64 : i64} {
  ^bb0(%begin: index, %extent: index):
    %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> tensor<1024xf32>
    tile.store %a, %v[%begin] dims [0] extents(%extent) : tensor<1024xf32>, !tile.view<1 x f32>
  }
  tile.return
}

// -----

// Several loops are numbered. The last dimension varies fastest, a whole number
// of blocks needs no minimum, and a block of one row has the extent one.
// CHECK-LABEL: tile.program @two_0_
// CHECK-SAME: (%[[X:[a-z0-9]+]]: !tile.pointer<f32>, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// CHECK: %[[ID:.*]] = tile.block_id 0
// CHECK: %[[UP:.*]] = arith.addi %[[N]], %{{.*}}
// CHECK: %[[COUNT:.*]] = arith.divui %[[UP]], %{{.*}}
// CHECK: %[[COL:.*]] = arith.remui %[[ID]], %[[COUNT]]
// CHECK: %[[ROW:.*]] = arith.divui %[[ID]], %[[COUNT]]
// CHECK-NOT: arith.minsi
// CHECK: tile.program @two_1_
// CHECK-SAME: !tile.pointer<i32> {tile.align = 256 : i64}
// CHECK: tile.kernel @two
// CHECK: tile.scratch
// CHECK: tile.launch @two_0_
// CHECK: tile.launch @two_1_
tile.kernel @two(%x: !tile.pointer<f32> {tile.binding = 0 : i64}, %m: index {tile.binding = 0 : i64},
                 %n: index {tile.binding = 1 : i64, tile.divisor = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %s = tile.scratch (%m) : !tile.pointer<i32>
  %sv = tile.view %s sizes(%m) strides(%c1) : !tile.pointer<i32> -> !tile.view<1 x i32>
  tile.parallel (%c0, %c0) to (%m, %n) dims ["rows", "cols"] block_sizes [1, 64] waves 1 {
  ^bb0(%row: index, %rows: index, %col: index, %cols: index):
    %a = tile.load %v[%row, %col] dims [0, 1] extents(%rows, %cols) : !tile.view<2 x f32> -> tensor<1x64xf32>
    tile.store %a, %v[%row, %col] dims [0, 1] extents(%rows, %cols) : tensor<1x64xf32>, !tile.view<2 x f32>
  }
  tile.parallel (%c0) to (%m) dims ["rows"] block_sizes [64] waves 1 {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %sv[%row] dims [0] extents(%rows) : !tile.view<1 x i32> -> tensor<64xi32>
    tile.store %a, %sv[%row] dims [0] extents(%rows) : tensor<64xi32>, !tile.view<1 x i32>
  }
  tile.return
}

// -----

// The hash in a symbol is that of what is in the program.
// CHECK: tile.program @same_0_[[HASH:[0-9a-f]+]](
// CHECK: tile.program @same_1_[[HASH]](
// CHECK-NOT: [[HASH]](
// CHECK: tile.program @same_2_
module attributes {tile.config = {i = 64 : i64}} {
tile.kernel @same(%n: index {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  tile.parallel (%c0) to (%n) dims ["i"] block_sizes [64] waves 1 {
  ^bb0(%row: index, %rows: index):
  }
  tile.parallel (%c0) to (%n) dims ["i"] block_sizes [64] waves 1 {
  ^bb0(%row: index, %rows: index):
  }
  tile.parallel (%c0) to (%n) dims ["i"] block_sizes [128] waves 1 {
  ^bb0(%row: index, %rows: index):
  }
  tile.return
}
}
