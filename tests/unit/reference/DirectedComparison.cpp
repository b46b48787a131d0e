//===- DirectedComparison.cpp - Every instruction on two implementations --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/DirectedComparison.h"

#include "reference/Memory.h"
#include "reference/Undocumented.h"
#include "runtime/emulator/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <bit>

namespace wavetile::reference {

using namespace device;

static constexpr uint32_t noOperation = 0xbf800000;
/// Operands of each kind that an instruction must have been compared on.
static constexpr uint64_t enoughOperands = 256;

std::string Comparison::missing() const {
  if (unknown)
    return "the reference does not know it";
  if (!difference.empty())
    return difference;
  std::string result;
  if (randomOperands < enoughOperands)
    result += " random operands (" + std::to_string(randomOperands) + ")";
  if (specialOperands < enoughOperands)
    result += " special operands (" + std::to_string(specialOperands) + ")";
  if (!lanesOff && !isScalar)
    result += " lanes that are off";
  if (!inPlace && canBeInPlace)
    result += " a destination in place";
  return result.empty() ? result : "not compared:" + result;
}

DirectedComparison::DirectedComparison(const std::string &name, unsigned waveSize)
    : target(*findTarget(name)),
      encodings(name,
                target.isRdna() ? waveSize == 64 ? "+wavefrontsize64" : "+wavefrontsize32" : ""),
      names(llvm::cantFail(InstructionNames::create(name))),
      printer(llvm::cantFail(Disassembler::create(
          name, target.isRdna() ? waveSize == 64 ? "+wavefrontsize64,+real-true16"
                                                 : "+wavefrontsize32,+real-true16"
                                : ""))),
      random(waveSize), deviceRun(target, waveSize) {
  makeStates();
}

// --- States ---

namespace {
constexpr uint32_t singles[] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
    0xffc12345, 0xff800003, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
    0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x3effffff, 0x3f000000, 0xbf000000, 0x40200000,
    1,          31,         32,         63,         0x7fffffff, 0xffffffff, 0x00010001, 0x80008000};
constexpr uint16_t halves[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
                               0xfe12, 0xfc03, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff,
                               0x7800, 0x3800, 0x3f80, 0x7f80, 0xff80, 0xffff, 0x7fff, 0x3555};
constexpr uint64_t doubles[] = {0,
                                0x8000000000000000,
                                0x3ff0000000000000,
                                0xbff0000000000000,
                                0x7ff0000000000000,
                                0xfff0000000000000,
                                0x7ff8000000000000,
                                0x7ff0000000000001,
                                0xfff8000012345678,
                                1,
                                0x8000000000000001,
                                0x000fffffffffffff,
                                0x0010000000000000,
                                0x7fefffffffffffff,
                                0xffefffffffffffff,
                                0x41dfffffffc00000,
                                0x41e0000000000000,
                                0xc1e0000000000000,
                                0x43e0000000000000,
                                0x3fdfffffffffffff,
                                0x3fe0000000000000,
                                0x4004000000000000,
                                0xffffffffffffffff,
                                0x7fffffffffffffff};
} // namespace

