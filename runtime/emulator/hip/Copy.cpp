//===- Copy.cpp - Copies --------------------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each has finished when the call returns, the asynchronous forms too: tensors
// are host memory, which the client may read at once. With
// WAVETILE_DEVICE_ASYNC=1 only those that touch pageable host memory have, as
// with HIP.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/DefinedMemory.h"
#include "runtime/emulator/hip/Registration.h"
#include "runtime/emulator/hip/Stream.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace wavetile::device;

/// What a range of memory is to a copy or a fill.
enum class Role { Source, Destination };

/// Whether the client may have [pointer, pointer + bytes) copied or filled; says why not.
static hipError_t checkRange(Runtime &runtime, const void *pointer, size_t bytes, Role role) {
  const char *name = role == Role::Source ? "source" : "destination";
  uint64_t begin = reinterpret_cast<uint64_t>(pointer);
  if (!pointer || bytes > UINT64_MAX - begin)
    return hipErrorInvalidValue;
  if (auto allocation = runtime.memory.findKnown(begin)) {
    // Of registered memory the host knows best, and a range that it is a part of is the client's
    // own business.
    if (allocation->source == BoundsSource::Device) {
      if (!allocation->freed && allocation->contains(begin, bytes))
        return hipSuccess;
      return fail(hipErrorInvalidValue,
                  llvm::formatv("the {0} of {1} bytes at {2:x} {3} allocation '{4}' of {5} bytes",
                                name, bytes, begin,
                                allocation->freed ? "is in freed" : "runs past the end of",
                                runtime.memory.name(allocation->identifier), allocation->size())
                      .str());
    }
  }
  auto refuse = [&](const char *why) {
    return fail(hipErrorInvalidValue,
                llvm::formatv("the {0} of {1} bytes at {2:x} {3}", name, bytes, begin, why).str());
  };
  bool isWritten = role == Role::Destination;
  if (isWritten ? runtime.memory.isWritable(begin, bytes) : runtime.memory.isMapped(begin, bytes))
    return hipSuccess;
  bool isReadOnly = isWritten && runtime.memory.isMapped(begin, bytes);
  return refuse(isReadOnly ? "is in read-only memory" : "is not in mapped memory");
}

/// The bytes from the first row's begin to the last row's end, or nothing if that overflows.
static std::optional<size_t> span(const Rows &rows, const Extent &extent) {
  size_t bytes = extent.width;
  for (auto [count, pitch] :
       {std::pair(extent.height, rows.pitch), std::pair(extent.depth, rows.planePitch)})
    if (count > 1 && (__builtin_mul_overflow(pitch, count - 1, &pitch) ||
                      __builtin_add_overflow(bytes, pitch, &bytes)))
      return std::nullopt;
  return bytes;
}

/// Whether rows and planes overlap nowhere.
static bool arePitchesValid(const Rows &rows, const Extent &extent) {
  if (extent.height > 1 && extent.width > rows.pitch)
    return false;
  auto plane = span(rows, {extent.width, extent.height, 1});
  return extent.depth <= 1 || (plane && *plane <= rows.planePitch);
}

static hipError_t checkRows(Runtime &runtime, const Rows &rows, const Extent &extent, Role role) {
  if (!arePitchesValid(rows, extent))
    return hipErrorInvalidPitchValue;
  auto bytes = span(rows, extent);
  return bytes ? checkRange(runtime, rows.pointer, *bytes, role) : hipErrorInvalidValue;
}

hipError_t wavetile::device::check(Runtime &runtime, const CopyWork &copy) {
  if (copy.extent.isEmpty())
    return hipSuccess;
  if (hipError_t error = checkRows(runtime, copy.to, copy.extent, Role::Destination))
    return error;
  return checkRows(runtime, copy.from, copy.extent, Role::Source);
}

