//===- Coverage.cpp - What the device makes of every instruction there is --===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Coverage.h"

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Disassembler.h"
#include "runtime/emulator/Target.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace wavetile::device {
namespace {

using Words = std::array<uint32_t, 4>;

/// One way to encode an opcode.
struct Example {
  Words words;
  uint64_t bytes;
};

/// LLVM's `MCInstrDesc::TSFlags` of AMDGPU, as far as they name an encoding.
struct EncodingFlag {
  uint64_t flag;
  const char *name;
};
constexpr EncodingFlag encodingFlags[] = {
    {1u << 2, "SOP1"},     {1u << 3, "SOP2"},    {1u << 4, "SOPC"},     {1u << 5, "SOPK"},
    {1u << 6, "SOPP"},     {1u << 19, "SMEM"},   {1u << 12, "VOP3P"},   {1u << 10, "VOP3"},
    {1u << 7, "VOP1"},     {1u << 8, "VOP2"},    {1u << 9, "VOPC"},     {1u << 13, "VINTRP"},
    {1u << 29, "VINTERP"}, {1u << 28, "LDSDIR"}, {1u << 17, "MUBUF"},   {1u << 18, "MTBUF"},
    {1u << 20, "MIMG"},    {1u << 21, "VIMAGE"}, {1u << 22, "VSAMPLE"}, {1u << 23, "EXP"},
    {1u << 24, "FLAT"},    {1u << 25, "DS"},
};
constexpr uint64_t sdwaFlag = 1u << 14, dppFlag = 1u << 15, matrixFlag = uint64_t(1) << 54;

constexpr const char *matrixEncoding = "VOP3P-MAI";

std::string encodingOf(const Disassembler &llvmSide, const llvm::MCInst &inst, uint32_t word) {
  llvm::StringRef opcode = llvmSide.instructions->getName(inst.getOpcode());
  if (opcode.starts_with("V_DUAL_"))
    return "VOPD";
  uint64_t flags = llvmSide.instructions->get(inst.getOpcode()).TSFlags;
  // LLVM does not flag the short encodings with DPP and SDWA.
  std::string result = word >> 25 == 0x3f ? "VOP1" : word >> 25 == 0x3e ? "VOPC" : "VOP2";
  for (const EncodingFlag &row : encodingFlags)
    if (flags & row.flag) {
      result = row.name;
      break;
    }
  if (flags & matrixFlag)
    return matrixEncoding;
  if (flags & sdwaFlag)
    return result + " SDWA";
  if (flags & dppFlag)
    return result + (opcode.contains("_dpp8") ? " DPP8" : " DPP");
  return result;
}

// --- The walk ---

/// Operand bits that suit one encoding or another. The walk tries each with every opcode; what does
/// not fit is not decoded and costs nothing but time.
constexpr uint32_t v4 = 0x104, s4 = 4, sdwa = 249, dpp = 250, dpp8 = 233, literal = 255;
constexpr uint32_t sdwaOperands = 0x06060604, sdwaComparison = 0x06060004, sdwaUnary = 0x00060604,
                   dppOperands = 0xff00e404, dpp8Operands = 0xfac68804;
constexpr uint32_t three(uint32_t a, uint32_t b, uint32_t c) { return a | b << 9 | c << 18; }

class Walk {
public:
  explicit Walk(const Disassembler &llvmSide) : llvmSide(llvmSide) {}

  /// A few encodings of each opcode that the processor has.
  std::map<unsigned, std::vector<Example>> run();

private:
  void attempt(const Words &words);
  void shortVector(uint32_t operation);
  void scalar();
  void longEncodings();

  const Disassembler &llvmSide;
  std::map<unsigned, std::vector<Example>> found;
};

void Walk::attempt(const Words &words) {
  llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words.data()), sizeof(words));
  llvm::MCInst inst;
  uint64_t size = 0;
  if (!llvmSide.decode(bytes, 0, inst, size))
    return;
  std::vector<Example> &examples = found[inst.getOpcode()];
  constexpr size_t enough = 12;
  if (examples.size() < enough)
    examples.push_back({words, size});
}

/// VOP1, VOP2 and VOPC, whose first source may announce a second word.
void Walk::shortVector(uint32_t operation) {
  for (uint32_t source : {v4, s4, literal, sdwa, dpp, dpp8}) {
    uint32_t second = source == sdwa   ? sdwaOperands
                      : source == dpp  ? dppOperands
                      : source == dpp8 ? dpp8Operands
                                       : 0x3f800000;
    attempt({operation | source, second, 0, 0});
    if (source == sdwa)
      for (uint32_t operands : {sdwaComparison, sdwaUnary})
        attempt({operation | source, operands, 0, 0});
  }
}

