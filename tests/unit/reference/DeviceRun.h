//===- DeviceRun.h - The device, from a state of the reference --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes an instruction on the device from a state of the reference's, and says how the state
// after it is not the one that the reference expects.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_DEVICERUN_H
#define WAVETILE_TESTS_UNIT_REFERENCE_DEVICERUN_H

#include "reference/Reference.h"

#include "DeviceTestSupport.h"

#include <string>
#include <vector>

namespace wavetile::reference {

class DeviceRun {
public:
  DeviceRun(const device::TargetDescription &target, unsigned waveSize);
  DeviceRun(const DeviceRun &) = delete;
  DeviceRun &operator=(const DeviceRun &) = delete;

  /// A state without values, of this device's kind.
  Wave emptyState() const;
  /// The instructions that follow are of this program.
  void use(const device::DecodedProgram &program);

  using Step = const device::Record *(*)(device::Wave &, const device::Record *);
  static const device::Record *executeRecord(device::Wave &wave, const device::Record *record) {
    return record->execute(wave, record);
  }
  /// Executes from \p record to \p end; empty: the state is as expected. Accumulation registers and
  /// memory are part of states that have memory.
  std::string outcome(const Wave &before, const Wave &expected, const device::Record *record,
                      const device::Record *end, Step step = executeRecord);

  static constexpr size_t globalBytes = 8192, scratchBytes = 1024;

private:
  void load(const Wave &before);
  std::string difference(const Wave &before, const Wave &expected) const;
  std::string memoryDifference(const Wave &expected) const;

  const device::TargetDescription &target;
  std::vector<uint64_t> global; ///< What global instructions reach.
  std::vector<uint8_t> lds;
  std::vector<uint32_t> scratch;
  device::MemoryMap map;
  device::GlobalMemory memory;
  device::Workgroup workgroup;
  uint64_t bytes[2] = {};
  device::test::BareWave wave;
};

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_DEVICERUN_H
