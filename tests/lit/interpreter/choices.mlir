// RUN: wavetile-opt --tile-interpret %s -split-input-file -verify-diagnostics -o /dev/null | FileCheck %s

// A choice by an element, and a loop whose end depends on data.
// CHECK: out = [8, -3, 16]
module attributes {tile.inputs = {
    x = dense<[1, -3, 5]> : tensor<3xi64>, out = dense<0> : tensor<3xi64>}} {
  tile.kernel @choices(%x: !tile.pointer<i64> {tile.name = "x"},
                       %out: !tile.pointer<i64> {tile.name = "out"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0 : i64
    %five = arith.constant 5 : i64
    %v = tile.view %x sizes(%c3) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
    %o = tile.view %out sizes(%c3) strides(%c1) : !tile.pointer<i64> -> !tile.view<1 x i64>
    tile.parallel (%c0) to (%c3) dims ["_"] block_sizes [1] waves 1 {
    ^bb0(%i: index, %extent: index):
      %a = tile.load %v[%i] dims [-1] : !tile.view<1 x i64> -> tensor<i64>
      %s = tile.scalar %a : tensor<i64> -> i64
      %positive = arith.cmpi sgt, %s, %zero : i64
      %r = tile.if %positive : i64 {
        // Doubled until it is above five.
        %w = tile.while (%s) : i64 {
        ^bb0(%n: i64):
          %goes = arith.cmpi sle, %n, %five : i64
          tile.yield %goes : i1
        } do {
        ^bb0(%n: i64):
          %next = arith.addi %n, %n : i64
          tile.yield %next : i64
        }
        %plus = arith.cmpi eq, %w, %five : i64
        %d = tile.if %plus : i64 {
          tile.yield %zero : i64
        } else {
          tile.yield %w : i64
        }
        %more = arith.cmpi sgt, %d, %five : i64
        %e = tile.if %more : i64 {
          %ten = arith.constant 10 : i64
          %is_ten = arith.cmpi eq, %d, %ten : i64
          %six = arith.constant 6 : i64
          %sum = arith.addi %d, %six : i64
          %chosen = arith.select %is_ten, %sum, %d : i64
          tile.yield %chosen : i64
        } else {
          tile.yield %d : i64
        }
        tile.yield %e : i64
      } else {
        tile.yield %s : i64
      }
      %t = tile.full %r : i64 -> tensor<i64>
      tile.store %t, %o[%i] dims [-1] : tensor<i64>, !tile.view<1 x i64>
    }
    tile.return
  }
}

// -----

// A condition must have a value.
module attributes {tile.inputs = {x = dense<1> : tensor<1xi64>}} {
  tile.kernel @undefined(%x: !tile.pointer<i64> {tile.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.scratch (%c1) : !tile.pointer<i1>
    %v = tile.view %s sizes(%c1) strides(%c1) : !tile.pointer<i1> -> !tile.view<1 x i1>
    tile.parallel (%c0) to (%c1) dims ["_"] block_sizes [1] waves 1 {
    ^bb0(%i: index, %extent: index):
      // expected-note@+1 {{'tile.load' made some elements without a value of others}}
      %a = tile.load %v[%i] dims [-1] : !tile.view<1 x i1> -> tensor<i1>
      %c = tile.scalar %a : tensor<i1> -> i1
      // expected-error@+1 {{branches on an element that has no value}}
      tile.if %c {
      } else {
      }
    }
    tile.return
  }
}
