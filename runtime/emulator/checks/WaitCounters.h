//===- WaitCounters.h - Outstanding memory operations of a wave -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave counts the memory operations that it has issued and that are not done, in a few counters;
// s_waitcnt and its like wait until a counter is no higher than a number. What such a wait proves:
// operations of one kind end in order, so one of them is done if more of its kind were issued from
// it on than the number says; operations whose order is not known (scalar loads, FLAT, messages)
// are done only at zero. A counter holds no more than its maximum: issuing one more waits for the
// oldest.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_WAITCOUNTERS_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_WAITCOUNTERS_H

#include "runtime/emulator/Target.h"

#include <cstdint>
#include <vector>

namespace wavetile::device::checks {

/// The counters by what they are called on gfx12; other targets have fewer, see WaitModel.
enum class Counter : uint8_t { Load, Store, Lds, Scalar, Count, None = Count };
inline constexpr unsigned counterCount = static_cast<unsigned>(Counter::Count);

/// Which counter counts what on a target, and how far it counts.
struct WaitModel {
  Counter load;
  Counter store; ///< And atomics without a result.
  Counter lds;
  Counter scalar;
  uint8_t maximum[counterCount];

  static const WaitModel &of(const TargetDescription &target);
};

/// What a wait instruction waits for: afterwards each counter is at most so much.
struct WaitValues {
  static constexpr uint8_t any = 0xff; ///< It says nothing of this counter.
  uint8_t most[counterCount] = {any, any, any, any};

  bool isNone() const;
  /// Of the instruction of this name; none for those that are no waits.
  static WaitValues of(llvm::StringRef mnemonic, uint32_t immediate, Encoding encoding);
};

/// A counter's name on a target, "vmcnt" or "loadcnt".
llvm::StringRef name(Counter counter, Encoding encoding);

enum class PendingKind : uint8_t { VectorMemory, Lds, Unordered };
inline constexpr unsigned pendingKinds = 3;

/// The most registers that one load writes.
inline constexpr unsigned maximumLoadRegisters = 16;

/// One operation that has been issued.
struct PendingOperation {
  uint32_t record = 0; ///< Its number.
  PendingKind kind = PendingKind::VectorMemory;
  bool done = false;
  bool writesBack = false; ///< The caches, for other workgroups to see.
  uint8_t registers = 0;   ///< That it will write; 0 for stores.
  uint16_t firstEntry = 0; ///< The first one, as an entry of the register shadow.
  uint32_t bits = ~0u;     ///< Of each register, which it writes.
  uint32_t raceNumber = 0; ///< Of the access, see OutstandingAccesses; 0: none.
  uint32_t origin = 0;     ///< Where undefined bits of what it loaded come from.
  /// The undefined bits of what was loaded, `registers` rows of a lane each, where some lane has
  /// both kinds. Empty: all bits of the lanes in `undefined`.
  std::vector<uint32_t> partialBits;
  /// Loads to LDS: lane l of `ldsLanes` writes `ldsBytes` bytes from `ldsOffset + l * ldsStep` on.
  uint64_t ldsLanes = 0;
  uint32_t ldsOffset = 0;
  uint32_t ldsStep = 0;
  uint32_t ldsBytes = 0;
  /// What the LDS bytes' definedness will be, as MemoryShadow has it. Empty: defined.
  std::vector<uint8_t> ldsDefined;
  // Last, so that what `start` writes lies together.
  uint64_t lanes[maximumLoadRegisters];     ///< Of each register, which it writes.
  uint64_t undefined[maximumLoadRegisters]; ///< Lanes of these that loaded undefined bits.

  void start(PendingKind newKind, uint32_t newRecord) {
    record = newRecord;
    kind = newKind;
    done = false;
    writesBack = false;
    registers = 0;
    bits = ~0u;
    raceNumber = 0;
    origin = 0;
    ldsLanes = 0;
    partialBits.clear();
    ldsDefined.clear();
  }
};

/// One counter: the operations that it counts, the oldest first.
class WaitCounter {
public:
  WaitCounter() = default;
  WaitCounter(const WaitCounter &) = delete;
  WaitCounter &operator=(const WaitCounter &) = delete;

  void setMaximum(unsigned value) { maximum = value; }
  void clear() { head = tail = live = 0; }

  /// Makes room as the hardware does, then appends an operation. `done(operation)` is called for
  /// those that are over by then, the oldest first.
  template <typename Done> PendingOperation &issue(PendingKind kind, uint32_t record, Done done) {
    if (live >= maximum)
      wait(maximum - 1, done);
    // The same few operations again, which are in the host's cache.
    if (head == tail)
      head = tail = 0;
    if (tail - head == mask + 1)
      grow();
    PendingOperation &operation = at(tail++);
    ++live;
    operation.start(kind, record);
    return operation;
  }

  /// The counter is known to be \p value or less.
  template <typename Done> void wait(unsigned value, Done done) {
    if (live <= value)
      return;
    // Of each kind, the operations before this one are over.
    uint64_t over[pendingKinds] = {head, head, head};
    unsigned fromHere[pendingKinds] = {};
    for (uint64_t i = tail; i != head;) {
      const PendingOperation &operation = at(--i);
      unsigned kind = static_cast<unsigned>(operation.kind);
      if (operation.done)
        continue;
      bool ordered = operation.kind != PendingKind::Unordered;
      if (++fromHere[kind] == (ordered ? value + 1 : 1) && (ordered || value == 0))
        over[kind] = i + 1;
    }
    for (uint64_t i = head; i != tail; ++i) {
      PendingOperation &operation = at(i);
      if (operation.done || i >= over[static_cast<unsigned>(operation.kind)])
        continue;
      operation.done = true;
      --live;
      done(operation);
    }
    while (head != tail && at(head).done)
      ++head;
  }

  /// Calls \p body for each operation that is not over.
  template <typename Body> void forEach(Body body) {
    for (uint64_t i = head; i != tail; ++i)
      if (!at(i).done)
        body(at(i));
  }

private:
  PendingOperation &at(uint64_t index) { return slots[index & mask]; }
  void grow();

  unsigned maximum = 63;
  unsigned live = 0;
  uint64_t head = 0, tail = 0;
  std::vector<PendingOperation> ring; ///< Its size is a power of two.
  PendingOperation *slots = nullptr;  ///< Of the ring.
  uint64_t mask = ~uint64_t(0);       ///< Its size less one.
};

} // namespace wavetile::device::checks

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_WAITCOUNTERS_H
