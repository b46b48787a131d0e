//===- Hostcall.cpp - Calls of kernels to the host ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Hostcall.h"

#include "runtime/emulator/hip/PrintfFormat.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

using namespace llvm;

namespace wavetile::device {

/// A packet's state; the payload lies elsewhere.
struct HostcallBuffer::Header {
  uint64_t next;
  uint64_t activeLanes;
  uint32_t service;
  uint32_t control; ///< Bit 0: the host has to answer.
};

/// 64-bit words that a lane sends and receives.
static constexpr unsigned wordsPerLane = 8;
static constexpr unsigned maxLanes = 64;
using Payload = uint64_t[maxLanes][wordsPerLane];

namespace {
/// HSA's signal, as far as a kernel that rings it looks: after adding to `value` it writes
/// `eventId` to the mailbox and, because there is one, interrupts the host.
struct Signal {
  uint64_t kind;
  int64_t value;
  uint64_t *mailbox;
  uint32_t eventId;
  uint32_t reserved0;
  uint64_t times[2];
  uint64_t queue;
  uint64_t reserved1;
};
static_assert(sizeof(Signal) == 64);
} // namespace

/// The beginning of the buffer. The stacks hold an index in the low bits, which `indexMask` tells,
/// and a count of uses above, so that a packet that came back is not taken for the one that left.
struct HostcallBuffer::Layout {
  Header *headers;
  Payload *payloads;
  Signal *doorbell;
  uint64_t freeStack;
  uint64_t readyStack;
  uint64_t indexMask;
  uint64_t mailbox;
  uint64_t reserved;
  Signal signal;
};

/// A power of two, at least one packet for each wave that can run at a time.
static uint64_t packetsFor(uint64_t waves) {
  // More waves than any GPU holds.
  constexpr uint64_t most = uint64_t(1) << 15;
  return bit_ceil(std::clamp<uint64_t>(waves, 2, most));
}

std::unique_ptr<HostcallBuffer> HostcallBuffer::create(MemoryMap &map, uint64_t waves) {
  uint64_t packets = packetsFor(waves);
  auto memory = SharedMemory::create(
      map, sizeof(Layout) + packets * (sizeof(Header) + sizeof(Payload)), "hostcall buffer");
  return memory ? std::unique_ptr<HostcallBuffer>(new HostcallBuffer(std::move(memory), packets))
                : nullptr;
}

HostcallBuffer::HostcallBuffer(std::unique_ptr<SharedMemory> given, uint64_t packets)
    : memory(std::move(given)), packets(packets) {
  auto &layout = *reinterpret_cast<Layout *>(memory->data());
  layout.payloads = reinterpret_cast<Payload *>(payload(0, 0));
  layout.headers = &header(0);
  layout.indexMask = packets - 1;
  layout.doorbell = &layout.signal;
  layout.signal.mailbox = &layout.mailbox;
  layout.signal.eventId = 1;
  // Packet 0 is told from "none" by a use counted in advance.
  uint64_t next = 0;
  for (uint64_t i = 0; i < packets; ++i) {
    header(i).next = next;
    next = i == 0 ? packets : i;
  }
  layout.freeStack = next;
}

/// Payloads first: they keep their alignment.
uint64_t *HostcallBuffer::payload(uint64_t packet, unsigned lane) const {
  auto *payloads = reinterpret_cast<Payload *>(memory->data() + sizeof(Layout));
  return payloads[packet & (packets - 1)][lane];
}

HostcallBuffer::Header &HostcallBuffer::header(uint64_t packet) const {
  auto *headers =
      reinterpret_cast<Header *>(memory->data() + sizeof(Layout) + packets * sizeof(Payload));
  return headers[packet & (packets - 1)];
}

const char *HostcallBuffer::serve() {
  std::lock_guard lock(mutex);
  auto &layout = *reinterpret_cast<Layout *>(memory->data());
  uint64_t packet = std::atomic_ref(layout.readyStack).exchange(0, std::memory_order_acquire);
  for (uint64_t served = 0; packet != 0; ++served) {
    if (served == packets) {
      refusal = "the kernel has made a circle of its calls to the host";
      return refusal.c_str();
    }
    Header &request = header(packet);
    for (uint64_t lanes = request.activeLanes; lanes != 0; lanes &= lanes - 1)
      if (!answer(request.service,
                  MutableArrayRef(payload(packet, countr_zero(lanes)), wordsPerLane)))
        return refusal.c_str();
    packet = request.next;
    std::atomic_ref(request.control).fetch_and(~uint32_t(1), std::memory_order_release);
  }
  return nullptr;
}

/// The name of a service that is none of printf's.
static std::string nameOf(uint32_t service) {
  switch (service) {
  case 1:
    return "a call of a host function";
  case 3:
    return "device memory (malloc or free in a kernel)";
  case 4:
    return "a report of the address sanitizer";
  }
  return "service " + std::to_string(service);
}

bool HostcallBuffer::answer(uint32_t service, MutableArrayRef<uint64_t> payload) {
  constexpr uint32_t servicePrintf = 2;
  if (service == servicePrintf)
    return appendToMessage(payload);
  refusal = "the kernel asks the host for " + nameOf(service) +
            " by hostcall, which is not supported: only printf and assert are";
  return false;
}

/// Prints a whole message: a control word (bit 0: to stderr), the format, the arguments. Gives the
/// number of characters.
static uint64_t printMessage(ArrayRef<uint64_t> message) {
  constexpr uint64_t toStderr = 1;
  if (message.empty() || (message.front() & ~toStderr) != 0)
    return ~uint64_t(0);
  FILE *stream = message.front() & toStderr ? stderr : stdout;
  MessageArguments arguments(message.drop_front());
  std::optional<std::string> format = arguments.string();
  std::string text = format ? formatPrintf(*format, arguments) : std::string();
  std::fwrite(text.data(), 1, text.size(), stream);
  return text.size();
}

/// The first word describes the packet: bit 0 begins a message, bit 1 ends it, bits 5 to 7 count
/// the words that follow, the rest is the message's number.
bool HostcallBuffer::appendToMessage(MutableArrayRef<uint64_t> payload) {
  constexpr uint64_t begin = 1, end = 2;
  constexpr unsigned lengthShift = 5, lengthMask = 7, numberShift = 8;
  /// More than any program prints at once.
  constexpr size_t maxMessageWords = size_t(1) << 17;
  /// More than one for each lane of any GPU.
  constexpr size_t maxMessages = size_t(1) << 21;
  uint64_t descriptor = payload[0];
  uint64_t number = descriptor >> numberShift;
  if (descriptor & begin) {
    if (messages.size() == maxMessages) {
      refusal = "the kernel begins more messages to the host than it ends";
      return false;
    }
    number = nextMessage++;
    messages[number];
  }
  auto message = messages.find(number);
  if (message == messages.end()) {
    refusal = "the kernel goes on with a message to the host that it did not begin";
    return false;
  }
  ArrayRef<uint64_t> words = payload.slice(1, descriptor >> lengthShift & lengthMask);
  if (message->second.size() + words.size() > maxMessageWords) {
    refusal = "the kernel prints more than a megabyte at once";
    return false;
  }
  message->second.insert(message->second.end(), words.begin(), words.end());
  if (descriptor & end) {
    payload[0] = printMessage(message->second);
    messages.erase(message);
  } else {
    payload[0] = (descriptor & ~begin & ((uint64_t(1) << numberShift) - 1)) | number << numberShift;
  }
  return true;
}

} // namespace wavetile::device