void DirectedComparison::makeStates() {
  auto make = [&](auto value) {
    Wave state = deviceRun.emptyState();
    for (unsigned row = 0; row < 256; row += 2)
      for (unsigned lane = 0; lane < state.size; ++lane) {
        uint64_t two = value();
        state.vectors[row][lane] = static_cast<uint32_t>(two);
        state.vectors[row + 1][lane] = static_cast<uint32_t>(two >> 32);
        two = value();
        state.accumulators[row][lane] = static_cast<uint32_t>(two);
        state.accumulators[row + 1][lane] = static_cast<uint32_t>(two >> 32);
      }
    for (unsigned i = 0; i < scalarnumber::Count; i += 2) {
      uint64_t two = value();
      state.scalars[i] = static_cast<uint32_t>(two);
      state.scalars[i + 1] = static_cast<uint32_t>(two >> 32);
    }
    return state;
  };
  auto makeMemory = [&](const std::vector<Wave> &states) {
    size_t next = 0;
    auto fill = [&](std::vector<uint8_t> &bytes, size_t count) {
      while (bytes.size() < count) { // A pair of registers is a value of 64 bits.
        size_t row = next / 64 % 128 * 2, lane = next % states[0].size;
        const Wave &from = states[next++ / (64 * 128) % states.size()];
        for (uint32_t word : {from.vectors[row][lane], from.vectors[row + 1][lane]})
          for (unsigned i = 0; i < 4; ++i)
            bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
      }
    };
    MemoryBytes memory = states[0].memory;
    fill(memory.global, DeviceRun::globalBytes);
    fill(memory.lds, 2048);
    memory.scratch.resize(states[0].size);
    for (std::vector<uint8_t> &bytes : memory.scratch)
      fill(bytes, DeviceRun::scratchBytes);
    return memory;
  };
  auto draw = [&](const auto &list) -> uint64_t { return list[random() % std::size(list)]; };
  for (unsigned i = 0; i < 6; ++i) {
    randomStates.push_back(make([&] {
      uint64_t bits = random();
      // Of few exponents, that sums of floats are more than the larger number.
      return random() % 3 ? bits : (bits & 0x80ffffff80ffffff) | 0x3f0000003f000000;
    }));
    specialStates.push_back(make([&]() -> uint64_t {
      switch ((i + (random() % 8 == 0)) % 3) {
      case 0:
        return draw(singles) | draw(singles) << 32;
      case 1:
        return draw(halves) | draw(halves) << 16 | draw(halves) << 32 | draw(halves) << 48;
      default:
        return draw(doubles);
      }
    }));
  }
  for (std::vector<Wave> *states : {&randomStates, &specialStates})
    for (size_t i = 0; i < states->size(); ++i) {
      Wave &state = (*states)[i];
      state.scalars[126] = state.scalars[127] = 0;
      uint64_t all = state.size == 64 ? ~uint64_t(0) : 0xffffffffu;
      state.setMask(scalarnumber::Exec, i % 3 == 1 ? random() & all : all);
      state.scc = i & 1;
    }
  randomMemory = makeMemory(randomStates), specialMemory = makeMemory(specialStates);
}

// --- Encodings ---

bool DirectedComparison::isOf(const CoveredInstruction &instruction, const Example &example,
                              const Words &words) const {
  unsigned opcode = 0;
  if (encodings.canonical(words, opcode) != words)
    return false;
  if (opcode == example.opcode)
    return true;
  InstructionNames::Decoded decoded = names->decode(words);
  return decoded.encoding == instruction.encoding &&
         llvm::is_contained(decoded.mnemonics, instruction.mnemonic);
}

/// Some of the instruction's encodings, with the bits that may change without making another
/// instruction of it. The examples of one opcode differ in their operands, those of several in
/// more.
std::vector<DirectedComparison::Example>
DirectedComparison::examplesOf(const CoveredInstruction &instruction) const {
  constexpr size_t most = 2;
  std::vector<Example> result;
  size_t count = std::min(instruction.examples.size(), most);
  for (size_t i = 0; i < count; ++i) {
    const Words &given = instruction.examples[i * instruction.examples.size() / count];
    Example example;
    example.words = encodings.canonical(given, example.opcode);
    if (example.words.empty())
      continue;
    example.freeBits = freeBits(instruction, example);
    result.push_back(example);
  }
  return result;
}

/// The same for all targets that have this opcode of LLVM's.
const std::vector<uint32_t> &DirectedComparison::freeBits(const CoveredInstruction &instruction,
                                                          const Example &example) const {
  static std::map<std::pair<unsigned, Words>, std::vector<uint32_t>> known;
  auto [found, isNew] = known.try_emplace({example.opcode, example.words});
  for (uint32_t bit = 0; isNew && bit < example.words.size() * 32; ++bit) {
    Words changed = example.words;
    changed[bit / 32] ^= 1u << bit % 32;
    if (isOf(instruction, example, changed))
      found->second.push_back(bit);
  }
  return found->second;
}

/// Makes the destination one of the vector sources, where the format has it.
static void makeInPlace(llvm::StringRef name, std::vector<uint32_t> &w) {
  auto put = [](uint32_t &word, unsigned low, unsigned width, uint32_t value) {
    uint32_t mask = ((1u << width) - 1) << low;
    word = (word & ~mask) | (value << low & mask);
  };
  bool hasSecondWord = name.contains("DPP") || name.contains("SDWA");
  if (name.starts_with("VOP1") || name.starts_with("VOP2"))
    put(w[0], 17, 8, hasSecondWord ? w[1] & 0xff : w[0] & 0xff);
  else if (name.starts_with("VOP3"))
    put(w[0], 0, 8, name.contains("DPP") ? w[2] & 0xff : w[1] & 0xff);
  else if (name == "SOP1" || name == "SOP2")
    put(w[0], 16, 7, w[0] & 0x7f);
  else if (w.size() == 3) // VFLAT and VBUFFER of gfx12.
    put(w[1], 0, 8, w[2] & 0xff);
  else if (name == "DS" || name == "FLAT")
    put(w[1], 24, 8, w[1] & 0xff);
  else if (name == "MUBUF" || name == "MTBUF")
    put(w[1], 8, 8, w[1] & 0xff);
}

