// RUN: wavetile-opt %s --tile-assign-layouts --target gfx950 --split-input-file --mlir-print-local-scope | FileCheck %s

// A wave to a row: lanes side by side with 16 bytes each, four waves for four rows; what is left
// after a reduction has the same place without the row's dimension.
// CHECK-LABEL: tile.program @rows
tile.program @rows(%p: !tile.pointer<bf16>, %n: index) attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %p sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.load {{.*}} -> tensor<4x1024xbf16, #tile.layout<"register=[{{\[}}0, 1], [0, 2], [0, 4], [0, 512]], lane=[{{\[}}0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]], wave=[{{\[}}1, 0], [2, 0]], shape=[4, 1024]">>
  %a = tile.load %x[%c0, %c0] dims [0, 1] extents(%n, %n) : !tile.view<2 x bf16> -> tensor<4x1024xbf16>
  // CHECK: tile.reduce {{.*}} -> tensor<4xbf16, #tile.layout<"register=[], lane=[{{\[}}0], [0], [0], [0], [0], [0]], wave=[{{\[}}1], [2]], shape=[4]">>
  %s = tile.reduce sum %a axis 1 extent(%n) beyond_neutral : tensor<4x1024xbf16> -> tensor<4xbf16>
  // CHECK-NOT: tile.convert_layout
  %s1 = tile.expand_dims %s axis 1 : tensor<4xbf16> -> tensor<4x1xbf16>
  %b = tile.broadcast %s1 : tensor<4x1xbf16> -> tensor<4x1024xbf16>
  %d = arith.subf %a, %b : tensor<4x1024xbf16>
  tile.store %d, %x[%c0, %c0] dims [0, 1] extents(%n, %n) : tensor<4x1024xbf16>, !tile.view<2 x bf16>
  // CHECK: tile.return
  tile.return
}

// -----

// The right operand is contiguous along N in memory and along K in LDS. A lane loads 8 neighbours of
// 4 rows, trades half of them with lane ^ 32, and stores 8 neighbours of 4 columns.
// CHECK-LABEL: tile.program @product
tile.program @product(%p: !tile.pointer<bf16>, %q: !tile.pointer<f32>, %n: index) attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %x = tile.view %p sizes(%n, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %y = tile.view %q sizes(%n, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %init = tile.full %zero : f32 -> tensor<128x128xf32>
  %sa = tile.stage_alloc : !tile.staging<1 x [128, 64] x bf16, unit>
  // CHECK: tile.stage_alloc : <1 x [64, 128] x bf16, #tile.layout<"offset=[{{\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0],
  %sb = tile.stage_alloc : !tile.staging<1 x [64, 128] x bf16, unit>
  %a = tile.load %x[%c0, %c0] dims [0, 1] extents(%n, %n) : !tile.view<2 x bf16> -> tensor<128x64xbf16>
  // CHECK: %[[B:.*]] = tile.load {{.*}} -> tensor<64x128xbf16, #tile.layout<"register=[{{\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], lane=[{{\[}}8, 0], [16, 0], [0, 8], [0, 16], [0, 32], [4, 0]], wave=[{{\[}}0, 64], [32, 0]], shape=[64, 128]">>
  %b = tile.load %x[%c0, %c0] dims [0, 1] extents(%n, %n) : !tile.view<2 x bf16> -> tensor<64x128xbf16>
  tile.stage_store %a, %sa[%c0] : tensor<128x64xbf16>, !tile.staging<1 x [128, 64] x bf16, unit>
  // CHECK: %[[B2:.*]] = tile.convert_layout %[[B]] : {{.*}} -> tensor<64x128xbf16, #tile.layout<"register=[{{\[}}0, 1], [0, 2], [4, 0], [1, 0], [2, 0]], lane=[{{\[}}8, 0], [16, 0], [0, 8], [0, 16], [0, 32], [0, 4]], wave=[{{\[}}0, 64], [32, 0]], shape=[64, 128]">>
  // CHECK-NEXT: tile.stage_store %[[B2]]
  tile.stage_store %b, %sb[%c0] : tensor<64x128xbf16>, !tile.staging<1 x [64, 128] x bf16, unit>
  tile.barrier
  %a1 = tile.stage_load %sa[%c0] : !tile.staging<1 x [128, 64] x bf16, unit> -> tensor<128x64xbf16>
  %b1 = tile.stage_load %sb[%c0] : !tile.staging<1 x [64, 128] x bf16, unit> -> tensor<64x128xbf16>
  // CHECK: tile.dot {{.*}} {instruction = "v_mfma_f32_16x16x32_bf16", swapped}
  %d = tile.dot %a1, %b1, %init extent(%n) beyond_neutral : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
  // The product is stored in the layout in which it comes.
  // CHECK-NOT: tile.convert_layout
  tile.store %d, %y[%c0, %c0] dims [0, 1] extents(%n, %n) : tensor<128x128xf32>, !tile.view<2 x f32>
  // CHECK: tile.return
  tile.return
}
