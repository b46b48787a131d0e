//===- DeviceRun.cpp - The device, from a state of the reference ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/DeviceRun.h"

#include "runtime/emulator/Target.h"

#include <cstring>
#include <sstream>

namespace wavetile::reference {

using namespace device;

DeviceRun::DeviceRun(const TargetDescription &target, unsigned waveSize)
    : target(target), global(globalBytes / 8), memory(map, 0, 0),
      wave(waveSize, target.clearsHighHalf) {
  Allocation allocation;
  allocation.begin = reinterpret_cast<uint64_t>(global.data());
  allocation.end = allocation.begin + globalBytes;
  allocation.source = BoundsSource::Device;
  map.add(allocation, "memory of the comparison");
  scratch.resize(scratchBytes / 4 * waveSize);
  wave->scratch = reinterpret_cast<uint8_t *>(scratch.data());
  wave->scratchBytes = scratchBytes;
  wave->mode.ieee = emptyState().ieee;
  workgroup.memory = &memory;
  workgroup.bytesLoaded = &bytes[0];
  workgroup.bytesStored = &bytes[1];
  workgroup.waves = &*wave;
  workgroup.waveCount = 1;
  wave->workgroup = &workgroup;
}

Wave DeviceRun::emptyState() const {
  Wave state;
  state.size = wave->waveSize;
  state.isGfx9 = target.clearsHighHalf;
  state.isGfx12 = target.encoding == Encoding::Gfx12;
  state.ieee = !state.isGfx12; // It has no such mode: a number always wins.
  state.fnuz = target.float8 == Float8::Fnuz;
  state.memory.globalAddress = reinterpret_cast<uint64_t>(global.data());
  return state;
}

void DeviceRun::use(const DecodedProgram &program) {
  wave->bases[1] = program.constantRows();
  workgroup.program = &program;
}

void DeviceRun::load(const Wave &before) {
  for (unsigned i = 0; i < 256; ++i)
    std::memcpy(wave->vectorRow(i), before.vectors[i].data(), 4 * before.size);
  for (unsigned i = 0; i < scalarnumber::Count; ++i)
    wave->scalars[i] = before.scalars[i];
  wave->scalars[scalar::Scc] = before.scc;
  wave->execRowValue = ~wave->exec();
  if (before.memory.global.empty())
    return;
  for (unsigned i = 0; i < 256; ++i)
    std::memcpy(wave->vectorRow(firstAccumulationRow + i), before.accumulators[i].data(),
                4 * before.size);
  std::memcpy(global.data(), before.memory.global.data(), globalBytes);
  lds = before.memory.lds;
  workgroup.lds = lds.data();
  workgroup.ldsBytes = static_cast<uint32_t>(lds.size());
  for (unsigned lane = 0; lane < before.size; ++lane)
    for (unsigned at = 0; at < scratchBytes; at += 4)
      std::memcpy(wave->scratchByte(lane, at), before.memory.scratch[lane].data() + at, 4);
}

std::string DeviceRun::outcome(const Wave &before, const Wave &expected, const Record *record,
                               const Record *end, Step step) {
  load(before);
  while (record && record != end)
    record = step(*wave, record);
  if (record)
    return difference(before, expected);
  std::ostringstream out;
  out << "the device stopped: " << name(wave->fault.kind).str() << " " << wave->fault.detail
      << " at lane " << wave->fault.lane << " and " << std::hex << wave->fault.address << " of "
      << workgroup.program->disassemble(workgroup.program->addressOf(wave->fault.record));
  wave->status = WaveStatus::Ready;
  return out.str();
}

std::string DeviceRun::difference(const Wave &before, const Wave &expected) const {
  std::ostringstream out;
  auto compareFile = [&](const auto &was, const auto &should, unsigned first, const char *file) {
    for (unsigned i = 0; i < 256 && out.str().empty(); ++i) {
      const uint32_t *row = wave->vectorRow(first + i);
      if (std::memcmp(row, should[i].data(), 4 * before.size) == 0)
        continue;
      unsigned lane = 0;
      while (row[lane] == should[i][lane])
        ++lane;
      out << file << i << " lane " << lane << std::hex << ": 0x" << row[lane]
          << ", the reference says 0x" << should[i][lane] << ", it was 0x" << was[i][lane];
    }
  };
  compareFile(before.vectors, expected.vectors, 0, "v");
  bool hasMemory = !before.memory.global.empty();
  if (hasMemory)
    compareFile(before.accumulators, expected.accumulators, firstAccumulationRow, "a");
  for (unsigned i = 0; i < scalarnumber::Count && out.str().empty(); ++i)
    if (wave->scalars[i] != expected.scalars[i])
      out << "scalar " << i << std::hex << ": 0x" << wave->scalars[i] << ", the reference says 0x"
          << expected.scalars[i] << ", it was 0x" << before.scalars[i];
  if (out.str().empty() && wave->scalars[scalar::Scc] != static_cast<uint32_t>(expected.scc))
    out << "scc is " << wave->scalars[scalar::Scc];
  return out.str().empty() && hasMemory ? memoryDifference(expected) : out.str();
}

std::string DeviceRun::memoryDifference(const Wave &expected) const {
  std::ostringstream out;
  auto compareBytes = [&](const uint8_t *is, const std::vector<uint8_t> &should, const char *what) {
    if (!out.str().empty() || std::memcmp(is, should.data(), should.size()) == 0)
      return;
    size_t at = 0;
    while (is[at] == should[at])
      ++at;
    out << what << " byte " << at << ": " << unsigned(is[at]) << ", the reference says "
        << unsigned(should[at]);
  };
  compareBytes(reinterpret_cast<const uint8_t *>(global.data()), expected.memory.global, "global");
  compareBytes(lds.data(), expected.memory.lds, "LDS");
  for (unsigned lane = 0; lane < expected.size; ++lane)
    for (unsigned at = 0; at < scratchBytes; at += 4)
      if (std::memcmp(wave->scratchByte(lane, at), expected.memory.scratch[lane].data() + at, 4) !=
          0) {
        out << "scratch of lane " << lane << " byte " << at;
        return out.str();
      }
  return out.str();
}

} // namespace wavetile::reference