/// What a statement has beyond its operands' registers.
static std::set<std::string> modifiersOf(const std::vector<Statement> &statements) {
  static const std::set<std::string> valued = {"dst_sel",    "src0_sel", "src1_sel",
                                               "dst_unused", "mul",      "byte_sel"};
  std::set<std::string> result;
  for (const Statement &statement : statements) {
    for (const auto &[name, value] : statement.modifiers)
      result.insert(valued.count(name) ? name + ":" + value : name);
    for (const TextOperand &operand : statement.operands) {
      if (operand.negate)
        result.insert("neg");
      if (operand.absolute)
        result.insert("abs");
      if (operand.signExtend)
        result.insert("sext");
      if (operand.high && *operand.high)
        result.insert("high half");
    }
  }
  return result;
}
static bool isInPlace(const Statement &s) {
  if (s.operands.empty())
    return false;
  const TextOperand &to = s.operands[0];
  auto overlaps = [&](const TextOperand &from) {
    return from.kind == to.kind && from.kind <= TextOperand::Scalar && from.text[0] == to.text[0] &&
           from.index < to.index + to.count && to.index < from.index + from.count;
  };
  return std::any_of(s.operands.begin() + 1, s.operands.end(), overlaps);
}

/// The only DPP of 64-bit operands on gfx9, which chance would rarely hit.
static void makeRowBroadcast(std::vector<uint32_t> &words, uint64_t lane) {
  words[1] = (words[1] & ~0x1ff00u) | (0x150 + static_cast<uint32_t>(lane % 16)) << 8;
}

std::vector<DirectedComparison::Candidate>
DirectedComparison::candidates(const CoveredInstruction &instruction,
                               const std::vector<Example> &examples) {
  std::vector<Candidate> result;
  constexpr unsigned wanted = 42;
  bool isVectorMemory = instruction.encoding == "FLAT" || instruction.encoding.ends_with("BUF");
  bool isDppOfGfx9 = !target.isRdna() && instruction.encoding.ends_with("DPP");
  for (const Example &example : examples) {
    result.push_back({example.words, "", {}, {}, false});
    for (unsigned attempt = 0, made = 0; attempt < 40 && made < wanted / examples.size();
         ++attempt) {
      Words words = example.words;
      // All at once often do not fit together.
      static constexpr unsigned oneOf[] = {2, 6, 20};
      for (uint32_t bit : example.freeBits)
        if (random() % oneOf[attempt % 3] == 0)
          words[bit / 32] ^= 1u << bit % 32;
      if (isVectorMemory && words.size() == 3 && attempt % 2) // Small offsets, of 24 bits.
        words[2] &= 0x0001ffff;
      if (isDppOfGfx9 && attempt % 4 == 1)
        makeRowBroadcast(words, random());
      if (attempt % 5 == 4)
        makeInPlace(instruction.encoding, words);
      if (!isOf(instruction, example, words))
        continue;
      result.push_back({words, "", {}, {}, false});
      ++made;
    }
  }
  return result;
}

// --- Comparisons ---

static std::string words(const std::vector<uint32_t> &code) {
  std::string result;
  for (uint32_t word : code)
    result += " " + llvm::utohexstr(word);
  return result;
}

bool DirectedComparison::compareState(const Candidate &candidate, const Record *record,
                                      const Record *end, const Wave &state, Comparison &result,
                                      uint64_t &sets) {
  before = state;
  const Statement &statement = candidate.statements[0];
  bool hasMemory = isMemory(statement.mnemonic);
  if (hasMemory || statement.mnemonic.starts_with("v_accvgpr"))
    before.memory = &sets == &result.randomOperands ? randomMemory : specialMemory;
  if (hasMemory && !pointIntoMemory(before, statement, random))
    return false;
  if (statement.mnemonic.starts_with("s_movrel")) // Registers that there are.
    before.scalars[scalarnumber::M0] =
        static_cast<uint32_t>(random() % 24 * 2 | (random() % 48) << 16) &
        (statement.mnemonic.find("_2_") == std::string::npos ? 0xffffu : ~0u);
  expected = before;
  switch (execute(expected, candidate.statements)) {
  case Outcome::Unknown:
    result.unknown = true;
    return false;
  case Outcome::Unreadable:
    return false;
  case Outcome::Done:
    break;
  }
  std::string found = deviceRun.outcome(before, expected, record, end);
  if (!found.empty()) {
    if (result.difference.empty())
      result.difference = candidate.line + words(candidate.words) + "\n    " + found;
    return false;
  }
  sets += result.isScalar ? 1 : static_cast<unsigned>(std::popcount(before.exec()));
  uint64_t all = before.size == 64 ? ~uint64_t(0) : 0xffffffffu;
  result.lanesOff |= before.exec() != all;
  return true;
}

