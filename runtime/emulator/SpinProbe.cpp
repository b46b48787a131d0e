//===- SpinProbe.cpp - Finds waves that run in circles ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/SpinProbe.h"

#include "runtime/emulator/ExecuteStep.h"

#include <cstring>

namespace wavetile::device {

//===----------------------------------------------------------------------===//
// Changes of memory
//===----------------------------------------------------------------------===//

AccessObserver MemoryChangeWatch::observer() { return {note, this}; }

void MemoryChangeWatch::keep(const void *bytes, size_t count) {
  auto *at = static_cast<const uint8_t *>(bytes);
  pieces.push_back({at, count});
  before.insert(before.end(), at, at + count);
}

/// The host address of a lane's access.
static const uint8_t *hostAddress(const Wave &wave, const MemoryAccess &access, unsigned lane) {
  uint32_t offset = access.offset + (access.offsets ? access.offsets[lane] : 0);
  switch (access.space) {
  case AccessSpace::Lds:
    return wave.workgroup->lds + offset;
  case AccessSpace::Scratch:
    return wave.scratchByte(lane, offset);
  case AccessSpace::Global:
  case AccessSpace::Constant:
    break;
  }
  return reinterpret_cast<const uint8_t *>(access.addresses[lane]);
}

bool MemoryChangeWatch::note(void *self, Wave &wave, const MemoryAccess &access) {
  auto &watch = *static_cast<MemoryChangeWatch *>(self);
  if (access.kind == AccessKind::Load)
    return true;
  uint64_t lanes = access.active | access.partial;
  bool toLds = access.kind == AccessKind::LoadToLds;
  if (toLds)
    lanes |= access.zeroed;
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctzll(lanes));
    if (toLds)
      watch.keep(wave.workgroup->lds + access.ldsOffset + size_t(lane) * access.ldsStep,
                 access.ldsBytes);
    else if (access.space == AccessSpace::Scratch)
      for (uint32_t i = 0; i < access.bytes; ++i) // The lane's dwords lie apart.
        watch.keep(
            wave.scratchByte(lane, access.offset + i + (access.offsets ? access.offsets[lane] : 0)),
            1);
    else
      watch.keep(hostAddress(wave, access, lane),
                 access.partial >> lane & 1 ? access.lengths[lane] : access.bytes);
  }
  return true;
}

bool MemoryChangeWatch::changed() {
  bool different = false;
  const uint8_t *old = before.data();
  for (const Piece &piece : pieces) {
    different |= std::memcmp(piece.at, old, piece.count) != 0;
    old += piece.count;
  }
  pieces.clear();
  before.clear();
  return different;
}

//===----------------------------------------------------------------------===//
// The state of a wave
//===----------------------------------------------------------------------===//

void SpinProbe::takeSnapshot(const Wave &wave, const Record *pc) {
  snapshotPc = pc;
  snapshotMode = wave.mode;
  std::memcpy(snapshotScalars, wave.scalars, sizeof(snapshotScalars));
  size_t vgprs = rowWords(context.vgprRows()), agprs = rowWords(context.agprRows());
  snapshotRows.resize(vgprs + agprs);
  std::memcpy(snapshotRows.data(), wave.vectorRow(0), vgprs * sizeof(uint32_t));
  std::memcpy(snapshotRows.data() + vgprs, wave.vectorRow(firstAccumulationRow),
              agprs * sizeof(uint32_t));
}

bool SpinProbe::isSnapshot(const Wave &wave) const {
  size_t vgprs = rowWords(context.vgprRows()), agprs = rowWords(context.agprRows());
  return wave.mode == snapshotMode &&
         std::memcmp(snapshotScalars, wave.scalars, sizeof(snapshotScalars)) == 0 &&
         std::memcmp(snapshotRows.data(), wave.vectorRow(0), vgprs * sizeof(uint32_t)) == 0 &&
         std::memcmp(snapshotRows.data() + vgprs, wave.vectorRow(firstAccumulationRow),
                     agprs * sizeof(uint32_t)) == 0;
}

SpinProbe::Outcome SpinProbe::run(Wave &wave, uint64_t instructions, uint64_t *classes,
                                  uint64_t &executed) {
  AccessObservers none;
  const AccessObservers *usual = wave.observers;
  AccessObservers watched = usual ? *usual : none;
  watched.add(watch.observer());
  wave.observers = &watched;
  wave.readsClock = false;

  // As Brent finds cycles: the snapshot is taken anew after twice the steps of the last time.
  Outcome outcome = Outcome::Goes;
  uint64_t distance = 64, sinceSnapshot = 0;
  const Record *record = wave.pc;
  takeSnapshot(wave, record);
  for (executed = 0; executed < instructions;) {
    ++executed;
    const Record *following = withStepsOf(wave, [&]<bool isChecked, bool isProfiled>() {
      return executeStep<isChecked, isProfiled>(wave, record, classes);
    });
    bool moved = watch.changed() || wave.readsClock;
    // Giving the turn up can be part of the circle.
    bool gaveUp = !following && wave.status == WaveStatus::Ready;
    if (!following && !gaveUp) {
      outcome = Outcome::Stopped;
      break;
    }
    record = gaveUp ? wave.pc : following;
    if (moved)
      break;
    if (record == snapshotPc && isSnapshot(wave)) {
      outcome = Outcome::Repeats;
      break;
    }
    if (++sinceSnapshot == distance) {
      distance *= 2;
      sinceSnapshot = 0;
      takeSnapshot(wave, record);
    }
  }
  if (outcome != Outcome::Stopped)
    wave.pc = record;
  wave.observers = usual;
  return outcome;
}

} // namespace wavetile::device
