// RUN: wavetile-compile %s --target gfx942 --config rows=8,n=512,waves=1 --emit=llvm | FileCheck %s
// RUN: wavetile-compile %s --target gfx950 --config rows=8,n=512,waves=1 --emit=isa | FileCheck %s --check-prefix=ISA

// A lane keeps out by an offset of 2^31, the size of every buffer. The stride is any number of at most
// 2^31, so that the uniform offset of a row that the block does not have could be any as well, and
// hardware compares with num_records less that: it is zero there.
// CHECK: %[[EXISTS:.*]] = icmp sgt i32 %{{.*}}, 1
// CHECK: %[[OFFSET:.*]] = select i1 %[[EXISTS]], i32 %{{.*}}, i32 0
// CHECK: call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc{{.*}}(ptr addrspace(1) %{{.*}}, i16 0, i64 2147483648, i32 159744)
// CHECK: call <4 x i32> @llvm.amdgcn.raw.ptr.buffer.load.v4i32(ptr addrspace(8) %{{.*}}, i32 %{{.*}}, i32 %[[OFFSET]], i32 0)
// ISA-DAG: s_brev_b32 s{{[0-9]+}}, 1
// ISA-DAG: s_cselect_b32 s[[OFFSET:[0-9]+]], s{{[0-9]+}}, 0
// ISA: buffer_load_dwordx4 v[{{.*}}], v{{[0-9]+}}, s[{{.*}}], s[[OFFSET]] offen

tile.kernel @far_rows(%xp: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 0 : i64},
                      %op: !tile.pointer<bf16> {tile.align = 16 : i64, tile.binding = 1 : i64},
                      %m: index {tile.binding = 0 : i64, tile.hint = 3 : i64},
                      %n: index {tile.binding = 1 : i64, tile.divisor = 8 : i64, tile.hint = 512 : i64},
                      %s: index {tile.binding = 2 : i64, tile.divisor = 8 : i64}) attributes {disjoint} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.view %xp sizes(%m, %n) strides(%s, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %op sizes(%m, %n) strides(%n, %c1) : !tile.pointer<bf16> -> !tile.view<2 x bf16>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%i: index, %ie: index):
    %a = tile.load %x[%i, %c0] dims [0, 1] extents(%ie, %n) : !tile.view<2 x bf16> -> tensor<?x?xbf16, #tile.dims<[rows, n]>>
    tile.store %a, %o[%i, %c0] dims [0, 1] extents(%ie, %n) : tensor<?x?xbf16, #tile.dims<[rows, n]>>, !tile.view<2 x bf16>
  }
  tile.return
}
