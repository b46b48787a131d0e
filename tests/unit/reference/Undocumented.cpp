//===- Undocumented.cpp - Encodings that no document gives a meaning --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Undocumented.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <cstdlib>

namespace wavetile::reference {
namespace {

/// Whether bits for neg or abs are set that mean nothing, for an integer: LLVM keeps them and
/// prints nothing. Nor does any document say what modifiers do to packed halves outside of VOP3P,
/// or how v_pk_mov takes clamp and constants.
bool hasUndocumentedModifiers(const uint32_t *words, const Statement &statement) {
  static constexpr const char *integers[] = {"_i8",  "_u8",  "_i16", "_u16", "_b16",  "_i24",
                                             "_u24", "_i32", "_u32", "_b32", "ldexp", "class"};
  const std::string &name = statement.mnemonic;
  if (name.starts_with("v_cvt_pk_f32_")) { // Two results of one source without a sign.
    bool changesResults = statement.has("clamp") || statement.has("mul") || statement.has("div");
    bool hasSigns = words[0] >> 31 != 0 && ((words[0] >> 8 & 7) != 0 || words[1] >> 29 != 0);
    bool hasDppSigns = words[0] >> 31 == 0 && statement.has("row_mask") && words[1] >> 20 & 15;
    return changesResults || hasSigns || hasDppSigns;
  }
  if (name.starts_with("v_pk_") && statement.suffix == "sdwa")
    return (words[1] & 0x38380000) != 0;
  if (name.starts_with("v_pk_") && statement.suffix == "e64")
    return (words[0] & 0xff00) != 0 || words[1] >> 27 != 0;
  if (name == "v_pk_mov_b32")
    for (unsigned i = 0; i < 2; ++i) {
      const TextOperand &source = statement.operands[1 + i];
      bool isConstant = source.kind == TextOperand::Integer || source.kind == TextOperand::Float;
      if (statement.has("clamp") || isConstant)
        return true;
    }
  bool isMove = name == "v_mov_b32" || name.find("cndmask") != std::string::npos;
  bool hasInteger = false;
  for (const char *part : integers)
    hasInteger |= name.find(part) != std::string::npos;
  if (!hasInteger || isMove || name[0] != 'v')
    return false;
  bool isLong = words[0] >> 31 != 0;
  uint32_t signs = isLong ? (words[0] >> 8 & 7) | words[1] >> 29 : 0;
  if (!isLong && statement.has("row_mask"))
    signs = words[1] >> 20 & 15;
  return signs != 0;
}

/// Whether VOP3 has op_sel for a scalar operand whose half LLVM does not print: s5 has no .h.
bool hasUnprintedHalf(const uint32_t *words, const Statement &statement) {
  bool isVop3 = words[0] >> 26 == 0x35; // Of gfx11 and gfx12.
  if (!isVop3 || statement.mnemonic.find("16") == std::string::npos || statement.has("op_sel"))
    return false;
  auto isHigh = [](const TextOperand &operand) { return operand.high.value_or(false); };
  return std::popcount(words[0] >> 11 & 15) != llvm::count_if(statement.operands, isHigh);
}

/// Signs of products of integers, which LLVM prints and no document gives a meaning.
bool hasSignsOfIntegers(const Statement &s) {
  const std::string &name = s.mnemonic;
  bool isDot = name.starts_with("v_dot") && name.find("_f32") == std::string::npos &&
               name.find("16_f16") == std::string::npos && name.find("_bf16") == std::string::npos;
  bool isMixed = name == "v_dot4_i32_iu8" || name == "v_dot8_i32_iu4";
  if (!isDot)
    return false;
  for (unsigned i = 0; i < 3; ++i)
    if (s.listed("neg_hi", i, 0) || (s.listed("neg_lo", i, 0) && !(isMixed && i < 2)))
      return true;
  return false;
}

/// The upper bit of FLAT's own offset, which is ignored before gfx12; it has no sign.
bool hasIgnoredOffsetBit(const uint32_t *words, const Statement &s) {
  if (words[0] >> 26 != 0x37 || !s.mnemonic.starts_with("flat_") || !s.has("offset"))
    return false;
  return std::strtol(s.modifiers.at("offset").c_str(), nullptr, 0) > 4095;
}

} // namespace

bool isUndocumented(const uint32_t *words, const Statement &statement) {
  if (statement.has("scale_offset")) // Of GPUs that the device does not have.
    return true;
  return hasUndocumentedModifiers(words, statement) || hasUnprintedHalf(words, statement) ||
         hasSignsOfIntegers(statement) || hasIgnoredOffsetBit(words, statement);
}

} // namespace wavetile::reference
