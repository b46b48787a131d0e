//===- InstructionTraits.cpp - What an instruction is, for those who count ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/counters/InstructionTraits.h"

#include "llvm/ADT/StringExtras.h"

namespace wavetile::device {

llvm::StringRef name(InstructionKind kind) {
  switch (kind) {
  case InstructionKind::VectorAlu:
    return "vector ALU";
  case InstructionKind::Transcendental:
    return "transcendental";
  case InstructionKind::Matrix:
    return "matrix";
  case InstructionKind::ScalarAlu:
    return "scalar ALU";
  case InstructionKind::ScalarMemory:
    return "scalar memory";
  case InstructionKind::Branch:
    return "branch";
  case InstructionKind::VectorLoad:
    return "vector load";
  case InstructionKind::VectorStore:
    return "vector store";
  case InstructionKind::VectorAtomic:
    return "vector atomic";
  case InstructionKind::LoadToLds:
    return "load to LDS";
  case InstructionKind::ScratchLoad:
    return "scratch load";
  case InstructionKind::ScratchStore:
    return "scratch store";
  case InstructionKind::LdsLoad:
    return "LDS load";
  case InstructionKind::LdsStore:
    return "LDS store";
  case InstructionKind::LdsAtomic:
    return "LDS atomic";
  case InstructionKind::LdsPermute:
    return "LDS permute";
  case InstructionKind::Wait:
    return "wait";
  case InstructionKind::Barrier:
    return "barrier";
  case InstructionKind::Message:
    return "message";
  case InstructionKind::CacheControl:
    return "cache control";
  case InstructionKind::Internal:
    return "internal";
  case InstructionKind::Count:
    break;
  }
  return "";
}

llvm::StringRef mnemonicOf(const Record &record) {
  const Instruction *row = instructionRow(record.row);
  return row ? llvm::StringRef(row->names).split(' ').first.split('@').first : "";
}

static InstructionKind kindOfLds(llvm::StringRef name) {
  if (name.contains("permute") || name.contains("swizzle"))
    return InstructionKind::LdsPermute;
  if (name.starts_with("ds_read") || name.starts_with("ds_load"))
    return InstructionKind::LdsLoad;
  if (name.starts_with("ds_write") || name.starts_with("ds_store"))
    return InstructionKind::LdsStore;
  return name == "ds_nop" ? InstructionKind::Internal : InstructionKind::LdsAtomic;
}

/// Of the instructions that have no data.
static InstructionKind kindOfControl(llvm::StringRef name, const checks::WaitValues &waits) {
  if (name.starts_with("s_barrier"))
    return InstructionKind::Barrier;
  if (name.starts_with("s_wait") && name != "s_wait_alu" && name != "s_waitcnt_depctr" &&
      name != "s_wait_event")
    return InstructionKind::Wait;
  if (name.starts_with("s_sendmsg"))
    return InstructionKind::Message;
  if (name.starts_with("buffer_") || name.starts_with("global_") || name.starts_with("s_dcache") ||
      name.starts_with("s_gl1") || name.starts_with("s_icache"))
    return InstructionKind::CacheControl;
  return waits.isNone() ? InstructionKind::Internal : InstructionKind::Wait;
}

static InstructionKind kindOf(const Record &record, llvm::StringRef name,
                              const checks::WaitValues &waits) {
  bool toLds = (record.modifiers & modifier::toLds) != 0;
  switch (static_cast<InstructionClass>(record.instructionClass)) {
  case InstructionClass::ScalarAlu:
    return InstructionKind::ScalarAlu;
  case InstructionClass::ScalarMemory:
    return InstructionKind::ScalarMemory;
  case InstructionClass::Branch:
    return InstructionKind::Branch;
  case InstructionClass::VectorAlu:
    return InstructionKind::VectorAlu;
  case InstructionClass::Transcendental:
    return InstructionKind::Transcendental;
  case InstructionClass::Matrix:
    return InstructionKind::Matrix;
  case InstructionClass::Lds:
    return kindOfLds(name);
  case InstructionClass::GlobalLoad:
    return toLds || name.contains("_lds_") ? InstructionKind::LoadToLds
                                           : InstructionKind::VectorLoad;
  case InstructionClass::GlobalStore:
    return InstructionKind::VectorStore;
  case InstructionClass::GlobalAtomic:
    return InstructionKind::VectorAtomic;
  case InstructionClass::Scratch:
    return name.contains("store") ? InstructionKind::ScratchStore : InstructionKind::ScratchLoad;
  case InstructionClass::Wait:
    return kindOfControl(name, waits);
  case InstructionClass::Part:
  case InstructionClass::Count:
    break;
  }
  return InstructionKind::Internal;
}

/// The rows, columns and depth that a matrix instruction's name has in it: "16x16x32".
static uint64_t productOfShape(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  name.split(words, '_');
  for (llvm::StringRef word : words) {
    uint64_t rows = 0, columns = 0, depth = 0;
    if (!word.consumeInteger(10, rows) && word.consume_front("x") &&
        !word.consumeInteger(10, columns) && word.consume_front("x") &&
        !word.consumeInteger(10, depth))
      return rows * columns * depth;
  }
  return 0;
}

InstructionTraits InstructionTraits::of(const DecodedProgram &program, const Record &record) {
  InstructionTraits traits;
  const Instruction *row = instructionRow(record.row);
  if (!row)
    return traits;
  llvm::StringRef name = mnemonicOf(record);
  Encoding encoding = program.target().encoding;
  const checks::WaitModel &model = checks::WaitModel::of(program.target());
  traits.waits = checks::WaitValues::of(name, record.immediate, encoding);
  for (unsigned i = 0; i < checks::counterCount; ++i)
    if (traits.waits.most[i] >= model.maximum[i])
      traits.waits.most[i] = checks::WaitValues::any;
  traits.kind = kindOf(record, name, traits.waits);
  bool hasFlatEncoding = row->shape == Shape::Flat;
  traits.isFlat = hasFlatEncoding && (record.modifiers & modifier::flat) != 0;
  if (row->isMatrixProduct())
    traits.operations = 2 * productOfShape(name) * row->matrix.blocks;
  return traits;
}

} // namespace wavetile::device