void Walk::scalar() {
  for (uint32_t operation = 0; operation < 1u << 14; ++operation)
    // Two registers; a literal; the MODE register; the name of a barrier or message.
    for (uint32_t low : {0x0604u, 0x06ffu, 0xf801u, 0u, 0xffffu})
      attempt({2u << 30 | operation << 16 | low, 0x3f800000, 0, 0});
  for (uint32_t operation = 0; operation < 256; ++operation)
    for (uint32_t source : {s4, literal, 0xc1u})
      attempt({0x17du << 23 | 6 << 16 | operation << 8 | source, 0x3f800000, 0, 0});
}

/// Operands of memory instructions, by the first six bits; of bits 13 to 0 of the first word and
/// all of the second. The same bits are images on one target and vector instructions on another.
struct MemoryEncoding {
  std::vector<uint32_t> prefixes, low, second;
};
const MemoryEncoding memoryEncodings[] = {
    // SMEM: a constant offset, a register. The opcode of gfx12's begins at bit 13.
    {{0x30, 0x3d}, {0x04, 0x2004}, {0xf8000010, 0x00000010, 0x04000000, 0x047f0404}},
    // DS with and without an address or data.
    {{0x36}, {0x04}, {0x047f0404, 0x04000000, 0x00000400, 0x00000010}},
    // FLAT without a scalar base on gfx9 and gfx11, and with one. Bit 13 is LDS on gfx9.
    {{0x37}, {0x04, 0x2004}, {0x047f0404, 0x047c0404, 0x04040404, 0xf8000010}},
    // MUBUF and MTBUF; bit 13 is an index or, on gfx11, an address.
    {{0x38, 0x3a}, {0x04, 0x2004}, {0x80010404, 0x04040404, 0x047c0404}},
    // VBUFFER and VFLAT of gfx12 with and without a scalar base, and gfx9's exports.
    {{0x31, 0x3b},
     {0x04, 0x7c},
     {4u << 23 | 8u << 9 | 4, 0x047f0404, 0x047c0404, 0x04040404, 0xf8000010, 0x00000010}},
    // Images of all targets.
    {{0x34, 0x39, 0x3c},
     {0x04, 0x7c},
     {0x00000010, 0x80010404, 0x047f0404, 0x047c0404, 0xf8000010}},
    // Exports.
    {{0x3e}, {0x04, 0x2004}, {0x047f0404}},
};

/// Everything whose first bits are 11: opcodes lie somewhere between bits 25 and 13.
void Walk::longEncodings() {
  constexpr uint32_t accumulators = 3u << 27;
  static constexpr uint32_t vectorOperands[] = {
      three(v4, v4, v4),                // VOP3, VOPD
      three(literal, v4, v4),           // VOPD with a constant, v_fmaak
      three(s4, s4, s4),                //
      three(v4, s4, s4),                //
      three(v4, v4, s4),                //
      three(v4, v4, v4) | accumulators, // MAI
      three(dpp, v4, v4),               // VOP3 with DPP
      three(dpp8, v4, v4),              //
  };
  for (uint32_t operation = 0; operation < 1u << 16; ++operation) {
    uint32_t word = 3u << 30 | operation << 14, prefix = word >> 26;
    bool isDual = prefix == 0x32;
    bool isVector = prefix >= 0x32 && prefix <= 0x35;
    // Bit 15 of VOP3 is a modifier, bit 14 one that matrix instructions must have.
    if (isVector && (isDual || (operation & 2) == 0))
      for (uint32_t second : vectorOperands) {
        uint32_t source = second & 0x1ff;
        uint32_t third = source == dpp ? dppOperands : source == dpp8 ? dpp8Operands : 4;
        attempt({word | 4, second, third, 0});
      }
    for (const MemoryEncoding &encoding : memoryEncodings)
      if (llvm::is_contained(encoding.prefixes, prefix))
        for (uint32_t low : encoding.low)
          for (uint32_t second : encoding.second)
            attempt({word | low, second, 4, 0});
  }
  // Matrix instructions with scales are two instructions in one.
  constexpr uint32_t scales = 0xd3ac0000;
  for (uint32_t operation = 0; operation < 128; ++operation)
    attempt(
        {scales, three(v4, v4, 0), 0xd3800000 | operation << 16 | 1 << 11 | 4, three(v4, v4, v4)});
}

std::map<unsigned, std::vector<Example>> Walk::run() {
  for (uint32_t operation = 0; operation < 62; ++operation)
    shortVector(operation << 25 | 4 << 17 | 4 << 9);
  for (uint32_t operation = 0; operation < 256; ++operation) {
    shortVector(0x3eu << 25 | operation << 17 | 4 << 9);
    shortVector(0x3fu << 25 | 4 << 17 | operation << 9);
  }
  scalar();
  longEncodings();
  return std::move(found);
}

// --- What is left out ---

