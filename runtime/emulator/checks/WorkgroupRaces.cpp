//===- WorkgroupRaces.cpp - Looks for races of a workgroup -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/WorkgroupRaces.h"

#include "runtime/emulator/checks/WaveChecks.h"

#include "llvm/Support/FormatVariadic.h"

namespace wavetile::device {

using namespace checks;
using llvm::formatv;

void WorkgroupRaces::start(const LaunchContext &launch, Workgroup &group, uint64_t index,
                           GlobalRaces *globalRaces) {
  context = &launch;
  global = globalRaces;
  checksLds = launch.launch.checks.ldsRaces;
  lds.start(checksLds ? group.ldsBytes : 0);
  waves.resize(group.waveCount);
  for (WaveState &wave : waves) {
    wave.outstanding.clear();
    wave.global = GlobalRaceWave();
    wave.global.group = index;
  }
  group.races = this;
}

bool WorkgroupRaces::observe(void *, Wave &wave, const MemoryAccess &access) {
  WorkgroupRaces *races = wave.workgroup->races;
  return !races || races->access(wave, access);
}

bool WorkgroupRaces::access(Wave &wave, const MemoryAccess &reported) {
  WaveState &state = waves[wave.indexInWorkgroup];
  unsigned count = splitAccess(wave, reported, parts);
  for (unsigned i = 0; i < count; ++i) {
    RaceAccess &part = parts[i];
    if (part.isLds ? !checksLds : !global)
      continue;
    if (part.isLds) {
      if (auto conflict = lds.access(wave, reported, part, state.outstanding))
        return report(wave, reported, part, *conflict);
    } else if (auto conflict =
                   global->access(wave, state.global, reported, part, state.outstanding)) {
      return report(wave, reported, part, *conflict);
    }
  }
  // The parts of one instruction are over together.
  PendingOperation *operation = wave.checks->operationOf(reported);
  if (!operation)
    return true;
  if (operation->raceNumber == 0)
    operation->raceNumber = state.outstanding.issue();
  for (unsigned i = 0; i < count; ++i)
    if (parts[i].isLds ? checksLds : global != nullptr)
      state.outstanding.add(operation->raceNumber, parts[i]);
  return true;
}

void WorkgroupRaces::arrived(const Wave &wave) {
  if (checksLds)
    lds.arrived(wave, waves[wave.indexInWorkgroup].outstanding);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static const char *verbOf(const RaceAccess &part) {
  switch (part.kind) {
  case RaceKind::Read:
    return "reads";
  case RaceKind::Write:
    return "writes";
  case RaceKind::Atomic:
    break;
  }
  return "updates";
}

bool WorkgroupRaces::report(Wave &wave, const MemoryAccess &access, const RaceAccess &part,
                            const RaceConflict &conflict) {
  std::string other = "other waves";
  if (conflict.wave)
    other = conflict.wave == wave.indexInWorkgroup ? "the same wave"
                                                   : formatv("wave {0}", *conflict.wave).str();
  std::string at;
  if (conflict.record) {
    uint64_t address = context->program.addressOf(conflict.record);
    at = formatv(" at {0:x} (+{1:x} from the entry): {2}", address, address - context->kernel.entry,
                 context->program.disassemble(address));
  }
  message = formatv("this {0} LDS byte {1}, which {2} {3}{4}; {5}", verbOf(part), conflict.address,
                    other, conflict.otherWrites ? "wrote" : "read", at,
                    conflict.wave == wave.indexInWorkgroup
                        ? "no wait is between the two, and loads to LDS are not in order with them"
                        : "no barrier with a wait for that before it is between the two");
  fail(wave, access.record, FaultKind::LdsRace, static_cast<int>(conflict.lane), conflict.address,
       part.bytes, part.kind != RaceKind::Read, message.c_str());
  return false;
}

bool WorkgroupRaces::report(Wave &wave, const MemoryAccess &access, const RaceAccess &part,
                            const GlobalRaceConflict &conflict) {
  if (conflict.otherLane) {
    message = formatv("lanes {0} and {1} of this store write different values to one address",
                      *conflict.otherLane, conflict.lane);
  } else {
    std::array<uint32_t, 3> group = context->workgroupAt(conflict.other.group);
    message =
        formatv("this {0} what wave {1} of workgroup ({2}, {3}, {4}) {5}, and neither happens "
                "before the other{6}",
                verbOf(part), conflict.other.wave, group[0], group[1], group[2],
                conflict.otherWrites ? "writes" : "reads",
                conflict.other.isUncovered
                    ? ": a later store that tells of it was issued with no wait between"
                    : "");
  }
  fail(wave, access.record, FaultKind::GlobalRace, static_cast<int>(conflict.lane),
       conflict.address, part.bytes, part.kind != RaceKind::Read, message.c_str());
  return false;
}

} // namespace wavetile::device
