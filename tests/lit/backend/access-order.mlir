// RUN: wavetile-compile %s --target gfx942 --config i=1024,k=1024,waves=4 --emit=isa | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: wavetile-compile %s --target gfx1150 --config i=1024,k=1024,waves=4 --emit=isa | FileCheck %s --check-prefixes=CHECK,RDNA
// RUN: wavetile-compile %s --target gfx942 --config i=1024,k=1024,waves=1 --emit=isa | FileCheck %s --check-prefix=ONE --implicit-check-not=s_barrier

// Element j of t is stored by one lane and read by that of j - 1, in another wave at times.
// CHECK-LABEL: handed_on_0_
// CHECK-NOT: s_barrier
// CHECK-LABEL: handed_on_1_
// CHECK: buffer_store
// CDNA: s_waitcnt vmcnt(0)
// RDNA: s_waitcnt_vscnt null, 0x0
// CHECK: s_barrier
// CHECK: buffer_load
// CHECK: s_endpgm
// ONE: handed_on_

tile.kernel @handed_on(%xp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
                       %tp: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 1 : i64},
                       %op: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 2 : i64},
                       %n: index {tile.binding = 0 : i64, tile.hint = 4096 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %t = tile.view %tp sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  %o = tile.view %op sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  // An element that its own lane reads again, in loops too, needs no barrier.
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%i: index, %ie: index):
    tile.for (%c0) to (%n) dim "k" {
    ^bb0(%k: index, %ke: index):
      %a = tile.load %x[%k] dims [0] extents(%ke) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[k]>>
      tile.store %a, %o[%k] dims [0] extents(%ke) : tensor<?xf32, #tile.dims<[k]>>, !tile.view<1 x f32>
      %b = tile.load %o[%k] dims [0] extents(%ke) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[k]>>
      tile.store %b, %t[%k] dims [0] extents(%ke) : tensor<?xf32, #tile.dims<[k]>>, !tile.view<1 x f32>
    }
  }
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i] dims [0] extents(%ie) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[i]>>
    tile.store %a, %t[%i] dims [0] extents(%ie) : tensor<?xf32, #tile.dims<[i]>>, !tile.view<1 x f32>
    %next = arith.addi %i, %c1 : index
    %b = tile.load %t[%next] dims [0] extents(%ie) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[i]>>
    tile.store %b, %o[%i] dims [0] extents(%ie) : tensor<?xf32, #tile.dims<[i]>>, !tile.view<1 x f32>
  }
  tile.return
}
