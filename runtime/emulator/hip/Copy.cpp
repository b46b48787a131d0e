//===- Copy.cpp - Copies and fills ----------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each has finished when the call returns, the asynchronous forms too: tensors
// are host memory, which the client may read at once.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Runtime.h"
#include "runtime/emulator/hip/Stream.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace wavetile::device;

/// Whether the client may have [pointer, pointer + bytes) copied or filled; says why not.
static hipError_t checkRange(Runtime &runtime, const void *pointer, size_t bytes,
                             const char *role) {
  uint64_t begin = reinterpret_cast<uint64_t>(pointer);
  if (!pointer || bytes > UINT64_MAX - begin)
    return hipErrorInvalidValue;
  if (auto allocation = runtime.memory.findKnown(begin)) {
    if (!allocation->freed && allocation->contains(begin, bytes))
      return hipSuccess;
    // A host range that a registered one is only a part of is the client's own business.
    if (allocation->source == BoundsSource::Device)
      return fail(hipErrorInvalidValue,
                  llvm::formatv("the {0} of {1} bytes at {2:x} {3} allocation '{4}' of {5} bytes",
                                role, bytes, begin,
                                allocation->freed ? "is in freed" : "runs past the end of",
                                runtime.memory.name(allocation->identifier), allocation->size())
                      .str());
  }
  if (!runtime.memory.isMapped(begin, bytes))
    return fail(
        hipErrorInvalidValue,
        llvm::formatv("the {0} of {1} bytes at {2:x} is not in mapped memory", role, bytes, begin)
            .str());
  return hipSuccess;
}

namespace {
/// Rows of `width` bytes at a distance of `pitch`. A flat range is one row.
struct Rows {
  void *pointer;
  size_t pitch;
};
} // namespace

/// The bytes from the first row's begin to the last row's end, or nothing if that overflows.
static std::optional<size_t> span(size_t pitch, size_t width, size_t height) {
  size_t rows = height - 1;
  if (rows != 0 && pitch > (SIZE_MAX - width) / rows)
    return std::nullopt;
  return pitch * rows + width;
}

static hipError_t copy(Rows to, Rows from, size_t width, size_t height, int kind,
                       hipStream_t stream) {
  return onStream(stream, [&](Runtime &runtime) {
    if ((kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) &&
        kind != hipMemcpyDeviceToDeviceNoCU)
      return hipErrorInvalidMemcpyDirection;
    if (width == 0 || height == 0)
      return hipSuccess;
    if (height > 1 && (width > to.pitch || width > from.pitch))
      return hipErrorInvalidPitchValue;
    auto toBytes = span(to.pitch, width, height), fromBytes = span(from.pitch, width, height);
    if (!toBytes || !fromBytes)
      return hipErrorInvalidValue;
    if (hipError_t error = checkRange(runtime, to.pointer, *toBytes, "destination"))
      return error;
    if (hipError_t error = checkRange(runtime, from.pointer, *fromBytes, "source"))
      return error;
    for (size_t row = 0; row < height; ++row)
      std::memmove(static_cast<char *>(to.pointer) + row * to.pitch,
                   static_cast<char *>(from.pointer) + row * from.pitch, width);
    return hipSuccess;
  });
}

static hipError_t copy(void *to, const void *from, size_t bytes, int kind,
                       hipStream_t stream = nullptr) {
  return copy({to, bytes}, {const_cast<void *>(from), bytes}, bytes, 1, kind, stream);
}

/// Fills rows with `width` elements each.
template <typename T>
static hipError_t fill(Rows to, T value, size_t width, size_t height, hipStream_t stream) {
  return onStream(stream, [&](Runtime &runtime) {
    if (width == 0 || height == 0)
      return hipSuccess;
    if (width > SIZE_MAX / sizeof(T))
      return hipErrorInvalidValue;
    if (height > 1 && width * sizeof(T) > to.pitch)
      return hipErrorInvalidPitchValue;
    if (reinterpret_cast<uint64_t>(to.pointer) % alignof(T) != 0)
      return hipErrorInvalidValue;
    auto bytes = span(to.pitch, width * sizeof(T), height);
    if (!bytes)
      return hipErrorInvalidValue;
    if (hipError_t error = checkRange(runtime, to.pointer, *bytes, "destination"))
      return error;
    for (size_t row = 0; row < height; ++row)
      std::fill_n(reinterpret_cast<T *>(static_cast<char *>(to.pointer) + row * to.pitch), width,
                  value);
    return hipSuccess;
  });
}

template <typename T>
static hipError_t fill(void *to, T value, size_t count, hipStream_t stream = nullptr) {
  return fill<T>(Rows{to, 0}, value, count, 1, stream);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  return copy(to, from, bytes, kind);
}

WAVETILE_HIP_API hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                                           hipStream_t stream) {
  return copy(to, from, bytes, kind, stream);
}

WAVETILE_HIP_API hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, int kind,
                                                hipStream_t stream) {
  return copy(to, from, bytes, kind, stream);
}

WAVETILE_HIP_API hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes) {
  return copy(to, from, bytes, hipMemcpyHostToDevice);
}

WAVETILE_HIP_API hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
  return copy(to, from, bytes, hipMemcpyDeviceToHost);
}

WAVETILE_HIP_API hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}

WAVETILE_HIP_API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t bytes,
                                               hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyHostToDevice, stream);
}

WAVETILE_HIP_API hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes,
                                               hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyDeviceToHost, stream);
}

WAVETILE_HIP_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                                               hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

WAVETILE_HIP_API hipError_t hipMemcpyPeer(void *to, int, const void *from, int, size_t bytes) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}

WAVETILE_HIP_API hipError_t hipMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes,
                                               hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

WAVETILE_HIP_API hipError_t hipMemcpy2DAsync(void *to, size_t toPitch, const void *from,
                                             size_t fromPitch, size_t width, size_t height,
                                             int kind, hipStream_t stream) {
  return copy({to, toPitch}, {const_cast<void *>(from), fromPitch}, width, height, kind, stream);
}

WAVETILE_HIP_API hipError_t hipMemcpy2D(void *to, size_t toPitch, const void *from,
                                        size_t fromPitch, size_t width, size_t height, int kind) {
  return hipMemcpy2DAsync(to, toPitch, from, fromPitch, width, height, kind, nullptr);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

WAVETILE_HIP_API hipError_t hipMemset(void *to, int value, size_t bytes) {
  return fill<uint8_t>(to, value, bytes);
}

WAVETILE_HIP_API hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  return fill<uint8_t>(to, value, bytes, stream);
}

WAVETILE_HIP_API hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return fill<uint8_t>(to, value, count);
}

WAVETILE_HIP_API hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                                             hipStream_t stream) {
  return fill<uint8_t>(to, value, count, stream);
}

WAVETILE_HIP_API hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return fill<uint16_t>(to, value, count);
}

WAVETILE_HIP_API hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                                              hipStream_t stream) {
  return fill<uint16_t>(to, value, count, stream);
}

WAVETILE_HIP_API hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return fill<uint32_t>(to, value, count);
}

WAVETILE_HIP_API hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count,
                                              hipStream_t stream) {
  return fill<uint32_t>(to, value, count, stream);
}

WAVETILE_HIP_API hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                             size_t height, hipStream_t stream) {
  return fill<uint8_t>(Rows{to, pitch}, value, width, height, stream);
}

WAVETILE_HIP_API hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width,
                                        size_t height) {
  return hipMemset2DAsync(to, pitch, value, width, height, nullptr);
}
