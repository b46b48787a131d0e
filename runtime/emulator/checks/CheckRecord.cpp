//===- CheckRecord.cpp - What the checks do at each instruction -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/CheckRecord.h"

#include "runtime/emulator/RegisterIndexing.h"
#include "runtime/emulator/checks/CheckFunctions.h"

#include "llvm/ADT/StringSwitch.h"

namespace wavetile::device::checks {

namespace {

/// Derives one check record.
class Derivation {
public:
  Derivation(const DecodedProgram &program, const Record &record, const Instruction &row,
             const RegisterCounts &registers, CheckRecord &check, CheckDetails &details)
      : target(program.target()), waveSize(program.waveSize()), model(WaitModel::of(target)),
        record(record), row(row), registers(registers), check(check), details(details) {
    llvm::StringRef names = row.names;
    details.mnemonic = names.split(' ').first.split('@').first;
    details.signature = row.signature;
    details.shadow = record;
    check.details = &details;
  }

  void run();

private:
  void read(uint32_t entry) { check.reads[check.readCount++] = static_cast<uint16_t>(entry); }
  void write(uint32_t entry) { check.writes[check.writeCount++] = static_cast<uint16_t>(entry); }
  unsigned maskRegisters() const { return waveSize == 64 ? 2 : 1; }
  /// The registers that a source of some type takes.
  void readSource(Operand operand, Type type, unsigned index);
  void readScalars(Operand operand, unsigned count);
  void writeResult();

  void deriveVector();
  void deriveReplay();
  void deriveScalar();
  void deriveMatrix();
  void deriveClock();
  void deriveScalarMemory();
  void deriveVectorMemory();
  void deriveLds();
  void deriveControl();
  void deriveBranch();
  void deriveLoadedRegisters();
  void fillReads(unsigned count) {
    while (check.readCount < count)
      read(definedEntry);
  }

  const TargetDescription &target;
  const uint32_t waveSize;
  const WaitModel &model;
  const Record &record;
  const Instruction &row;
  const RegisterCounts &registers;
  CheckRecord &check;
  CheckDetails &details;
};

void Derivation::readScalars(Operand operand, unsigned count) {
  if (operand.kind() != OperandKind::Scalar)
    return;
  uint32_t index = operand.index();
  if (index == scalar::ExecZero)
    return;
  if (index == scalar::VccZero) {
    index = scalar::Vcc;
    count = maskRegisters();
  }
  for (unsigned i = 0; i < count; ++i)
    read(scalarEntry(index + i));
}

void Derivation::readSource(Operand operand, Type type, unsigned index) {
  unsigned count = type == Type::Mask ? maskRegisters() : std::max(1u, rowsOf(type));
  if (operand.kind() == OperandKind::Scalar)
    return readScalars(operand, count);
  if (operand.kind() != OperandKind::Vector)
    return;
  if (type == Type::PackedF32) {
    // op_sel may leave one of the two registers alone.
    bool low = record.modifiers & modifier::high(index);
    bool high = record.modifiers & modifier::highForHigh(index);
    bool oneResult = details.mnemonic == "v_pk_mov_b32";
    if (low == high || oneResult)
      return read(operand.index() + low);
  }
  for (unsigned i = 0; i < count; ++i)
    read(operand.index() + i);
}

void Derivation::writeResult() {
  unsigned count = rowsOf(row.signature.result);
  if (record.destination.kind() == OperandKind::Vector)
    for (unsigned i = 0; i < count; ++i)
      write(record.destination.index() + i);
  else if (record.destination.kind() == OperandKind::Scalar && row.signature.result != Type::None)
    for (unsigned i = 0; i < count; ++i)
      write(scalarEntry(record.destination.index() + i));
  if (row.signature.maskResult && record.maskDestination.kind() == OperandKind::Scalar)
    for (unsigned i = 0; i < maskRegisters(); ++i)
      write(scalarEntry(record.maskDestination.index() + i));
}

// --- Vector instructions ---

/// Operands that are always defined, as the second wave has them.
static Operand shadowOperand(Operand operand) {
  bool isExec = operand.kind() == OperandKind::Scalar &&
                (operand.index() == scalar::Exec || operand.index() == scalar::Exec + 1 ||
                 operand.index() == scalar::ExecZero || operand.index() == scalar::VccZero);
  if (operand.kind() == OperandKind::Constant || isExec)
    return Operand(OperandKind::Vector, zeroRow);
  return operand;
}

/// Whether an instruction gives the same result whatever is in a register that is both its
/// operands.
static bool isConstantOfEqualOperands(llvm::StringRef mnemonic) {
  if (mnemonic.starts_with("v_cmp"))
    return !mnemonic.contains("class") && (mnemonic.contains("_u") || mnemonic.contains("_i")) &&
           !mnemonic.contains("_f");
  return llvm::StringSwitch<bool>(mnemonic)
      .Cases({"v_xor_b32", "v_xnor_b32", "v_xor_b16", "s_xor_b32", "s_xor_b64"}, true)
      .Cases({"s_xnor_b32", "s_xnor_b64", "s_andn2_b32", "s_andn2_b64"}, true)
      .Cases({"v_sub_u32", "v_subrev_u32", "v_sub_i32", "v_sub_co_u32", "v_sub_u16"}, true)
      .Cases({"s_sub_u32", "s_sub_i32"}, true)
      .Default(false);
}

void Derivation::deriveVector() {
  const Signature &signature = row.signature;
  bool isDpp = record.modifiers & (modifier::dpp | modifier::dpp8);
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i)
    readSource(record.sources[i], signature.sources[i], i);
  writeResult();

