//===- Statement.h - An instruction as text -------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference implementation reads what LLVM's disassembler prints, not the bits of the
// instruction: operands, constants and modifiers are then found by other means than the device's.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_STATEMENT_H
#define WAVETILE_TESTS_UNIT_REFERENCE_STATEMENT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wavetile::reference {

struct TextOperand {
  enum Kind { Vector, Accumulator, Scalar, Integer, Float, Null, Text } kind = Text;
  unsigned index = 0; ///< First register; scalars by name in `text` where they have no number.
  unsigned count = 1; ///< Registers.
  int64_t integer = 0;
  double number = 0;
  bool negate = false, absolute = false, signExtend = false;
  std::optional<bool> high; ///< v1.l and v1.h.
  std::string text;
};

struct Statement {
  std::string mnemonic; ///< Without the suffix of the encoding.
  std::string suffix;   ///< "e32", "e64", "dpp", "sdwa", "e64_dpp", or nothing.
  std::vector<TextOperand> operands;
  std::map<std::string, std::string> modifiers; ///< "clamp" -> "", "op_sel" -> "[0,1]".

  bool has(const std::string &name) const { return modifiers.count(name) != 0; }
  /// The n-th number of a list, or \p otherwise.
  unsigned listed(const std::string &name, unsigned n, unsigned otherwise) const;
};

/// The statements of one line: two for VOPD.
std::vector<Statement> parse(const std::string &line);

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_STATEMENT_H
