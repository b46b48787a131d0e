//===- Kernarg.cpp - The argument block of a launch -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Kernarg.h"

#include "runtime/emulator/Apertures.h"
#include "runtime/emulator/hip/HipTypes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace llvm;

namespace wavetile::device {

/// What padding and missing arguments read as: easy to spot, and no valid pointer.
static constexpr uint8_t poison = 0xDB;

static Error fault(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static Error copyParameters(const KernelInfo &kernel, void *const *parameters,
                            std::vector<uint8_t> &block) {
  size_t index = 0;
  for (const ArgumentInfo &argument : kernel.arguments) {
    if (argument.isHidden())
      continue;
    if (!parameters[index])
      return fault("argument " + Twine(index) + " of kernel " + kernel.name + " is null");
    std::memcpy(block.data() + argument.offset, parameters[index], argument.size);
    ++index;
  }
  return Error::success();
}

static Error copyBuffer(const KernelInfo &kernel, void *const *extra, std::vector<uint8_t> &block) {
  const void *buffer = nullptr;
  const size_t *bytes = nullptr;
  // No list has more than two pairs and its end.
  constexpr int maxEntries = 5;
  int i = 0;
  while (i < maxEntries) {
    uintptr_t key = reinterpret_cast<uintptr_t>(extra[i]);
    if (key == hipLaunchParamEnd)
      break;
    if (key == hipLaunchParamBufferPointer)
      buffer = extra[i + 1];
    else if (key == hipLaunchParamBufferSize)
      bytes = static_cast<const size_t *>(extra[i + 1]);
    else
      return fault("the extra list of the launch has an unknown key " + Twine(uint64_t(key)));
    i += 2;
  }
  if (i >= maxEntries || !buffer || !bytes)
    return fault("the extra list of the launch has no buffer, no size or no end");
  // Callers may round the size up, or give the hidden arguments' room too.
  if (*bytes < kernel.explicitKernargSize || *bytes > alignTo(block.size(), 16))
    return fault("kernel " + kernel.name + " takes " + Twine(kernel.explicitKernargSize) +
                 " bytes of arguments, but the launch gives " + Twine(*bytes));
  std::memcpy(block.data(), buffer, std::min(*bytes, block.size()));
  return Error::success();
}

/// The value of a hidden argument.
static uint64_t hiddenValue(ArgumentKind kind, const LaunchShape &shape) {
  // The members of one kind for x, y and z follow each other.
  auto axis = [&](ArgumentKind x) {
    return static_cast<unsigned>(kind) - static_cast<unsigned>(x);
  };
  switch (kind) {
  case ArgumentKind::BlockCountX:
  case ArgumentKind::BlockCountY:
  case ArgumentKind::BlockCountZ: {
    // Full workgroups only: the partial one is told by its remainder.
    unsigned a = axis(ArgumentKind::BlockCountX);
    return shape.grid[a] - (shape.remainder[a] != 0);
  }
  case ArgumentKind::GroupSizeX:
  case ArgumentKind::GroupSizeY:
  case ArgumentKind::GroupSizeZ:
    return shape.workgroupSize[axis(ArgumentKind::GroupSizeX)];
  case ArgumentKind::RemainderX:
  case ArgumentKind::RemainderY:
  case ArgumentKind::RemainderZ:
    return shape.remainder[axis(ArgumentKind::RemainderX)];
  case ArgumentKind::GridDimensions:
    return shape.grid[2] > 1 || shape.workgroupSize[2] > 1   ? 3
           : shape.grid[1] > 1 || shape.workgroupSize[1] > 1 ? 2
                                                             : 1;
  case ArgumentKind::DynamicLdsSize:
    return shape.dynamicLdsBytes;
  case ArgumentKind::PrivateBase:
    return privateAperture >> 32;
  case ArgumentKind::SharedBase:
    return sharedAperture >> 32;
  case ArgumentKind::ByValue:
  case ArgumentKind::GlobalBuffer:
  case ArgumentKind::DynamicSharedPointer:
  case ArgumentKind::GlobalOffsetX:
  case ArgumentKind::GlobalOffsetY:
  case ArgumentKind::GlobalOffsetZ:
  case ArgumentKind::PrintfBuffer: // Set when the launch runs: see LaunchServices.
  case ArgumentKind::HostcallBuffer:
  case ArgumentKind::MultigridSync:
  case ArgumentKind::Null:
    return 0;
  }
  return 0;
}

Expected<std::vector<uint8_t>> packKernarg(const KernelInfo &kernel, const LaunchShape &shape,
                                           void *const *parameters, void *const *extra) {
  std::vector<uint8_t> block(kernel.descriptor.kernargSize, poison);
  bool takesArguments = kernel.explicitKernargSize != 0;
  if (parameters && extra)
    return fault("the launch gives arguments in both forms");
  if (takesArguments && !parameters && !extra)
    return fault("kernel " + kernel.name + " takes " + Twine(kernel.explicitKernargSize) +
                 " bytes of arguments, but the launch gives none");
  if (takesArguments || extra)
    if (Error error = parameters ? copyParameters(kernel, parameters, block)
                                 : copyBuffer(kernel, extra, block))
      return std::move(error);
  for (const ArgumentInfo &argument : kernel.arguments) {
    if (!argument.isHidden())
      continue;
    uint64_t value = hiddenValue(argument.kind, shape);
    std::memset(block.data() + argument.offset, 0, argument.size);
    std::memcpy(block.data() + argument.offset, &value,
                std::min<size_t>(argument.size, sizeof(value)));
  }
  return block;
}

} // namespace wavetile::device
