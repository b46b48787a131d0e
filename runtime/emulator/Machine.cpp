//===- Machine.cpp - Names and counters of the machine ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Machine.h"

namespace wavetile::device {

llvm::StringRef name(InstructionClass c) {
  switch (c) {
  case InstructionClass::ScalarAlu:
    return "scalar ALU";
  case InstructionClass::ScalarMemory:
    return "scalar memory";
  case InstructionClass::Branch:
    return "branch";
  case InstructionClass::Wait:
    return "wait";
  case InstructionClass::VectorAlu:
    return "vector ALU";
  case InstructionClass::Transcendental:
    return "transcendental";
  case InstructionClass::Matrix:
    return "matrix";
  case InstructionClass::Lds:
    return "LDS";
  case InstructionClass::GlobalLoad:
    return "global load";
  case InstructionClass::GlobalStore:
    return "global store";
  case InstructionClass::GlobalAtomic:
    return "global atomic";
  case InstructionClass::Scratch:
    return "scratch";
  case InstructionClass::Part:
  case InstructionClass::Count:
    break;
  }
  return "";
}

llvm::StringRef name(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds:
    return "access out of bounds";
  case FaultKind::ReadOnly:
    return "store to read-only memory";
  case FaultKind::Misaligned:
    return "misaligned access";
  case FaultKind::LdsOutOfBounds:
    return "LDS access out of bounds";
  case FaultKind::ScratchOutOfBounds:
    return "scratch access out of bounds";
  case FaultKind::BadProgramCounter:
    return "jump to an address that is no instruction";
  case FaultKind::BarrierMismatch:
    return "barrier that not every wave reaches";
  case FaultKind::LdsRace:
    return "race in LDS";
  case FaultKind::GlobalRace:
    return "race in global memory";
  case FaultKind::Stuck:
    return "waves that wait for ever";
  case FaultKind::UndefinedValue:
    return "use of an undefined value";
  case FaultKind::MissingWait:
    return "use of a value before the wait for its load";
  case FaultKind::PendingOverwritten:
    return "write to a register that a load has yet to write";
  case FaultKind::Trap:
    return "trap";
  case FaultKind::InstructionLimit:
    return "instruction limit reached";
  case FaultKind::Refused:
    return "unsupported instruction";
  }
  return "";
}

Counters &Counters::operator+=(const Counters &other) {
  for (size_t i = 0; i < instructions.size(); ++i)
    instructions[i] += other.instructions[i];
  bytesLoaded += other.bytesLoaded;
  bytesStored += other.bytesStored;
  waves += other.waves;
  workgroups += other.workgroups;
  return *this;
}

} // namespace wavetile::device
