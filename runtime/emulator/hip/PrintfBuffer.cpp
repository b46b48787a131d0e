//===- PrintfBuffer.cpp - printf that is read after the launch ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/PrintfBuffer.h"

#include "runtime/emulator/hip/PrintfFormat.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace llvm;

namespace wavetile::device {

/// Two words before the records: the bytes used, and the size of the whole buffer.
static constexpr size_t headerBytes = 8;

std::unique_ptr<PrintfBuffer> PrintfBuffer::create(MemoryMap &map, size_t bytes) {
  size_t size = std::min<size_t>(bytes, UINT32_MAX - headerBytes) + headerBytes;
  auto memory = SharedMemory::create(map, size, "printf buffer");
  if (!memory)
    return nullptr;
  support::endian::write32le(memory->data() + 4, static_cast<uint32_t>(size));
  return std::unique_ptr<PrintfBuffer>(new PrintfBuffer(std::move(memory)));
}

namespace {
/// One call of printf of a code object: "identifier:count:size:...:size:format".
struct Call {
  std::vector<unsigned> sizes;
  std::string format;
};

/// What the metadata says of all calls.
struct Calls {
  /// OpenCL's, by identifier.
  DenseMap<uint32_t, Call> sized;
  /// HIP's, by a hash of the format: "0:0:hash,format" in hexadecimal.
  DenseMap<uint64_t, std::string> hashed;
};
} // namespace

/// A format with the metadata's escapes taken back.
static std::string unescape(StringRef text) {
  std::string result;
  while (!text.empty()) {
    char c = text.front();
    text = text.drop_front();
    if (c != '\\' || text.empty()) {
      result += c;
      continue;
    }
    if (text.consume_front("72")) {
      result += ':';
      continue;
    }
    static constexpr StringLiteral letters = "abfnrv", values = "\a\b\f\n\r\v";
    size_t which = letters.find(text.front());
    result += which == StringRef::npos ? text.front() : values[which];
    text = text.drop_front();
  }
  return result;
}

static Calls parse(ArrayRef<std::string> formats) {
  Calls calls;
  for (StringRef text : formats) {
    auto nextNumber = [&](uint32_t &number) {
      auto [field, rest] = text.split(':');
      // A call with more arguments than conversions has fewer sizes than it counts.
      if (field.getAsInteger(10, number))
        return false;
      text = rest;
      return true;
    };
    uint32_t identifier = 0, count = 0;
    if (!nextNumber(identifier) || !nextNumber(count) || count > text.size())
      continue;
    if (identifier == 0) {
      auto [hash, format] = text.split(',');
      uint64_t value = 0;
      if (!hash.getAsInteger(16, value))
        calls.hashed[value] = format.str();
      continue;
    }
    Call call;
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t size = 0;
      if (!nextNumber(size))
        break;
      call.sizes.push_back(size);
    }
    call.format = unescape(text);
    calls.sized[identifier] = std::move(call);
  }
  return calls;
}

static void write(FILE *stream, const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

/// Prints OpenCL's records: an identifier, then the arguments.
static void printSized(const Calls &calls, ArrayRef<uint8_t> records) {
  while (records.size() >= 4) {
    auto call = calls.sized.find(support::endian::read32le(records.data()));
    if (call == calls.sized.end())
      return;
    records = records.drop_front(4);
    size_t bytes = 0;
    for (unsigned size : call->second.sizes)
      bytes += size;
    if (bytes > records.size())
      return;
    SizedArguments arguments(records.take_front(bytes), call->second.sizes);
    write(stdout, formatPrintf(call->second.format, arguments));
    records = records.drop_front(bytes);
  }
}

/// Prints HIP's records: a word with the size in its upper 30 bits, bit 1 if the format is told by
/// its hash and bit 0 if it goes to stderr; then the hash or the format; then the arguments in
/// words of 64 bits.
static void printHashed(const Calls &calls, ArrayRef<uint8_t> records) {
  while (records.size() >= 4) {
    uint32_t control = support::endian::read32le(records.data());
    size_t bytes = control >> 2;
    if (bytes < 4 || bytes > records.size())
      return;
    std::vector<uint64_t> words((bytes - 4) / sizeof(uint64_t));
    std::memcpy(words.data(), records.data() + 4, words.size() * sizeof(uint64_t));
    MessageArguments arguments(words);
    std::string format;
    if (control & 2)
      format = calls.hashed.lookup(arguments.integer().value_or(0));
    else
      format = arguments.string().value_or("");
    write(control & 1 ? stderr : stdout, formatPrintf(format, arguments));
    records = records.drop_front(bytes);
  }
}

void PrintfBuffer::print(ArrayRef<std::string> formats) const {
  size_t used =
      std::min<size_t>(support::endian::read32le(memory->data()), memory->size() - headerBytes);
  if (used == 0)
    return;
  ArrayRef<uint8_t> records(memory->data() + headerBytes, used);
  Calls calls = parse(formats);
  if (calls.sized.empty())
    printHashed(calls, records);
  else
    printSized(calls, records);
}

} // namespace wavetile::device
