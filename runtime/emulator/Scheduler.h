//===- Scheduler.h - Which workgroup runs next -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: workgroups start in linear order, and as many are resident as the GPU
// has room for if they need each other. Rounds of turns go over the resident ones; then the next
// workgroup starts. One that ends in its first turn makes room for the next at once, so a launch
// whose workgroups are short runs them one after the other. After a round in which no workgroup got
// anywhere that others can see, as when all wait for one that has not started, as many start as
// there is room for.
//
// A launch is stuck if a whole round changed nothing: all waves came back to states that they were
// in before, none started or ended, no barrier opened, no byte of memory changed, and no other
// launch of this process runs that might still change something.
//
// With one thread the order of all instructions is always the same. With several, each workgroup's
// turn is on one thread. The fault of a launch is that of the first workgroup in linear order that
// has one: workgroups before it run to their end, those after it are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_SCHEDULER_H
#define WAVETILE_RUNTIME_EMULATOR_SCHEDULER_H

#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/ResidentWorkgroup.h"
#include "runtime/emulator/TurnRunner.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace wavetile::device {

class Scheduler {
public:
  /// \p capacity workgroups are resident at the most; \p threads will run them. Memory of
  /// workgroups comes from \p pool and goes back there.
  Scheduler(const LaunchContext &context, const MemoryMap &map, uint64_t capacity, unsigned threads,
            std::vector<std::unique_ptr<ResidentWorkgroup>> &pool);

  ~Scheduler();

  /// Runs workgroups until there is nothing left for this thread to do. May be called by several
  /// threads at a time; when all calls have returned, the launch has ended. \p callHelp is called
  /// once, when there seems to be work for more than one thread.
  void work(llvm::function_ref<void()> callHelp = nullptr);

  /// What came of the launch. Call when all threads are done.
  LaunchResult takeResult();

private:
  using Group = std::unique_ptr<ResidentWorkgroup>;

  Group next(std::unique_lock<std::mutex> &lock, bool &isNew, uint64_t &index);
  void settle(Group group, const Turn &turn, bool isNew);
  void beginRound();
  bool isStuck();
  void reportStuck();
  bool canStart() const { return started < limit && resident < capacity; }
  bool otherThreadsRun() const { return resident != queue.size(); }
  void dropFrom(uint64_t first);

  const LaunchContext &context;
  const MemoryMap &map;
  const uint64_t capacity;
  const unsigned threads;
  std::vector<std::unique_ptr<ResidentWorkgroup>> &pool;
  std::atomic<uint64_t> budget;
  std::unique_ptr<checks::GlobalRaces> globalRaces;

  std::mutex mutex;
  std::condition_variable changed;
  // All below: under the mutex.
  std::deque<Group> queue; ///< Resident workgroups that no thread runs, in the order of turns.
  uint64_t started = 0;    ///< Workgroups below this have been started.
  uint64_t limit;          ///< Workgroups from this one on are not to run.
  uint64_t resident = 0;   ///< In the queue, or run by a thread.
  uint64_t round = 0;      ///< The present round of turns.
  uint64_t mayStart;       ///< Workgroups that this round may still add to the resident ones.
  bool roundProgress = false;
  // Towards a verdict of being stuck:
  bool roundRepeats = false; ///< So far, all turns of this round did.
  bool oneAtATime = false;   ///< In this round one thread takes turns at a time.
  bool isMoving = true;      ///< As counted in `movement`.
  uint64_t othersMoved = 0;  ///< When this round began.
  std::optional<std::chrono::steady_clock::time_point> repeatingSince;
  std::optional<Fault> fault;
  Counters counters;
  std::shared_ptr<InstructionProfile> profile;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_SCHEDULER_H
