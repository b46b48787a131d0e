//===- Execute.cpp - Launches, workgroups and the execution loop ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workgroups run one after the other in linear order, the waves of one in turns: each runs until it
// ends, faults or reaches a barrier, and a barrier opens when all waves that have not ended wait at
// it.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Wave.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace wavetile::device {

llvm::StringRef name(InstructionClass c) {
  switch (c) {
  case InstructionClass::ScalarAlu:
    return "scalar ALU";
  case InstructionClass::ScalarMemory:
    return "scalar memory";
  case InstructionClass::Branch:
    return "branch";
  case InstructionClass::Wait:
    return "wait";
  case InstructionClass::VectorAlu:
    return "vector ALU";
  case InstructionClass::Transcendental:
    return "transcendental";
  case InstructionClass::Matrix:
    return "matrix";
  case InstructionClass::Lds:
    return "LDS";
  case InstructionClass::GlobalLoad:
    return "global load";
  case InstructionClass::GlobalStore:
    return "global store";
  case InstructionClass::GlobalAtomic:
    return "global atomic";
  case InstructionClass::Scratch:
    return "scratch";
  case InstructionClass::Count:
    break;
  }
  return "";
}

llvm::StringRef name(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds:
    return "access out of bounds";
  case FaultKind::ReadOnly:
    return "store to read-only memory";
  case FaultKind::Misaligned:
    return "misaligned access";
  case FaultKind::LdsOutOfBounds:
    return "LDS access out of bounds";
  case FaultKind::ScratchOutOfBounds:
    return "scratch access out of bounds";
  case FaultKind::BadProgramCounter:
    return "jump to an address that is no instruction";
  case FaultKind::BarrierMismatch:
    return "barrier that not every wave reaches";
  case FaultKind::Trap:
    return "trap";
  case FaultKind::InstructionLimit:
    return "instruction limit reached";
  case FaultKind::Refused:
    return "unsupported instruction";
  }
  return "";
}

Counters &Counters::operator+=(const Counters &other) {
  for (size_t i = 0; i < instructions.size(); ++i)
    instructions[i] += other.instructions[i];
  bytesLoaded += other.bytesLoaded;
  bytesStored += other.bytesStored;
  waves += other.waves;
  workgroups += other.workgroups;
  return *this;
}

const Record *fail(Wave &wave, const Record *record, FaultKind kind, int32_t lane, uint64_t address,
                   uint32_t bytes, bool isStore, const char *detail) {
  wave.status = WaveStatus::Faulted;
  wave.pc = record;
  wave.fault = {kind, record, lane, address, bytes, isStore, detail};
  return nullptr;
}

void applyMode(const Mode &mode) {
#if defined(__x86_64__)
  // All exceptions masked, to nearest even; flush to zero and denormals are zero together.
  _mm_setcsr(mode.flush32 ? 0x9fc0 : 0x1f80);
#else
  (void)mode;
#endif
}