hipError_t wavetile::device::check(Runtime &runtime, const FillWork &fill) {
  if (fill.extent.isEmpty())
    return hipSuccess;
  if (reinterpret_cast<uint64_t>(fill.to.pointer) % fill.elementBytes != 0 ||
      (fill.extent.height > 1 && fill.to.pitch % fill.elementBytes != 0))
    return hipErrorInvalidValue;
  return checkRows(runtime, fill.to, fill.extent, Role::Destination);
}

/// Calls `body` with where each row begins.
template <typename Body> static void forEachRow(const Extent &extent, Body body) {
  if (!extent.isEmpty())
    for (size_t plane = 0; plane < extent.depth; ++plane)
      for (size_t row = 0; row < extent.height; ++row)
        body(plane, row);
}

static char *rowAt(const Rows &rows, size_t plane, size_t row) {
  return static_cast<char *>(rows.pointer) + plane * rows.planePitch + row * rows.pitch;
}

hipError_t wavetile::device::perform(Runtime &runtime, const CopyWork &copy) {
  std::shared_lock lock(runtime.activity);
  if (hipError_t error = check(runtime, copy))
    return error;
  forEachRow(copy.extent, [&](size_t plane, size_t row) {
    char *to = rowAt(copy.to, plane, row), *from = rowAt(copy.from, plane, row);
    std::memmove(to, from, copy.extent.width);
    copyDefined(runtime.memory, reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from),
                copy.extent.width);
  });
  return hipSuccess;
}

hipError_t wavetile::device::perform(Runtime &runtime, const FillWork &fill) {
  std::shared_lock lock(runtime.activity);
  if (hipError_t error = check(runtime, fill))
    return error;
  forEachRow(fill.extent, [&](size_t plane, size_t row) {
    char *begin = rowAt(fill.to, plane, row);
    size_t count = fill.extent.width / fill.elementBytes;
    switch (fill.elementBytes) {
    case 1:
      std::fill_n(reinterpret_cast<uint8_t *>(begin), count, fill.value);
      break;
    case 2:
      std::fill_n(reinterpret_cast<uint16_t *>(begin), count, fill.value);
      break;
    default:
      std::fill_n(reinterpret_cast<uint32_t *>(begin), count, fill.value);
      break;
    }
    markDefined(runtime.memory, reinterpret_cast<uint64_t>(begin), fill.extent.width);
  });
  return hipSuccess;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static bool isCopyKind(int kind) {
  return (kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) ||
         kind == hipMemcpyDeviceToDeviceNoCU;
}

/// Whether this is memory of the host that the device was not told of.
static bool isPageable(Runtime &runtime, const void *pointer) {
  return !runtime.memory.findKnown(reinterpret_cast<uint64_t>(pointer));
}

static hipError_t copy(const CopyWork &work, int kind, hipStream_t stream, Wait wait) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    if (!isCopyKind(kind))
      return hipErrorInvalidMemcpyDirection;
    if (hipError_t error = check(runtime, work))
      return error;
    bool isStaged = isPageable(runtime, work.to.pointer) || isPageable(runtime, work.from.pointer);
    return submit(runtime, stream, work,
                  isStaged && wait == Wait::No ? Wait::UnlessCaptured : wait);
  });
}

static hipError_t copy(void *to, const void *from, size_t bytes, int kind,
                       hipStream_t stream = nullptr, Wait wait = Wait::Yes) {
  return copy({{to}, {const_cast<void *>(from)}, {bytes}}, kind, stream, wait);
}

WAVETILE_HIP_API hipError_t hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  return copy(to, from, bytes, kind);
}

WAVETILE_HIP_API hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                                           hipStream_t stream) {
  return copy(to, from, bytes, kind, stream, Wait::No);
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
  return copy(to, from, bytes, hipMemcpyHostToDevice, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes,
                                               hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyDeviceToHost, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                                               hipStream_t stream) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice, stream, Wait::No);
}

