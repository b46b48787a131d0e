//===- DeviceCountersSupport.h - Profiles of small kernels ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_DEVICECOUNTERSSUPPORT_H
#define WAVETILE_TESTS_UNIT_DEVICECOUNTERSSUPPORT_H

#include "DeviceCheckSupport.h"

#include "runtime/emulator/counters/ProfileReport.h"

#include <numeric>
#include <optional>

namespace wavetile::device::test {

/// A kernel of DeviceCheckSupport.h, run under a profile. s[4:5] is the address of 4096 dwords that
/// begin on a line of 128 bytes; LDS has 16 KB.
class ProfiledKernel {
public:
  struct Options {
    uint32_t waves = 1; ///< Of a workgroup.
    uint32_t workgroups = 1;
    unsigned threads = 1;
    const TraceRequest *trace = nullptr;
  };

  ProfiledKernel(const std::string &target, const std::string &body)
      : ProfiledKernel(target, body, Options()) {}
  ProfiledKernel(const std::string &target, const std::string &body, const Options &options)
      : object(target, kernelText(target, body), "s", ""), storage(4096 + 32) {
    uint64_t address = (reinterpret_cast<uint64_t>(storage.data()) + 127) / 128 * 128;
    words = reinterpret_cast<uint32_t *>(address);
    std::iota(words, words + 4096, 0u);
    Allocation allocation;
    allocation.begin = address;
    allocation.end = address + 4 * 4096;
    allocation.source = BoundsSource::Device;
    object.memory.add(allocation, "words");
    arguments = {address, address};
    const KernelInfo *kernel = object.object ? object.object->findKernel("test") : nullptr;
    if (!kernel || !object.program) {
      ADD_FAILURE() << "no kernel";
      return;
    }
    launch.program = object.program.get();
    launch.kernel = &kernel->descriptor;
    launch.kernarg = {reinterpret_cast<const uint8_t *>(arguments.data()), 16};
    launch.grid = {options.workgroups, 1, 1};
    launch.workgroupSize = {options.waves * object.program->waveSize(), 1, 1};
    launch.dynamicLdsBytes = (16 << 10) - 4096;
    launch.threads = options.threads;
    launch.profiled = true;
    launch.trace = options.trace;
    // What is counted is asked here; registers and memory are used as they come.
    launch.checks = *CheckOptions::parse("none");
    result = device::run(launch, object.memory);
    if (result.fault)
      ADD_FAILURE() << target << ": " << name(result.fault->kind).str() << " "
                    << result.fault->instruction << " " << result.fault->detail;
    report.emplace(launch, result);
  }

  /// The counts of the only instruction whose text has \p part in it.
  const InstructionCounts &of(llvm::StringRef part) const {
    static const InstructionCounts none;
    const InstructionCounts *found = nullptr;
    for (const ProfiledInstruction &instruction : report->instructions()) {
      if (object.program->disassemble(instruction.address).find(part) == std::string::npos)
        continue;
      EXPECT_EQ(found, nullptr) << "several have " << part.str();
      found = &instruction.counts;
    }
    EXPECT_NE(found, nullptr) << "none has " << part.str();
    return found ? *found : none;
  }
  unsigned lanes() const { return object.program->waveSize(); }

  LoadedObject object;
  std::vector<uint32_t> storage;
  uint32_t *words;
  std::vector<uint64_t> arguments;
  Launch launch;
  LaunchResult result;
  std::optional<ProfileReport> report;
};

} // namespace wavetile::device::test

#endif // WAVETILE_TESTS_UNIT_DEVICECOUNTERSSUPPORT_H
