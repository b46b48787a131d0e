//===- Scheduler.cpp - Which workgroup runs next ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Scheduler.h"

#include "llvm/ADT/STLExtras.h"

#include <thread>
#include <utility>

namespace wavetile::device {

/// Other threads are woken when a launch has executed this many instructions and goes on: waking
/// them takes about as long.
static constexpr uint64_t workForHelp = 4096;

/// For this long a launch must have repeated itself before it counts as stuck: a thread of the host
/// may be about to write what it waits for.
static constexpr std::chrono::milliseconds patience{100};

/// Launches of this process that have not come to a halt, and how often one has started to move:
/// what one waits for another may bring.
static std::atomic<uint64_t> moving{0};
static std::atomic<uint64_t> movements{0};
static void startMoving() {
  ++moving;
  ++movements;
}
static void stopMoving() { --moving; }

Scheduler::Scheduler(const LaunchContext &context, const MemoryMap &map, uint64_t capacity,
                     unsigned threads, std::vector<std::unique_ptr<ResidentWorkgroup>> &pool)
    : context(context), map(map), capacity(capacity), threads(threads), pool(pool),
      budget(context.launch.instructionLimit), limit(context.workgroupCount), mayStart(threads),
      oneAtATime(threads == 1) {
  if (context.launch.checks.globalRaces)
    globalRaces = std::make_unique<checks::GlobalRaces>(
        context.target, !context.target.isRdna() || !context.kernel.workgroupProcessorMode);
  startMoving();
}

Scheduler::~Scheduler() {
  if (isMoving)
    stopMoving();
}

/// A round ended in which all waves repeated themselves. Whether they will for ever.
bool Scheduler::isStuck() {
  if (isMoving)
    stopMoving();
  isMoving = false;
  bool othersMove = moving.load() != 0 || movements.load() != othersMoved;
  auto now = std::chrono::steady_clock::now();
  if (othersMove || !repeatingSince)
    repeatingSince = now;
  if (!othersMove && now - *repeatingSince >= patience)
    return true;
  // Who might change something is another thread of the process.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return false;
}

void Scheduler::reportStuck() {
  if (!fault) {
    fault = context.makeFault(FaultKind::Stuck);
    llvm::sort(queue, [](const Group &a, const Group &b) { return a->index() < b->index(); });
    for (Group &group : queue)
      for (Wave &wave : group->waves()) {
        if (wave.status == WaveStatus::Ended)
          continue;
        bool atBarrier = wave.status == WaveStatus::AtBarrier;
        fault->waves.push_back({group->coordinates(), wave.indexInWorkgroup,
                                context.program.addressOf(atBarrier ? wave.pc - 1 : wave.pc),
                                atBarrier});
      }
    // The fault is that of the first wave that does not wait for the others of its workgroup.
    const WavePosition &first =
        *llvm::find_if(fault->waves, [](const WavePosition &wave) { return !wave.atBarrier; });
    fault->workgroup = first.workgroup;
    fault->wave = first.wave;
    fault->instructionAddress = first.instructionAddress;
    fault->instruction = context.program.disassemble(first.instructionAddress);
  }
  limit = 0;
  dropFrom(0);
}

void Scheduler::beginRound() {
  // Only a round in which one thread ran at a time shows that nothing changed between the turns.
  bool repeated = roundRepeats && !canStart() && !otherThreadsRun();
  if (repeated && oneAtATime && isStuck())
    return reportStuck();
  if (!repeated && !isMoving) {
    startMoving();
    isMoving = true;
  }
  if (!repeated)
    repeatingSince.reset();
  oneAtATime = repeated || threads == 1;
  othersMoved = movements.load();
  ++round;
  mayStart = roundProgress ? threads : capacity;
  roundProgress = false;
  roundRepeats = true;
}

/// Gives the memory of workgroups from that one on back.
void Scheduler::dropFrom(uint64_t first) {
  std::erase_if(queue, [&](Group &group) {
    if (group->index() < first)
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
    if (oneAtATime && otherThreadsRun()) {
      changed.wait(lock);
      continue;
    }
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
    if (resident == 0)
      return nullptr;
    // A round in which nothing has moved so far is waited for: it may be the last.
    if (queue.empty() || (roundRepeats && !canStart() && otherThreadsRun()))
      changed.wait(lock);
    else
      beginRound();
  }
}

void Scheduler::settle(Group group, const Turn &turn, bool isNew) {
  roundProgress |= turn.progress;
  roundRepeats &= turn.repeats;
  if (turn.end == Turn::End::Faulted && group->index() < limit) {
    limit = group->index();
    fault = context.faultOf(*turn.faulted, group->coordinates());
    dropFrom(limit);
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

void Scheduler::work(llvm::function_ref<void()> callHelp) {
  TurnRunner runner(context, map, budget);
  std::unique_lock lock(mutex);
  bool isNew = false;
  uint64_t index = 0;
  while (Group group = next(lock, isNew, index)) {
    lock.unlock();
    if (isNew) {
      group->start(context, index, globalRaces.get());
      runner.begin(*group);
    }
    Turn turn = runner.run(*group);
    lock.lock();
    settle(std::move(group), turn, isNew);
    if (callHelp && runner.executed() >= workForHelp && (canStart() || !queue.empty())) {
      lock.unlock();
      callHelp();
      callHelp = nullptr;
      lock.lock();
    }
  }
  counters += runner.counters();
  if (!runner.profile())
    return;
  if (profile)
    *profile += *runner.profile();
  else
    profile = std::make_shared<InstructionProfile>(*runner.profile());
}

LaunchResult Scheduler::takeResult() {
  LaunchResult result;
  result.fault = std::move(fault);
  result.counters = counters;
  result.profile = profile;
  return result;
}

} // namespace wavetile::device
