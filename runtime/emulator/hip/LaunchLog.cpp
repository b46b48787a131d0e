//===- LaunchLog.cpp - Which kernels ran, and what they executed ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/LaunchLog.h"

#include "runtime/emulator/hip/HipTypes.h"
#include "runtime/emulator/hip/Runtime.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

#include <cstdlib>

using namespace llvm;

namespace wavetile::device {

uint64_t LaunchLog::add(LaunchRecord record) {
  std::lock_guard lock(mutex);
  record.serial = ++launches;
  records.push_back(std::move(record));
  if (records.size() > capacity)
    records.pop_front();
  return launches;
}

void LaunchLog::clear() {
  std::lock_guard lock(mutex);
  records.clear();
}

std::string withProcessNumber(std::string path) {
  if (size_t place = path.find("%p"); place != std::string::npos)
    path.replace(place, 2, std::to_string(getpid()));
  return path;
}

/// Where the log of the process goes at its end, and the log.
static std::string exitPath;
static const LaunchLog *exitLog = nullptr;

static void writeExitLog() {
  std::error_code error;
  raw_fd_ostream out(exitPath, error);
  if (error)
    errs() << "wavetile device: cannot write " << exitPath << ": " << error.message() << "\n";
  else
    out << exitLog->json() << "\n";
}

void LaunchLog::writeAtExit(std::string path) {
  exitPath = withProcessNumber(std::move(path));
  exitLog = this;
  std::atexit(writeExitLog);
}

void writeIdentity(json::OStream &out, const LaunchRecord &record) {
  auto triple = [&](StringRef key, const std::array<uint32_t, 3> &values) {
    out.attributeArray(key, [&] {
      for (uint32_t value : values)
        out.value(value);
    });
  };
  out.attribute("serial", record.serial);
  out.attribute("device", record.device);
  out.attribute("target", record.target);
  out.attribute("kernel", record.kernel);
  out.attribute("code_object", record.codeObject);
  triple("grid", record.grid);
  triple("workgroup_size", record.workgroupSize);
  out.attribute("lds_bytes", record.ldsBytes);
  out.attribute("result", record.result);
  out.attribute("seconds", record.seconds);
}

static void write(json::OStream &out, const LaunchRecord &record) {
  out.object([&] {
    writeIdentity(out, record);
    out.attribute("workgroups", record.counters.workgroups);
    out.attribute("waves", record.counters.waves);
    out.attribute("bytes_loaded", record.counters.bytesLoaded);
    out.attribute("bytes_stored", record.counters.bytesStored);
    out.attributeObject("instructions", [&] {
      for (size_t i = 0; i < record.counters.instructions.size(); ++i)
        if (StringRef className = name(static_cast<InstructionClass>(i)); !className.empty())
          out.attribute(className, record.counters.instructions[i]);
    });
  });
}

std::string LaunchLog::json() const {
  std::lock_guard lock(mutex);
  std::string text;
  raw_string_ostream os(text);
  json::OStream out(os);
  out.array([&] {
    for (const LaunchRecord &record : records)
      write(out, record);
  });
  return text;
}

} // namespace wavetile::device

using namespace wavetile::device;

/// The launches of this process since the start or since the log was cleared, as a JSON array,
/// oldest first, at most 4096. Each has serial, device, target, kernel, code_object, grid,
/// workgroup_size, lds_bytes, result (the HIP error's name), seconds, workgroups, waves,
/// bytes_loaded, bytes_stored, and instructions: wave instructions by class. The text is this
/// thread's and valid until its next call.
WAVETILE_HIP_API const char *wavetileDeviceLaunchLog() {
  static thread_local std::string text;
  text = Runtime::get().log.json();
  return text.c_str();
}

WAVETILE_HIP_API void wavetileDeviceClearLaunchLog() { Runtime::get().log.clear(); }