static hipError_t copyToPeer(void *to, int toDevice, const void *from, int fromDevice, size_t bytes,
                             hipStream_t stream, Wait wait) {
  return withDevice([&](Runtime &runtime) {
    if (!runtime.device(toDevice) || !runtime.device(fromDevice))
      return hipErrorInvalidDevice;
    return copy(to, from, bytes, hipMemcpyDeviceToDevice, stream, wait);
  });
}

WAVETILE_HIP_API hipError_t hipMemcpyPeer(void *to, int toDevice, const void *from, int fromDevice,
                                          size_t bytes) {
  return copyToPeer(to, toDevice, from, fromDevice, bytes, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemcpyPeerAsync(void *to, int toDevice, const void *from,
                                               int fromDevice, size_t bytes, hipStream_t stream) {
  return copyToPeer(to, toDevice, from, fromDevice, bytes, stream, Wait::No);
}

static hipError_t copy2D(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
                         size_t height, int kind, hipStream_t stream, Wait wait) {
  return copy({{to, toPitch}, {const_cast<void *>(from), fromPitch}, {width, height}}, kind, stream,
              wait);
}

WAVETILE_HIP_API hipError_t hipMemcpy2DAsync(void *to, size_t toPitch, const void *from,
                                             size_t fromPitch, size_t width, size_t height,
                                             int kind, hipStream_t stream) {
  return copy2D(to, toPitch, from, fromPitch, width, height, kind, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemcpy2D(void *to, size_t toPitch, const void *from,
                                        size_t fromPitch, size_t width, size_t height, int kind) {
  return copy2D(to, toPitch, from, fromPitch, width, height, kind, nullptr, Wait::Yes);
}

//===----------------------------------------------------------------------===//
// Copies described by a structure
//===----------------------------------------------------------------------===//

/// One side of a copy between pointers that hipMemcpy3D or hipMemcpyParam2D describes.
static Rows sideOf(void *pointer, size_t pitch, size_t rowsOfPlane, size_t x, size_t y, size_t z) {
  Rows rows = {pointer, pitch, pitch * rowsOfPlane};
  if (pointer)
    rows.pointer = static_cast<char *>(pointer) + z * rows.planePitch + y * pitch + x;
  return rows;
}

/// Where a driver-style description says that the memory is; null for an array.
static void *pointerOf(hipMemoryType type, const void *host, void *device) {
  switch (type) {
  case hipMemoryTypeHost:
  case hipMemoryTypeUnregistered:
    return const_cast<void *>(host);
  case hipMemoryTypeDevice:
  case hipMemoryTypeManaged:
    return device;
  case hipMemoryTypeArray:
    return nullptr;
  }
  return device;
}

static hipError_t refuseArrays() {
  return recorded(fail(hipErrorNotSupported, "copies of arrays are not supported"));
}

static hipError_t copy3D(const hipMemcpy3DParms *p, hipStream_t stream, Wait wait) {
  if (!p)
    return recorded(hipErrorInvalidValue);
  if (p->srcArray || p->dstArray)
    return refuseArrays();
  return copy(copyWorkOf(*p), p->kind, stream, wait);
}

CopyWork wavetile::device::copyWorkOf(const hipMemcpy3DParms &p) {
  return {sideOf(p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.ysize, p.dstPos.x, p.dstPos.y, p.dstPos.z),
          sideOf(p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.ysize, p.srcPos.x, p.srcPos.y, p.srcPos.z),
          {p.extent.width, p.extent.height, p.extent.depth}};
}

WAVETILE_HIP_API hipError_t hipMemcpy3D(const hipMemcpy3DParms *p) {
  return copy3D(p, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *p, hipStream_t stream) {
  return copy3D(p, stream, Wait::No);
}

static hipError_t copy3D(const HIP_MEMCPY3D *p, hipStream_t stream, Wait wait) {
  if (!p)
    return recorded(hipErrorInvalidValue);
  if (p->srcMemoryType == hipMemoryTypeArray || p->dstMemoryType == hipMemoryTypeArray)
    return refuseArrays();
  return copy({sideOf(pointerOf(p->dstMemoryType, p->dstHost, p->dstDevice), p->dstPitch,
                      p->dstHeight, p->dstXInBytes, p->dstY, p->dstZ),
               sideOf(pointerOf(p->srcMemoryType, p->srcHost, p->srcDevice), p->srcPitch,
                      p->srcHeight, p->srcXInBytes, p->srcY, p->srcZ),
               {p->WidthInBytes, p->Height, p->Depth}},
              hipMemcpyDefault, stream, wait);
}

WAVETILE_HIP_API hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *p) {
  return copy3D(p, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *p, hipStream_t stream) {
  return copy3D(p, stream, Wait::No);
}

static hipError_t copyParam2D(const hip_Memcpy2D *p, hipStream_t stream, Wait wait) {
  if (!p)
    return recorded(hipErrorInvalidValue);
  if (p->srcMemoryType == hipMemoryTypeArray || p->dstMemoryType == hipMemoryTypeArray)
    return refuseArrays();
  return copy({sideOf(pointerOf(p->dstMemoryType, p->dstHost, p->dstDevice), p->dstPitch, 0,
                      p->dstXInBytes, p->dstY, 0),
               sideOf(pointerOf(p->srcMemoryType, p->srcHost, p->srcDevice), p->srcPitch, 0,
                      p->srcXInBytes, p->srcY, 0),
               {p->WidthInBytes, p->Height}},
              hipMemcpyDefault, stream, wait);
}

WAVETILE_HIP_API hipError_t hipMemcpyParam2D(const hip_Memcpy2D *p) {
  return copyParam2D(p, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *p, hipStream_t stream) {
  return copyParam2D(p, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *p) {
  return copyParam2D(p, nullptr, Wait::Yes);
}

//===----------------------------------------------------------------------===//
// Copies of a program's variables
//===----------------------------------------------------------------------===//

/// The address of [offset, offset + bytes) of the variable that a host symbol stands for.
static hipError_t addressIn(Runtime &runtime, const void *symbol, size_t offset, size_t bytes,
                            void *&address) {
  void *begin = nullptr;
  size_t size = 0;
  if (hipError_t error = findRegisteredVariable(runtime, symbol, begin, size))
    return error;
  if (offset > size || bytes > size - offset)
    return hipErrorInvalidValue;
  address = static_cast<char *>(begin) + offset;
  return hipSuccess;
}

static hipError_t copyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               int kind, hipStream_t stream, Wait wait) {
  return withDevice([&](Runtime &runtime) {
    void *to = nullptr;
    if (hipError_t error = addressIn(runtime, symbol, offset, bytes, to))
      return error;
    return copy(to, from, bytes, kind, stream, wait);
  });
}

static hipError_t copyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 int kind, hipStream_t stream, Wait wait) {
  return withDevice([&](Runtime &runtime) {
    void *from = nullptr;
    if (hipError_t error = addressIn(runtime, symbol, offset, bytes, from))
      return error;
    return copy(to, from, bytes, kind, stream, wait);
  });
}

WAVETILE_HIP_API hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                              size_t offset, int kind) {
  return copyToSymbol(symbol, from, bytes, offset, kind, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from,
                                                   size_t bytes, size_t offset, int kind,
                                                   hipStream_t stream) {
  return copyToSymbol(symbol, from, bytes, offset, kind, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                                size_t offset, int kind) {
  return copyFromSymbol(to, symbol, bytes, offset, kind, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                                     size_t offset, int kind, hipStream_t stream) {
  return copyFromSymbol(to, symbol, bytes, offset, kind, stream, Wait::No);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

static hipError_t fill(const FillWork &work, hipStream_t stream, Wait wait) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    if (hipError_t error = check(runtime, work))
      return error;
    return submit(runtime, stream, work, wait);
  });
}

/// Fills rows of `count` elements.
template <typename T>
static hipError_t fill(void *to, size_t pitch, T value, size_t count, size_t height,
                       hipStream_t stream, Wait wait) {
  if (count > SIZE_MAX / sizeof(T))
    return recorded(hipErrorInvalidValue);
  FillWork work = {{to, pitch}, value, sizeof(T), {count * sizeof(T), height}};
  return fill(work, stream, wait);
}

template <typename T> static hipError_t fill(void *to, T value, size_t count) {
  return fill<T>(to, 0, value, count, 1, nullptr, Wait::Yes);
}

template <typename T>
static hipError_t fillAsync(void *to, T value, size_t count, hipStream_t stream) {
  return fill<T>(to, 0, value, count, 1, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemset(void *to, int value, size_t bytes) {
  return fill<uint8_t>(to, value, bytes);
}

WAVETILE_HIP_API hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  return fillAsync<uint8_t>(to, value, bytes, stream);
}

WAVETILE_HIP_API hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return fill<uint8_t>(to, value, count);
}

WAVETILE_HIP_API hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                                             hipStream_t stream) {
  return fillAsync<uint8_t>(to, value, count, stream);
}

WAVETILE_HIP_API hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return fill<uint16_t>(to, value, count);
}

WAVETILE_HIP_API hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                                              hipStream_t stream) {
  return fillAsync<uint16_t>(to, value, count, stream);
}

WAVETILE_HIP_API hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return fill<uint32_t>(to, value, count);
}

WAVETILE_HIP_API hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count,
                                              hipStream_t stream) {
  return fillAsync<uint32_t>(to, value, count, stream);
}