struct LeftOutRow {
  const char *prefix; ///< Of a mnemonic, or an encoding if upper case.
  const char *why;
};
constexpr LeftOutRow leftOutRows[] = {
    {"image_bvh", "ray tracing"},
    {"image_", "images"},
    {"MIMG", "images"},
    {"VIMAGE", "images"},
    {"VSAMPLE", "images"},
    {"EXP", "exports"},
    {"VINTRP", "interpolation"},
    {"VINTERP", "interpolation"},
    {"LDSDIR", "LDS parameter loads"},
    {"v_interp_", "interpolation"},
    {"lds_", "LDS parameter loads"},
    {"ds_param_", "LDS parameter loads"},
    {"ds_direct_", "LDS parameter loads"},
    {"ds_gws_", "GWS"},
    {"ds_ordered_count", "GDS"},
    {"global_atomic_ordered_add", "appends in the order of graphics waves"},
    {"ds_add_gs_reg", "GDS"},
    {"ds_sub_gs_reg", "GDS"},
    {"ds_bvh", "ray tracing"},
    {"s_ttracedata", "thread trace"},
    {"s_store_", "scalar stores"},
    {"s_buffer_store_", "scalar stores"},
    {"s_scratch_store_", "scalar stores"},
    {"s_scratch_load_", "scalar scratch"},
    {"s_atomic_", "scalar stores"},
    {"s_buffer_atomic_", "scalar stores"},
    {"s_cbranch_g_fork", "forks, which no compiler makes"},
    {"s_cbranch_i_fork", "forks, which no compiler makes"},
    {"s_cbranch_join", "forks, which no compiler makes"},
    {"s_rfe", "the trap handler's"},
    {"s_setvskip", "VSKIP, which no compiler uses"},
    {"s_atc_probe", "probes of address translation"},
    {"s_dcache_discard", "scalar stores"},
    {"s_endpgm_ordered_ps_done", "exports"},
    {"s_barrier_init", "named barriers, which RDNA4's document does not have"},
    {"s_barrier_join", "named barriers, which RDNA4's document does not have"},
    {"s_barrier_leave", "named barriers, which RDNA4's document does not have"},
    {"v_screen_partition", "screen coordinates"},
    {"v_mfma_ld_scale_b32", "the first half of a scaled product, which is one instruction"},
};
const char *leftOut(const CoveredInstruction &instruction) {
  for (const LeftOutRow &row : leftOutRows) {
    llvm::StringRef prefix = row.prefix;
    bool isEncoding = prefix.front() >= 'A' && prefix.front() <= 'Z';
    llvm::StringRef name = isEncoding ? instruction.encoding : instruction.mnemonic;
    if (isEncoding ? name == prefix : name.starts_with(prefix))
      return row.why;
  }
  return nullptr;
}

// --- What the device says ---

/// One opcode of LLVM's, with what it is called and ways to encode it.
struct Opcode {
  CoveredInstruction instruction;
  const std::vector<Example> *examples;
};

/// Why the device's decoder refuses each opcode, or "": it takes one of the examples.
llvm::Expected<std::vector<std::string>> refusals(llvm::StringRef target,
                                                  const std::vector<Opcode> &opcodes) {
  std::vector<uint8_t> text;
  std::vector<std::vector<uint64_t>> offsets(opcodes.size());
  for (size_t i = 0; i < opcodes.size(); ++i)
    for (const Example &example : *opcodes[i].examples) {
      offsets[i].push_back(text.size());
      auto begin = reinterpret_cast<const uint8_t *>(example.words.data());
      text.insert(text.end(), begin, begin + example.bytes);
    }
  auto program = Program::decode(text, 0, target);
  if (!program)
    return program.takeError();
  std::map<uint64_t, std::string> refusedAt;
  for (const Program::Refusal &refusal : (*program)->refusals(0, text.size()))
    refusedAt[refusal.address] = refusal.mnemonic;
  std::vector<std::string> result;
  for (const std::vector<uint64_t> &places : offsets) {
    std::string why;
    for (uint64_t offset : places) {
      auto refused = refusedAt.find(offset);
      why = refused == refusedAt.end() ? "" : refused->second;
      if (why.empty())
        break;
    }
    result.push_back(why);
  }
  return result;
}

/// "v_foo (clamp)" says no more than "clamp" where v_foo is the instruction.
std::string withoutMnemonic(llvm::StringRef refusal, llvm::StringRef mnemonic) {
  refusal.consume_front(mnemonic);
  return refusal.trim(" ()").str();
}

