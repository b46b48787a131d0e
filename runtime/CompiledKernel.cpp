//===- CompiledKernel.cpp - A plan with its code, ready to launch ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CompiledKernel.h"

#include <algorithm>
#include <cstring>

using namespace wavetile;

CompiledKernel::~CompiledKernel() {
  for (const std::unique_ptr<Loaded> &loaded : modules) {
    const HipLibrary &hip = loaded->device->hip();
    std::lock_guard lock(loaded->device->mutex);
    CurrentDevice current(*loaded->device);
    // Unloading does not wait for kernels that still run.
    if (Status status = current.enter(); !status)
      hip.ignore(hip.deviceSynchronize());
    hip.ignore(hip.moduleUnload(loaded->module));
  }
}

std::vector<std::string> wavetile::kernelNames(const LaunchPlan &plan) {
  std::vector<std::string> names;
  for (const auto &step : plan.steps)
    if (const auto *launch = std::get_if<KernelLaunch>(&step))
      if (std::find(names.begin(), names.end(), launch->symbol) == names.end())
        names.push_back(launch->symbol);
  return names;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Finds the function of each step in the loaded module.
Status CompiledKernel::resolve(Loaded &loaded) const {
  const HipLibrary &hip = loaded.device->hip();
  for (const auto &step : launchPlan.steps) {
    HipFunction function = nullptr;
    if (const auto *launch = std::get_if<KernelLaunch>(&step)) {
      uint64_t items = uint64_t(launch->workgroup[0]) * launch->workgroup[1] * launch->workgroup[2];
      if (items > loaded.device->maximumWorkgroup())
        return Status::error(ErrorKind::Launch,
                             launch->symbol + " has workgroups of " + std::to_string(items) +
                                 " work items; " + loaded.device->str() + " launches at most " +
                                 std::to_string(loaded.device->maximumWorkgroup()));
      if (HipError error = hip.moduleGetFunction(&function, loaded.module, launch->symbol.c_str()))
        return hip.errorWithReport(error, "hipModuleGetFunction of " + launch->symbol);
    }
    loaded.functions.push_back(function);
  }
  return Status::success();
}

Status CompiledKernel::load(const std::shared_ptr<Device> &device, const Loaded *&loaded) {
  std::lock_guard lock(mutex);
  for (const std::unique_ptr<Loaded> &candidate : modules)
    if (candidate->device == device) {
      loaded = candidate.get();
      return Status::success();
    }
  if (launchPlan.target != device->target())
    return Status::error(ErrorKind::Launch,
                         "code for " + launchPlan.target + " cannot run on " + device->str());
  auto fresh = std::make_unique<Loaded>();
  fresh->device = device;
  const HipLibrary &hip = device->hip();
  if (HipError error = hip.moduleLoadData(&fresh->module, code.data()))
    return hip.errorWithReport(error, "hipModuleLoadData on " + device->str());
  if (Status status = resolve(*fresh)) {
    hip.ignore(hip.moduleUnload(fresh->module));
    return status;
  }
  loaded = modules.emplace_back(std::move(fresh)).get();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

namespace {

/// The words of 32 bits that hold a range.
ByteRange wordsAround(const ByteRange &range) {
  constexpr uintptr_t word = 4;
  return {range.begin / word * word, (range.end + word - 1) / word * word};
}

/// Tells the software device for the time of a launch which memory belongs to which tensor.
class AnnouncedRanges {
public:
  AnnouncedRanges(const HipLibrary &hip, const LaunchPlan &plan, const CallArguments &arguments)
      : hip(hip) {
    if (!hip.announceRange || !hip.retractRange)
      return;
    for (size_t tensor = 0; tensor < arguments.tensorCount(); ++tensor) {
      ByteRange range = arguments.ranges()[tensor];
      if (range.size() == 0)
        continue;
      if (accessesWholeWords(plan, tensor))
        range = wordsAround(range);
      const void *begin = reinterpret_cast<const void *>(range.begin);
      hip.announceRange(begin, range.size(), arguments.tensorNames()[tensor]);
      begins.push_back(begin);
    }
  }
  AnnouncedRanges(const AnnouncedRanges &) = delete;
  ~AnnouncedRanges() {
    for (const void *begin : begins)
      hip.retractRange(begin);
  }

private:
  static bool accessesWholeWords(const LaunchPlan &plan, size_t tensor) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const auto &step) {
      const auto *launch = std::get_if<KernelLaunch>(&step);
      return launch && std::any_of(launch->arguments.begin(), launch->arguments.end(),
                                   [&](const KernelArgument &argument) {
                                     return argument.wholeWords && argument.index == tensor;
                                   });
    });
  }

  const HipLibrary &hip;
  std::vector<const void *> begins;
};

