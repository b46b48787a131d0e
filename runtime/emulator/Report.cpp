//===- Report.cpp - Faults of kernels as text -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Report.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace wavetile::device {

/// An allocation further away than this, and than its own size, has nothing to do with an access.
static constexpr uint64_t nearBytes = uint64_t(1) << 20;

static StringRef describe(BoundsSource source) {
  switch (source) {
  case BoundsSource::Device:
    return "the device's own";
  case BoundsSource::Registered:
    return "registered by hipHostRegister";
  case BoundsSource::Announced:
    return "announced by the caller";
  case BoundsSource::Recorded:
    return "recorded when it was allocated";
  case BoundsSource::Mapping:
    return "bounds unknown";
  }
  return "";
}

static std::string counted(uint64_t bytes) {
  return formatv("{0} byte{1}", bytes, bytes == 1 ? "" : "s");
}

std::string describeAccess(const MemoryMap &memory, uint64_t address, uint64_t bytes) {
  if (address < 4096)
    return "the address is null or nearly so";
  std::optional<Allocation> allocation = memory.nearest(address);
  uint64_t end = address + bytes;
  if (allocation) {
    uint64_t gap = address < allocation->begin ? allocation->begin - address
                   : address < allocation->end ? 0
                                               : address - allocation->end;
    if (gap > std::max(nearBytes, allocation->size()))
      allocation = std::nullopt;
  }
  if (!allocation) {
    if (std::optional<Allocation> mapping = memory.find(address))
      return formatv("in mapped memory {0} whose bounds are unknown",
                     memory.name(mapping->identifier));
    return memory.isMapped(address, bytes) ? "in memory of this process that no argument names"
                                           : "no memory is mapped there";
  }
  std::string name = allocation->source == BoundsSource::Recorded
                         ? "host memory"
                         : "'" + memory.name(allocation->identifier) + "'";
  std::string owner =
      formatv("allocation {0} of {1} ({2:x} to {3:x}, {4})", name, counted(allocation->size()),
              allocation->begin, allocation->end, describe(allocation->source));
  if (address < allocation->begin)
    return formatv("begins {0} before the start of {1}", counted(allocation->begin - address),
                   owner);
  if (end > allocation->end)
    return formatv("ends {0} past the end of {1}", counted(end - allocation->end), owner);
  std::string place = formatv("{0} into {1}", counted(address - allocation->begin), owner);
  if (allocation->freed)
    return place + ", which was freed";
  if (!memory.isMapped(address, bytes))
    return place + ", which the host has not mapped";
  bool isWritable = allocation->writable && memory.isWritable(address, bytes);
  return isWritable ? place : place + ", which is read-only";
}

/// Lines of a report: a label, padded, and a text.
static void line(raw_ostream &os, StringRef label, const Twine &text) {
  os << "\n  " << left_justify(label, 12) << text;
}

/// What the instruction does to memory.
static StringRef accessVerb(const Fault &fault) {
  if (fault.isAtomic)
    return "atomic";
  return fault.isStore ? "store" : "load";
}

static bool isGlobalAccess(FaultKind kind) {
  return kind == FaultKind::OutOfBounds || kind == FaultKind::ReadOnly ||
         kind == FaultKind::GlobalRace;
}

static bool isAccess(FaultKind kind) {
  return isGlobalAccess(kind) || kind == FaultKind::Misaligned || kind == FaultKind::LdsRace ||
         kind == FaultKind::LdsOutOfBounds || kind == FaultKind::ScratchOutOfBounds;
}

/// A line for each run of waves of a workgroup that stand at the same instruction.
static void describeWaves(raw_ostream &os, const Fault &fault, const KernelInfo &kernel) {
  constexpr size_t mostLines = 20;
  ArrayRef<WavePosition> waves = fault.waves;
  size_t lines = 0;
  while (!waves.empty() && lines++ < mostLines) {
    const WavePosition &first = waves.front();
    size_t same = llvm::find_if(waves,
                                [&](const WavePosition &wave) {
                                  return wave.workgroup != first.workgroup ||
                                         wave.instructionAddress != first.instructionAddress ||
                                         wave.atBarrier != first.atBarrier;
                                }) -
                  waves.begin();
    std::string which = same == 1
                            ? formatv("wave {0}", first.wave).str()
                            : formatv("waves {0} to {1}", first.wave, waves[same - 1].wave).str();
    line(os, "waits",
         formatv("workgroup ({0}, {1}, {2}), {3}: {4} +{5:x}", first.workgroup[0],
                 first.workgroup[1], first.workgroup[2], which,
                 first.atBarrier ? "at the barrier at" : "runs in circles around",
                 first.instructionAddress - kernel.codeBegin));
    waves = waves.drop_front(same);
  }
  if (!waves.empty())
    line(os, "waits", formatv("and {0} more waves", waves.size()));
}

std::string formatFault(const Fault &fault, const KernelInfo &kernel, const CodeObject &object,
                        const MemoryMap &memory) {
  std::string text;
  raw_string_ostream os(text);
  os << name(fault.kind) << " in kernel " << kernel.name;
  line(os, "instruction",
       formatv("{0:x} (+{1:x} in the kernel): {2}", fault.instructionAddress,
               fault.instructionAddress - kernel.codeBegin, fault.instruction));
  StringRef label = "source";
  for (const SourceLocation &location : object.sourceLocations(fault.instructionAddress)) {
    StringRef in = location.function.empty() ? "" : " in ";
    line(os, label,
         formatv("{0}:{1}:{2}{3}{4}", location.file, location.line, location.column, in,
                 location.function));
    label = "inlined at";
  }
  std::string where = formatv("workgroup ({0}, {1}, {2}), wave {3}", fault.workgroup[0],
                              fault.workgroup[1], fault.workgroup[2], fault.wave);
  if (fault.lane >= 0)
    where += formatv(", lane {0}", fault.lane);
  line(os, "where", where);
  if (isAccess(fault.kind)) {
    // A race that was found where a loaded value is used names the memory only.
    if (fault.bytes != 0)
      line(os, "access",
           formatv("{0} of {1} at {2:x}", accessVerb(fault), counted(fault.bytes), fault.address));
    if (isGlobalAccess(fault.kind) ||
        (fault.kind == FaultKind::Misaligned && memory.find(fault.address)))
      line(os, "memory", describeAccess(memory, fault.address, std::max<uint64_t>(fault.bytes, 1)));
  }
  if (!fault.detail.empty())
    line(os, "detail", fault.detail);
  describeWaves(os, fault, kernel);
  return text;
}

} // namespace wavetile::device