  details.vectorRule = vectorRule(row);
  details.slow = checkVectorSlow;
  details.readsInactiveLanes = isDpp && check.readCount > 0;
  bool isSdwa = record.modifiers & modifier::sdwa;
  bool isHalf = is16Bit(signature.result);
  bool keepsHalf = !target.clearsHighHalf ||
                   (record.modifiers & (modifier::highResult | modifier::keepHalf)) != 0;
  uint32_t dppWord = record.immediate;
  bool dppWritesAll =
      !(record.modifiers & modifier::dpp) || ((dppWord >> 19 & 1) && dppWord >> 24 == 0xff);
  details.writesWhole = !isSdwa && !(isHalf && keepsHalf) && dppWritesAll;
  bool isMove =
      details.mnemonic == "v_mov_b32"; // v_mov_b64 moves halves, each as defined as its own.
  details.strictWhole = (!details.vectorRule || isMove) && !isHalf && !isDpp && !isSdwa;
  for (Type type : signature.sources)
    details.strictWhole &= type != Type::PackedF32 && type != Type::Mask;
  if (signature.result == Type::PackedF32)
    details.strictWhole = false;
  details.alwaysDefined = record.sources[0] == record.sources[1] && !isDpp && !isSdwa &&
                          record.sources[0].kind() == OperandKind::Vector &&
                          (record.modifiers & (modifier::high(0) | modifier::high(1))) == 0 &&
                          isConstantOfEqualOperands(details.mnemonic);

  Record &shadow = details.shadow;
  for (Operand &source : shadow.sources)
    source = shadowOperand(source);
  for (unsigned i = 0; i < 3; ++i)
    shadow.modifiers &= ~(modifier::negate(i) | modifier::negateHigh(i));
  shadow.modifiers &= ~(modifier::clamp | modifier::outputMask);
  check.function = vectorTest(check.readCount, check.writeCount, details.readsInactiveLanes);
}

/// The operands of instructions whose handlers look at lanes as a whole: the first one is moved,
/// the others choose.
void Derivation::deriveReplay() {
  const Signature &signature = row.signature;
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i) {
    readSource(record.sources[i], signature.sources[i], i);
    if (i > 0)
      details.controls |= static_cast<uint8_t>(1u << i);
    details.shadow.sources[i] =
        i > 0 ? Operand(OperandKind::Vector, controlRow(i)) : shadowOperand(record.sources[i]);
  }
  writeResult();
  bool swaps = details.mnemonic.contains("swap");
  if (swaps && record.sources[0].kind() == OperandKind::Vector)
    write(record.sources[0].index());
  if (record.destination.kind() == OperandKind::Vector)
    read(record.destination.index()); // Lanes that keep their value.
  details.readsInactiveLanes = true;
  details.slow = checkReplaySlow;
  check.function = details.mnemonic.contains("rel")
                       ? checkRelativeMove
                       : vectorTest(check.readCount, check.writeCount, true);
}

// --- Scalar instructions ---

void Derivation::deriveScalar() {
  const Signature &signature = row.signature;
  llvm::StringRef name = details.mnemonic;
  for (unsigned i = 0; i < 4 && signature.sources[i] != Type::None; ++i)
    readScalars(record.sources[i], rowsOf(signature.sources[i]));
  details.scalarRule = scalarRule(row);
  bool savesExec = name.ends_with("exec_b64") || name.ends_with("exec_b32");
  details.readsScc = name.starts_with("s_cselect") || name.starts_with("s_cmov") ||
                     name.starts_with("s_addc") || name.starts_with("s_subb") ||
                     name.contains("_ci_");
  bool onlyReadsScc = name.starts_with("s_cselect") || name.starts_with("s_cmov");
  details.writesScc = savesExec || name.starts_with("s_cmp") || name.starts_with("s_bitcmp") ||
                      ((row.flags & rowflag::touchesScc) && !onlyReadsScc);
  if (details.readsScc)
    read(scalarEntry(scalar::Scc));
  writeResult();
  if (details.writesScc)
    write(scalarEntry(scalar::Scc));
  bool isLogic = record.sources[0] == record.sources[1] &&
                 record.sources[0].kind() == OperandKind::Scalar && isConstantOfEqualOperands(name);
  details.alwaysDefined = isLogic;
  if (name.starts_with("s_movrel")) {
    check.function = checkScalarRelativeMove;
    return;
  }
  details.slow = checkScalarSlow;
  if (name == "s_setpc_b64" || name == "s_swappc_b64")
    details.slow = checkJumpSlow;
  if (name == "s_subvector_loop_end")
    details.slow = checkExecSlow;
  if (name.starts_with("s_sendmsg_rtn"))
    return deriveClock();
  if (name == "s_setreg_b32") {
    readScalars(record.sources[1], 1);
    details.slow = checkSetRegisterSlow;
  }
  check.function = scalarTest(check.readCount, check.writeCount);
}

