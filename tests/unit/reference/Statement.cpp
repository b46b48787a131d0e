//===- Statement.cpp - An instruction as text -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Statement.h"

#include <cctype>
#include <cstdlib>

namespace wavetile::reference {
namespace {

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }
bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}
std::string trimmed(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Splits at \p separator where no bracket is open.
std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : text) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c == separator && depth == 0) {
      if (!trimmed(part).empty())
        parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty())
    parts.push_back(trimmed(part));
  return parts;
}

/// "v5", "v[4:5]", "s7": the numbers after the letter.
bool readRegisters(const std::string &text, TextOperand &operand) {
  if (text.size() < 2)
    return false;
  if (text[1] == '[') {
    char *end = nullptr;
    operand.index = static_cast<unsigned>(std::strtoul(text.c_str() + 2, &end, 10));
    unsigned last = operand.index;
    if (*end == ':')
      last = static_cast<unsigned>(std::strtoul(end + 1, &end, 10));
    operand.count = last - operand.index + 1;
    return *end == ']';
  }
  if (!std::isdigit(static_cast<unsigned char>(text[1])))
    return false;
  char *end = nullptr;
  operand.index = static_cast<unsigned>(std::strtoul(text.c_str() + 1, &end, 10));
  if (*end == '.')
    operand.high = end[1] == 'h';
  return *end == 0 || *end == '.';
}

TextOperand readOperand(std::string text) {
  TextOperand operand;
  if (startsWith(text, "sext(") && text.back() == ')') {
    text = text.substr(5, text.size() - 6);
    operand.signExtend = true;
  }
  if (startsWith(text, "neg(") && text.back() == ')') {
    text = text.substr(4, text.size() - 5);
    operand.negate = true;
  } else if (text.size() > 1 && text[0] == '-' &&
             !std::isdigit(static_cast<unsigned char>(text[1]))) {
    text = text.substr(1);
    operand.negate = true;
  }
  if (startsWith(text, "abs(") && text.back() == ')') {
    text = text.substr(4, text.size() - 5);
    operand.absolute = true;
  } else if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
    text = text.substr(1, text.size() - 2);
    operand.absolute = true;
  }
  if (startsWith(text, "lit(") && text.back() == ')')
    text = text.substr(4, text.size() - 5);
  operand.text = text;
  char first = text.empty() ? 0 : text[0];
  if (first == 'v' && readRegisters(text, operand)) {
    operand.kind = TextOperand::Vector;
  } else if (first == 'a' && readRegisters(text, operand)) {
    operand.kind = TextOperand::Accumulator;
  } else if (first == 's' && readRegisters(text, operand)) {
    operand.kind = TextOperand::Scalar;
  } else if (text == "null") {
    operand.kind = TextOperand::Null;
  } else if (std::isdigit(static_cast<unsigned char>(first)) || (first == '-' && text.size() > 1)) {
    if (text.find('.') != std::string::npos) {
      operand.kind = TextOperand::Float;
      operand.number = std::strtod(text.c_str(), nullptr);
    } else {
      operand.kind = TextOperand::Integer;
      operand.integer = first == '-'
                            ? std::strtoll(text.c_str(), nullptr, 0)
                            : static_cast<int64_t>(std::strtoull(text.c_str(), nullptr, 0));
    }
  } else {
    operand.kind = TextOperand::Scalar; // vcc, exec, m0, scc and what is like them.
    if (startsWith(text, "ttmp") || text.find(':') != std::string::npos)
      operand.kind = TextOperand::Text;
  }
  return operand;
}

Statement parseOne(const std::string &line) {
  Statement result;
  size_t blank = line.find_first_of(" \t");
  std::string name = line.substr(0, blank);
  for (const char *suffix : {"_e64_dpp", "_e64", "_e32", "_dpp", "_sdwa"})
    if (endsWith(name, suffix)) {
      result.suffix = suffix + 1;
      name.resize(name.size() - std::string(suffix).size());
      break;
    }
  result.mnemonic = name;
  if (blank == std::string::npos)
    return result;
  for (const std::string &part : split(line.substr(blank + 1), ',')) {
    std::vector<std::string> words = split(part, ' ');
    for (size_t i = 0; i < words.size(); ++i) {
      size_t colon = words[i].find(':');
      bool bracketFirst = words[i].find('[') < colon || words[i].find('(') < colon;
      bool isModifier = i > 0 || (colon != std::string::npos && !bracketFirst);
      if (!isModifier)
        result.operands.push_back(readOperand(words[i]));
      else
        result.modifiers[words[i].substr(0, colon)] =
            colon == std::string::npos ? "" : words[i].substr(colon + 1);
    }
  }
  return result;
}

} // namespace

unsigned Statement::listed(const std::string &name, unsigned n, unsigned otherwise) const {
  auto found = modifiers.find(name);
  if (found == modifiers.end())
    return otherwise;
  std::string list = found->second;
  if (!list.empty() && list.front() == '[')
    list = list.substr(1, list.size() - 2);
  std::vector<std::string> numbers = split(list, ',');
  return n < numbers.size() ? static_cast<unsigned>(std::strtoul(numbers[n].c_str(), nullptr, 0))
                            : otherwise;
}

std::vector<Statement> parse(const std::string &line) {
  size_t both = line.find(" :: ");
  if (both == std::string::npos)
    return {parseOne(trimmed(line))};
  std::vector<Statement> halves{parseOne(trimmed(line.substr(0, both))),
                                parseOne(trimmed(line.substr(both + 4)))};
  for (Statement &half : halves)
    if (startsWith(half.mnemonic, "v_dual_"))
      half.mnemonic = "v_" + half.mnemonic.substr(7);
  for (Statement &half : halves)
    if (half.mnemonic == "v_cndmask_b32" && half.operands.size() == 3)
      half.operands.push_back(readOperand("vcc")); // Not printed there.
  return halves;
}

} // namespace wavetile::reference
