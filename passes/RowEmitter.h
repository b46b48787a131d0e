//===- RowEmitter.h - A loop over the chunks of a row -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits one phase of a row as a `tile.for`, for a block that walks the whole row
// or a part of it. Types keep their names: inside the loop the row's name stands
// for a chunk.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_ROWEMITTER_H
#define WAVETILE_PASSES_ROWEMITTER_H

#include "passes/RowPhases.h"

#include "mlir/IR/IRMapping.h"

namespace wavetile {

/// Emits phase `phase` over the elements from `lower` to `upper` of the row, and
/// maps the results of its reductions to those over these elements. `mapping`
/// holds what its operations use from outside.
void emitPhase(mlir::OpBuilder &builder, const RowPhases &phases, unsigned phase, mlir::Value lower,
               mlir::Value upper, mlir::IRMapping &mapping);

/// Replaces the body of the loop by one `tile.for` for each phase.
void rollRow(const RowPhases &phases);

/// Replaces the loop by one top-level loop for each phase, in which `blocks`
/// blocks share each row. Fails with an error where partial results cannot go
/// through scratch.
mlir::LogicalResult shareRow(const RowPhases &phases, int64_t blocks);

} // namespace wavetile

#endif // WAVETILE_PASSES_ROWEMITTER_H
