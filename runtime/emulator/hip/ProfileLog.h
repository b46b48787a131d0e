//===- ProfileLog.h - Profiles and traces of launches, in files -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: any program that launches kernels gets a profile of each, without
// knowing of it: a line of JSON a launch in the file that WAVETILE_DEVICE_PROFILE names, and the
// trace of one workgroup a launch in the file that WAVETILE_DEVICE_TRACE names. Both are there when
// the launch returns. docs/software-device-counters.md has the fields.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_PROFILELOG_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_PROFILELOG_H

#include "runtime/emulator/CodeObject.h"
#include "runtime/emulator/counters/Trace.h"
#include "runtime/emulator/hip/LaunchLog.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <mutex>
#include <string>

namespace wavetile::device {

/// What is traced of the launches of a process.
struct TraceOptions {
  std::array<uint32_t, 3> workgroup{};
  std::string kernel; ///< Empty: every one.
};

/// The files. Thread-safe once they are open.
class ProfileLog {
public:
  /// Each empties the file; "%p" in its name stands for the number of the process.
  llvm::Error profileTo(std::string path);
  llvm::Error traceTo(std::string path, TraceOptions options);

private:
  friend class ProfiledLaunch;
  std::mutex mutex;
  std::unique_ptr<llvm::raw_fd_ostream> profile, trace;
  TraceOptions traceOptions;
};

/// One launch, from before it begins until its profile is written.
class ProfiledLaunch {
public:
  /// Makes \p launch count and trace what \p log wants of it.
  ProfiledLaunch(ProfileLog &log, Launch &launch, const CodeObject &object);
  ProfiledLaunch(const ProfiledLaunch &) = delete;
  ProfiledLaunch &operator=(const ProfiledLaunch &) = delete;

  /// \p record is its entry in the launch log.
  void write(const LaunchResult &result, const LaunchRecord &record);

private:
  std::string sourceOf(uint64_t address) const;

  ProfileLog &log;
  Launch &launch;
  const CodeObject &object;
  TraceRequest request;
  /// Apart from those of launches that run at the same time.
  std::string traceText;
  llvm::raw_string_ostream traceOut{traceText};
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_PROFILELOG_H
