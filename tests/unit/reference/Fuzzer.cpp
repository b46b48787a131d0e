//===- Fuzzer.cpp - Random instructions on two implementations ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Fuzzer.h"

#include "reference/Undocumented.h"
#include "runtime/emulator/Target.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"

namespace wavetile::reference {

using namespace device;

/// Comes after every instruction, so that there is a next one also before one that is refused.
static constexpr uint32_t noOperation = 0xbf800000;

Fuzzer::Fuzzer(const std::string &name, unsigned waveSize, uint64_t seed)
    : target(*findTarget(name)),
      encodings(name, waveSize == 64 ? "+wavefrontsize64" : "+wavefrontsize32"), random(seed),
      deviceRun(target, waveSize), before(deviceRun.emptyState()) {}

/// Random bits, and values at which formats have edges.
uint32_t Fuzzer::randomValue() {
  static constexpr uint32_t singles[] = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
      0x7f800001, 0xffc12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
      0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x3effffff, 0x3f000000, 0x40200000};
  static constexpr uint16_t halves[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
                                        0x7c01, 0xfe12, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff,
                                        0x7800, 0x3800, 0x3f80, 0x7f80, 0xffff, 0x7fff};
  uint64_t bits = random();
  uint32_t low = static_cast<uint32_t>(bits >> 8);
  if (bits >> 61 == 0) // Few significant bits, so that results are often exact or ties.
    low &= ~0u << (bits >> 40) % 24;
  switch (bits % 8) {
  case 0:
    return singles[low % std::size(singles)];
  case 1:
    return halves[low % std::size(halves)] |
           static_cast<uint32_t>(halves[(low >> 8) % std::size(halves)]) << 16;
  case 2: // Near one.
    return (low & 0x80ffffff) | 0x3f000000 | (low & 0x00800000);
  case 3:
    return low % 70;
  case 4:
    return 0u - low % 70;
  case 5: // The high word of an f64 near one.
    return (low & 0x800fffff) | 0x3ff00000;
  default:
    return low;
  }
}

void Fuzzer::randomState() {
  for (auto &row : before.vectors)
    for (unsigned lane = 0; lane < before.size; ++lane)
      row[lane] = randomValue();
  for (auto &row : before.accumulators)
    row.fill(0);
  for (uint32_t &scalar : before.scalars)
    scalar = randomValue();
  before.scalars[127] = before.scalars[126] = 0;
  uint64_t all = before.size == 64 ? ~uint64_t(0) : 0xffffffffu;
  uint64_t masks[] = {all, all, random() & all, random() & random() & all};
  before.setMask(scalarnumber::Exec, random() % 32 == 0 ? 0 : masks[random() % 4]);
  if (random() % 16 == 0) // As rare values as scalars and conditions have.
    before.setMask(scalarnumber::Vcc, 0);
  before.scc = random() & 1;
}

static constexpr unsigned formats = 10;
std::vector<uint32_t> Fuzzer::randomEncoding(unsigned format) {
  uint64_t bits = random();
  uint32_t first = static_cast<uint32_t>(bits), second = static_cast<uint32_t>(bits >> 32);
  uint32_t third = static_cast<uint32_t>(random());
  bool gfx9 = before.isGfx9;
  auto field = [](uint32_t &word, unsigned high, unsigned low, uint32_t value) {
    uint32_t mask = static_cast<uint32_t>((uint64_t(2) << (high - low)) - 1) << low;
    word = (word & ~mask) | (value << low & mask);
  };
  auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  // Small literals and constants would be rare among random bits.
  auto source = [&](uint32_t &word, unsigned low, unsigned width) {
    if (chance(15))
      field(word, low + width - 1, low, 128 + static_cast<uint32_t>(random() % 121));
    else if (chance(5))
      field(word, low + width - 1, low, 255);
  };
  // The second word of VOP3, and what belongs to it in the first. An instruction of fewer sources
  // or modifiers has zeros where others have them.
  enum { Gfx9, Rdna, Packed };
  auto sources = [&](unsigned kind) {
    for (unsigned low : {0, 9, 18})
      source(second, low, 9);
    struct Part {
      uint32_t *word;
      unsigned high, low;
    };
    for (const Part &part : {Part{&first, 15, 15},
                             {&first, 14, 11},
                             {&first, 10, 8},
                             {&second, 28, 27},
                             {&second, 31, 29}})
      if (chance(60))
        field(*part.word, part.high, part.low, 0);
    unsigned absent = chance(50) ? 0 : chance(70) ? 1 : 2;
    for (unsigned i = 3 - absent; i < 3; ++i) {
      field(second, 9 * i + 8, 9 * i, 0);
      field(second, 29 + i, 29 + i, 0);
      field(first, 8 + i, 8 + i, 0);
      field(first, 11 + i, 11 + i, 0);
    }
    if (kind == Packed && chance(70)) { // Halves in their places.
      field(first, 14, 14, 1);
      field(second, 28, 27, 3);
    }
    if (kind == Rdna && chance(20)) {
      static constexpr uint32_t words[] = {233, 234, 250};
      field(second, 8, 0, words[random() % 3]);
    }
  };
  switch (format) {
  case 0:
    field(first, 31, 30, 2);
    source(first, 0, 8);
    source(first, 8, 8);
    break;
  case 1:
    field(first, 31, 28, 0xb);
    break;
  case 2:
    field(first, 31, 23, 0x17d);
    source(first, 0, 8);
    break;
  case 3:
    field(first, 31, 23, 0x17e);
    source(first, 0, 8);
    source(first, 8, 8);
    break;
  case 4:
  case 5: { // VOP1, VOP2, VOPC, with the second words that source 0 announces.
    unsigned kind = random() % 3;
    if (kind == 0)
      field(first, 31, 25, 0x3f);
    else if (kind == 1)
      field(first, 31, 25, 0x3e);
    else
      field(first, 31, 31, 0);
    source(first, 0, 9);
    if (chance(45)) {
      static constexpr uint32_t gfx9Words[] = {249, 250}, gfx11Words[] = {233, 234, 250};
      field(first, 8, 0, gfx9 ? gfx9Words[random() % 2] : gfx11Words[random() % 3]);
      if ((first & 511) == 249 && chance(70)) { // SDWA of integers: neither signs nor clamp.
        field(second, 15, 13, 0);
        field(second, 21, 20, 0);
        field(second, 29, 28, 0);
      }
      if ((first & 511) == 250 && chance(70))
        field(second, 31, 24, 0xff); // DPP of all rows and banks.
    }
    break;
  }
  case 6:
  case 7: // VOP3
    field(first, 31, 26, gfx9 ? 0x34 : 0x35);
    sources(gfx9 ? Gfx9 : Rdna);
    break;
  case 8: // VOP3P
    if (gfx9)
      field(first, 31, 23, 0x1a7);
    else
      field(first, 31, 24, 0xcc);
    sources(Packed);
    break;
  default: // VOPD, or VOP2 once more.
    if (gfx9)
      field(first, 31, 31, 0);
    else
      field(first, 31, 26, 0x32);
    break;
  }
  return {first, second, third};
}

