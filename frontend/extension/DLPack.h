//===- DLPack.h - The part of DLPack's C interface that is used -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structures of DLPack 1.x (https://dmlc.github.io/dlpack) as a library publishes
// them by the attribute `__dlpack_c_exchange_api__` of its tensor type: a capsule
// named "dlpack_exchange_api" around a DLPackExchangeApi that lives forever. Minor
// versions only add to its end.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_FRONTEND_EXTENSION_DLPACK_H
#define WAVETILE_FRONTEND_EXTENSION_DLPACK_H

#include <cstdint>

namespace wavetile {

struct DLPackDevice {
  int32_t type;
  int32_t ordinal;
  bool operator==(const DLPackDevice &) const = default;
};

struct DLPackDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLPackTensor {
  void *data;
  DLPackDevice device;
  int32_t rank;
  DLPackDataType type;
  int64_t *sizes;
  int64_t *strides; // in elements
  uint64_t byteOffset;
};

struct DLPackExchangeApi {
  uint32_t major;
  uint32_t minor;
  DLPackExchangeApi *previous;
  void *unused[3]; // functions for managed tensors
  /// Describes the tensor without owning it. Returns 0, or -1 with a Python exception set.
  int (*view)(void *object, DLPackTensor *tensor);
  /// The stream on which the library puts work for a device now. Same results.
  int (*currentStream)(int32_t deviceType, int32_t ordinal, void **stream);
};

inline constexpr uint32_t dlpackMajor = 1;
inline constexpr const char *dlpackCapsule = "dlpack_exchange_api";
inline constexpr const char *dlpackAttribute = "__dlpack_c_exchange_api__";

} // namespace wavetile

#endif // WAVETILE_FRONTEND_EXTENSION_DLPACK_H
