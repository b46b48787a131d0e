// RUN: wavetile-opt %s --target gfx950 --tile-widen-dots | FileCheck %s --check-prefixes=CHECK,OCP
// RUN: wavetile-opt %s --target gfx942 --tile-widen-dots | FileCheck %s --check-prefixes=CHECK,FNUZ
// RUN: wavetile-opt %s --target gfx1150 --tile-widen-dots | FileCheck %s --check-prefixes=CHECK,NONE

// CHECK-LABEL: tile.program @ocp
// OCP-NOT: arith.extf
// FNUZ-COUNT-2: arith.extf {{.*}} : tensor<64x64xf8E4M3FN> to tensor<64x64xbf16>
// NONE-COUNT-2: arith.extf {{.*}} : tensor<64x64xf8E4M3FN> to tensor<64x64xbf16>
// CHECK: tile.dot
tile.program @ocp(%n: index, %f: f32) attributes {waves = 1 : i64} {
  %zero = arith.constant 0.0 : f8E4M3FN
  %a = tile.full %zero : f8E4M3FN -> tensor<64x64xf8E4M3FN>
  %b = tile.full %f : f32 -> tensor<64x64xf32>
  %c = tile.dot %a, %a, %b extent(%n) : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  tile.return
}

// CHECK-LABEL: tile.program @fnuz
// OCP-COUNT-2: arith.extf {{.*}} : tensor<64x64xf8E5M2FNUZ> to tensor<64x64xbf16>
// FNUZ-NOT: arith.extf
// NONE-COUNT-2: arith.extf {{.*}} : tensor<64x64xf8E5M2FNUZ> to tensor<64x64xbf16>
// CHECK: tile.dot
tile.program @fnuz(%n: index, %f: f32) attributes {waves = 1 : i64} {
  %zero = arith.constant 0.0 : f8E5M2FNUZ
  %a = tile.full %zero : f8E5M2FNUZ -> tensor<64x64xf8E5M2FNUZ>
  %b = tile.full %f : f32 -> tensor<64x64xf32>
  %c = tile.dot %a, %a, %b extent(%n) : tensor<64x64xf8E5M2FNUZ>, tensor<64x64xf8E5M2FNUZ>, tensor<64x64xf32>
  tile.return
}

// Fewer terms than an instruction sums.
// CHECK-LABEL: tile.program @shallow
// CHECK-COUNT-2: arith.extf
// CHECK: tile.dot
tile.program @shallow(%n: index, %f: f32) attributes {waves = 1 : i64} {
  %zero = arith.constant 0.0 : f8E4M3FNUZ
  %a = tile.full %zero : f8E4M3FNUZ -> tensor<64x8xf8E4M3FNUZ>
  %t = tile.full %zero : f8E4M3FNUZ -> tensor<8x64xf8E4M3FNUZ>
  %b = tile.full %f : f32 -> tensor<64x64xf32>
  %c = tile.dot %a, %t, %b extent(%n) : tensor<64x8xf8E4M3FNUZ>, tensor<8x64xf8E4M3FNUZ>, tensor<64x64xf32>
  tile.return
}

// bf16 is left alone, whatever its depth.
// CHECK-LABEL: tile.program @wide
// CHECK-NOT: arith.extf
// CHECK: tile.dot
tile.program @wide(%n: index, %f: f32) attributes {waves = 1 : i64} {
  %zero = arith.constant 0.0 : bf16
  %a = tile.full %zero : bf16 -> tensor<64x64xbf16>
  %b = tile.full %f : f32 -> tensor<64x64xf32>
  %c = tile.dot %a, %a, %b extent(%n) : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.return
}
