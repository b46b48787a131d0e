//===- ProfileReport.cpp - The profile of a launch, for people ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/counters/ProfileReport.h"

#include <numeric>

using namespace llvm;

namespace wavetile::device {

ProfileReport::ProfileReport(const Launch &launch, const LaunchResult &result)
    : launch(launch), program(static_cast<const DecodedProgram &>(*launch.program)),
      waves(result.counters.waves), workgroups(result.counters.workgroups) {
  LdsCostModel ldsModel(program.target().ldsGeneration, program.waveSize());
  const KernelDescriptor &kernel = *launch.kernel;
  for (const Record &record : program.allRecords()) {
    // What is not executed is listed if it is known to be the kernel's.
    const InstructionCounts &counts = result.profile->of(&record);
    uint64_t address = program.addressOf(&record);
    bool isOfKernel = address >= kernel.entry && address < kernel.end;
    if (record.instructionClass == static_cast<uint8_t>(InstructionClass::Part) ||
        (counts.executed == 0 && (!isOfKernel || record.row == 0)))
      continue;
    list.push_back({&record, address, InstructionTraits::of(program, record), counts});
    ProfiledInstruction &instruction = list.back();
    if (instruction.traits.kind == InstructionKind::LdsPermute)
      instruction.counts.ldsCycles += counts.executed * ldsModel.ofPermutation().cycles;
    add(instruction);
  }
}

void ProfileReport::add(const ProfiledInstruction &instruction) {
  const InstructionTraits &traits = instruction.traits;
  const InstructionCounts &counts = instruction.counts;
  kinds[static_cast<size_t>(traits.kind)] += counts.executed;
  flat += traits.isFlat ? counts.executed : 0;
  matrixOperations += traits.operations * counts.executed;
  for (unsigned i = 0; i < checks::counterCount; ++i)
    waits[i] += traits.waits.most[i] != checks::WaitValues::any ? counts.executed : 0;
  if (traits.kind == InstructionKind::VectorAlu || traits.kind == InstructionKind::Transcendental) {
    activeVectorLanes += counts.activeLanes;
    vectorLanes += counts.executed * program.waveSize();
  }
  bool isScalar = traits.kind == InstructionKind::ScalarMemory;
  bool isLoad = isScalar || traits.kind == InstructionKind::VectorLoad ||
                traits.kind == InstructionKind::LoadToLds ||
                traits.kind == InstructionKind::ScratchLoad ||
                traits.kind == InstructionKind::LdsLoad;
  // A FLAT instruction may have touched several memories; its lines are those of global memory
  // unless it touched scratch alone.
  bool linesAreScratch = counts.scratchBytes != 0 && counts.globalBytes == 0;
  MemoryTraffic &main = isScalar ? scalar : global;
  (isLoad ? main.loadedBytes : main.storedBytes) += counts.globalBytes;
  (isLoad ? scratch.loadedBytes : scratch.storedBytes) += counts.scratchBytes;
  MemoryTraffic &lined = linesAreScratch ? scratch : main;
  (isLoad ? lined.loadedLines : lined.storedLines) += counts.lines;
  (isLoad ? ldsBytesLoaded : ldsBytesStored) += counts.ldsBytes;
  ldsCycles += counts.ldsCycles;
  ldsConflictCycles += counts.ldsConflictCycles;
  unalignedLanes += counts.unalignedLanes;
}

uint64_t ProfileReport::executed() const {
  return std::accumulate(kinds.begin(), kinds.end(), uint64_t(0));
}

json::Object ProfileReport::hardwareCounters() const {
  auto sum = [&](std::initializer_list<InstructionKind> which) {
    uint64_t total = 0;
    for (InstructionKind kind : which)
      total += executed(kind);
    return total;
  };
  using enum InstructionKind;
  return json::Object{
      {"SQ_WAVES", waves},
      {"SQ_INSTS", executed()},
      {"SQ_INSTS_VALU", sum({VectorAlu, Transcendental, Matrix})},
      {"SQ_INSTS_MFMA", executed(Matrix)},
      {"SQ_INSTS_SALU", executed(ScalarAlu)},
      {"SQ_INSTS_SMEM", executed(ScalarMemory)},
      {"SQ_INSTS_VMEM_RD", sum({VectorLoad, LoadToLds, ScratchLoad})},
      {"SQ_INSTS_VMEM_WR", sum({VectorStore, VectorAtomic, ScratchStore})},
      {"SQ_INSTS_FLAT", flat},
      {"SQ_INSTS_LDS", sum({LdsLoad, LdsStore, LdsAtomic, LdsPermute})},
      {"SQ_INSTS_BRANCH", executed(Branch)},
      {"SQ_INSTS_SENDMSG", executed(Message)},
      {"SQ_LDS_IDX_ACTIVE", ldsCycles},
      {"SQ_LDS_BANK_CONFLICT", ldsConflictCycles},
  };
}

json::Object ProfileReport::occupancyFields() const {
  const auto &size = launch.workgroupSize;
  const KernelDescriptor &kernel = *launch.kernel;
  Occupancy fit =
      occupancy(kernel, program.target(), size[0] * size[1] * size[2], launch.dynamicLdsBytes);
  return json::Object{
      {"workgroups_per_multiprocessor", fit.workgroups},
      {"waves_per_workgroup", fit.wavesPerWorkgroup},
      {"waves_per_simd", fit.wavesPerSimd()},
      {"wave_slots_per_simd", fit.waveSlotsPerSimd},
      {"limited_by", name(fit.limit())},
      {"workgroups_by_wave_slots", fit.byWaveSlots},
      {"workgroups_by_vector_registers", fit.byVectorRegisters},
      {"workgroups_by_lds", fit.byLds},
      {"vector_registers", fit.vectorRegisters},
      {"lds_bytes", fit.ldsBytes},
      {"scratch_bytes", kernel.privateSegmentSize},
      {"multiprocessors", multiprocessors(program.target())},
  };
}

static json::Object fieldsOf(const MemoryTraffic &traffic) {
  return json::Object{{"loaded_bytes", traffic.loadedBytes},
                      {"stored_bytes", traffic.storedBytes},
                      {"loaded_lines", traffic.loadedLines},
                      {"stored_lines", traffic.storedLines}};
}

json::Object ProfileReport::memoryFields() const {
  return json::Object{{"global", device::fieldsOf(global)},
                      {"scalar", device::fieldsOf(scalar)},
                      {"scratch", device::fieldsOf(scratch)},
                      {"lds", json::Object{{"loaded_bytes", ldsBytesLoaded},
                                           {"stored_bytes", ldsBytesStored},
                                           {"cycles", ldsCycles},
                                           {"conflict_cycles", ldsConflictCycles}}},
                      {"unaligned_lanes", unalignedLanes}};
}

json::Array ProfileReport::matrixFields() const {
  std::map<StringRef, uint64_t> executedOf, operationsOf;
  for (const ProfiledInstruction &instruction : list) {
    if (instruction.traits.kind != InstructionKind::Matrix || instruction.counts.executed == 0)
      continue;
    StringRef mnemonic = mnemonicOf(*instruction.record);
    executedOf[mnemonic] += instruction.counts.executed;
    operationsOf[mnemonic] += instruction.counts.executed * instruction.traits.operations;
  }
  json::Array array;
  for (auto [mnemonic, count] : executedOf)
    array.push_back(json::Object{
        {"instruction", mnemonic}, {"executed", count}, {"operations", operationsOf[mnemonic]}});
  return array;
}

json::Object ProfileReport::fieldsOf(const ProfiledInstruction &instruction,
                                     function_ref<std::string(uint64_t)> sourceOf) const {
  const InstructionCounts &counts = instruction.counts;
  json::Object fields{
      {"offset", static_cast<int64_t>(instruction.address - launch.kernel->entry)},
      {"text", program.disassemble(instruction.address)},
      {"kind", name(instruction.traits.kind)},
      {"executed", counts.executed},
      {"active_lanes", counts.activeLanes},
  };
  auto add = [&](StringRef key, uint64_t value) {
    if (value)
      fields[key] = value;
  };
  add("operations", instruction.traits.operations * counts.executed);
  add("accessing_lanes", counts.accessingLanes);
  add("global_bytes", counts.globalBytes);
  add("lds_bytes", counts.ldsBytes);
  add("scratch_bytes", counts.scratchBytes);
  add("lines", counts.lines);
  add("unaligned_lanes", counts.unalignedLanes);
  add("lds_cycles", counts.ldsCycles);
  add("lds_conflict_cycles", counts.ldsConflictCycles);
  if (std::string source = sourceOf(instruction.address); !source.empty())
    fields["source"] = std::move(source);
  return fields;
}

json::Object ProfileReport::json(function_ref<std::string(uint64_t)> sourceOf) const {
  json::Object kindFields, waitFields;
  for (size_t i = 0; i < kinds.size(); ++i)
    kindFields[name(static_cast<InstructionKind>(i))] = kinds[i];
  Encoding encoding = program.target().encoding;
  for (unsigned i = 0; i < checks::counterCount; ++i)
    if (waits[i])
      waitFields[name(static_cast<checks::Counter>(i), encoding)] = waits[i];
  json::Array instructionFields;
  for (const ProfiledInstruction &instruction : list)
    instructionFields.push_back(fieldsOf(instruction, sourceOf));
  return json::Object{
      {"wave_size", program.waveSize()},
      {"workgroups", workgroups},
      {"waves", waves},
      {"occupancy", occupancyFields()},
      {"hardware_counters", hardwareCounters()},
      {"kinds", std::move(kindFields)},
      {"waits", std::move(waitFields)},
      {"vector_lanes", json::Object{{"active", activeVectorLanes}, {"all", vectorLanes}}},
      {"memory", memoryFields()},
      {"matrix", matrixFields()},
      {"matrix_operations", matrixOperations},
      {"instructions", std::move(instructionFields)},
  };
}

} // namespace wavetile::device
