//===- Trace.cpp - The execution of one workgroup, written down -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/counters/Trace.h"

#include "runtime/emulator/Occupancy.h"
#include "runtime/emulator/counters/InstructionTraits.h"

#include "llvm/Support/JSON.h"

using namespace llvm;

namespace wavetile::device {

/// The form of the lines; another one gets another number.
static constexpr int version = 1;

template <typename Values> static json::Array arrayOf(const Values &values) {
  json::Array array;
  for (const auto &value : values)
    array.push_back(value);
  return array;
}

Trace::Trace(const TraceRequest &request, const Launch &launch)
    : request(request), launch(launch),
      program(static_cast<const DecodedProgram &>(*launch.program)), out(*request.out),
      ldsModel(program.target().ldsGeneration, program.waveSize()) {
  const auto &size = launch.workgroupSize;
  Occupancy fit = occupancy(*launch.kernel, program.target(), size[0] * size[1] * size[2],
                            launch.dynamicLdsBytes);
  out << json::Value(json::Object{
             {"wavetile_trace", version},
             {"target", program.target().name},
             {"kernel", launch.kernel->name},
             {"wave_size", program.waveSize()},
             {"grid", arrayOf(launch.grid)},
             {"workgroup_size", arrayOf(size)},
             {"workgroup", arrayOf(request.workgroup)},
             {"workgroups_per_multiprocessor", fit.workgroups},
             {"waves_per_simd", fit.wavesPerSimd()},
             {"lds_bytes", launch.kernel->groupSegmentSize + launch.dynamicLdsBytes},
             {"scratch_bytes", launch.kernel->privateSegmentSize},
         })
      << "\n";
}

Trace::~Trace() { out << "{\"events\":" << events << "}\n"; }

/// The counters that a wait names.
static json::Object waitsOf(const checks::WaitValues &waits, Encoding encoding) {
  json::Object object;
  for (unsigned i = 0; i < checks::counterCount; ++i)
    if (waits.most[i] != checks::WaitValues::any)
      object[name(static_cast<checks::Counter>(i), encoding)] = waits.most[i];
  return object;
}

void Trace::describe(const Record *record, unsigned number) {
  InstructionTraits traits = InstructionTraits::of(program, *record);
  uint64_t address = program.addressOf(record);
  RegisterUse registers = program.registersAt(address);
  json::Object line{
      {"i", number},
      {"offset", static_cast<int64_t>(address - launch.kernel->entry)},
      {"text", program.disassemble(address)},
      {"class", name(traits.kind)},
      {"reads", arrayOf(registers.reads)},
      {"writes", arrayOf(registers.writes)},
  };
  if (traits.isFlat)
    line["flat"] = true;
  if (traits.operations)
    line["operations"] = traits.operations;
  if (traits.kind == InstructionKind::LdsPermute)
    line["lds_cycles"] = ldsModel.ofPermutation().cycles;
  if (!traits.waits.isNone())
    line["waits"] = waitsOf(traits.waits, program.target().encoding);
  if (std::string source = request.sourceOf ? request.sourceOf(address) : ""; !source.empty())
    line["source"] = std::move(source);
  out << json::Value(std::move(line)) << "\n";
}

unsigned Trace::numberOf(const Record *record) {
  auto [position, isNew] = numbers.try_emplace(record, numbers.size());
  if (isNew)
    describe(record, position->second);
  return position->second;
}

void Trace::begin(const Wave &wave, const Record *) {
  activeLanes = static_cast<unsigned>(__builtin_popcountll(wave.exec()));
  accesses.clear();
}

static void writeLines(raw_ostream &os, ArrayRef<uint64_t> lines) {
  os << '[';
  for (size_t i = 0; i < lines.size();) {
    size_t run = 1;
    while (i + run < lines.size() && lines[i + run] == lines[i] + run)
      ++run;
    os << (i ? "," : "") << '[' << lines[i] << ',' << run << ']';
    i += run;
  }
  os << ']';
}

static StringRef nameOf(AccessSpace space) {
  switch (space) {
  case AccessSpace::Global:
    return "global";
  case AccessSpace::Lds:
    return "lds";
  case AccessSpace::Scratch:
    return "scratch";
  case AccessSpace::Constant:
    return "scalar";
  }
  return "";
}

void Trace::access(const Wave &, const MemoryAccess &access, uint64_t bytes, LdsCost cost,
                   ArrayRef<uint64_t> lines) {
  raw_string_ostream os(accesses);
  os << (accesses.empty() ? "" : ",") << "{\"" << nameOf(access.space) << "\":" << bytes;
  if (access.space == AccessSpace::Lds) {
    os << ",\"cycles\":" << cost.cycles << ",\"conflicts\":" << cost.conflicts();
  } else {
    os << ",\"lines\":";
    writeLines(os, lines);
  }
  if (access.kind == AccessKind::LoadToLds)
    os << ",\"to_lds\":"
       << access.ldsBytes * __builtin_popcountll(access.active | access.partial | access.zeroed);
  os << '}';
}

void Trace::end(const Wave &wave, const Record *record) {
  if (record->instructionClass == static_cast<uint8_t>(InstructionClass::Part))
    return;
  unsigned number = numberOf(record);
  out << '[' << wave.indexInWorkgroup << ',' << number << ',' << activeLanes;
  if (!accesses.empty())
    out << ",[" << accesses << ']';
  out << "]\n";
  ++events;
}

} // namespace wavetile::device
