// What the verifiers of kernels, programs, launches and loops refuse.
// RUN: wavetile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{argument of type 'i32'; expected a pointer, index, f32 or f64}}
tile.kernel @argument(%n: i32) {
  tile.return
}

// -----

// expected-error @+1 {{has results; kernels store them}}
tile.kernel @results() -> f32 {
  tile.return
}

// -----

// expected-error @+1 {{entry block must have 1 arguments to match function signature}}
"tile.kernel"() <{sym_name = "body", function_type = (index) -> ()}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{needs at least one wave}}
tile.program @waves() attributes {waves = 0 : i64} {
  tile.return
}

// -----

// expected-error @+1 {{needs at least one wave}}
tile.program @waves() attributes {waves = -1 : i64} {
  tile.return
}

// -----

// expected-error @+1 {{argument of type 'tensor<4xf32>'}}
tile.program @argument(%x: tensor<4xf32>) attributes {waves = 1 : i64} {
  tile.return
}

// -----

tile.kernel @launch(%n: index) {
  // expected-error @+1 {{there is no program @missing}}
  tile.launch @missing grid(%n) arguments(%n) : index
  tile.return
}

// -----

tile.program @work(%x: f32) attributes {waves = 1 : i64} {
  tile.return
}
tile.kernel @launch(%n: index) {
  // expected-error @+1 {{arguments differ in type from those of the program}}
  tile.launch @work grid(%n) arguments(%n) : index
  tile.return
}

// -----

tile.program @work(%n: index) attributes {waves = 1 : i64} {
  tile.return
}
tile.kernel @launch(%n: index) {
  // expected-error @+1 {{needs a grid of one to three dimensions}}
  tile.launch @work grid(%n, %n, %n, %n) arguments(%n) : index
  tile.return
}

// -----

tile.kernel @names(%n: index) {
  // expected-error @+1 {{needs a lower and an upper bound for each name}}
  tile.parallel (%n) to (%n) dims ["rows", "cols"] {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}

// -----

tile.kernel @arguments(%n: index) {
  // expected-error @+1 {{body needs a begin and an extent of type index for each name}}
  tile.parallel (%n) to (%n) dims ["rows"] {
  ^bb0(%begin: index):
  }
  tile.return
}

// -----

tile.kernel @sizes(%n: index) {
  // expected-error @+1 {{needs a block size for each name}}
  tile.parallel (%n) to (%n) dims ["rows"] block_sizes [4, 4] {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}

// -----

tile.kernel @positive(%n: index) {
  // expected-error @+1 {{block sizes must be positive}}
  tile.parallel (%n) to (%n) dims ["rows"] block_sizes [0] {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}

// -----

tile.kernel @waves(%n: index) {
  // expected-error @+1 {{needs at least one wave}}
  tile.parallel (%n) to (%n) dims ["rows"] waves -1 {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}

// -----

tile.kernel @carries(%n: index) {
  // expected-error @+1 {{body yields values; a top-level loop carries none}}
  tile.parallel (%n) to (%n) dims ["rows"] {
  ^bb0(%begin: index, %extent: index):
    tile.yield %begin : index
  }
  tile.return
}

// -----

tile.program @nested(%n: index) attributes {waves = 1 : i64} {
  // expected-error @+1 {{expects parent op 'tile.kernel'}}
  tile.parallel (%n) to (%n) dims ["rows"] {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}

// -----

tile.program @guard(%n: index) attributes {waves = 1 : i64} {
  // expected-error @+1 {{expects parent op 'tile.kernel'}}
  tile.guard %n at_most 4 "too long"
  tile.return
}

// -----

tile.program @scratch(%n: index) attributes {waves = 1 : i64} {
  // expected-error @+1 {{expects parent op 'tile.kernel'}}
  %s = tile.scratch (%n) : !tile.pointer<f32>
  tile.return
}

// -----

tile.program @for(%n: index) attributes {waves = 1 : i64} {
  // expected-error @+1 {{body needs a begin and an extent of type index, then the carried values}}
  %r = tile.for (%n) to (%n) dim "k" carries(%n) : index {
  ^bb0(%begin: index, %extent: index):
    tile.yield %begin : index
  }
  tile.return
}

// -----

tile.program @for(%n: index, %x: f32) attributes {waves = 1 : i64} {
  // expected-error @+1 {{body arguments and initial values differ in type}}
  %r = tile.for (%n) to (%n) dim "k" carries(%n) : index {
  ^bb0(%begin: index, %extent: index, %carried: f32):
    tile.yield %begin : index
  }
  tile.return
}

// -----

tile.program @for(%n: index, %x: f32) attributes {waves = 1 : i64} {
  // expected-error @+1 {{yielded and initial values differ in type}}
  %r = tile.for (%n) to (%n) dim "k" carries(%n) : index {
  ^bb0(%begin: index, %extent: index, %carried: index):
    tile.yield %x : f32
  }
  tile.return
}

// -----

tile.program @for(%n: index) attributes {waves = 1 : i64} {
  // expected-error @+1 {{block size must be positive}}
  tile.for (%n) to (%n) dim "k" block_size -1 {
  ^bb0(%begin: index, %extent: index):
  }
  tile.return
}
