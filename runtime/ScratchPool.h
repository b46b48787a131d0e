//===- ScratchPool.h - Device memory that plans use inside a launch -------*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scratch of a GPU is kept per stream and grows: launches on one stream follow
// one another, so they may share it. A buffer that a captured graph has seen is
// never freed before the pool, since the graph may be replayed. On the software
// device each launch gets buffers of its own, of exactly the size asked for, so
// that every read of what it did not write and every access beyond is noticed.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_SCRATCHPOOL_H
#define WAVETILE_RUNTIME_SCRATCHPOOL_H

#include "runtime/Hip.h"

#include <vector>

namespace wavetile {

class ScratchPool {
public:
  explicit ScratchPool(const HipLibrary &hip) : hip(hip) {}
  ScratchPool(const ScratchPool &) = delete;
  ~ScratchPool();

  /// At least `bytes` for scratch buffer `slot` of a launch on `stream`. Null for no bytes.
  Status acquire(HipStream stream, size_t slot, size_t bytes, void *&pointer);

  /// Ends the launch on `stream` for which buffers were acquired; on the software device the
  /// work must be complete.
  void finish(HipStream stream);

  /// Bytes held now.
  size_t heldBytes() const;

private:
  struct Buffer {
    void *pointer = nullptr;
    size_t bytes = 0;
    bool captured = false;
  };
  struct PerStream {
    HipStream stream;
    std::vector<Buffer> slots;
  };
  std::vector<Buffer> &slotsOf(HipStream stream);

  const HipLibrary &hip;
  std::vector<PerStream> streams;
  std::vector<Buffer> retired; // outgrown, but known to a captured graph
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_SCRATCHPOOL_H