/// The halves of a dual instruction, which LLVM has an opcode of for each pair, are entries of
/// their own.
std::vector<std::string> mnemonicsOf(const Disassembler &llvmSide, const llvm::MCInst &inst) {
  llvm::StringRef opcode = llvmSide.instructions->getName(inst.getOpcode());
  if (!opcode.starts_with("V_DUAL_"))
    return {llvmSide.mnemonic(inst).str()};
  // V_DUAL_ADD_F32_e32_X_FMAC_F32_e32_gfx11
  auto [first, second] = opcode.split("_X_");
  std::vector<std::string> result;
  second.consume_front("V_DUAL_");
  for (llvm::StringRef half : {first.drop_front(7), second}) {
    for (llvm::StringRef ending : {"_gfx11", "_gfx12", "_gfx1250", "_gfx13", "_e96", "_e32"})
      half.consume_back(ending);
    result.push_back("v_dual_" + half.lower());
  }
  return result;
}

} // namespace

InstructionNames::InstructionNames(std::unique_ptr<Disassembler> disassembler)
    : disassembler(std::move(disassembler)) {}
InstructionNames::~InstructionNames() = default;

llvm::Expected<std::unique_ptr<InstructionNames>>
InstructionNames::create(llvm::StringRef processor) {
  auto created = Disassembler::create(processor);
  if (!created)
    return created.takeError();
  return std::unique_ptr<InstructionNames>(new InstructionNames(std::move(*created)));
}

InstructionNames::Decoded InstructionNames::decode(llvm::ArrayRef<uint32_t> words) const {
  llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(words.data()), words.size() * 4);
  llvm::MCInst inst;
  uint64_t size = 0;
  if (!disassembler->decode(bytes, 0, inst, size))
    return {};
  return {static_cast<unsigned>(size), encodingOf(*disassembler, inst, words[0]),
          mnemonicsOf(*disassembler, inst)};
}

llvm::Expected<std::vector<CoveredInstruction>> instructionCoverage(llvm::StringRef processor) {
  auto llvmSide = Disassembler::create(processor);
  if (!llvmSide)
    return llvmSide.takeError();
  std::map<unsigned, std::vector<Example>> found = Walk(**llvmSide).run();
  std::vector<Opcode> opcodes;
  for (const auto &[number, examples] : found) {
    llvm::MCInst inst;
    inst.setOpcode(number);
    for (std::string &mnemonic : mnemonicsOf(**llvmSide, inst)) {
      Opcode opcode{{}, &examples};
      opcode.instruction.mnemonic = std::move(mnemonic);
      opcode.instruction.encoding = encodingOf(**llvmSide, inst, examples.front().words[0]);
      opcodes.push_back(std::move(opcode));
    }
  }

  const TargetDescription *target = findTarget(processor);
  std::vector<std::string> reasons(opcodes.size(), "the device has no such target");
  if (target) {
    auto said = refusals(processor, opcodes);
    if (!said)
      return said.takeError();
    reasons = std::move(*said);
  }
  // One entry a mnemonic and encoding. LLVM has several opcodes for some, such as with and without
  // a scalar base: all must be there. Not so for matrices, where they tell formats and register
  // files apart that these examples do not suit.
  std::map<std::pair<std::string, std::string>, CoveredInstruction> entries;
  for (size_t i = 0; i < opcodes.size(); ++i) {
    CoveredInstruction instruction = std::move(opcodes[i].instruction);
    const char *why = leftOut(instruction);
    // Texture fail enable is a modifier, of which LLVM makes opcodes of their own; it is refused.
    if (llvm::StringRef(reasons[i]).ends_with("(tfe)"))
      continue;
    if (why && !reasons[i].empty()) {
      instruction.support = Support::LeftOut;
      instruction.why = why;
    } else if (!reasons[i].empty()) {
      instruction.support = Support::Missing;
      instruction.why = withoutMnemonic(reasons[i], instruction.mnemonic);
    } else {
      ConstantPool constants(target->waveSize);
      std::string name = instruction.mnemonic;
      if (instruction.encoding == "VOPD")
        name.erase(2, 5);
      const Instruction *row = OperandDecoder(*target, constants).find(name);
      instruction.ulp = row ? row->ulp : 0;
      instruction.support = instruction.ulp ? Support::Approximate : Support::Exact;
      for (const Example &example : *opcodes[i].examples)
        instruction.examples.emplace_back(example.words.begin(),
                                          example.words.begin() + example.bytes / 4);
    }
    auto [entry, isNew] =
        entries.try_emplace({instruction.encoding, instruction.mnemonic}, instruction);
    bool isBetter = instruction.support < entry->second.support;
    if (!isNew && instruction.support == entry->second.support)
      llvm::append_range(entry->second.examples, instruction.examples);
    if (!isNew && isBetter == (instruction.encoding == matrixEncoding))
      entry->second = instruction;
  }
  std::vector<CoveredInstruction> result;
  for (auto &[name, instruction] : entries)
    result.push_back(std::move(instruction));
  return result;
}

} // namespace wavetile::device
