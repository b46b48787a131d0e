//===- ProfileLog.cpp - Profiles and traces of launches, in files ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/ProfileLog.h"

#include "runtime/emulator/counters/ProfileReport.h"

using namespace llvm;

namespace wavetile::device {

static Expected<std::unique_ptr<raw_fd_ostream>> open(std::string path) {
  path = withProcessNumber(std::move(path));
  std::error_code error;
  auto file = std::make_unique<raw_fd_ostream>(path, error);
  if (error)
    return createStringError("cannot write " + path + ": " + error.message());
  return file;
}

Error ProfileLog::profileTo(std::string path) { return open(std::move(path)).moveInto(profile); }

Error ProfileLog::traceTo(std::string path, TraceOptions options) {
  traceOptions = std::move(options);
  return open(std::move(path)).moveInto(trace);
}

ProfiledLaunch::ProfiledLaunch(ProfileLog &log, Launch &launch, const CodeObject &object)
    : log(log), launch(launch), object(object) {
  launch.profiled = log.profile != nullptr;
  const std::string &wanted = log.traceOptions.kernel;
  if (!log.trace || (!wanted.empty() && wanted != launch.kernel->name))
    return;
  request.out = &traceOut;
  request.workgroup = log.traceOptions.workgroup;
  request.sourceOf = [this](uint64_t address) { return sourceOf(address); };
  launch.trace = &request;
}

std::string ProfiledLaunch::sourceOf(uint64_t address) const {
  std::vector<SourceLocation> locations = object.sourceLocations(address);
  if (locations.empty() || locations.front().line == 0)
    return "";
  return locations.front().file + ":" + std::to_string(locations.front().line);
}

void ProfiledLaunch::write(const LaunchResult &result, const LaunchRecord &record) {
  std::string line;
  if (launch.profiled && result.profile) {
    raw_string_ostream text(line);
    json::OStream out(text);
    out.object([&] {
      writeIdentity(out, record);
      json::Object fields =
          ProfileReport(launch, result).json([&](uint64_t address) { return sourceOf(address); });
      for (const auto &[key, value] : fields)
        out.attribute(key, value);
    });
    line += '\n';
  }
  std::lock_guard lock(log.mutex);
  if (!line.empty()) {
    *log.profile << line;
    log.profile->flush();
  }
  if (launch.trace) {
    *log.trace << traceText;
    log.trace->flush();
  }
}

} // namespace wavetile::device
