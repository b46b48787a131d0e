//===- AlignedArray.h - Memory aligned for vector code ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_ALIGNEDARRAY_H
#define WAVETILE_RUNTIME_EMULATOR_ALIGNEDARRAY_H

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace wavetile::device {

struct AlignedFree {
  void operator()(void *memory) const { std::free(memory); }
};
template <typename T> using AlignedArray = std::unique_ptr<T[], AlignedFree>;

/// An array on a boundary of 64 bytes, whose contents are undefined and which no constructor or
/// destructor is called for.
template <typename T> AlignedArray<T> allocateAligned(size_t count) {
  size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
  return AlignedArray<T>(static_cast<T *>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
}

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_ALIGNEDARRAY_H
