//===- ThreadPool.cpp - Threads that help with launches --------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/ThreadPool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace wavetile::device {

struct Help::Job {
  std::function<void()> work;
  unsigned wanted = 0; ///< Threads that may still begin.
  unsigned busy = 0;   ///< Threads that have begun and not ended.
  std::condition_variable ended;
};

struct Help::Pool {
  explicit Pool(pid_t process) : process(process) {}

  /// That of this process. Never destroyed: its threads sleep until the process ends.
  static Pool &get();

  void post(const std::shared_ptr<Job> &job);
  void withdraw(const std::shared_ptr<Job> &job);
  void runThread();

  const pid_t process;
  std::mutex mutex;
  std::condition_variable wanted;
  std::deque<std::shared_ptr<Job>> jobs; ///< Those that want threads.
  unsigned threads = 0;
  unsigned idle = 0;
};

Help::Pool &Help::Pool::get() {
  static std::atomic<Pool *> current{nullptr};
  Pool *pool = current.load(std::memory_order_acquire);
  pid_t process = getpid();
  // After a fork the parent's pool has no threads, and maybe a lock that nobody will release.
  while (!pool || pool->process != process) {
    auto made = std::make_unique<Pool>(process);
    if (current.compare_exchange_strong(pool, made.get(), std::memory_order_acq_rel))
      return *made.release();
  }
  return *pool;
}

void Help::Pool::runThread() {
  std::unique_lock lock(mutex);
  while (true) {
    ++idle;
    wanted.wait(lock, [&] { return !jobs.empty(); });
    --idle;
    std::shared_ptr<Job> job = jobs.front();
    if (--job->wanted == 0)
      jobs.pop_front();
    ++job->busy;
    lock.unlock();
    job->work();
    lock.lock();
    if (--job->busy == 0)
      job->ended.notify_all();
  }
}

void Help::Pool::post(const std::shared_ptr<Job> &job) {
  std::lock_guard lock(mutex);
  jobs.push_back(job);
  for (unsigned i = idle; i < job->wanted && threads < job->wanted; ++i, ++threads)
    std::thread([this] { runThread(); }).detach();
  wanted.notify_all();
}

void Help::Pool::withdraw(const std::shared_ptr<Job> &job) {
  std::unique_lock lock(mutex);
  std::erase(jobs, job);
  job->ended.wait(lock, [&] { return job->busy == 0; });
}

Help::Help(unsigned count, std::function<void()> work)
    : pool(Pool::get()), job(std::make_shared<Job>()) {
  job->work = std::move(work);
  job->wanted = count;
  if (count > 0)
    pool.post(job);
}

Help::~Help() { pool.withdraw(job); }

} // namespace wavetile::device