// --- Matrix products ---

void Derivation::deriveMatrix() {
  if (row.variant != matrixvariant::None) { // Moves between register files.
    readSource(record.sources[0], Type::B32, 0);
    write(record.destination.index());
    details.slow = checkVectorSlow;
    details.strictWhole = true;
    details.signature = {Type::B32, {Type::B32}, false};
    details.vectorRule = moveRule();
    details.shadow.sources[0] = shadowOperand(record.sources[0]);
    check.function = vectorTest(1, 1, false);
    return;
  }
  details.matrix = row.matrix;
  details.rowsInOrder = target.encoding == Encoding::Gfx12;
  details.registersOfC = registers.result;
  details.registersOfA = registers.sources[0];
  details.registersOfB = registers.sources[1];
  check.function = checkMatrix;
}

// --- Memory ---

void Derivation::deriveLoadedRegisters() {
  llvm::StringRef name = details.mnemonic;
  details.loadedRegisters =
      std::min<uint8_t>(registers.result, static_cast<uint8_t>(maximumLoadRegisters));
  if (record.destination.kind() == OperandKind::None) // Null.
    details.loadedRegisters = 0;
  details.isAtomic = name.contains("atomic") || name.contains("_rtn");
  bool isHalf = name.contains("_d16") && !name.contains("format");
  if (isHalf)
    details.loadedBits =
        name.contains("_d16_hi") || (record.modifiers & modifier::highHalf) ? 0xffff0000 : 0xffff;
  if (record.destination.kind() == OperandKind::Scalar)
    details.firstLoaded = static_cast<uint16_t>(scalarEntry(record.destination.index()));
  else
    details.firstLoaded = static_cast<uint16_t>(record.destination.index());
  for (unsigned i = 0; i < details.loadedRegisters; ++i)
    if (check.writeCount < maximumWrites)
      write(details.firstLoaded + i);
}

/// A value that comes from no memory, when a counter says so.
void Derivation::deriveClock() {
  details.counter = model.scalar;
  details.kind = PendingKind::Unordered;
  details.firstLoaded = static_cast<uint16_t>(scalarEntry(record.destination.index()));
  details.loadedRegisters = details.mnemonic.ends_with("_b32") ? 1 : 2;
  check.function = checkClock;
}

void Derivation::deriveScalarMemory() {
  if (details.mnemonic == "s_memtime" || details.mnemonic == "s_memrealtime")
    return deriveClock();
  fillReads(2);
  readScalars(record.sources[0], registers.sources[0]);
  readScalars(record.sources[1], 1);
  fillReads(8);
  details.counter = model.scalar;
  details.kind = PendingKind::Unordered;
  deriveLoadedRegisters();
  check.function = checkMemory;
}

void Derivation::deriveVectorMemory() {
  bool isBuffer = row.shape == Shape::Buffer;
  bool isFlat = record.modifiers & modifier::flat;
  bool isScratch = record.modifiers & modifier::scratch;
  bool toLds = (record.modifiers & modifier::toLds) || details.mnemonic.contains("_lds_");
  unsigned addressRows = 0;
  if (isBuffer)
    addressRows = ((record.modifiers & modifier::offsetEnable) ? 1 : 0) +
                  ((record.modifiers & modifier::indexEnable) ? 1 : 0);
  else if (record.sources[0].kind() == OperandKind::Vector)
    addressRows = isScratch || record.sources[2].kind() == OperandKind::Scalar ? 1 : 2;
  for (unsigned i = 0; i < addressRows; ++i)
    read(record.sources[0].index() + i);
  fillReads(2);
  readScalars(record.sources[2], isBuffer ? 4 : isScratch ? 1 : 2);
  if (isBuffer)
    readScalars(record.sources[3], 1);
  if (toLds)
    read(scalarEntry(scalar::M0));
  fillReads(8);
  deriveLoadedRegisters();
  bool isLoad = details.loadedRegisters != 0 || toLds;
  details.counter = isLoad ? model.load : model.store;
  details.kind = PendingKind::VectorMemory;
  if (isFlat)
    details.secondCounter = model.lds;
  check.function = checkMemory;
}

