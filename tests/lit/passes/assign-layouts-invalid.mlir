// RUN: wavetile-opt %s --tile-assign-layouts --target gfx1150 --split-input-file --verify-diagnostics

tile.program @no_instruction(%n: index) attributes {waves = 1 : i64} {
  %zero = arith.constant 0.0 : f8E4M3FN
  %sum = arith.constant 0.0 : f32
  %a = tile.full %zero : f8E4M3FN -> tensor<32x32xf8E4M3FN>
  %c = tile.full %sum : f32 -> tensor<32x32xf32>
  // expected-error @below {{gfx1150 has no matrix instruction for these element types}}
  %d = tile.dot %a, %a, %c extent(%n) beyond_neutral : tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>, tensor<32x32xf32>
  tile.return
}

// -----

tile.program @too_small(%n: index) attributes {waves = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.0 : f16
  %a = tile.full %half : f16 -> tensor<16x16xf16>
  %c = tile.full %zero : f32 -> tensor<16x16xf32>
  // expected-error @below {{no matrix instruction of gfx1150 tiles M 16, N 16, K 16 over 4 waves}}
  %d = tile.dot %a, %a, %c extent(%n) beyond_neutral : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.program @no_kind(%n: index) attributes {waves = 1 : i64} {
  %zero = arith.constant 0 : i16
  %a = tile.full %zero : i16 -> tensor<32x32xi16>
  // expected-error @below {{is not supported}}
  %d = tile.dot %a, %a, %a extent(%n) beyond_neutral : tensor<32x32xi16>, tensor<32x32xi16>, tensor<32x32xi16>
  tile.return
}
