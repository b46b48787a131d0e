// RUN: split-file %s %t
// RUN: wavetile-opt %t/valid.mlir | wavetile-opt | FileCheck %s
// RUN: wavetile-opt %t/invalid.mlir -split-input-file -verify-diagnostics -o /dev/null

//--- valid.mlir
// CHECK-LABEL: tile.program @order
tile.program @order(%n: index) attributes {waves = 1 : i64} {
  %x = arith.constant dense<1.0> : tensor<4x8xf32>
  %i = arith.constant dense<1> : tensor<4x8xi64>
  // CHECK: tile.scan(%{{.*}}, %{{.*}}) axis 1 extent(%{{.*}}) reverse : tensor<4x8xf32>, tensor<4x8xi64> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: f32, %{{.*}}: i64):
  %s:2 = tile.scan (%x, %i) axis 1 extent(%n) reverse : tensor<4x8xf32>, tensor<4x8xi64> {
  ^bb0(%a: f32, %j: i64, %b: f32, %k: i64):
    %sum = arith.addf %a, %b : f32
    tile.yield %sum, %k : f32, i64
  }
  // CHECK: tile.combine(%{{.*}}) axis 0 extent(%{{.*}}) : tensor<4x8xf32> -> tensor<8xf32> {
  %c = tile.combine (%x) axis 0 extent(%n) : tensor<4x8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    tile.yield %m : f32
  }
  // CHECK: tile.sort %{{.*}} axis 1 extent(%{{.*}}) descending : tensor<4x8xf32> -> tensor<4x8xi64>
  %v, %at = tile.sort %x axis 1 extent(%n) descending : tensor<4x8xf32> -> tensor<4x8xi64>
  // CHECK: tile.take %{{.*}}[%{{.*}}, %{{.*}}] : tensor<4x8xf32>, tensor<4x8xi64>, tensor<4x8xi64> -> tensor<4x8xf32>
  %t = tile.take %x[%i, %at] : tensor<4x8xf32>, tensor<4x8xi64>, tensor<4x8xi64> -> tensor<4x8xf32>
  tile.return
}

//--- invalid.mlir
tile.program @scan(%n: index) attributes {waves = 1 : i64} {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{needs a body whose arguments are two elements of each source}}
  %s = tile.scan (%x) axis 0 extent(%n) : tensor<4xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.program @scan(%n: index) attributes {waves = 1 : i64} {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{axis 1 is not in [0, 1)}}
  %s = tile.scan (%x) axis 1 extent(%n) : tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.program @combine(%n: index) attributes {waves = 1 : i64} {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %c = tile.combine (%x) axis 0 extent(%n) : tensor<4xf32> -> tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{in the body of 'tile.combine', which may hold arith and math only}}
    %i = tile.iota : tensor<4xi64>
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.program @combine(%n: index) attributes {waves = 1 : i64} {
  %x = arith.constant dense<1.0> : tensor<4x2xf32>
  // expected-error @+1 {{result must have the shape of}}
  %c = tile.combine (%x) axis 0 extent(%n) : tensor<4x2xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.program @take() attributes {waves = 1 : i64} {
  %x = arith.constant dense<1.0> : tensor<4x2xf32>
  %i = arith.constant dense<1> : tensor<3xi64>
  // expected-error @+1 {{needs a tile of indices for each dimension of the source}}
  %t = tile.take %x[%i] : tensor<4x2xf32>, tensor<3xi64> -> tensor<3xf32>
  tile.return
}
