//===- LaunchContext.cpp - What all workgroups of a launch share -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/LaunchContext.h"

#include "runtime/emulator/checks/WaveChecks.h"
#include "runtime/emulator/checks/WorkgroupRaces.h"
#include "runtime/emulator/counters/InstructionProfile.h"
#include "runtime/emulator/counters/Trace.h"

#include <algorithm>

namespace wavetile::device {

namespace {

/// The AQL dispatch packet, as far as kernels read it.
struct DispatchPacket {
  uint16_t header = 2;
  uint16_t setup = 3;
  uint16_t workgroupSize[3] = {};
  uint16_t reserved0 = 0;
  uint32_t gridSize[3] = {};
  uint32_t privateSegmentSize = 0;
  uint32_t groupSegmentSize = 0;
  uint64_t kernelObject = 0;
  uint64_t kernargAddress = 0;
  uint64_t reserved2 = 0;
  uint64_t completionSignal = 0;
};
static_assert(sizeof(DispatchPacket) == 64);

} // namespace

static uint32_t countWorkItems(const Launch &launch) {
  return launch.workgroupSize[0] * launch.workgroupSize[1] * launch.workgroupSize[2];
}

LaunchContext::LaunchContext(const Launch &launch)
    : launch(launch), kernel(*launch.kernel),
      program(static_cast<const DecodedProgram &>(*launch.program)), target(program.target()),
      waveSize(program.waveSize()), workItems(countWorkItems(launch)),
      waveCount((workItems + waveSize - 1) / waveSize),
      ldsBytes(kernel.groupSegmentSize + launch.dynamicLdsBytes),
      workgroupCount(uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2]) {
  static_assert(sizeof(DispatchPacket) == packetBytes);
  makeArguments();
  // Before the others: they ask which bytes of a load are undefined for a race.
  if (launch.checks.races())
    observers.add({WorkgroupRaces::observe, nullptr});
  if (launch.checks.any())
    observers.add({WaveChecks::observe, nullptr});
  // Accesses that a check finds at fault are not made.
  if (isProfiled())
    observers.add({InstructionProfile::observe, nullptr});
  if (launch.trace)
    trace = std::make_unique<Trace>(*launch.trace, launch);
}
LaunchContext::~LaunchContext() = default;

Trace *LaunchContext::traceOf(const std::array<uint32_t, 3> &group) const {
  return launch.trace && launch.trace->workgroup == group ? trace.get() : nullptr;
}

void LaunchContext::makeArguments() {
  size_t size = std::max<size_t>(kernel.kernargSize, launch.kernarg.size());
  size_t padded = (size + 63) / 64 * 64;
  arguments = allocateAligned<uint8_t>(padded + sizeof(DispatchPacket));
  // Beyond the arguments nothing is defined.
  std::fill_n(arguments.get(), padded, uint8_t(0xff));
  std::copy(launch.kernarg.begin(), launch.kernarg.end(), arguments.get());
  if (launch.checks.undefined) {
    definedArguments = allocateAligned<uint8_t>(padded + sizeof(DispatchPacket));
    std::fill_n(definedArguments.get(), padded + sizeof(DispatchPacket), uint8_t(0xff));
    std::fill_n(definedArguments.get() + size, padded - size, uint8_t(0));
  }
  uint64_t begin = reinterpret_cast<uint64_t>(arguments.get());
  packetAddress = begin + padded;
  DispatchPacket packet;
  for (unsigned i = 0; i < 3; ++i) {
    packet.workgroupSize[i] = static_cast<uint16_t>(launch.workgroupSize[i]);
    uint32_t missing = launch.remainder[i] ? launch.workgroupSize[i] - launch.remainder[i] : 0;
    packet.gridSize[i] = launch.grid[i] * launch.workgroupSize[i] - missing;
  }
  packet.privateSegmentSize = kernel.privateSegmentSize;
  packet.groupSegmentSize = ldsBytes;
  packet.kernargAddress = begin;
  std::copy_n(reinterpret_cast<const uint8_t *>(&packet), sizeof(packet), arguments.get() + padded);
}

Fault LaunchContext::makeFault(FaultKind kind) const {
  Fault fault;
  fault.kind = kind;
  fault.kernel = kernel.name;
  fault.instructionAddress = kernel.entry;
  return fault;
}

Fault LaunchContext::faultOf(const Wave &wave, const std::array<uint32_t, 3> &group) const {
  Fault fault = makeFault(wave.fault.kind);
  fault.instructionAddress = program.addressOf(wave.fault.record);
  fault.instruction = program.disassemble(fault.instructionAddress);
  fault.workgroup = group;
  fault.wave = wave.indexInWorkgroup;
  fault.lane = wave.fault.lane;
  fault.address = wave.fault.address;
  fault.bytes = wave.fault.bytes;
  fault.isStore = wave.fault.isStore;
  fault.isAtomic = wave.fault.isAtomic;
  fault.detail = wave.fault.detail;
  return fault;
}

