//===- WaveChecks.cpp - Definedness and waits of a wave -------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/WaveChecks.h"

#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/checks/WorkgroupRaces.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace wavetile::device {

using namespace checks;

// --- Start ---

/// The scalar registers that a launch sets in each wave: those that come out the same whatever was
/// in them before.
static ScalarSet launchedScalars(const LaunchContext &context, const Workgroup &group) {
  alignas(64) Wave overZeros, overOnes;
  std::array<uint32_t, 3> id;
  std::copy_n(group.id, 3, id.begin());
  for (Wave *each : {&overZeros, &overOnes}) {
    std::fill_n(each->scalars, scalar::Count, each == &overOnes ? ~0u : 0u);
    context.setScalars(*each, id);
  }
  ScalarSet result;
  for (uint32_t i = 0; i < scalar::Count; ++i)
    result[i] = overZeros.scalars[i] == overOnes.scalars[i];
  return result;
}

void WaveChecks::start(const LaunchContext &launch, Wave &wave, const ScalarSet &launched,
                       WorkgroupShadow &shared) {
  context = &launch;
  checkedWave = &wave;
  workgroup = &shared;
  options = launch.launch.checks;
  firstRecord = launch.program.allRecords().data();
  records = launch.program.checks().records();
  model = &WaitModel::of(launch.target);
  for (unsigned i = 0; i < counterCount; ++i) {
    counters[i].clear();
    counters[i].setMaximum(model->maximum[i]);
  }
  std::fill_n(pending, entryCount, uint8_t(0));
  current = currentFlat = nullptr;
  scratchDefined.clear();
  registers.reset(wave, options.undefined);
  if (options.undefined) {
    for (uint32_t i = 0; i < scalar::Count; ++i)
      if (launched[i])
        registers.setScalar(i, 0, 0);
    registers.setLanes(0, wave.exec(), 0, 0);
  }
  wave.checks = this;
}

void WorkgroupChecks::start(const LaunchContext &context, Workgroup &group) {
  bool undefined = context.launch.checks.undefined;
  shadow.ldsDefined.assign(group.ldsBytes, undefined ? 0 : 0xff);
  shadow.ldsOrigin.assign((group.ldsBytes + 3) / 4, noOrigin);
  shadow.addressOfLoad.clear();
  shadow.forgetDefined();
  while (waves.size() < group.waveCount)
    waves.push_back(std::make_unique<WaveChecks>());
  ScalarSet launched = launchedScalars(context, group);
  for (uint32_t i = 0; i < group.waveCount; ++i)
    waves[i]->start(context, group.waves[i], launched, shadow);
}

// --- Reports ---

std::string WaveChecks::describeRegister(uint32_t entry) const {
  if (!isScalarEntry(entry)) {
    bool isAccumulation = entry >= firstAccumulationRow && entry < spareRow;
    return llvm::formatv("{0}{1}", isAccumulation ? "a" : "v",
                         isAccumulation ? entry - firstAccumulationRow : entry);
  }
  uint32_t index = entry - firstScalarEntry;
  switch (index) {
  case scalar::Vcc:
    return "vcc_lo";
  case scalar::Vcc + 1:
    return "vcc_hi";
  case scalar::M0:
    return "m0";
  case scalar::Scc:
    return "scc";
  default:
    return "s" + std::to_string(index);
  }
}

std::string WaveChecks::describeInstruction(uint32_t number) const {
  uint64_t address = context->program.addressOf(firstRecord + number);
  return llvm::formatv("{0:x} (+{1:x} from the entry): {2}", address,
                       address - context->kernel.entry, context->program.disassemble(address));
}

/// Memory that has no defined value.
std::string WaveChecks::describeMemory(uint64_t address) const {
  if (address >= context->argumentsBegin() && address < context->argumentsEnd())
    return llvm::formatv("byte {0} of the kernel's arguments, which end before it",
                         address - context->argumentsBegin());
  GlobalMemory &memory = *checkedWave->workgroup->memory;
  if (auto allocation = memory.find(address))
    return llvm::formatv("byte {0} of allocation '{1}', which {2}", address - allocation->begin,
                         memory.name(*allocation),
                         address < allocation->end ? "nothing has written" : "ends before it");
  return llvm::formatv("memory at {0:x}, which nothing has written", address);
}

