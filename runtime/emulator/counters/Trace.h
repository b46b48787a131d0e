//===- Trace.h - The execution of one workgroup, written down -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this header promises: every instruction that the waves of one workgroup execute, in each
// wave's order, with what a model of time needs to know of it: its class, the registers that it
// reads and writes, what it waits for, its active lanes, the LDS cycles and the cache lines of its
// accesses. The text is JSON, a value a line; docs/software-device-trace.md is its definition.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_COUNTERS_TRACE_H
#define WAVETILE_RUNTIME_EMULATOR_COUNTERS_TRACE_H

#include "runtime/emulator/AccessObserver.h"
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Wave.h"
#include "runtime/emulator/counters/AccessedLines.h"
#include "runtime/emulator/counters/LdsCost.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <functional>
#include <string>

namespace wavetile::device {

struct Launch;

/// Which workgroup of a launch is written down, and where.
struct TraceRequest {
  llvm::raw_ostream *out = nullptr;
  std::array<uint32_t, 3> workgroup{};
  /// "file:line" of the instruction at an address, or "".
  std::function<std::string(uint64_t)> sourceOf;
};

/// See the top of the file. Written by one thread at a time: the one that runs the workgroup.
class Trace {
public:
  Trace(const TraceRequest &request, const Launch &launch);
  /// Says how many instructions there were.
  ~Trace();

  /// Before and after a wave executes \p record.
  void begin(const Wave &wave, const Record *record);
  void end(const Wave &wave, const Record *record);
  /// In between, for each access to memory.
  void access(const Wave &wave, const MemoryAccess &access, uint64_t bytes, LdsCost cost,
              llvm::ArrayRef<uint64_t> lines);

private:
  unsigned numberOf(const Record *record);
  void describe(const Record *record, unsigned number);

  const TraceRequest &request;
  const Launch &launch;
  const DecodedProgram &program;
  llvm::raw_ostream &out;
  LdsCostModel ldsModel;
  llvm::DenseMap<const Record *, unsigned> numbers; ///< Of the instructions seen so far.
  uint64_t events = 0;

  // The instruction at hand.
  unsigned activeLanes = 0;
  std::string accesses;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_COUNTERS_TRACE_H
