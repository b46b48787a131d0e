//===- PreparedLaunch.cpp - A plan evaluated for one call -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CompiledKernel.h"
#include "runtime/PlanVerifier.h"

#include <cstring>
#include <limits>

using namespace wavetile;

PreparedLaunch::PreparedLaunch()
    : memory(storage, storageBytes), steps(&memory), scratch(&memory), patches(&memory),
      kernargs(&memory) {
  // The resource never takes memory back, so that growing would waste what it has.
  steps.reserve(4);
  scratch.reserve(4);
  patches.reserve(8);
  kernargs.reserve(1024);
}

static Status launchError(std::string message) {
  return Status::error(ErrorKind::Launch, std::move(message));
}

/// Evaluates what a guard compares; a value that cannot be computed fails the guard.
static bool holds(const Guard &guard, const int64_t *integers, std::string *whyNot) {
  int64_t left = 0, right = 0;
  bool computed = guard.left.evaluate(integers, left) && guard.right.evaluate(integers, right);
  if (computed && left <= right)
    return true;
  if (whyNot) {
    *whyNot = guard.reason.empty() ? guard.left.str() + " <= " + guard.right.str() : guard.reason;
    *whyNot += computed ? " fails: " + std::to_string(left) + " > " + std::to_string(right)
                        : " cannot be computed in 64 bits";
  }
  return false;
}

Status PreparedLaunch::prepareGrid(const KernelLaunch &launch, const int64_t *integers,
                                   const Device &device, Step &step) {
  for (size_t dimension = 0; dimension < 3; ++dimension) {
    const char axis = static_cast<char>('x' + dimension);
    int64_t extent = 0;
    if (!launch.grid[dimension].evaluate(integers, extent))
      return launchError("the grid of " + launch.symbol +
                         " cannot be computed in 64 bits: " + launch.grid[dimension].str());
    // HIP counts workgroups in a signed number, the hardware work items in 32 bits.
    int64_t limit =
        std::min<int64_t>(device.maximumGrid()[dimension],
                          std::numeric_limits<uint32_t>::max() / launch.workgroup[dimension]);
    if (extent < 0 || extent > limit)
      return launchError(launch.symbol + " needs " + std::to_string(extent) + " workgroups along " +
                         axis + "; " + device.str() + " launches 0 to " + std::to_string(limit) +
                         " of " + std::to_string(launch.workgroup[dimension]) +
                         " work items there");
    step.grid[dimension] = static_cast<uint32_t>(extent);
    step.skipped |= extent == 0;
  }
  return Status::success();
}

template <typename T> static void store(char *position, T value) {
  std::memcpy(position, &value, sizeof(T));
}

Status PreparedLaunch::pack(const KernelLaunch &launch, const CallArguments &arguments, Step &step,
                            bool &serves, std::string *whyNot) {
  constexpr size_t alignment = 16;
  step.kernarg = (kernargs.size() + alignment - 1) / alignment * alignment;
  kernargs.resize(step.kernarg + launch.kernargBytes);
  char *segment = kernargs.data() + step.kernarg;
  for (const KernelArgument &argument : launch.arguments) {
    char *position = segment + argument.offset;
    switch (argument.kind) {
    case KernelArgument::Kind::Pointer:
      store(position, arguments.pointers()[argument.index]);
      break;
    case KernelArgument::Kind::Scratch:
      patches.push_back({static_cast<size_t>(position - kernargs.data()), argument.index});
      break;
    case KernelArgument::Kind::Float32:
      store(position, static_cast<float>(arguments.floats()[argument.index]));
      break;
    case KernelArgument::Kind::Float64:
      store(position, arguments.floats()[argument.index]);
      break;
    case KernelArgument::Kind::Int32:
    case KernelArgument::Kind::Int64: {
      int64_t value = 0;
      if (!argument.expression.evaluate(arguments.integers().data(), value))
        return launchError("an argument of " + launch.symbol +
                           " cannot be computed in 64 bits: " + argument.expression.str());
      if (argument.kind == KernelArgument::Kind::Int64) {
        store(position, value);
        break;
      }
      auto narrow = static_cast<int32_t>(value);
      if (narrow != value) {
        serves = false;
        if (whyNot)
          *whyNot =
              argument.expression.str() + " = " + std::to_string(value) + " does not fit 32 bits";
        return Status::success();
      }
      store(position, narrow);
      break;
    }
    }
  }
  return Status::success();
}

Status PreparedLaunch::prepare(const LaunchPlan &plan, const CallArguments &arguments,
                               const Device &device, bool &serves, std::string *whyNot) {
  steps.clear();
  scratch.clear();
  patches.clear();
  kernargs.clear();
  const int64_t *integers = arguments.integers().data();
  serves = false;
  for (const Guard &guard : plan.guards)
    if (!holds(guard, integers, whyNot))
      return Status::success();

  serves = true;
  for (const ScratchBuffer &buffer : plan.scratch) {
    int64_t bytes = 0;
    if (!buffer.bytes.evaluate(integers, bytes) || bytes < 0)
      return launchError("the size of a scratch buffer is no number of bytes: " +
                         buffer.bytes.str());
    scratch.push_back({static_cast<size_t>(bytes), nullptr});
  }
  for (const auto &planned : plan.steps) {
    Step &step = steps.emplace_back();
    const auto *launch = std::get_if<KernelLaunch>(&planned);
    if (!launch)
      continue;
    if (Status status = prepareGrid(*launch, integers, device, step))
      return status;
    if (step.skipped)
      continue;
    if (Status status = pack(*launch, arguments, step, serves, whyNot))
      return status;
    if (!serves)
      return Status::success();
  }
  return Status::success();
}
