// wavetile-compile from an unbound module to each form, for each target.

// RUN: wavetile-compile %s --emit=config | FileCheck %s --check-prefix=CONFIG
// CONFIG: i=2048,waves=4
// RUN: wavetile-compile %s --emit=config --config i=512,waves=2 | FileCheck %s --check-prefix=GIVEN
// GIVEN: i=512,waves=2

// RUN: wavetile-compile %s --emit=tile | FileCheck %s --check-prefix=TILE
// TILE: tensor<?xf32, #tile.dims<[i]>>
// RUN: wavetile-compile %s --emit=bound | FileCheck %s --check-prefix=BOUND
// BOUND: tile.parallel{{.*}} block_sizes [2048] waves 4
// BOUND: tensor<2048xf32>
// RUN: wavetile-compile %s --emit=final | FileCheck %s --check-prefix=FINAL
// FINAL: tile.program @scale_
// FINAL: tensor<2048xf32, #tile.layout<

// RUN: wavetile-compile %s --emit=llvm --config waves_per_simd=2 | FileCheck %s --check-prefix=LLVM
// LLVM: define{{.*}} amdgpu_kernel void @scale_
// LLVM: "amdgpu-waves-per-eu"="2"

// RUN: wavetile-compile %s --emit=isa --target=gfx942 | FileCheck %s --check-prefix=ISA
// RUN: wavetile-compile %s --emit=isa --target=gfx1150 | FileCheck %s --check-prefix=ISA
// ISA: scale_{{[0-9a-f]+}}:
// ISA: s_endpgm

// RUN: wavetile-compile %s --emit=object -o %t.co
// RUN: llvm-readelf --symbols %t.co | FileCheck %s --check-prefix=OBJECT
// OBJECT: scale_{{[0-9a-f]+}}.kd

// RUN: wavetile-compile %s --emit=plan | FileCheck %s --check-prefix=PLAN
// PLAN: plan for gfx950
// PLAN: kernel scale_
// PLAN: grid (ceildiv(i0, 2048), 1, 1)
// PLAN: workgroup (256, 1, 1)
// PLAN: +0 pointer p0
// PLAN: +8 i32 i0
// PLAN: +12 f32 f0

// RUN: wavetile-compile %s --emit=times | FileCheck %s --check-prefix=TIMES
// TIMES: ms  tile-select-reduction-strategy
// TIMES: ms  tile-assign-layouts
// TIMES: ms  generate

// RUN: not wavetile-compile %s --config i=2048,wavs=4 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: has no dimension 'wavs', which the Config names; did you mean 'waves'?
// RUN: not wavetile-compile %s --target=gfx9 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: unknown target 'gfx9'; there are {{.*}}gfx942, gfx950

tile.kernel @scale(%x: !tile.pointer<f32> {tile.align = 16 : i64, tile.binding = 0 : i64},
                   %n: index {tile.binding = 0 : i64, tile.hint = 1000000 : i64},
                   %factor: f32 {tile.binding = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%n) strides(%c1) : !tile.pointer<f32> -> !tile.view<1 x f32>
  tile.parallel (%c0) to (%n) dims ["i"] {
  ^bb0(%begin: index, %extent: index):
    %a = tile.load %v[%begin] dims [0] extents(%extent) : !tile.view<1 x f32> -> tensor<?xf32, #tile.dims<[i]>>
    %f = tile.full %factor : f32 -> tensor<?xf32, #tile.dims<[i]>>
    %b = arith.mulf %a, %f : tensor<?xf32, #tile.dims<[i]>>
    tile.store %b, %v[%begin] dims [0] extents(%extent) : tensor<?xf32, #tile.dims<[i]>>, !tile.view<1 x f32>
  }
  tile.return
}
