// RUN: wavetile-opt %s -split-input-file -verify-diagnostics

tile.program @narrow_integers() attributes {waves = 1 : i64} {
  %one = arith.constant 1 : i32
  %a = tile.full %one : i32 -> tensor<i32>
  // expected-error@+1 {{prints floats and i64, not 'i32'}}
  tile.print "a" (%a : tensor<i32>)
  tile.return
}

// -----

tile.program @two_shapes(%n: index) attributes {waves = 1 : i64} {
  %one = arith.constant 1.0 : f32
  %a = tile.full %one : f32 -> tensor<4xf32>
  %b = tile.full %one : f32 -> tensor<8xf32>
  // expected-error@+1 {{each tile must have the shape of}}
  tile.print "a" (%a, %b : tensor<4xf32>, tensor<8xf32>) offsets(%n) extents(%n)
  tile.return
}

// -----

tile.program @no_extent() attributes {waves = 1 : i64} {
  %one = arith.constant 1.0 : f32
  %a = tile.full %one : f32 -> tensor<4xf32>
  // expected-error@+1 {{needs an offset and an extent for each of 1 dimensions}}
  tile.print "a" (%a : tensor<4xf32>)
  tile.return
}

// -----

tile.program @number_as_condition() attributes {waves = 1 : i64} {
  %one = arith.constant 1 : i32
  %a = tile.full %one : i32 -> tensor<i32>
  // expected-error@+1 {{needs a condition of i1, not 'tensor<i32>'}}
  tile.assert %a, "one" : tensor<i32>
  tile.return
}

// -----

tile.program @shapes_of_assembly() attributes {waves = 1 : i64} {
  %one = arith.constant 1.0 : f32
  %a = tile.full %one : f32 -> tensor<4xf32>
  // expected-error@+1 {{each tile must have the shape of}}
  %r = tile.inline_asm "v_mov_b32 $0, $1" "=v,v" pack 1 (%a) : (tensor<4xf32>) -> tensor<8xf32>
  tile.return
}

// -----

tile.program @nothing_at_a_time() attributes {waves = 1 : i64} {
  %one = arith.constant 1.0 : f32
  %a = tile.full %one : f32 -> tensor<4xf32>
  // expected-error@+1 {{takes at least one element at a time}}
  %r = tile.inline_asm "v_mov_b32 $0, $1" "=v,v" pack 0 (%a) : (tensor<4xf32>) -> tensor<4xf32>
  tile.return
}
