//===- Memory.cpp - Global memory of an interpreted kernel ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/interpreter/Memory.h"

#include <cassert>

using namespace wavetile::interpreter;

std::optional<uint64_t> Allocation::read(int64_t offset, unsigned size) const {
  assert(contains(offset, size) && "read outside of an allocation");
  uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) {
    if (written && !(*written)[offset + i])
      return std::nullopt;
    value |= uint64_t(bytes[offset + i]) << (8 * i);
  }
  return value;
}

void Allocation::write(int64_t offset, unsigned size, uint64_t value) {
  assert(contains(offset, size) && "write outside of an allocation");
  for (unsigned i = 0; i < size; ++i) {
    bytes[offset + i] = uint8_t(value >> (8 * i));
    if (written)
      (*written)[offset + i] = true;
  }
}