void Derivation::deriveLds() {
  llvm::StringRef name = details.mnemonic;
  details.counter = model.lds;
  details.kind = PendingKind::Lds;
  if (name == "ds_bpermute_b32" || name == "ds_permute_b32" || name == "ds_swizzle_b32" ||
      name == "ds_bpermute_fi_b32") {
    bool isSwizzle = name == "ds_swizzle_b32";
    read(record.sources[isSwizzle ? 0 : 1].index());
    if (!isSwizzle) {
      read(record.sources[0].index());
      details.controls = 1;
      details.shadow.sources[0] = Operand(OperandKind::Vector, controlRow(0));
    }
    details.loadedRegisters = 1;
    details.firstLoaded = static_cast<uint16_t>(record.destination.index());
    write(record.destination.index());
    check.function = checkLdsPermutation;
    return;
  }
  bool hasAddress = !name.contains("addtid") && !name.contains("append") &&
                    !name.contains("consume") && name != "ds_nop";
  if (hasAddress)
    read(record.sources[0].index());
  fillReads(2);
  if (!hasAddress)
    read(scalarEntry(scalar::M0));
  fillReads(8);
  deriveLoadedRegisters();
  check.function = checkMemory;
}

// --- Control ---

void Derivation::deriveControl() {
  check.function = checkNothing;
  llvm::StringRef name = details.mnemonic;
  details.waits = WaitValues::of(name, record.immediate, target.encoding);
  if (!details.waits.isNone()) {
    check.function = checkWait;
  } else if (name == "s_sendmsg") {
    details.counter = model.scalar;
    details.kind = PendingKind::Unordered;
    check.function = checkMessage;
  } else if (name == "s_dcache_inv" || name == "buffer_inv" || name == "global_inv") {
    details.counter = name == "global_inv" ? model.load : Counter::None;
    check.function = checkInvalidation;
  } else if (name == "global_wb" || name == "buffer_wbl2") {
    details.counter = model.store;
    check.function = checkWriteBack;
  }
}

void Derivation::deriveBranch() {
  check.function = checkNothing;
  if (details.mnemonic.starts_with("s_cbranch_scc"))
    check.function = checkBranchOnScc;
  else if (details.mnemonic.starts_with("s_cbranch_vcc"))
    check.function = checkBranchOnVcc;
}

void Derivation::run() {
  if (details.mnemonic == "(indexed)" || details.mnemonic.starts_with("s_set_gpr_idx")) {
    bool choosesIndex =
        details.mnemonic == "s_set_gpr_idx_on" || details.mnemonic == "s_set_gpr_idx_idx";
    bool choosesOperands =
        details.mnemonic == "s_set_gpr_idx_on" || details.mnemonic == "s_set_gpr_idx_mode";
    check.function = details.mnemonic == "(indexed)"   ? checkIndexed
                     : choosesIndex || choosesOperands ? checkRegisterIndex
                                                       : checkNothing;
    details.loadedBits =
        (choosesIndex ? registerIndexBits : 0) | (choosesOperands ? registerIndexOperands : 0);
    return;
  }
  bool isVector = row.instructionClass == InstructionClass::VectorAlu ||
                  row.instructionClass == InstructionClass::Transcendental;
  switch (row.shape) {
  case Shape::Alu:
    if (!isVector)
      return deriveScalar();
    return row.prepared && !details.mnemonic.starts_with("v_movrel") ? deriveVector()
                                                                     : deriveReplay();
  case Shape::Branch:
    return deriveBranch();
  case Shape::Control:
    return deriveControl();
  case Shape::ScalarMemory:
    return deriveScalarMemory();
  case Shape::Lds:
    return deriveLds();
  case Shape::Buffer:
  case Shape::Flat:
    return deriveVectorMemory();
  case Shape::Matrix:
    return deriveMatrix();
  }
}

} // namespace

void deriveCheck(const DecodedProgram &program, const Record &record, const Instruction &row,
                 const RegisterCounts &registers, CheckRecord &check, CheckDetails &details) {
  check.function = checkNothing;
  Derivation(program, record, row, registers, check, details).run();
}

CheckProgram::CheckProgram(const DecodedProgram &program) {
  llvm::ArrayRef<Record> all = program.allRecords();
  list.resize(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    list[i].function = checkNothing;
    if (const Instruction *row = instructionRow(all[i].row))
      deriveCheck(program, all[i], *row, program.allRegisterCounts()[i], list[i],
                  details.emplace_back());
  }
}

} // namespace wavetile::device::checks
