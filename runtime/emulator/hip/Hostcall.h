//===- Hostcall.h - Calls of kernels to the host --------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffer behind hidden_hostcall_buffer, by the protocol of ROCm's device
// libraries up to ROCm 7.1: a wave takes a packet from a stack of free ones, fills
// it, pushes it on a stack of ready ones, interrupts the host and waits until the
// host has answered in it. printf, fprintf(stderr) and with it assert are
// answered; other services are refused by name.
//
// Promises: whatever a kernel does to the buffer, the host stays inside of it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_HOSTCALL_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_HOSTCALL_H

#include "runtime/emulator/hip/SharedMemory.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace wavetile::device {

/// See the top of the file.
class HostcallBuffer {
public:
  /// For a launch of `waves` waves. Null if there is no memory for it.
  static std::unique_ptr<HostcallBuffer> create(MemoryMap &map, uint64_t waves);

  /// What the kernel gets.
  uint64_t address() const { return memory->address(); }

  /// Answers all that are ready. Why it cannot, valid as long as the buffer; otherwise null. May be
  /// called by several threads.
  const char *serve();

private:
  struct Header;
  struct Layout;

  HostcallBuffer(std::unique_ptr<SharedMemory> memory, uint64_t packets);
  bool answer(uint32_t service, llvm::MutableArrayRef<uint64_t> payload);
  bool appendToMessage(llvm::MutableArrayRef<uint64_t> payload);

  uint64_t *payload(uint64_t packet, unsigned lane) const;
  Header &header(uint64_t packet) const;

  std::unique_ptr<SharedMemory> memory;
  /// The kernel may write to what is in the buffer: the host reads its own numbers.
  const uint64_t packets;
  std::mutex mutex;
  /// Messages that have begun and not ended, by their number.
  std::unordered_map<uint64_t, std::vector<uint64_t>> messages;
  uint64_t nextMessage = 1;
  std::string refusal;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_HOSTCALL_H
