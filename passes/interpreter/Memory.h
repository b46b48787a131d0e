//===- Memory.h - Global memory of an interpreted kernel --------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every access is checked against the bytes of one tensor or scratch buffer. Of
// scratch buffers it is known which bytes were written.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_INTERPRETER_MEMORY_H
#define WAVETILE_PASSES_INTERPRETER_MEMORY_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace wavetile::interpreter {

class Allocation {
public:
  /// The memory of a tensor, which the caller owns.
  explicit Allocation(llvm::MutableArrayRef<uint8_t> bytes) : bytes(bytes) {}

  /// A scratch buffer, whose contents have no value.
  explicit Allocation(size_t size)
      : storage(size), written(std::in_place, size, false), bytes(storage) {}

  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;

  llvm::ArrayRef<uint8_t> getBytes() const { return bytes; }

  bool contains(int64_t offset, unsigned size) const {
    return offset >= 0 && uint64_t(offset) <= bytes.size() && size <= bytes.size() - offset;
  }

  /// The `size` bytes at `offset` as a little-endian number, or nothing if one of
  /// them was never written. They must lie in the allocation.
  std::optional<uint64_t> read(int64_t offset, unsigned size) const;
  void write(int64_t offset, unsigned size, uint64_t value);

private:
  std::vector<uint8_t> storage;
  std::optional<std::vector<bool>> written; // absent: all of it
  llvm::MutableArrayRef<uint8_t> bytes;
};

} // namespace wavetile::interpreter

#endif // WAVETILE_PASSES_INTERPRETER_MEMORY_H
