//===- RaceAnalysis.h - Accesses of different iterations --------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Iterations of a top-level loop have no order. This finds pairs of accesses of
// one tensor by different iterations of which at least one is a store:
//
//   * nothing is said where the two provably touch no element in common: for each
//     dimension of the loop there is one of the tensor along which both follow it;
//   * `proved` races are those in which two iterations certainly touch one element
//     and the stored values differ with the iteration, or one of the two reads it;
//   * the rest may be races or not.
//
// Works on modules as the frontend makes them, before a Config is bound: a loop
// has several iterations unless its length in the call that is compiled for, and
// the block size that the kernel fixes, say that it has one. Atomics race with
// nothing, and loops with atomics that order other accesses are left alone.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_RACEANALYSIS_H
#define WAVETILE_PASSES_RACEANALYSIS_H

#include "ir/Tile.h"

namespace wavetile {

struct Race {
  bool proved;
  mlir::Operation *store; // a StoreOp
  mlir::Operation *other; // a StoreOp, perhaps the same one, or a LoadOp
  std::string tensor;     // the argument's name
  std::string dimension;  // of the loop, along which the iterations differ; empty if not proved
};

/// The first race of each store, in program order.
llvm::SmallVector<Race> findRaces(tile::KernelOp kernel);

} // namespace wavetile

#endif // WAVETILE_PASSES_RACEANALYSIS_H