void DirectedComparison::compareOne(const Candidate &candidate, const DecodedProgram &program,
                                    uint64_t address, uint64_t next, Comparison &result) {
  const Record *record = program.recordAt(address), *end = program.recordAt(next);
  bool any = false;
  auto run = [&](std::vector<Wave> &states, uint64_t &sets) {
    if (!result.isScalar) {
      any |= compareState(candidate, record, end, states[turn++ % states.size()], result, sets);
      return;
    }
    Wave &state = states[turn++ % states.size()];
    auto kept = state.scalars;
    for (unsigned i = 0; i < 24; ++i) { // The registers have other contents each time.
      for (unsigned k = 0; k < 126; k += 2) {
        unsigned from = static_cast<unsigned>(random() % 63) * 2;
        state.scalars[k] = kept[from], state.scalars[k + 1] = kept[from + 1];
      }
      any |= compareState(candidate, record, end, state, result, sets);
    }
    state.scalars = kept;
  };
  run(randomStates, result.randomOperands);
  --turn; // The same EXEC and SCC.
  run(specialStates, result.specialOperands);
  if (!any)
    return;
  result.modifiers.insert(candidate.modifiers.begin(), candidate.modifiers.end());
  result.inPlace |= candidate.inPlace;
}

Comparison DirectedComparison::compare(const CoveredInstruction &instruction) {
  Comparison result;
  result.isScalar = instruction.encoding[0] == 'S';
  // What is missing for want of luck is there with other encodings.
  random.seed(llvm::xxh3_64bits(instruction.encoding + instruction.mnemonic));
  std::vector<Example> examples = examplesOf(instruction);
  constexpr unsigned attempts = 12;
  for (unsigned i = 0; i < attempts; ++i) {
    compareCandidates(instruction, examples, result);
    if (result.unknown || !result.difference.empty() || result.missing().empty())
      break;
  }
  return result;
}

void DirectedComparison::compareCandidates(const CoveredInstruction &instruction,
                                           const std::vector<Example> &examples,
                                           Comparison &result) {
  std::vector<Candidate> list = candidates(instruction, examples);
  Words words;
  std::vector<size_t> begins;
  for (Candidate &candidate : list) {
    begins.push_back(words.size());
    words.insert(words.end(), candidate.words.begin(), candidate.words.end());
    words.push_back(noOperation);
  }
  begins.push_back(words.size());
  auto text = llvm::ArrayRef(reinterpret_cast<const uint8_t *>(words.data()), words.size() * 4);
  uint64_t address = reinterpret_cast<uint64_t>(words.data());
  DecodedProgram program(target, randomStates[0].size, text, address);
  llvm::cantFail(program.decodeAll());
  deviceRun.use(program);
  std::set<uint64_t> refused;
  for (const auto &refusal : program.refusals(address, address + text.size()))
    refused.insert(refusal.address);
  std::vector<size_t> usable;
  for (size_t i = 0; i < list.size(); ++i) {
    uint64_t begin = address + begins[i] * 4;
    Candidate &candidate = list[i];
    candidate.line = program.disassemble(begin);
    if (refused.count(begin) || candidate.line.find("/*") != std::string::npos)
      continue;
    candidate.statements = parse(candidate.line);
    if (isUndocumented(candidate.words.data(), candidate.statements[0]))
      continue;
    candidate.modifiers = modifiersOf(candidate.statements);
    candidate.inPlace = llvm::any_of(candidate.statements, isInPlace);
    result.canBeInPlace |= candidate.inPlace;
    usable.push_back(i);
  }
  auto isEnough = [&](size_t i) {
    const Candidate &candidate = list[i];
    bool isNew = candidate.inPlace && !result.inPlace;
    for (const std::string &modifier : candidate.modifiers)
      isNew |= !result.modifiers.count(modifier);
    return !isNew && result.randomOperands >= enoughOperands &&
           result.specialOperands >= enoughOperands && (result.lanesOff || result.isScalar);
  };
  for (unsigned round = 0; round < 20; ++round)
    for (size_t i : usable) {
      if (isEnough(i) || result.unknown || !result.difference.empty())
        continue;
      compareOne(list[i], program, address + begins[i] * 4, address + begins[i + 1] * 4 - 4,
                 result);
    }
  for (size_t i : usable)
    for (const std::string &modifier : list[i].modifiers)
      if (!result.modifiers.count(modifier))
        result.undocumentedModifiers.insert(modifier);
}

} // namespace wavetile::reference
