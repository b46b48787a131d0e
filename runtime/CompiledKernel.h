//===- CompiledKernel.h - A plan with its code, ready to launch -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is two steps. PreparedLaunch evaluates the plan for a call: whether its
// guards hold, the grids, the packed kernel arguments. CompiledKernel::launch then
// does the device work. Either all steps are given to the stream in order, or an
// error says which call of HIP failed; in both cases nothing is left behind but
// the loaded code and the device's scratch.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_COMPILEDKERNEL_H
#define WAVETILE_RUNTIME_COMPILEDKERNEL_H

#include "runtime/Device.h"
#include "runtime/LaunchPlan.h"
#include "runtime/Specialisation.h"

#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <vector>

namespace wavetile {

/// Symbols of a plan's kernels in the order in which they are first launched.
std::vector<std::string> kernelNames(const LaunchPlan &plan);

/// A plan evaluated for one call. Lives on the stack.
class PreparedLaunch {
public:
  PreparedLaunch();
  PreparedLaunch(const PreparedLaunch &) = delete;

  /// Sets `serves` if every guard holds and every 32-bit argument fits; otherwise says in `whyNot`,
  /// if given, what does not. Grids and sizes that no device can take are errors.
  Status prepare(const LaunchPlan &plan, const CallArguments &arguments, const Device &device,
                 bool &serves, std::string *whyNot);

private:
  friend class CompiledKernel;
  /// One per step of the plan.
  struct Step {
    bool skipped = false; // an empty grid
    std::array<uint32_t, 3> grid = {};
    size_t kernarg = 0; // offset into `kernargs`
  };
  struct Scratch {
    size_t bytes;
    void *pointer;
  };
  /// Where the address of a scratch buffer goes once there is one.
  struct Patch {
    size_t offset; // into `kernargs`
    uint32_t scratch;
  };
  Status prepareGrid(const KernelLaunch &launch, const int64_t *integers, const Device &device,
                     Step &step);
  Status pack(const KernelLaunch &launch, const CallArguments &arguments, Step &step, bool &serves,
              std::string *whyNot);

  static constexpr size_t storageBytes = 2048;
  alignas(std::max_align_t) std::byte storage[storageBytes];
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<Step> steps;
  std::pmr::vector<Scratch> scratch;
  std::pmr::vector<Patch> patches;
  std::pmr::vector<char> kernargs;
};

class CompiledKernel {
public:
  CompiledKernel(LaunchPlan plan, std::string codeObject)
      : launchPlan(std::move(plan)), code(std::move(codeObject)) {}
  CompiledKernel(const CompiledKernel &) = delete;
  ~CompiledKernel();

  const LaunchPlan &plan() const { return launchPlan; }
  const std::string &codeObject() const { return code; }

  /// Loads the code if this device has not seen it, and gives all steps to the stream. On the
  /// software device the work is complete on return. `prepared` must be of this plan.
  Status launch(const std::shared_ptr<Device> &device, HipStream stream,
                const CallArguments &arguments, PreparedLaunch &prepared);

private:
  struct Loaded {
    std::shared_ptr<Device> device;
    HipModule module = nullptr;
    std::vector<HipFunction> functions; // one per step, null for fills
  };
  Status load(const std::shared_ptr<Device> &device, const Loaded *&loaded);
  Status resolve(Loaded &loaded) const;
  Status enqueue(const Loaded &loaded, HipStream stream, PreparedLaunch &prepared) const;

  const LaunchPlan launchPlan;
  const std::string code;
  std::mutex mutex; // of `modules`
  std::vector<std::unique_ptr<Loaded>> modules;
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_COMPILEDKERNEL_H