std::optional<Fault> LaunchContext::refusal() const {
  Fault fault = makeFault(FaultKind::Refused);
  if (workItems == 0 || workItems > 1024)
    fault.detail = "a workgroup has 1 to 1024 work-items, not " + std::to_string(workItems);
  else if (ldsBytes > target.ldsBytes)
    fault.detail = "the workgroup needs " + std::to_string(ldsBytes) + " bytes of LDS; " +
                   target.name + " has " + std::to_string(target.ldsBytes);
  else if (kernel.waveSize() != waveSize)
    fault.detail = "the kernel is made for waves of " + std::to_string(kernel.waveSize()) +
                   " lanes; the code was decoded for waves of " + std::to_string(waveSize);
  else if (!program.recordAt(kernel.entry))
    fault.kind = FaultKind::BadProgramCounter;
  else
    return std::nullopt;
  return fault;
}

std::array<uint32_t, 3> LaunchContext::workgroupAt(uint64_t index) const {
  uint64_t x = launch.grid[0], y = launch.grid[1];
  return {static_cast<uint32_t>(index % x), static_cast<uint32_t>(index / x % y),
          static_cast<uint32_t>(index / x / y)};
}

std::array<uint32_t, 3> LaunchContext::sizeOf(const std::array<uint32_t, 3> &group) const {
  std::array<uint32_t, 3> size = launch.workgroupSize;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (launch.remainder[axis] != 0 && group[axis] == launch.grid[axis] - 1)
      size[axis] = launch.remainder[axis];
  return size;
}

uint32_t LaunchContext::waveCountOf(const std::array<uint32_t, 3> &group) const {
  std::array<uint32_t, 3> size = sizeOf(group);
  return (size[0] * size[1] * size[2] + waveSize - 1) / waveSize;
}

/// The SGPRs that the descriptor enables, in the order of the architecture.
void LaunchContext::setScalars(Wave &wave, const std::array<uint32_t, 3> &group) const {
  uint32_t next = 0;
  auto put64 = [&](uint64_t value) {
    wave.setScalar64(next, value);
    next += 2;
  };
  if (kernel.enablePrivateSegmentBuffer)
    next += 4;
  if (kernel.enableDispatchPtr)
    put64(packetAddress);
  if (kernel.enableQueuePtr)
    put64(0);
  if (kernel.enableKernargSegmentPtr)
    put64(argumentsBegin());
  if (kernel.enableDispatchId)
    put64(0);
  if (kernel.enableFlatScratchInit)
    put64(0);
  if (kernel.enablePrivateSegmentSize)
    wave.scalars[next++] = kernel.privateSegmentSize;
  for (uint32_t i = 0; i < kernel.kernargPreloadLength && next < 16; ++i) {
    size_t offset = 4 * size_t(kernel.kernargPreloadOffset + i);
    uint32_t value = 0;
    if (offset + 4 <= launch.kernarg.size())
      std::copy_n(arguments.get() + offset, 4, reinterpret_cast<uint8_t *>(&value));
    wave.scalars[next++] = value;
  }
  next = std::max(next, kernel.userSgprCount);
  if (target.encoding == Encoding::Gfx12) { // In registers of the trap handler, always.
    wave.scalars[scalar::Ttmp9] = group[0];
    wave.scalars[scalar::Ttmp7] = group[1] | group[2] << 16;
    wave.scalars[scalar::Ttmp8] = wave.indexInWorkgroup << 25;
    return;
  }
  if (kernel.enableWorkgroupIdX)
    wave.scalars[next++] = group[0];
  if (kernel.enableWorkgroupIdY)
    wave.scalars[next++] = group[1];
  if (kernel.enableWorkgroupIdZ)
    wave.scalars[next++] = group[2];
}

/// v0 of lane l: x, y and z of the work-item, 10 bits each.
void LaunchContext::setWorkItemIds(Wave &wave, const std::array<uint32_t, 3> &size) const {
  uint32_t width = size[0], height = size[1], items = size[0] * size[1] * size[2];
  uint32_t firstWorkItem = wave.indexInWorkgroup * waveSize;
  uint32_t *row = wave.vectorRow(0);
  uint32_t count = std::min(items - firstWorkItem, waveSize);
  uint32_t x = firstWorkItem % width, y = firstWorkItem / width % height;
  uint32_t z = firstWorkItem / width / height;
  for (uint32_t lane = 0; lane < count; ++lane) {
    row[lane] = x | y << 10 | z << 20;
    if (++x < width)
      continue;
    x = 0;
    if (++y == height)
      y = 0, ++z;
  }
  wave.setLaneMask(scalar::Exec, ~uint64_t(0) >> (64 - count));
}

void LaunchContext::setUp(Wave &wave, const std::array<uint32_t, 3> &group) const {
  wave.bases[1] = program.constantRows();
  wave.shift = waveSize == 64 ? 6 : 5;
  wave.waveSize = waveSize;
  wave.keptByHalfResult = target.clearsHighHalf ? 0 : 0xffff0000;
  wave.mode.set(kernel.modeBits());
  wave.pc = program.recordAt(kernel.entry);
  setScalars(wave, group);
  setWorkItemIds(wave, sizeOf(group));
}

} // namespace wavetile::device
