//===- WaveChecks.h - Definedness and waits of a wave ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What these classes promise: while a wave runs under them, a value that was never defined, or
// that a load has yet to deliver, may be moved and computed with, and is reported where it decides
// something: an address or a descriptor, a branch, EXEC, the choice of a lane, MODE, or bits that
// a lane stores to global memory. docs/software-device-checks.md has the rules.
//
// A loop that runs checked waves calls `before` ahead of each handler; the handlers' reports of
// memory accesses come to `observe`.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_WAVECHECKS_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_WAVECHECKS_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/checks/CheckRecord.h"
#include "runtime/emulator/checks/Options.h"
#include "runtime/emulator/checks/Origin.h"
#include "runtime/emulator/checks/RegisterShadow.h"
#include "runtime/emulator/checks/WaitCounters.h"

#include <algorithm>
#include <bitset>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace wavetile::device {

/// What the waves of a workgroup share. A byte of memory has a byte of shadow, whose bits are set
/// where the memory's are defined.
struct WorkgroupShadow {
  std::vector<uint8_t> ldsDefined;
  std::vector<uint32_t> ldsOrigin; ///< Of each dword, where it is not defined.
  /// Where the load of a record last found undefined bytes: a global, LDS or scratch address.
  std::unordered_map<uint32_t, uint64_t> addressOfLoad;

  /// Whether bytes [begin, end) of LDS are known to be defined, without a look at them.
  bool knowsDefined(uint64_t begin, uint64_t end) const {
    return begin >= definedBegin && end <= definedEnd;
  }
  /// They have turned out to be, or are from now on.
  void learnDefined(uint64_t begin, uint64_t end) {
    bool joins = begin <= definedEnd && end >= definedBegin;
    definedBegin = joins ? std::min(begin, definedBegin) : begin;
    definedEnd = joins ? std::max(end, definedEnd) : end;
  }
  /// Some bytes may not be defined any more.
  void forgetDefined() { definedBegin = definedEnd = 0; }

private:
  uint64_t definedBegin = 0, definedEnd = 0;
};

using ScalarSet = std::bitset<scalar::Count>;

class WaveChecks {
public:
  /// Starts with the registers that a launch sets up, of the scalar ones those of \p launched.
  /// \p wave is set up already.
  void start(const LaunchContext &context, Wave &wave, const ScalarSet &launched,
             WorkgroupShadow &workgroup);

  /// To be called before the handler of \p record. False: the wave has its fault.
  bool before(const Record *record) {
    const checks::CheckRecord *check = records + (record - firstRecord);
    return check->function(*this, record, check);
  }

  /// An AccessObserver's function; `self` is not used.
  static bool observe(void *self, Wave &wave, const MemoryAccess &access);

  // --- For the functions of check records ---

  Wave &wave() { return *checkedWave; }
  uint64_t exec() const { return checkedWave->scalar64(scalar::Exec); }
  uint32_t numberOf(const Record *record) const {
    return static_cast<uint32_t>(record - firstRecord);
  }

  /// Stops the wave: undefined bits of \p entry decide \p what. \p lane is negative for scalars.
  bool reportUndefined(const Record *record, uint32_t entry, uint32_t bits, int lane,
                       const char *what);
  /// The same for bits that are in no register.
  bool reportUndefined(const Record *record, const std::string &subject, uint32_t origin, int lane,
                       const char *what);

  /// Whether registers that \p record is about to write are free of loads on their way. A load on
  /// a counter may write what a load on the same counter will, for those end in order: then
  /// \p counter and \p kind say so, and the older load no longer writes these lanes.
  bool mayWrite(const Record *record, uint32_t entry, uint64_t lanes, uint32_t bits,
                checks::Counter counter = checks::Counter::None,
                checks::PendingKind kind = checks::PendingKind::Unordered) {
    return pending[entry] == 0 || mayWritePending(record, entry, lanes, bits, counter, kind);
  }

  /// Counts a memory instruction, whose destinations have undefined bits from now on.
  bool issue(const Record *record, const checks::CheckRecord *check);
  /// Loads' results that were not seen by `observe`: permutations through LDS. Takes what the
  /// shadow says of the destination, and gives it back when the load is over.
  bool holdBack(const Record *record, const checks::CheckRecord *check);
  void wait(checks::Counter counter, unsigned value);
  /// The operation issued last writes caches back, as far as the scope of \p record.
  void beginWriteBack(const Record *record);

  /// What a wait for the memory instruction of \p access, which is being executed, will find over;
  /// null if there is none.
  checks::PendingOperation *operationOf(const MemoryAccess &access);

  checks::RegisterShadow registers;

private:
  checks::WaitCounter &counter(checks::Counter which) {
    return counters[static_cast<unsigned>(which)];
  }
  bool mayWritePending(const Record *record, uint32_t entry, uint64_t lanes, uint32_t bits,
                       checks::Counter counter, checks::PendingKind kind);
  checks::PendingOperation &count(const Record *record, checks::Counter which,
                                  checks::PendingKind kind);
  bool hold(const Record *record, const checks::CheckDetails &details,
            checks::PendingOperation &operation, checks::Counter which);
  void complete(checks::PendingOperation &operation);
  void completeRegister(const checks::PendingOperation &operation, unsigned index);
  void completeLds(const checks::PendingOperation &operation);
  std::string describe(uint32_t origin) const;
  std::string describeMemory(uint64_t address) const;
  std::string describeRegister(uint32_t entry) const;
  std::string describeInstruction(uint32_t record) const;
  bool stop(const Record *record, FaultKind kind, int lane, std::string message,
            uint64_t address = 0);

  // Memory, in MemoryChecks.cpp.
  struct Bytes;
  bool observe(const MemoryAccess &access);
  bool addressesDefined(const MemoryAccess &access, const Bytes &bytes);
  bool observeLoad(const MemoryAccess &access, Operand destination);
  bool observeStore(const MemoryAccess &access, Operand data);
  bool observeAtomic(const MemoryAccess &access);
  bool returnOld(const MemoryAccess &access, uint64_t undefined, uint32_t origin);
  void observeLoadToLds(const MemoryAccess &access);
  void deliver(const MemoryAccess &access, uint32_t entry, unsigned registerCount,
               const uint32_t *undefined, uint64_t lanes, uint32_t bits, uint32_t origin);

  const LaunchContext *context = nullptr;
  const Record *firstRecord = nullptr;
  const checks::CheckRecord *records = nullptr;
  Wave *checkedWave = nullptr;
  WorkgroupShadow *workgroup = nullptr;
  CheckOptions options;
  const checks::WaitModel *model = nullptr;
  checks::WaitCounter counters[checks::counterCount];
  uint8_t pending[checks::entryCount]; ///< Loads on their way to each register.
  /// The operations of the memory instruction that is being executed.
  checks::PendingOperation *current = nullptr, *currentFlat = nullptr;
  std::vector<uint8_t> scratchDefined;
  std::string message; ///< Of the fault.
};

/// Of a workgroup that runs checked.
class WorkgroupChecks {
public:
  /// Makes ready for a workgroup whose waves have been set up, and gives each its checks.
  void start(const LaunchContext &context, Workgroup &group);

private:
  WorkgroupShadow shadow;
  std::vector<std::unique_ptr<WaveChecks>> waves;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_WAVECHECKS_H
