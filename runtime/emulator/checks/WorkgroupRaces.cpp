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
  lds.start(checksLds ? group.ldsBytes : 0, launch.program.allRecords().data());
  waves.resize(group.waveCount);
  for (WaveState &wave : waves) {
    wave.outstanding.clear();
    wave.global = GlobalRaceWave();
    wave.global.group = index;
  }
  raced.lanes = 0;
  racedLoads.clear();
  group.races = this;
}

bool WorkgroupRaces::observe(void *, Wave &wave, const MemoryAccess &access) {
  WorkgroupRaces *races = wave.workgroup->races;
  return !races || races->access(wave, access);
}

bool WorkgroupRaces::access(Wave &wave, const MemoryAccess &reported) {
  WaveState &state = waves[wave.indexInWorkgroup];
  state.outstanding.makeRoom();
  RaceAccess *const parts[] = {&state.outstanding.room(0), &state.outstanding.room(1)};
  unsigned count = splitAccess(wave, reported, parts);
  raced.lanes = 0;
  for (unsigned i = 0; i < count; ++i) {
    RaceAccess &part = *parts[i];
    if (part.isLds ? !checksLds : !global)
      continue;
    if (part.isLds) {
      if (auto conflict = lds.access(wave, reported, part, state.outstanding))
        return report(wave, reported, part, *conflict);
    } else if (auto conflict =
                   global->access(wave, state.global, reported, part, state.outstanding, raced)) {
      return report(wave, reported, part, *conflict);
    }
    if (!part.isLds && GlobalRaces::releases(part))
      for (size_t other = 0; other < waves.size(); ++other)
        if (other != wave.indexInWorkgroup)
          global->arrived(wave.workgroup->waves[other], waves[other].global,
                          waves[other].outstanding);
    if (raced.lanes)
      racedLoads[reported.record] = raced.conflict;
  }
  // The parts of one instruction are over together. Whether a load from global memory is does not
  // matter.
  auto isKept = [&](const RaceAccess &part) {
    return part.isLds ? checksLds : global && part.kind != RaceKind::Read;
  };
  PendingOperation *operation = wave.checks->operationOf(reported);
  if (!operation)
    return true;
  for (unsigned i = 0; i < count; ++i) {
    if (!isKept(*parts[i]))
      continue;
    if (operation->raceNumber == 0)
      operation->raceNumber = state.outstanding.issue();
    // Where the first part is not kept, the second takes its place.
    if (RaceAccess &room = state.outstanding.room(0); &room != parts[i])
      room = *parts[i];
    state.outstanding.add(operation->raceNumber);
  }
  return true;
}

void WorkgroupRaces::invalidateCache(const Wave &wave, bool isScalar) {
  GlobalRaceWave &state = waves[wave.indexInWorkgroup].global;
  if (global && isScalar)
    global->invalidateScalarCache(state);
  else if (global)
    global->invalidateCaches(state);
}

void WorkgroupRaces::arrived(const Wave &wave) {
  WaveState &state = waves[wave.indexInWorkgroup];
  if (checksLds)
    lds.arrived(wave, state.outstanding);
  if (global)
    global->arrived(wave, state.global, state.outstanding);
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

std::string WorkgroupRaces::describeOther(const GlobalRaceConflict &conflict) const {
  std::array<uint32_t, 3> group = context->workgroupAt(conflict.other.group);
  std::string how = ", and neither happens before the other";
  if (conflict.stale == StaleCache::Scalar)
    how = " before it, and no s_dcache_inv is between: the scalar cache may have what was there "
          "before";
  else if (conflict.stale == StaleCache::Vector)
    how = " before it, and its workgroup has not invalidated its caches since it learned of that "
          "(buffer_inv, buffer_gl0_inv, global_inv): they may have what was there before";
  else if (conflict.stale == StaleCache::NotWrittenBack)
    how = " before it, and did not write its caches back before it told of that (buffer_wbl2 sc1 "
          "and a wait): other workgroups may not see it";
  else if (conflict.other.isUncovered)
    how += ": what tells of it was issued with no wait between";
  if (conflict.isOfOtherGroup)
    return "another workgroup reads" + how;
  return formatv("wave {0} of workgroup ({1}, {2}, {3}) {4}{5}", conflict.other.wave, group[0],
                 group[1], group[2], conflict.otherWrites ? "writes" : "reads", how);
}

std::string WorkgroupRaces::describeRaced(const Record *load) const {
  auto found = racedLoads.find(load);
  return found == racedLoads.end() ? "another wave writes" : describeOther(found->second);
}

bool WorkgroupRaces::report(Wave &wave, const MemoryAccess &access, const RaceAccess &part,
                            const GlobalRaceConflict &conflict) {
  if (conflict.otherLane) {
    message = formatv("lanes {0} and {1} of this store write different values to one address",
                      *conflict.otherLane, conflict.lane);
  } else {
    message = formatv("this {0} what {1}", verbOf(part), describeOther(conflict));
  }
  fail(wave, access.record, FaultKind::GlobalRace, static_cast<int>(conflict.lane),
       conflict.address, part.bytes, part.kind != RaceKind::Read, message.c_str());
  return false;
}

} // namespace wavetile::device