/// Ends the use of scratch however the launch ends.
class ScratchScope {
public:
  ScratchScope(ScratchPool &pool, HipStream stream) : pool(pool), stream(stream) {}
  ScratchScope(const ScratchScope &) = delete;
  ~ScratchScope() { pool.finish(stream); }

private:
  ScratchPool &pool;
  HipStream stream;
};

} // namespace

Status CompiledKernel::enqueue(const Loaded &loaded, HipStream stream,
                               PreparedLaunch &prepared) const {
  const HipLibrary &hip = loaded.device->hip();
  for (size_t index = 0; index < launchPlan.steps.size(); ++index) {
    if (const auto *fill = std::get_if<ScratchFill>(&launchPlan.steps[index])) {
      const PreparedLaunch::Scratch &scratch = prepared.scratch[fill->scratch];
      if (scratch.bytes)
        if (HipError error = hip.fillAsync(scratch.pointer, fill->value, scratch.bytes, stream))
          return hip.error(error, "hipMemsetAsync of scratch");
      continue;
    }
    const auto &launch = std::get<KernelLaunch>(launchPlan.steps[index]);
    const PreparedLaunch::Step &step = prepared.steps[index];
    if (step.skipped)
      continue;
    size_t bytes = launch.kernargBytes;
    void *extra[] = {hipLaunchParameterBuffer, prepared.kernargs.data() + step.kernarg,
                     hipLaunchParameterSize, &bytes, hipLaunchParameterEnd};
    if (HipError error = hip.moduleLaunchKernel(
            loaded.functions[index], step.grid[0], step.grid[1], step.grid[2], launch.workgroup[0],
            launch.workgroup[1], launch.workgroup[2], launch.ldsBytes, stream, nullptr, extra))
      return hip.errorWithReport(error,
                                 "launch of " + launch.symbol + " on " + loaded.device->str());
  }
  return Status::success();
}

Status CompiledKernel::launch(const std::shared_ptr<Device> &device, HipStream stream,
                              const CallArguments &arguments, PreparedLaunch &prepared) {
  if (std::all_of(prepared.steps.begin(), prepared.steps.end(),
                  [](const PreparedLaunch::Step &step) { return step.skipped; }))
    return Status::success();

  std::lock_guard lock(device->mutex);
  CurrentDevice current(*device);
  if (Status status = current.enter())
    return status;
  const Loaded *loaded = nullptr;
  if (Status status = load(device, loaded))
    return status;

  ScratchScope scope(device->scratch, stream);
  for (size_t slot = 0; slot < prepared.scratch.size(); ++slot) {
    PreparedLaunch::Scratch &scratch = prepared.scratch[slot];
    if (Status status = device->scratch.acquire(stream, slot, scratch.bytes, scratch.pointer))
      return status;
  }
  for (const PreparedLaunch::Patch &patch : prepared.patches)
    std::memcpy(prepared.kernargs.data() + patch.offset, &prepared.scratch[patch.scratch].pointer,
                sizeof(void *));

  const HipLibrary &hip = device->hip();
  AnnouncedRanges ranges(hip, launchPlan, arguments);
  Status status = enqueue(*loaded, stream, prepared);
  if (device->kind() != DeviceKind::Software)
    return status;
  // CPU tensors are read as soon as the call returns. After a failure too the stream must be idle
  // before scratch and ranges go.
  HipError error = hip.streamSynchronize(stream);
  if (status || error == 0)
    return status;
  std::string kernels;
  for (const std::string &name : kernelNames(launchPlan))
    kernels += (kernels.empty() ? "" : ", ") + name;
  return hip.errorWithReport(error, kernels + " on " + device->str());
}
