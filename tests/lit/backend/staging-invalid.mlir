// RUN: wavetile-opt %s --rocm-pipeline --target gfx942 --split-input-file --verify-diagnostics

tile.program @unassigned() attributes {waves = 1 : i64} {
  // expected-error @below {{has no layout; run tile-assign-layouts first}}
  %s = tile.stage_alloc : !tile.staging<1 x [64, 64] x bf16, unit>
  tile.return
}

// -----

// expected-error-re @below {{needs 131072 bytes of LDS = 131072 (line {{[0-9]+}}); gfx942 has 65536 for a workgroup}}
tile.program @too_much() attributes {waves = 1 : i64} {
  %s = tile.stage_alloc : !tile.staging<4 x [128, 128] x bf16, #tile.layout<"offset=[[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], shape=[128, 128], buffers=4">>
  tile.return
}

// -----

tile.program @reduction(%n: index) attributes {waves = 1 : i64} {
  %a = tile.iota : tensor<64xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[64]">>
  // expected-error @below {{looks at elements beyond its extent; run tile-infer-bounds first}}
  %s = tile.reduce sum %a axis 0 extent(%n) : tensor<64xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[64]">> -> tensor<i32, #tile.layout<"register=[], lane=[[], [], [], [], [], []], wave=[], shape=[]">>
  tile.return
}

// -----

tile.program @function() attributes {waves = 1 : i64} {
  %one = arith.constant 1.0 : f64
  // expected-error @below {{'math.atan' on 'f64' has no lowering for gfx942}}
  %e = math.atan %one : f64
  tile.return
}
