//===- Execute.cpp - Launches of kernels ----------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Machine.h"

#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/Mode.h"
#include "runtime/emulator/Occupancy.h"
#include "runtime/emulator/Scheduler.h"
#include "runtime/emulator/ThreadPool.h"

#include <algorithm>
#include <utility>

namespace wavetile::device {

using WorkgroupPool = std::vector<std::unique_ptr<ResidentWorkgroup>>;

namespace {

/// What workgroups of a thread's last launch had in memory, for its next one: getting that from the
/// system takes longer than a small launch.
class SpareWorkgroups {
public:
  WorkgroupPool take() { return std::exchange(kept, {}); }
  void keep(WorkgroupPool pool) {
    std::erase_if(pool, [](const auto &group) { return group->capacity() > mostBytes; });
    if (pool.size() > most)
      pool.resize(most);
    kept = std::move(pool);
  }

private:
  static constexpr size_t most = 2, mostBytes = size_t(4) << 20;
  WorkgroupPool kept;
};

} // namespace

LaunchResult run(const Launch &launch, const MemoryMap &memory) {
  LaunchContext context(launch);
  if (std::optional<Fault> refusal = context.refusal())
    return {std::move(refusal), {}};
  // One that does not fit runs alone: whether HIP refuses it is not decided here.
  uint64_t capacity =
      uint64_t(multiprocessors(context.target)) *
      residentWorkgroups(*launch.kernel, context.target, context.workItems, launch.dynamicLdsBytes);
  unsigned threads = static_cast<unsigned>(
      std::min<uint64_t>(std::max(launch.threads, 1u), context.workgroupCount));
  // What happened before what is kept for the launch as a whole.
  if (launch.checks.globalRaces)
    threads = 1;
  static thread_local SpareWorkgroups spare;
  WorkgroupPool pool = spare.take();
  Scheduler scheduler(context, memory, std::max<uint64_t>(capacity, 1), threads, pool);
  auto work = [&](llvm::function_ref<void()> callHelp) {
    HostFloatControl control;
    scheduler.work(callHelp);
  };
  std::optional<Help> help;
  if (threads == 1)
    work(nullptr);
  else
    work([&] { help.emplace(threads - 1, [&] { work(nullptr); }); });
  help.reset();
  LaunchResult result = scheduler.takeResult();
  spare.keep(std::move(pool));
  return result;
}

} // namespace wavetile::device