std::string WaveChecks::describe(uint32_t origin) const {
  uint32_t number = originNumber(origin);
  auto where = workgroup->addressOfLoad.find(number);
  uint64_t address = where == workgroup->addressOfLoad.end() ? 0 : where->second;
  switch (originKind(origin)) {
  case OriginKind::NeverWritten:
    return describeRegister(number) + " was never written";
  case OriginKind::PendingLoad:
    return "no wait covers the load at " + describeInstruction(number);
  case OriginKind::PendingToLds:
    return "no wait of its wave covers the load to LDS at " + describeInstruction(number);
  case OriginKind::GlobalMemory:
    return "it was loaded from " + describeMemory(address) + ", at " + describeInstruction(number);
  case OriginKind::RacedMemory:
    return llvm::formatv("it was loaded from {0:x}, which {1}, at {2}", address,
                         checkedWave->workgroup->races->describeRaced(firstRecord + number),
                         describeInstruction(number));
  case OriginKind::LdsMemory:
    return llvm::formatv("it was loaded from LDS byte {0}, which nothing has written, at {1}",
                         address, describeInstruction(number));
  case OriginKind::ScratchMemory:
    return llvm::formatv("it was loaded from scratch byte {0} of its lane, which has no defined "
                         "value, at {1}",
                         address, describeInstruction(number));
  }
  return "";
}

bool WaveChecks::stop(const Record *record, FaultKind kind, int lane, std::string text,
                      uint64_t address) {
  message = std::move(text);
  fail(*checkedWave, record, kind, lane, address, 0, false, message.c_str());
  return false;
}

bool WaveChecks::reportUndefined(const Record *record, const std::string &subject, uint32_t origin,
                                 int lane, const char *what) {
  OriginKind kind = originKind(origin);
  std::string text = subject + " " + what + ": " + describe(origin);
  if (kind == OriginKind::RacedMemory)
    return stop(record, FaultKind::GlobalRace, lane, std::move(text),
                workgroup->addressOfLoad[originNumber(origin)]);
  bool isPending = kind == OriginKind::PendingLoad || kind == OriginKind::PendingToLds;
  return stop(record, isPending ? FaultKind::MissingWait : FaultKind::UndefinedValue, lane,
              std::move(text));
}

bool WaveChecks::reportUndefined(const Record *record, uint32_t entry, uint32_t bits, int lane,
                                 const char *what) {
  return reportUndefined(
      record, llvm::formatv("undefined bits {0:x} of {1}", bits, describeRegister(entry)).str(),
      registers.origin[entry], lane, what);
}

// --- Loads on their way ---

PendingOperation &WaveChecks::count(const Record *record, Counter which, PendingKind kind) {
  return counter(which).issue(kind, numberOf(record),
                              [this](PendingOperation &operation) { complete(operation); });
}

void WaveChecks::wait(Counter which, unsigned value) {
  counter(which).wait(value, [this](PendingOperation &operation) { complete(operation); });
}

void WaveChecks::beginWriteBack(const Record *record) {
  WorkgroupRaces *races = checkedWave->workgroup->races;
  uint32_t scope = record->modifiers >> modifier::scopeShift & 3;
  if (!races || !current || scope < static_cast<uint32_t>(AccessScope::Device))
    return;
  current->writesBack = true;
  races->beginWriteBack(*checkedWave);
}

bool WaveChecks::mayWritePending(const Record *record, uint32_t entry, uint64_t lanes,
                                 uint32_t bits, Counter which, PendingKind kind) {
  const PendingOperation *conflict = nullptr;
  for (unsigned i = 0; i < counterCount; ++i)
    counters[i].forEach([&](PendingOperation &operation) {
      uint32_t index = entry - operation.firstEntry;
      if (entry < operation.firstEntry || index >= operation.registers ||
          (operation.lanes[index] & lanes) == 0 || (operation.bits & bits) == 0)
        return;
      bool inOrder = i == static_cast<unsigned>(which) && kind == operation.kind &&
                     kind != PendingKind::Unordered;
      if (!inOrder)
        conflict = conflict ? conflict : &operation;
      else if ((operation.bits & ~bits) == 0)
        operation.lanes[index] &= ~lanes;
    });
  if (!conflict)
    return true;
  uint64_t common = conflict->lanes[entry - conflict->firstEntry] & lanes;
  return stop(record, FaultKind::PendingOverwritten,
              isScalarEntry(entry) ? -1 : __builtin_ctzll(common),
              describeRegister(entry) + " has yet to be written by the load at " +
                  describeInstruction(conflict->record));
}