WAVETILE_HIP_API hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width,
                                        size_t height) {
  return fill<uint8_t>(to, pitch, value, width, height, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                             size_t height, hipStream_t stream) {
  return fill<uint8_t>(to, pitch, value, width, height, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemsetD2D8(hipDeviceptr_t to, size_t pitch, unsigned char value,
                                          size_t width, size_t height) {
  return fill<uint8_t>(to, pitch, value, width, height, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemsetD2D8Async(hipDeviceptr_t to, size_t pitch, unsigned char value,
                                               size_t width, size_t height, hipStream_t stream) {
  return fill<uint8_t>(to, pitch, value, width, height, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemsetD2D16(hipDeviceptr_t to, size_t pitch, unsigned short value,
                                           size_t width, size_t height) {
  return fill<uint16_t>(to, pitch, value, width, height, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemsetD2D16Async(hipDeviceptr_t to, size_t pitch,
                                                unsigned short value, size_t width, size_t height,
                                                hipStream_t stream) {
  return fill<uint16_t>(to, pitch, value, width, height, stream, Wait::No);
}

WAVETILE_HIP_API hipError_t hipMemsetD2D32(hipDeviceptr_t to, size_t pitch, unsigned value,
                                           size_t width, size_t height) {
  return fill<uint32_t>(to, pitch, value, width, height, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemsetD2D32Async(hipDeviceptr_t to, size_t pitch, unsigned value,
                                                size_t width, size_t height, hipStream_t stream) {
  return fill<uint32_t>(to, pitch, value, width, height, stream, Wait::No);
}

static hipError_t fill3D(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream,
                         Wait wait) {
  FillWork work = {{to.ptr, to.pitch, to.pitch * to.ysize},
                   static_cast<uint8_t>(value),
                   1,
                   {extent.width, extent.height, extent.depth}};
  return fill(work, stream, wait);
}

WAVETILE_HIP_API hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return fill3D(to, value, extent, nullptr, Wait::Yes);
}

WAVETILE_HIP_API hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent,
                                             hipStream_t stream) {
  return fill3D(to, value, extent, stream, Wait::No);
}
