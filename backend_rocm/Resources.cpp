//===- Resources.cpp - What the kernels of a code object use --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/Resources.h"

#include "backend_rocm/Disassembly.h"
#include "backend_rocm/ElfKernels.h"
#include "backend_rocm/InstructionClasses.h"

#include "llvm/ADT/STLExtras.h"

using namespace wavetile;
using namespace wavetile::rocm;

namespace {

llvm::Error fillFromMetadata(KernelResources &resources, const ElfKernel &kernel) {
  const std::pair<const char *, unsigned KernelResources::*> fields[] = {
      {".vgpr_count", &KernelResources::vectorRegisters},
      {".sgpr_count", &KernelResources::scalarRegisters},
      {".group_segment_fixed_size", &KernelResources::ldsBytes},
      {".private_segment_fixed_size", &KernelResources::scratchBytes},
      {".vgpr_spill_count", &KernelResources::spilledVectorRegisters},
      {".sgpr_spill_count", &KernelResources::spilledScalarRegisters},
  };
  for (auto [key, field] : fields) {
    auto found = kernel.metadata.find(key);
    if (found == kernel.metadata.end())
      return llvm::createStringError("kernel " + kernel.symbol + " has no " + key +
                                     " in its metadata");
    resources.*field = found->second;
  }
  // Only targets with accumulators have this entry.
  if (auto found = kernel.metadata.find(".agpr_count"); found != kernel.metadata.end())
    resources.accumulatorRegisters = found->second;
  return llvm::Error::success();
}

/// Waves that share a SIMD: whole workgroups are resident, so registers bound
/// it wave by wave and LDS workgroup by workgroup.
unsigned occupancy(const KernelResources &resources, const Target &target, unsigned dynamicLdsBytes,
                   unsigned threads) {
  unsigned wavesPerGroup = (threads + target.waveSize() - 1) / target.waveSize();
  unsigned groups = target.workgroupsPerComputeUnit(
      resources.vectorRegisters, resources.ldsBytes + dynamicLdsBytes, wavesPerGroup);
  unsigned simds = target.device().simdsPerComputeUnit;
  return std::min((groups * wavesPerGroup + simds - 1) / simds,
                  target.wavesPerSimd(resources.vectorRegisters));
}

} // namespace

llvm::Expected<std::vector<KernelResources>>
wavetile::rocm::resources(llvm::ArrayRef<uint8_t> codeObject, const Target &target,
                          unsigned dynamicLdsBytes) {
  auto elf = ElfKernels::parse(codeObject, target);
  if (!elf)
    return elf.takeError();
  auto decoded = decodeKernels(codeObject, target);
  if (!decoded)
    return decoded.takeError();
  std::vector<KernelResources> all;
  for (const auto &[kernel, code] : llvm::zip_equal(elf->kernels(), *decoded)) {
    KernelResources result;
    result.symbol = kernel.symbol;
    if (llvm::Error error = fillFromMetadata(result, kernel))
      return std::move(error);
    auto threads = kernel.metadata.find(".max_flat_workgroup_size");
    result.wavesPerSimd =
        occupancy(result, target, dynamicLdsBytes,
                  threads == kernel.metadata.end() ? target.waveSize() : threads->second);
    for (const DecodedInstruction &instruction : code.instructions)
      ++result.instructions[instructionClass(instruction.mnemonic, instruction.operands)];
    all.push_back(std::move(result));
  }
  return all;
}