void Fuzzer::run(unsigned count) {
  std::vector<uint32_t> words;
  std::vector<size_t> begins;
  for (unsigned i = 0; i < count; ++i) {
    std::vector<uint32_t> code;
    unsigned size = 0;
    // Formats with few valid encodings shall not be rare.
    for (unsigned format = random() % formats, tries = 0; size == 0; ++tries) {
      if (tries == 200)
        format = random() % formats, tries = 0;
      size = encodings.sizeOf(code = randomEncoding(format));
    }
    begins.push_back(words.size());
    words.insert(words.end(), code.begin(), code.begin() + size / 4);
    words.push_back(noOperation);
  }
  begins.push_back(words.size());
  auto text = llvm::ArrayRef(reinterpret_cast<const uint8_t *>(words.data()), words.size() * 4);
  uint64_t address = reinterpret_cast<uint64_t>(words.data());
  DecodedProgram program(target, before.size, text, address);
  llvm::cantFail(program.decodeAll());
  deviceRun.use(program);
  llvm::DenseSet<uint64_t> refused;
  for (const auto &refusal : program.refusals(address, address + text.size()))
    refused.insert(refusal.address);
  for (unsigned i = 0; i < count; ++i) {
    uint64_t begin = address + begins[i] * 4;
    if (refused.contains(begin))
      continue;
    if (i % 16 == 0)
      randomState();
    compare(program, begin, address + begins[i + 1] * 4 - 4);
  }
}

void Fuzzer::compare(const DecodedProgram &program, uint64_t address, uint64_t next) {
  std::string line = program.disassemble(address);
  if (line.find("/*") != std::string::npos) // LLVM says there what is wrong with a field.
    return;
  const auto *words = reinterpret_cast<const uint32_t *>(address);
  std::vector<Statement> statements = parse(line);
  if (isUndocumented(words, statements[0]))
    return;
  std::string name = statements[0].mnemonic;
  if (!statements[0].suffix.empty())
    name += "_" + statements[0].suffix;
  if (statements.size() > 1)
    name += " :: " + statements[1].mnemonic;
  Wave expected = before;
  switch (execute(expected, statements)) {
  case Outcome::Unknown:
    ++unknownMnemonics[statements[0].mnemonic];
    return;
  case Outcome::Unreadable:
    ++results[name].unreadable;
    return;
  case Outcome::Done:
    break;
  }

  const Record *record = program.recordAt(address), *end = program.recordAt(next);
  Tally &tally = results[name];
  ++tally.compared;
  std::string found = deviceRun.outcome(before, expected, record, end);
  if (!found.empty()) {
    if (tally.different++ == 0)
      tally.firstDifference = line + "\n    " + found;
    return;
  }
  for (PlantedMutation &planted : plantedMutations) {
    if (!planted.difference.empty() || !planted.mutation.touches(statements[0]))
      continue;
    ++planted.compared;
    found = deviceRun.outcome(before, expected, record, end, planted.mutation.execute);
    if (found.empty())
      continue;
    planted.difference = line + ": " + found;
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - plantedAt;
    planted.seconds = passed.count();
  }
}

void Fuzzer::plant(const std::vector<Mutation> &mutations) {
  plantedMutations.clear();
  for (const Mutation &mutation : mutations)
    plantedMutations.push_back({mutation, 0, "", 0});
  plantedAt = std::chrono::steady_clock::now();
}

} // namespace wavetile::reference
