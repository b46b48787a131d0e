//===- InstructionTraits.h - What an instruction is, for those who count --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of an instruction before it runs: the kind that it is counted as, the floating
// point or integer operations of a matrix product, and what a wait waits for.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_COUNTERS_INSTRUCTIONTRAITS_H
#define WAVETILE_RUNTIME_EMULATOR_COUNTERS_INSTRUCTIONTRAITS_H

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/checks/WaitCounters.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace wavetile::device {

/// Each executed instruction is of one kind. Finer than InstructionClass, by which launches are
/// always counted: the kinds of one class add up to it.
enum class InstructionKind : uint8_t {
  VectorAlu,
  Transcendental,
  Matrix,
  ScalarAlu,
  ScalarMemory,
  Branch,
  VectorLoad, ///< global, flat and buffer.
  VectorStore,
  VectorAtomic,
  LoadToLds,
  ScratchLoad,
  ScratchStore,
  LdsLoad,
  LdsStore,
  LdsAtomic,
  LdsPermute, ///< Between lanes, through the LDS' crossbar: no memory.
  Wait,       ///< For memory.
  Barrier,
  Message,
  CacheControl,
  Internal, ///< s_nop, s_sleep, hints: nothing outside the scheduler.
  Count
};

/// "vector ALU", "LDS load".
llvm::StringRef name(InstructionKind kind);

struct InstructionTraits {
  InstructionKind kind = InstructionKind::Internal;
  bool isFlat = false; ///< Its addresses say whether it is LDS, scratch or global memory.
  /// Matrix products: additions and multiplications of a wave, those of a sparse one as if it were
  /// dense.
  uint64_t operations = 0;
  /// What a wait waits for; counters that may be full afterwards are not named.
  checks::WaitValues waits;

  static InstructionTraits of(const DecodedProgram &program, const Record &record);
};

/// The row's first name, without its feature: "v_add_f32".
llvm::StringRef mnemonicOf(const Record &record);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_COUNTERS_INSTRUCTIONTRAITS_H
