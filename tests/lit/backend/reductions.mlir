// RUN: wavetile-compile %s --target gfx950 --config n=512,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=GFX950-WAVE --implicit-check-not=bpermute --implicit-check-not=ds_ --implicit-check-not=s_barrier
// RUN: wavetile-compile %s --target gfx942 --config n=512,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=GFX942-WAVE --implicit-check-not=bpermute --implicit-check-not=ds_ --implicit-check-not=s_barrier
// RUN: wavetile-compile %s --target gfx1150 --config n=512,rows=1,waves=1 --emit=isa | FileCheck %s --check-prefix=GFX1150-WAVE --implicit-check-not=bpermute --implicit-check-not=ds_ --implicit-check-not=s_barrier
// RUN: wavetile-compile %s --target gfx950 --config n=64,rows=4,waves=1 --emit=isa | FileCheck %s --check-prefix=GFX950-ROWS --implicit-check-not=bpermute --implicit-check-not=ds_ --implicit-check-not=s_barrier
// RUN: wavetile-compile %s --target gfx942 --config n=64,rows=4,waves=1 --emit=isa | FileCheck %s --check-prefix=GFX942-ROWS --implicit-check-not=bpermute --implicit-check-not=ds_ --implicit-check-not=s_barrier
// RUN: wavetile-compile %s --target gfx1150 --config n=64,rows=4,waves=1 --emit=isa | FileCheck %s --check-prefix=GFX1150-ROWS --implicit-check-not=bpermute --implicit-check-not=ds_ --implicit-check-not=s_barrier
// RUN: wavetile-compile %s --target gfx950 --config n=2048,rows=1,waves=4 --emit=isa | FileCheck %s --check-prefix=GFX950-BLOCK --implicit-check-not=bpermute
// RUN: wavetile-compile %s --target gfx942 --config n=2048,rows=1,waves=4 --emit=isa | FileCheck %s --check-prefix=GFX942-BLOCK --implicit-check-not=bpermute
// RUN: wavetile-compile %s --target gfx1150 --config n=2048,rows=1,waves=4 --emit=isa | FileCheck %s --check-prefix=GFX1150-BLOCK --implicit-check-not=bpermute

// Lanes combine by DPP and permlane, without LDS; waves by one exchange through it.

// GFX950-WAVE: quad_perm:[1,0,3,2]
// GFX950-WAVE: quad_perm:[2,3,0,1]
// GFX950-WAVE: row_half_mirror
// GFX950-WAVE: row_ror:8
// GFX950-WAVE: v_permlane16_swap
// GFX950-WAVE: v_permlane32_swap

// GFX942-WAVE: quad_perm:[1,0,3,2]
// GFX942-WAVE: quad_perm:[2,3,0,1]
// GFX942-WAVE: row_half_mirror
// GFX942-WAVE: row_ror:8
// GFX942-WAVE: row_bcast:15
// GFX942-WAVE: row_bcast:31
// GFX942-WAVE: v_readlane_b32 {{.*}}, 63

// GFX1150-WAVE: quad_perm:[1,0,3,2]
// GFX1150-WAVE: quad_perm:[2,3,0,1]
// GFX1150-WAVE: row_xmask:4
// GFX1150-WAVE: row_xmask:8
// GFX1150-WAVE: v_permlanex16_b32

// Several rows to a wave: the lanes of a row do not reach beyond it.
// GFX950-ROWS: row_ror:8
// GFX950-ROWS-NOT: v_permlane
// GFX950-ROWS: s_endpgm
// GFX942-ROWS: row_ror:8
// GFX942-ROWS-NOT: row_bcast
// GFX942-ROWS: s_endpgm
// GFX1150-ROWS: row_xmask:8
// GFX1150-ROWS-NOT: v_permlanex16
// GFX1150-ROWS: s_endpgm

// GFX950-BLOCK: v_permlane32_swap
// GFX950-BLOCK: ds_write_b32
// GFX950-BLOCK: s_barrier
// GFX950-BLOCK: ds_read_b128
// GFX942-BLOCK: row_bcast:31
// GFX942-BLOCK: ds_write_b32
// GFX942-BLOCK: s_barrier
// GFX942-BLOCK: ds_read_b128
// GFX1150-BLOCK: v_permlanex16
// GFX1150-BLOCK: ds_store_b32
// GFX1150-BLOCK: s_barrier
// GFX1150-BLOCK: ds_load_b128

tile.kernel @f(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
               %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
               %m: index {tile.binding = 0 : i64, tile.hint = 64 : i64},
               %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 1024 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<f32> -> !tile.view<2 x f32>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %s = tile.reduce sum %a axis 1 extent(%n) reassociate : tensor<?x?xf32, #tile.dims<[rows, n]>> -> tensor<?xf32, #tile.dims<[rows]>>
    %s1 = tile.expand_dims %s axis 1 : tensor<?xf32, #tile.dims<[rows]>> -> tensor<?x1xf32, #tile.dims<[rows, _]>>
    %sb = tile.broadcast %s1 : tensor<?x1xf32, #tile.dims<[rows, _]>> -> tensor<?x?xf32, #tile.dims<[rows, n]>>
    %r = arith.subf %a, %sb : tensor<?x?xf32, #tile.dims<[rows, n]>>
    tile.store %r, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xf32, #tile.dims<[rows, n]>>, !tile.view<2 x f32>
  }
  tile.return
}
