// RUN: wavetile-compile %s --target gfx950 --config m=128,n=128,k=64 --emit=isa | FileCheck %s --check-prefix=GFX950 --implicit-check-not=scratch_ --implicit-check-not=bpermute --implicit-check-not='ds_{{read|write|load|store}}_b{{32|64}}' --implicit-check-not='ds_{{read|write|load|store}}{{2|_u}}' --implicit-check-not='buffer_{{load|store}}_{{dword|b32|b64|u|s|d16}}{{ |x2|_}}' --implicit-check-not=v_accvgpr
// RUN: wavetile-compile %s --target gfx942 --config m=128,n=128,k=64 --emit=isa | FileCheck %s --check-prefix=GFX942 --implicit-check-not=scratch_ --implicit-check-not=bpermute --implicit-check-not='ds_{{read|write|load|store}}_b{{32|64}}' --implicit-check-not='ds_{{read|write|load|store}}{{2|_u}}' --implicit-check-not='buffer_{{load|store}}_{{dword|b32|b64|u|s|d16}}{{ |x2|_}}' --implicit-check-not=v_accvgpr
// RUN: wavetile-compile %s --target gfx1150 --config m=128,n=128,k=64 --emit=isa | FileCheck %s --check-prefix=GFX1150 --implicit-check-not=scratch_ --implicit-check-not=bpermute --implicit-check-not='ds_{{read|write|load|store}}_b{{32|64}}' --implicit-check-not='ds_{{read|write|load|store}}{{2|_u}}' --implicit-check-not='buffer_{{load|store}}_{{dword|b32|b64|u|s|d16}}{{ |x2|_}}' --implicit-check-not=v_accvgpr

// The main loop of a product of two row-major matrices: wide accesses only, no spills, operands
// transposed on the way to LDS by registers that lanes trade.

// GFX950-LABEL: matmul_
// GFX950: .L0:
// GFX950-COUNT-8: buffer_load_dwordx4
// GFX950: s_barrier
// GFX950-COUNT-8: v_permlane32_swap_b32
// GFX950: s_barrier
// GFX950: ds_read_b128
// GFX950-COUNT-32: v_mfma_f32_16x16x32_bf16
// GFX950: s_cbranch
// GFX950: buffer_store_dwordx4

// GFX942-LABEL: matmul_
// GFX942: .L0:
// GFX942-COUNT-8: buffer_load_dwordx4
// GFX942-COUNT-8: v_mov_b32_dpp {{.*}} quad_perm:[1,0,3,2]
// GFX942: s_barrier
// GFX942: ds_read_b128
// GFX942-COUNT-64: v_mfma_f32_16x16x16_bf16
// GFX942: s_cbranch
// GFX942: buffer_store_dwordx4

// GFX1150-LABEL: matmul_
// GFX1150: .L0:
// GFX1150-COUNT-8: buffer_load_b128
// GFX1150: s_barrier
// GFX1150: ds_load_b128
// GFX1150-COUNT-32: v_wmma_f32_16x16x16_bf16
// GFX1150: s_cbranch
// GFX1150: buffer_store_b128

tile.kernel @matmul(%ap: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
                    %bp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 1 : i64},
                    %cp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 2 : i64},
                    %m: index {tile.binding = 0 : i64, tile.divisor = 16 : i64, tile.hint = 4096 : i64},
                    %n: index {tile.binding = 1 : i64, tile.divisor = 16 : i64, tile.hint = 4096 : i64},
                    %k: index {tile.binding = 2 : i64, tile.divisor = 16 : i64, tile.hint = 4096 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.view %ap sizes(%m, %k) strides(%k, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %b = tile.view %bp sizes(%k, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %c = tile.view %cp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0, %c0) to (%m, %n) dims ["m", "n"] {
  ^bb0(%i: index, %mi: index, %j: index, %nj: index):
    %z = arith.constant 0.0 : f32
    %zero = tile.full %z : f32 -> tensor<?x?xf32, #tile.dims<[m, n]>>
    %d = tile.for (%c0) to (%k) dim "k" carries(%zero) : tensor<?x?xf32, #tile.dims<[m, n]>> {
    ^bb0(%kk: index, %ke: index, %ac: tensor<?x?xf32, #tile.dims<[m, n]>>):
      %la = tile.load %a[%i, %kk] dims [0, 1] extents(%mi, %ke) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[m, k]>>
      %lb = tile.load %b[%kk, %j] dims [0, 1] extents(%ke, %nj) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[k, n]>>
      %dd = tile.dot %la, %lb, %ac extent(%ke) : tensor<?x?xbf16, #tile.dims<[m, k]>>, tensor<?x?xbf16, #tile.dims<[k, n]>>, tensor<?x?xf32, #tile.dims<[m, n]>>
      tile.yield %dd : tensor<?x?xf32, #tile.dims<[m, n]>>
    }
    %r = arith.truncf %d : tensor<?x?xf32, #tile.dims<[m, n]>> to tensor<?x?xbf16, #tile.dims<[m, n]>>
    tile.store %r, %c[%i, %j] dims [0, 1] extents(%mi, %nj) : tensor<?x?xbf16, #tile.dims<[m, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
