//===- ThreadPool.h - Threads that help with launches ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: threads that are made when first wanted and then sleep until they are
// wanted again. Help is an offer: a job must come to its end without any, and whoever asks for it
// waits only for those that have come. So a launch cannot hang because all threads are busy, or
// because the process was forked, which leaves the child without them.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_THREADPOOL_H
#define WAVETILE_RUNTIME_EMULATOR_THREADPOOL_H

#include <functional>
#include <memory>

namespace wavetile::device {

/// Up to \p count threads of the process's pool call \p work, as soon as they are free, until this
/// object dies; then those that have begun are waited for.
class Help {
public:
  Help(unsigned count, std::function<void()> work);
  ~Help();
  Help(const Help &) = delete;

private:
  struct Pool;
  struct Job;
  Pool &pool;
  std::shared_ptr<Job> job;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_THREADPOOL_H
