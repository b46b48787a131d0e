//===- CoveragePage.cpp - docs/software-device-coverage.md ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Coverage.h"
#include "runtime/emulator/Target.h"

#include <map>

namespace wavetile::device {
namespace {

constexpr const char *introduction =
    R"(# What the software device makes of each instruction

For each target every mnemonic that LLVM's disassembler knows, by encoding. In short, of mnemonics
in each of their encodings:

- **exact**: the hardware's bits, by AMD's documents.
- **approximate**: within the given units in the last place of the true value, by comparison with
  MPFR. The tables of the hardware are not public; the results are the same on every host.
- **left out**: refused when a code object is loaded, and meant to be.
- **missing**: refused likewise, but it should be there.

Matrix products are exact by a model of their rounding; [another page](software-device-matrix.md)
says what of it is known for which GPU, and what is assumed.

`wavetile-device-coverage --missing gfx950` lists what is missing on a target, with reasons.
)";

std::string wrapped(const std::string &text) {
  std::string result, line;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find(' ', begin);
    std::string word = text.substr(begin, end == std::string::npos ? end : end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > 100) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return result + line + "\n";
}

/// "`a`, `b`, `c`", the mnemonics of one encoding and kind of support.
using Lists = std::map<std::string, std::string>;
void add(Lists &lists, const std::string &heading, const std::string &mnemonic) {
  std::string &list = lists[heading];
  list += (list.empty() ? "`" : " `") + mnemonic + "`";
}
void write(std::string &page, const char *title, const Lists &lists) {
  if (lists.empty())
    return;
  page += std::string("\n### ") + title + "\n";
  for (const auto &[heading, list] : lists)
    page += "\n" + wrapped("**" + heading + "**: " + list);
}

} // namespace

llvm::Expected<std::string> coveragePage() {
  std::string page = introduction, details;
  page +=
      "\n| target | exact | approximate | left out | missing |\n| --- | --- | --- | --- | --- |\n";
  for (const TargetDescription &target : targets()) {
    auto covered = instructionCoverage(target.name);
    if (!covered)
      return covered.takeError();
    size_t counts[4] = {};
    // Mnemonics that are the same in all respects share the name of their encodings.
    std::map<std::string, std::string> encodings[4];
    std::map<std::string, std::string> suffixes;
    for (const CoveredInstruction &instruction : *covered) {
      size_t kind = static_cast<size_t>(instruction.support);
      ++counts[kind];
      std::string &names = encodings[kind][instruction.mnemonic];
      if (instruction.support == Support::LeftOut)
        names = instruction.why;
      else
        names += (names.empty() ? "" : ", ") + instruction.encoding;
      if (instruction.ulp)
        suffixes[instruction.mnemonic] = " (" + std::to_string(instruction.ulp) + " ulp)";
    }
    Lists lists[4];
    for (size_t kind = 0; kind < 4; ++kind)
      for (const auto &[mnemonic, names] : encodings[kind])
        add(lists[kind], names + (kind == 1 ? suffixes[mnemonic] : ""), mnemonic);
    page += std::string("| ") + target.name;
    for (size_t count : counts)
      page += " | " + std::to_string(count);
    page += " |\n";
    details += std::string("\n## ") + target.name + "\n";
    write(details, "Exact", lists[0]);
    write(details, "Approximate", lists[1]);
    write(details, "Left out", lists[2]);
    write(details, "Missing", lists[3]);
  }
  return page + details;
}

} // namespace wavetile::device
