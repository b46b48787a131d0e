// RUN: wavetile-compile %s --target gfx1150 --config m=64,n=64,k=16,waves=4 --emit=isa | FileCheck %s --implicit-check-not=v_wmma --implicit-check-not=scratch_ --implicit-check-not=bpermute

// No matrix instruction of the target multiplies f32: one fma for each product, operands through LDS
// all the same, 128 bits at a time.
// CHECK-LABEL: matmul_
// CHECK: .L0:
// CHECK: buffer_load_b128
// CHECK: s_barrier
// CHECK: ds_store_b128
// CHECK: s_barrier
// CHECK: ds_load_b128
// CHECK: v_{{(dual_)?}}fma{{(c|ak|mk)?}}_f32
// CHECK: s_cbranch
// CHECK: buffer_store_b128

tile.kernel @matmul(%ap: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
                    %bp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
                    %cp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 2 : i64},
                    %m: index {tile.binding = 0 : i64, tile.divisor = 16 : i64, tile.hint = 4096 : i64},
                    %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 4096 : i64},
                    %k: index {tile.binding = 2 : i64, tile.divisor = 16 : i64, tile.hint = 4096 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.view %ap sizes(%m, %k) strides(%k, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %b = tile.view %bp sizes(%k, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %c = tile.view %cp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0, %c0) to (%m, %n) dims ["m", "n"] {
  ^bb0(%i: index, %mi: index, %j: index, %nj: index):
    %z = arith.constant 0.0 : f32
    %zero = tile.full %z : f32 -> tensor<?x?xf32, #tile.dims<[m, n]>>
    %d = tile.for (%c0) to (%k) dim "k" carries(%zero) : tensor<?x?xf32, #tile.dims<[m, n]>> {
    ^bb0(%kk: index, %ke: index, %ac: tensor<?x?xf32, #tile.dims<[m, n]>>):
      %la = tile.load %a[%i, %kk] dims [0, 1] extents(%mi, %ke) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[m, k]>>
      %lb = tile.load %b[%kk, %j] dims [0, 1] extents(%ke, %nj) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[k, n]>>
      %dd = tile.dot %la, %lb, %ac extent(%ke) : tensor<?x?xf32, #tile.dims<[m, k]>>, tensor<?x?xf32, #tile.dims<[k, n]>>, tensor<?x?xf32, #tile.dims<[m, n]>>
      tile.yield %dd : tensor<?x?xf32, #tile.dims<[m, n]>>
    }
    tile.store %d, %c[%i, %j] dims [0, 1] extents(%mi, %nj) : tensor<?x?xf32, #tile.dims<[m, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
