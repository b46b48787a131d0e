//===- InstructionClasses.cpp - Kinds of instructions to count ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/InstructionClasses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace wavetile::rocm;
using llvm::StringRef;

namespace {

/// Bits that a part of a mnemonic stands for, or 0.
unsigned widthOf(StringRef part) {
  return llvm::StringSwitch<unsigned>(part)
      .Cases({"dwordx4", "b128"}, 128)
      .Cases({"dwordx3", "b96"}, 96)
      .Cases({"dwordx2", "b64", "f64", "x2"}, 64)
      .Cases({"dword", "b32", "f32", "u32", "i32"}, 32)
      .Cases({"ushort", "sshort", "short", "u16", "i16", "b16"}, 16)
      .Cases({"ubyte", "sbyte", "byte", "u8", "i8", "b8"}, 8)
      .Default(0);
}

llvm::SmallVector<StringRef, 8> parts(StringRef mnemonic) {
  llvm::SmallVector<StringRef, 8> found;
  mnemonic.split(found, '_');
  return found;
}

std::string vectorMemoryClass(StringRef mnemonic, StringRef operands) {
  llvm::SmallVector<StringRef, 8> words = parts(mnemonic);
  auto has = [&](StringRef word) { return llvm::is_contained(words, word); };
  llvm::SmallVector<StringRef, 8> modifiers;
  operands.split(modifiers, ' ');
  StringRef way = llvm::is_contained(modifiers, "lds") || has("lds") ? "load_to_lds"
                  : has("atomic")                                    ? "atomic"
                  : has("load")                                      ? "load"
                  : has("store")                                     ? "store"
                                                                     : "other";
  // The width stands last, but for the half of a register that a 16-bit access
  // uses ("_d16_hi"); a few atomics have none and are 32 bits wide.
  unsigned bits = 0;
  for (StringRef word : llvm::reverse(words))
    if ((bits = widthOf(word)))
      break;
  if (!bits)
    bits = has("d16") ? 16 : 32;
  std::string kind = mnemonic.starts_with("scratch_") ? "scratch_" : "mem_";
  if (way == "other") // cache control moves no data
    return kind + "other";
  return kind + way.str() + "_" + std::to_string(bits);
}

std::string ldsClass(StringRef mnemonic) {
  if (mnemonic.contains("swizzle") || mnemonic.contains("permute"))
    return "ds_crosslane";
  llvm::SmallVector<StringRef, 8> words = parts(mnemonic);
  auto has = [&](StringRef word) { return llvm::is_contained(words, word); };
  if (has("tr")) {
    // ds_read_b64_tr_b16: 64 bits a lane, transposed in elements of 16.
    unsigned bits = 0;
    for (StringRef word : words)
      if (!bits)
        bits = widthOf(word);
    return "ds_read_tr_" + std::to_string(bits);
  }
  unsigned bits = 0;
  for (StringRef word : words)
    if (unsigned width = widthOf(word))
      bits = width;
  bool two = has("2addr") || has("read2") || has("write2") || has("read2st64") || has("write2st64");
  bool read = has("read") || has("load") || mnemonic.starts_with("ds_read");
  bool write = has("write") || has("store") || mnemonic.starts_with("ds_write");
  return std::string("ds_") +
         (read    ? "read"
          : write ? "write"
                  : "other") +
         (two ? "2" : "") + "_" + std::to_string(bits);
}

std::string vectorClass(StringRef mnemonic, StringRef operands) {
  auto is = [&](std::initializer_list<StringRef> prefixes) {
    return llvm::any_of(prefixes, [&](StringRef prefix) { return mnemonic.starts_with(prefix); });
  };
  if (is({"v_mfma", "v_wmma", "v_smfmac", "v_swmmac"}))
    return "matrix";
  if (is({"v_accvgpr"}))
    return "acc_move";
  if (is({"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"}))
    return "valu_trans";
  if (mnemonic.contains("dpp") || mnemonic.contains("permlane") || operands.contains("row_") ||
      operands.contains("quad_perm"))
    return "valu_crosslane";
  if (is({"v_readlane", "v_readfirstlane", "v_writelane"}))
    return "valu_readlane";
  if (is({"v_dual_"}))
    return "valu_dual";
  if (is({"v_div_scale", "v_div_fmas", "v_div_fixup"}))
    return "valu_div";
  if (is({"v_pk_add_f32", "v_pk_mul_f32", "v_pk_fma_f32", "v_pk_mov_b32"}))
    return "valu_pk";
  return "valu";
}

} // namespace

std::string wavetile::rocm::instructionClass(StringRef mnemonic, StringRef operands) {
  auto is = [&](std::initializer_list<StringRef> prefixes) {
    return llvm::any_of(prefixes, [&](StringRef prefix) { return mnemonic.starts_with(prefix); });
  };
  if (is({"buffer_", "global_", "flat_", "scratch_"}))
    return vectorMemoryClass(mnemonic, operands);
  if (is({"ds_"}))
    return ldsClass(mnemonic);
  if (is({"v_"}))
    return vectorClass(mnemonic, operands);
  if (is({"s_waitcnt", "s_wait_"}))
    return "wait";
  if (is({"s_barrier"}))
    return "barrier";
  if (is({"s_load", "s_buffer_load"}))
    return "smem";
  if (is({"s_nop", "s_delay"}))
    return "nop";
  if (is({"s_"}))
    return "salu";
  return "other";
}
