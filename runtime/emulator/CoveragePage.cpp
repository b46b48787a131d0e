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

- **exact**: the hardware's bits, by AMD's documents, shown on vectors of operands: the plain
  reference implementation of the tests, compared on 256 random and 256 special operands or more,
  with every modifier, with lanes that are off and in place; or a test suite that computes as many
  results another way. `tests/unit/evidence/evidence.txt` says which; what is in neither list and
  is executed fails the build.
- **tested**: executed by a test with known results; vectors would show nothing, for the reason that
  stands beside it.
- **approximate**: within the given units in the last place of the true value, by comparison with
  MPFR. The tables of the hardware are not public; the results are the same on every host.
- **left out**: refused when a code object is loaded, and meant to be.
- **missing**: refused likewise, but it should be there.

Matrix products are exact by a model of their rounding; [another page](software-device-matrix.md)
says what of it is known for which GPU, and what is assumed. Assumed elsewhere, because AMD's
documents are silent or say what hardware can hardly do:

- Stochastic conversions to fp8 and bf8 add the seed's high bits below the last bit that is kept,
  carry into the exponent, and cut; AMD's pseudo-code lets the mantissa wrap around, and rounds
  what is left once more.
- `v_div_fmas_f64` rounds a denormal quotient once, as LLVM's division counts on.
- `s_alloc_vgpr` does nothing, also to SCC, in a wave that was not started with dynamic VGPRs.

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

/// The columns of the table: what the device means to be exact is in two.
enum : size_t { Shown, Tested, FirstOther, Kinds = FirstOther + 3 };
size_t kindOf(const CoveredInstruction &instruction, const std::string &how) {
  if (instruction.support == Support::Exact)
    return isVectors(how) && !whyNoVectors(instruction.mnemonic) ? Shown : Tested;
  return FirstOther + static_cast<size_t>(instruction.support) - 1;
}

} // namespace

llvm::Expected<std::string> coveragePage(const Evidence &evidence) {
  std::string page = introduction, details;
  page += "\n| target | exact | tested | approximate | left out | missing |\n"
          "| --- | --- | --- | --- | --- | --- |\n";
  for (const TargetDescription &target : targets()) {
    auto covered = instructionCoverage(target.name);
    if (!covered)
      return covered.takeError();
    size_t counts[Kinds] = {};
    // Mnemonics that are the same in all respects share the name of their encodings.
    std::map<std::string, std::string> encodings[Kinds];
    std::map<std::string, std::string> suffixes;
    for (const CoveredInstruction &instruction : *covered) {
      auto shown = evidence.find({target.name, instruction.encoding, instruction.mnemonic});
      size_t kind = kindOf(instruction, shown == evidence.end() ? "" : shown->second);
      ++counts[kind];
      std::string &names = encodings[kind][instruction.mnemonic];
      const char *why = kind == Tested ? whyNoVectors(instruction.mnemonic) : nullptr;
      if (instruction.support == Support::LeftOut)
        names = instruction.why;
      else if (why)
        names = why;
      else
        names += (names.empty() ? "" : ", ") + instruction.encoding;
      if (instruction.ulp)
        suffixes[instruction.mnemonic] = " (" + std::to_string(instruction.ulp) + " ulp)";
    }
    Lists lists[Kinds];
    for (size_t kind = 0; kind < Kinds; ++kind)
      for (const auto &[mnemonic, names] : encodings[kind])
        add(lists[kind], names + (kind == FirstOther ? suffixes[mnemonic] : ""), mnemonic);
    page += std::string("| ") + target.name;
    for (size_t count : counts)
      page += " | " + std::to_string(count);
    page += " |\n";
    details += std::string("\n## ") + target.name + "\n";
    static constexpr const char *titles[] = {"Exact", "Tested", "Approximate", "Left out",
                                             "Missing"};
    for (size_t kind = 0; kind < Kinds; ++kind)
      write(details, titles[kind], lists[kind]);
  }
  return page + details;
}

} // namespace wavetile::device
