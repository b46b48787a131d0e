//===- LaneMemory.cpp - Loads and stores of all lanes of a wave -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/LaneMemory.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {

bool failAccess(Wave &wave, const Record *record, FaultKind kind, int32_t lane, uint64_t address,
                AccessForm form) {
  fail(wave, record, kind, lane, address, form.bytes, form.isStore());
  wave.fault.isAtomic = form.isAtomic();
  return false;
}

bool eachLaneAccessible(Wave &wave, const Record *record, LaneAddresses &lanes, AccessForm form) {
  GlobalMemory &memory = *wave.workgroup->memory;
  for (uint64_t mask = lanes.active; mask != 0; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    uint64_t address = lanes.address[lane];
    Access access = memory.check(record, address, form.bytes, form.isStore());
    if (access != Access::Allowed)
      return failAccess(wave, record,
                        access == Access::ReadOnly ? FaultKind::ReadOnly : FaultKind::OutOfBounds,
                        lane, address, form);
    uint64_t inside = memory.lastOf(record).end - address;
    if (inside < form.bytes) {
      lanes.overEnd |= uint64_t(1) << lane;
      lanes.lengths[lane] = static_cast<uint8_t>(inside);
    }
  }
  return true;
}

bool aligned(Wave &wave, const Record *record, const LaneAddresses &lanes, AccessForm form) {
  if (lanes.active == wave.allLanes()) {
    uint64_t bits = 0;
    for (unsigned lane = 0; lane < wave.waveSize; ++lane)
      bits |= lanes.address[lane];
    if ((bits & (form.alignment - 1)) == 0)
      return true;
  }
  for (uint64_t mask = lanes.active; mask != 0; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    if (lanes.address[lane] % form.alignment != 0)
      return failAccess(wave, record, FaultKind::Misaligned, lane, lanes.address[lane], form);
  }
  return true;
}

bool toLdsInBounds(Wave &wave, const Record *record, const LdsTarget &target) {
  // Offsets rise from lane to lane.
  if (uint64_t(target.base) + uint64_t(target.step) * maximumWaveSize <= wave.workgroup->ldsBytes)
    return true;
  for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
    int lane = __builtin_ctzll(mask);
    uint64_t offset = target.offset(static_cast<unsigned>(lane));
    if (offset + target.bytes <= wave.workgroup->ldsBytes)
      continue;
    fail(wave, record, FaultKind::LdsOutOfBounds, lane, offset, target.bytes, true);
    return false;
  }
  return true;
}

// --- Reports ---

static AccessScope scopeOf(const Record *record) {
  return static_cast<AccessScope>(record->modifiers >> modifier::scopeShift & 3);
}

static Operand registersAfter(Operand operand, unsigned count) {
  return operand.kind() == OperandKind::None ? operand
                                             : Operand(operand.kind(), operand.index() + count);
}

static MemoryAccess accessOf(const Wave &wave, const Record *record, AccessForm form) {
  MemoryAccess access;
  access.record = record;
  access.kind = form.kind;
  access.scope = scopeOf(record);
  access.placement = form.placement;
  access.bytes = form.bytes;
  access.registers = form.registers ? form.registers : static_cast<uint8_t>((form.bytes + 3) / 4);
  access.elementBits = form.elementBits;
  if (form.kind == AccessKind::Load)
    access.data = record->destination;
  else if (form.kind != AccessKind::LoadToLds && form.source != AccessForm::noSource)
    access.data = record->sources[form.source];
  if (form.kind == AccessKind::AtomicReturning)
    access.result = record->destination;
  if (form.kind == AccessKind::LoadToLds) {
    bool isConverted = form.placement == DataPlacement::Converted;
    LdsTarget target(wave, record, isConverted ? 4 : form.bytes);
    access.ldsStep = target.step;
    access.ldsBytes = target.bytes;
    access.ldsOffset = target.base;
  }
  // Exchanges of two words have their data in two operands, and one result.
  if (form.kind == AccessKind::AtomicReturning)
    access.result = registersAfter(access.result, form.part);
  else
    access.data = registersAfter(access.data, form.part);
  if (form.comparison == AccessForm::registersAfter)
    access.comparison = registersAfter(access.data, access.registers);
  else if (form.comparison != 0)
    access.comparison = record->sources[form.comparison];
  return access;
}

bool reportGlobal(Wave &wave, const Record *record, const LaneAddresses &lanes, AccessForm form) {
  MemoryAccess access = accessOf(wave, record, form);
  access.active = lanes.active;
  access.partial = lanes.partial;
  access.zeroed = form.isStore() && form.kind != AccessKind::AtomicReturning ? 0 : lanes.outside;
  access.overEnd = lanes.overEnd;
  access.lengths = lanes.lengths;
  access.addresses = lanes.address;
  access.contiguous =
      lanes.active == wave.allLanes() && isContiguous(lanes, wave.waveSize, form.bytes);
  if (lanes.partial == 0)
    access.allocation = lanes.allocation;
  return wave.observers->report(wave, access);
}

bool reportOffsets(Wave &wave, const Record *record, AccessSpace space, const uint32_t *offsets,
                   uint32_t offset, uint64_t active, AccessForm form) {
  MemoryAccess access = accessOf(wave, record, form);
  access.space = space;
  access.active = active;
  access.offsets = offsets;
  access.offset = offset;
  if (space == AccessSpace::Lds && offsets && active == wave.allLanes()) {
    uint32_t different = 0;
    for (uint32_t lane = 0; lane < wave.waveSize; ++lane)
      different |= offsets[lane] ^ (offsets[0] + lane * form.bytes);
    access.contiguous = different == 0;
  }
  return wave.observers->report(wave, access);
}

bool reportScalar(Wave &wave, const Record *record, uint64_t address, uint32_t bytes,
                  DataPlacement placement, uint32_t inRange) {
  MemoryAccess access = accessOf(wave, record, {AccessKind::Load, placement, bytes});
  uint8_t length = static_cast<uint8_t>(inRange);
  access.space = AccessSpace::Constant;
  access.addresses = &address;
  access.lengths = &length;
  (inRange == bytes ? access.active : inRange ? access.partial : access.zeroed) = 1;
  const Allocation &last = wave.workgroup->memory->lastOf(record);
  if (inRange != 0 && last.contains(address, 1)) {
    access.allocation = &last;
    if (uint64_t inside = last.end - address; inside < inRange) {
      access.overEnd = 1;
      length = static_cast<uint8_t>(inside);
    }
  }
  return wave.observers->report(wave, access);
}

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