bool WaveChecks::hold(const Record *record, const CheckDetails &details,
                      PendingOperation &operation, Counter which) {
  bool isScalar = isScalarEntry(details.firstLoaded);
  uint64_t lanes = isScalar ? 1 : exec() & checkedWave->allLanes();
  uint32_t origin = makeOrigin(OriginKind::PendingLoad, numberOf(record));
  for (unsigned i = 0; i < details.loadedRegisters; ++i)
    if (!mayWrite(record, details.firstLoaded + i, lanes, details.loadedBits, which,
                  operation.kind))
      return false;
  operation.registers = details.loadedRegisters;
  operation.firstEntry = details.firstLoaded;
  operation.bits = details.loadedBits;
  for (unsigned i = 0; i < details.loadedRegisters; ++i) {
    uint32_t entry = details.firstLoaded + i;
    operation.lanes[i] = lanes;
    operation.undefined[i] = 0;
    if (pending[entry]++ == 0)
      registers.settledOrigin[entry] = registers.origin[entry];
    if (isScalar) {
      registers.setScalar(entry - firstScalarEntry, ~0u, origin);
    } else if (operation.bits == ~0u) {
      registers.setLanes(entry, lanes, ~uint64_t(0), origin);
    } else {
      uint32_t *words = registers.plane(entry);
      for (unsigned lane = 0; lane < checkedWave->waveSize; ++lane)
        words[lane] |= lanes >> lane & 1 ? operation.bits : 0;
      registers.settle(entry);
      registers.origin[entry] = origin;
    }
  }
  return true;
}

bool WaveChecks::issue(const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  current = currentFlat = nullptr;
  if (!options.waits && !options.races())
    return true;
  if (details.secondCounter != Counter::None)
    currentFlat = &count(record, details.secondCounter, PendingKind::Unordered);
  current = &count(record, details.counter, details.kind);
  // An atomic may return into the registers of its data, which are looked at first.
  return !options.waits || details.loadedRegisters == 0 || details.isAtomic ||
         hold(record, details, *current, details.counter);
}

bool WaveChecks::holdBack(const Record *record, const CheckRecord *check) {
  const CheckDetails &details = *check->details;
  if (!options.waits) {
    if (options.races())
      count(record, details.counter, details.kind);
    return true;
  }
  uint32_t entry = details.firstLoaded;
  uint64_t undefined = registers.lanes[entry];
  uint32_t origin = registers.origin[entry];
  std::vector<uint32_t> bits;
  // Scalars have no planes, and what is read into them so, such as a clock, is all defined.
  if (!isScalarEntry(entry) && registers.hasPlane(entry))
    bits.assign(registers.plane(entry), registers.plane(entry) + checkedWave->waveSize);
  PendingOperation &operation = count(record, details.counter, details.kind);
  if (!hold(record, details, operation, details.counter))
    return false;
  operation.undefined[0] = undefined;
  operation.partialBits = std::move(bits);
  operation.origin = origin;
  return true;
}

void WaveChecks::completeRegister(const PendingOperation &operation, unsigned index) {
  uint32_t entry = operation.firstEntry + index;
  uint64_t lanes = operation.lanes[index];
  --pending[entry];
  if (lanes == 0)
    return;
  unsigned size = checkedWave->waveSize;
  const uint32_t *partial =
      operation.partialBits.empty() ? nullptr : operation.partialBits.data() + index * size;
  if (isScalarEntry(entry)) {
    uint32_t whole = operation.undefined[index] ? ~0u : 0;
    registers.setScalar(entry - firstScalarEntry, partial ? *partial : whole, operation.origin);
    return;
  }
  if (operation.bits == ~0u && !partial) {
    registers.setLanes(entry, lanes, operation.undefined[index], operation.origin);
    return;
  }
  uint32_t *words = registers.plane(entry);
  for (unsigned lane = 0; lane < size; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    uint32_t loaded =
        partial ? partial[lane] : -static_cast<uint32_t>(operation.undefined[index] >> lane & 1);
    words[lane] = (words[lane] & ~operation.bits) | (loaded & operation.bits);
    if (loaded & operation.bits)
      registers.origin[entry] = operation.origin;
  }
  registers.settle(entry);
}

void WaveChecks::complete(PendingOperation &operation) {
  for (unsigned i = 0; i < operation.registers; ++i) {
    completeRegister(operation, i);
    // What is still undefined was so before the load.
    uint32_t entry = operation.firstEntry + i;
    if (pending[entry] == 0 && originKind(registers.origin[entry]) == OriginKind::PendingLoad)
      registers.origin[entry] = registers.settledOrigin[entry];
  }
  if (operation.ldsLanes)
    completeLds(operation);
  if (operation.raceNumber)
    checkedWave->workgroup->races->completed(*checkedWave, operation.raceNumber);
  if (operation.writesBack)
    checkedWave->workgroup->races->wroteBack(*checkedWave);
}

} // namespace wavetile::device
