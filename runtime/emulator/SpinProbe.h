//===- SpinProbe.h - Finds waves that run in circles -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: an exact answer to whether a wave has come back to a state that it was
// in before, registers and program counter, while it changed no byte of memory. Such a wave does
// the same for ever unless somebody else changes memory. Waves execute as always while they are
// probed.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_SPINPROBE_H
#define WAVETILE_RUNTIME_EMULATOR_SPINPROBE_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/LaunchContext.h"
#include "runtime/emulator/Wave.h"

#include <vector>

namespace wavetile::device {

/// Notices stores, atomics and loads to LDS that change memory.
class MemoryChangeWatch {
public:
  AccessObserver observer();
  /// Whether an access reported since the last call has changed a byte; call after each
  /// instruction.
  bool changed();

private:
  static bool note(void *self, Wave &wave, const MemoryAccess &access);
  void keep(const void *bytes, size_t count);

  struct Piece {
    const uint8_t *at;
    size_t count;
  };
  std::vector<Piece> pieces;
  std::vector<uint8_t> before;
};

class SpinProbe {
public:
  explicit SpinProbe(const LaunchContext &context) : context(context) {}

  enum class Outcome : uint8_t {
    Repeats, ///< The wave's state has repeated; it is ready.
    Goes,    ///< It has not, or memory was changed. The wave is ready.
    Stopped, ///< The wave ended, faulted or waits at a barrier.
  };
  /// Executes up to \p instructions and says in \p executed how many it were, counting them in
  /// \p classes.
  Outcome run(Wave &wave, uint64_t instructions, uint64_t *classes, uint64_t &executed);

private:
  void takeSnapshot(const Wave &wave, const Record *pc);
  bool isSnapshot(const Wave &wave) const;
  size_t rowWords(uint32_t rows) const { return size_t(rows) * context.waveSize; }

  const LaunchContext &context;
  MemoryChangeWatch watch;
  const Record *snapshotPc = nullptr;
  Mode snapshotMode;
  uint32_t snapshotScalars[scalar::Count];
  std::vector<uint32_t> snapshotRows; ///< VGPRs, then AGPRs.
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_SPINPROBE_H
