//===- LaunchLog.h - Which kernels ran, and what they executed ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps a record of each launch, so that a test can prove which kernels ran and
// a profiler can show what they did. `wavetileDeviceLaunchLog` gives it as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_LAUNCHLOG_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_LAUNCHLOG_H

#include "runtime/emulator/Machine.h"

#include "llvm/Support/JSON.h"

#include <array>
#include <deque>
#include <mutex>
#include <string>

namespace wavetile::device {

struct LaunchRecord {
  uint64_t serial = 0;
  int device = 0;
  std::string target;
  std::string kernel;
  std::string codeObject;
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> workgroupSize{};
  uint32_t ldsBytes = 0;
  /// The name of the HIP error that the launch returned.
  std::string result;
  double seconds = 0;
  Counters counters;
};

/// Writes what a launch was, without what it executed, as attributes of an object.
void writeIdentity(llvm::json::OStream &out, const LaunchRecord &record);

/// Puts the number of this process in the place of "%p".
std::string withProcessNumber(std::string path);

/// The latest launches, oldest first.
class LaunchLog {
public:
  /// Launches that are remembered.
  static constexpr size_t capacity = 4096;

  /// Gives the launch's number, from 1 on.
  uint64_t add(LaunchRecord record);
  void clear();

  /// Writes the log to this file when the process ends; "%p" in the name stands for its number.
  void writeAtExit(std::string path);
  /// An array with an object a launch.
  std::string json() const;

private:
  mutable std::mutex mutex;
  std::deque<LaunchRecord> records;
  uint64_t launches = 0;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_LAUNCHLOG_H