namespace {

/// Memory aligned for vector code, whose contents are undefined.
struct AlignedFree {
  void operator()(void *memory) const { std::free(memory); }
};
template <typename T> using AlignedArray = std::unique_ptr<T[], AlignedFree>;
template <typename T> AlignedArray<T> allocateAligned(size_t count) {
  size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
  return AlignedArray<T>(static_cast<T *>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
}

/// Keeps the host's floating-point control for as long as a launch changes it.
class HostFloatControl {
public:
#if defined(__x86_64__)
  HostFloatControl() : saved(_mm_getcsr()) {}
  ~HostFloatControl() { _mm_setcsr(saved); }

private:
  unsigned saved;

public:
#else
  HostFloatControl() {}
#endif
  HostFloatControl(const HostFloatControl &) = delete;
  HostFloatControl &operator=(const HostFloatControl &) = delete;
};

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

/// One launch while it runs.
class Execution {
public:
  Execution(const Launch &launch, const MemoryMap &map)
      : launch(launch), kernel(*launch.kernel),
        program(static_cast<const DecodedProgram &>(*launch.program)), target(program.target()),
        memory(makeArguments(map)), budget(launch.instructionLimit) {
    workItems = launch.workgroupSize[0] * launch.workgroupSize[1] * launch.workgroupSize[2];
    waveCount = (workItems + target.waveSize - 1) / target.waveSize;
    ldsBytes = kernel.groupSegmentSize + launch.dynamicLdsBytes;
  }

  LaunchResult run();

private:
  GlobalMemory makeArguments(const MemoryMap &map);
  std::optional<Fault> checkLaunch() const;
  void allocate();
  void startWave(Wave &wave, uint32_t index, const std::array<uint32_t, 3> &group);
  void setScalars(Wave &wave, const std::array<uint32_t, 3> &group);
  void setWorkItemIds(Wave &wave, uint32_t firstWorkItem);
  bool runWorkgroup(const std::array<uint32_t, 3> &group);
  void runWave(Wave &wave);
  void reportFault(const Wave &wave, const std::array<uint32_t, 3> &group);
  bool openBarrier();

  const Launch &launch;
  const KernelDescriptor &kernel;
  const DecodedProgram &program;
  const TargetDescription &target;

  AlignedArray<uint8_t> arguments; ///< Kernel arguments, then the dispatch packet.
  uint64_t packetAddress = 0;
  GlobalMemory memory;
  uint32_t workItems = 0;
  uint32_t waveCount = 0;
  uint32_t ldsBytes = 0;
  AlignedArray<uint8_t> lds;
  AlignedArray<uint8_t> scratch;
  std::vector<AlignedArray<uint32_t>> registers;
  AlignedArray<Wave> waves;
  Workgroup workgroup;
  uint64_t budget;
  LaunchResult result;
};

GlobalMemory Execution::makeArguments(const MemoryMap &map) {
  size_t size = std::max<size_t>(kernel.kernargSize, launch.kernarg.size());
  size_t padded = (size + 63) / 64 * 64;
  arguments = allocateAligned<uint8_t>(padded + sizeof(DispatchPacket));
  // Beyond the arguments nothing is defined.
  std::fill_n(arguments.get(), padded, uint8_t(0xff));
  std::copy(launch.kernarg.begin(), launch.kernarg.end(), arguments.get());
  uint64_t begin = reinterpret_cast<uint64_t>(arguments.get());
  packetAddress = begin + padded;
  DispatchPacket packet;
  for (unsigned i = 0; i < 3; ++i) {
    packet.workgroupSize[i] = static_cast<uint16_t>(launch.workgroupSize[i]);
    packet.gridSize[i] = launch.grid[i] * launch.workgroupSize[i];
  }
  packet.privateSegmentSize = kernel.privateSegmentSize;
  packet.groupSegmentSize = kernel.groupSegmentSize + launch.dynamicLdsBytes;
  packet.kernargAddress = begin;
  std::copy_n(reinterpret_cast<const uint8_t *>(&packet), sizeof(packet), arguments.get() + padded);
  return GlobalMemory(map, begin, packetAddress + sizeof(packet));
}

std::optional<Fault> Execution::checkLaunch() const {
  Fault fault;
  fault.kind = FaultKind::Refused;
  fault.kernel = kernel.name;
  fault.instructionAddress = kernel.entry;
  if (workItems == 0 || workItems > 1024)
    fault.detail = "a workgroup has 1 to 1024 work-items, not " + std::to_string(workItems);
  else if (ldsBytes > target.ldsBytes)
    fault.detail = "the workgroup needs " + std::to_string(ldsBytes) + " bytes of LDS; " +
                   target.name + " has " + std::to_string(target.ldsBytes);
  else if (kernel.wave32 != (target.waveSize == 32))
    fault.detail = std::string("the kernel is made for waves of ") + (kernel.wave32 ? "32" : "64") +
                   " lanes; those of " + target.name + " have " + std::to_string(target.waveSize);
  else if (kernel.floatRoundMode32 != 0 || kernel.floatRoundMode16_64 != 0)
    fault.detail = "only rounding to nearest even is supported";
  else if (!program.recordAt(kernel.entry))
    fault.kind = FaultKind::BadProgramCounter;
  else
    return std::nullopt;
  return fault;
}

void Execution::allocate() {
  lds = allocateAligned<uint8_t>(ldsBytes);
  scratch =
      allocateAligned<uint8_t>(size_t(kernel.privateSegmentSize) * target.waveSize * waveCount);
  waves = allocateAligned<Wave>(waveCount);
  for (uint32_t i = 0; i < waveCount; ++i) {
    registers.push_back(allocateAligned<uint32_t>(size_t(vectorRows) * target.waveSize));
    // Undefined at the start: NaN in every format makes a use of it visible.
    std::fill_n(registers.back().get(), size_t(vectorRows) * target.waveSize, ~0u);
  }
  workgroup.lds = lds.get();
  workgroup.ldsBytes = ldsBytes;
  workgroup.memory = &memory;
  workgroup.program = &program;
  workgroup.bytesLoaded = &result.counters.bytesLoaded;
  workgroup.bytesStored = &result.counters.bytesStored;
}

/// The SGPRs that the descriptor enables, in the order of the architecture.
void Execution::setScalars(Wave &wave, const std::array<uint32_t, 3> &group) {
  uint32_t next = 0;
  uint64_t argumentAddress = reinterpret_cast<uint64_t>(arguments.get());
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
    put64(argumentAddress);
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
  if (kernel.enableWorkgroupIdX)
    wave.scalars[next++] = group[0];
  if (kernel.enableWorkgroupIdY)
    wave.scalars[next++] = group[1];
  if (kernel.enableWorkgroupIdZ)
    wave.scalars[next++] = group[2];
}

/// v0 of lane l: x, y and z of the work-item, 10 bits each.
void Execution::setWorkItemIds(Wave &wave, uint32_t firstWorkItem) {
  uint32_t width = launch.workgroupSize[0], height = launch.workgroupSize[1];
  uint32_t *row = wave.vectorRow(0);
  uint64_t exec = 0;
  for (uint32_t lane = 0; lane < target.waveSize; ++lane) {
    uint32_t item = firstWorkItem + lane;
    if (item >= workItems)
      break;
    exec |= uint64_t(1) << lane;
    row[lane] = item % width | item / width % height << 10 | item / width / height << 20;
  }
  wave.setLaneMask(scalar::Exec, exec);
}

void Execution::startWave(Wave &wave, uint32_t index, const std::array<uint32_t, 3> &group) {
  new (&wave) Wave;
  wave.bases[0] = registers[index].get();
  wave.bases[1] = program.constantRows();
  wave.shift = target.waveSize == 64 ? 6 : 5;
  wave.waveSize = target.waveSize;
  wave.keptByHalfResult = target.clearsHighHalf ? 0 : 0xffff0000;
  wave.mode.ieee = kernel.ieeeMode;
  wave.mode.dx10Clamp = kernel.dx10Clamp;
  wave.mode.flush32 = kernel.floatDenormMode32 == 0;
  wave.mode.flush16_64 = kernel.floatDenormMode16_64 == 0;
  wave.workgroup = &workgroup;
  wave.scratchBytes = kernel.privateSegmentSize;
  wave.scratch = scratch.get() + size_t(index) * kernel.privateSegmentSize * target.waveSize;
  wave.indexInWorkgroup = index;
  wave.pc = program.recordAt(kernel.entry);
  setScalars(wave, group);
  setWorkItemIds(wave, index * target.waveSize);
}

void Execution::runWave(Wave &wave) {
  applyMode(wave.mode);
  const Record *record = wave.pc;
  uint64_t *counts = result.counters.instructions.data();
  while (true) {
    if (budget-- == 0) {
      budget = 0;
      fail(wave, record, FaultKind::InstructionLimit, -1, 0, 0, false);
      return;
    }
    ++counts[record->instructionClass];
    const Record *next = record->execute(wave, record);
    if (!next)
      return;
    record = next;
  }
}

void Execution::reportFault(const Wave &wave, const std::array<uint32_t, 3> &group) {
  Fault fault;
  fault.kind = wave.fault.kind;
  fault.kernel = kernel.name;
  fault.instructionAddress = program.addressOf(wave.fault.record);
  fault.instruction = program.disassemble(fault.instructionAddress);
  fault.workgroup = group;
  fault.wave = wave.indexInWorkgroup;
  fault.lane = wave.fault.lane;
  fault.address = wave.fault.address;
  fault.bytes = wave.fault.bytes;
  fault.isStore = wave.fault.isStore;
  fault.detail = wave.fault.detail;
  result.fault = std::move(fault);
}

/// Lets all waves go on that wait at the barrier. False: none waits, all have ended.
bool Execution::openBarrier() {
  bool anyWaits = false;
  for (uint32_t i = 0; i < waveCount; ++i) {
    if (waves[i].status != WaveStatus::AtBarrier)
      continue;
    waves[i].status = WaveStatus::Ready;
    anyWaits = true;
  }
  return anyWaits;
}

bool Execution::runWorkgroup(const std::array<uint32_t, 3> &group) {
  std::copy(group.begin(), group.end(), workgroup.id);
  // LDS is undefined at the start.
  std::fill_n(lds.get(), ldsBytes, uint8_t(0xff));
  for (uint32_t i = 0; i < waveCount; ++i)
    startWave(waves[i], i, group);
  result.counters.waves += waveCount;
  ++result.counters.workgroups;
  do {
    for (uint32_t i = 0; i < waveCount; ++i) {
      if (waves[i].status != WaveStatus::Ready)
        continue;
      runWave(waves[i]);
      if (waves[i].status == WaveStatus::Faulted) {
        reportFault(waves[i], group);
        return false;
      }
    }
  } while (openBarrier());
  return true;
}

LaunchResult Execution::run() {
  result.fault = checkLaunch();
  if (result.fault)
    return std::move(result);
  allocate();
  HostFloatControl control;
  std::array<uint32_t, 3> group{};
  for (group[2] = 0; group[2] < launch.grid[2]; ++group[2])
    for (group[1] = 0; group[1] < launch.grid[1]; ++group[1])
      for (group[0] = 0; group[0] < launch.grid[0]; ++group[0])
        if (!runWorkgroup(group))
          return std::move(result);
  return std::move(result);
}

} // namespace

LaunchResult run(const Launch &launch, const MemoryMap &memory) {
  return Execution(launch, memory).run();
}

} // namespace wavetile::device
