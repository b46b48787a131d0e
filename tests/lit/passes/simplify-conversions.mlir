// RUN: wavetile-opt %s --tile-simplify-conversions --allow-unregistered-dialect --mlir-print-local-scope | FileCheck %s

!one = tensor<64xi32, #tile.layout<"register=[], lane=[[1], [2], [4], [8], [16], [32]], wave=[], shape=[64]">>
!two = tensor<64xi32, #tile.layout<"register=[], lane=[[2], [1], [4], [8], [16], [32]], wave=[], shape=[64]">>
!three = tensor<64xi32, #tile.layout<"register=[], lane=[[4], [1], [2], [8], [16], [32]], wave=[], shape=[64]">>

// There and back again is nothing; a chain is one conversion.
// CHECK-LABEL: tile.program @chains
tile.program @chains() attributes {waves = 1 : i64} {
  %a = tile.iota : !one
  %s = arith.addi %a, %a : !one
  %b = tile.convert_layout %s : !one -> !two
  %c = tile.convert_layout %b : !two -> !one
  // CHECK: %[[S:.*]] = arith.addi
  // CHECK-NEXT: arith.muli %[[S]], %[[S]]
  %use = arith.muli %c, %s : !one
  %d = tile.convert_layout %b : !two -> !three
  // CHECK-NEXT: %[[D:.*]] = tile.convert_layout %[[S]] : {{.*}}lane=[{{\[}}4], [1], [2]
  // CHECK-NEXT: arith.muli %[[D]], %[[D]]
  %use2 = arith.muli %d, %d : !three
  "test.use"(%use, %use2) : (!one, !three) -> ()
  tile.return
}

// Two conversions alike are one, if one comes before the other.
// CHECK-LABEL: tile.program @alike
tile.program @alike() attributes {waves = 1 : i64} {
  %a = tile.iota : !one
  %s = arith.addi %a, %a : !one
  // CHECK: %[[B:.*]] = tile.convert_layout
  // CHECK-NOT: tile.convert_layout
  // CHECK: arith.addi %[[B]], %[[B]]
  %b = tile.convert_layout %s : !one -> !two
  %c = tile.convert_layout %s : !one -> !two
  %use = arith.addi %b, %c : !two
  "test.use"(%use) : (!two) -> ()
  tile.return
}

// What can be made anywhere is made where it is wanted.
// CHECK-LABEL: tile.program @made_in_place
tile.program @made_in_place(%n: index) attributes {waves = 1 : i64} {
  %x = arith.index_cast %n : index to i32
  %a = tile.iota : !one
  %f = tile.full %x : i32 -> !one
  %k = arith.constant dense<7> : !one
  // CHECK-NOT: tile.convert_layout
  // CHECK-DAG: tile.iota : {{.*}}lane=[{{\[}}2], [1]
  // CHECK-DAG: tile.full {{.*}}lane=[{{\[}}2], [1]
  // CHECK-DAG: arith.constant dense<7> {{.*}}lane=[{{\[}}2], [1]
  %b = tile.convert_layout %a : !one -> !two
  %c = tile.convert_layout %f : !one -> !two
  %d = tile.convert_layout %k : !one -> !two
  %e = arith.addi %b, %c : !two
  %g = arith.addi %e, %d : !two
  "test.use"(%g) : (!two) -> ()
  // CHECK: tile.return
  tile.return
}
