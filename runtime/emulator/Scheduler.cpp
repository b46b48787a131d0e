//===- Scheduler.cpp - Which workgroup runs next ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Scheduler.h"

#include <utility>

namespace wavetile::device {

Scheduler::Scheduler(const LaunchContext &context, const MemoryMap &map, uint64_t capacity,
                     unsigned threads, std::vector<std::unique_ptr<ResidentWorkgroup>> &pool)
    : context(context), map(map), capacity(capacity), threads(threads), pool(pool),
      budget(context.launch.instructionLimit), limit(context.workgroupCount), mayStart(threads) {}

void Scheduler::beginRound() {
  ++round;
  mayStart = roundProgress ? threads : capacity;
  roundProgress = false;
}

/// Gives the memory of workgroups that come after a faulted one back.
void Scheduler::dropFaulted() {
  std::erase_if(queue, [&](Group &group) {
    if (group->index() < limit)
      return false;
    --resident;
    pool.push_back(std::move(group));
    return true;
  });
}

/// The workgroup that this thread is to run, to be started with \p index if it is new; null if
/// there will be none.
Scheduler::Group Scheduler::next(std::unique_lock<std::mutex> &lock, bool &isNew, uint64_t &index) {
  while (true) {
    if (!queue.empty() && queue.front()->round <= round) {
      Group group = std::move(queue.front());
      queue.pop_front();
      isNew = false;
      return group;
    }
    if (canStart() && mayStart > 0) {
      --mayStart;
      ++resident;
      index = started++;
      isNew = true;
      Group group;
      if (pool.empty())
        return std::make_unique<ResidentWorkgroup>();
      group = std::move(pool.back());
      pool.pop_back();
      return group;
    }
    if (!queue.empty())
      beginRound();
    else if (resident == 0)
      return nullptr;
    else
      changed.wait(lock);
  }
}

void Scheduler::settle(Group group, Turn turn, bool isNew) {
  roundProgress |= turn.progress;
  if (turn.end == Turn::End::Faulted && group->index() < limit) {
    limit = group->index();
    fault = std::move(turn.fault);
    dropFaulted();
  }
  if (turn.end == Turn::End::Resting && group->index() < limit) {
    group->round = round + 1;
    queue.push_back(std::move(group));
  } else {
    --resident;
    mayStart += isNew;
    pool.push_back(std::move(group));
  }
  changed.notify_all();
}

void Scheduler::work() {
  TurnRunner runner(context, map, budget);
  std::unique_lock lock(mutex);
  bool isNew = false;
  uint64_t index = 0;
  while (Group group = next(lock, isNew, index)) {
    lock.unlock();
    if (isNew) {
      group->start(context, index);
      runner.begin(*group);
    }
    Turn turn = runner.run(*group);
    lock.lock();
    settle(std::move(group), std::move(turn), isNew);
  }
  counters += runner.counters();
}

LaunchResult Scheduler::takeResult() {
  LaunchResult result;
  result.fault = std::move(fault);
  result.counters = counters;
  return result;
}

} // namespace wavetile::device
