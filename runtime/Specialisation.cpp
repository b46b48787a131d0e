//===- Specialisation.cpp - What code may rely on about a call ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The key, byte by byte (numbers little-endian):
//
//   device kind, length of the target's name, the name
//   number of parameters (u16)
//   per parameter: its kind, then
//     tensor: code, bits, lanes (u16), rank, flags
//     constant: number (u32)
//   per integer: flags; then, for those that are no constant and no bool, the
//     index of the first equal one (u16)
//   the pairs of tensors that may overlap, one bit each
//
//===----------------------------------------------------------------------===//

#include "runtime/Specialisation.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

using namespace wavetile;

namespace {

enum TensorFlag : uint8_t { AlignedFlag = 1, WideFlag = 2 };

enum IntegerFlag : uint8_t {
  ZeroFlag = 1, // guarded to be 0
  OneFlag = 2,  // guarded to be 1
  DivisibleFlag = 4,
  WideIntegerFlag = 8, // does not fit 32 bits
  BoolFlag = 16,
};

constexpr uint32_t vectorBytes = 16; // of the widest global access

/// The largest size that 32-bit loops count to: a step beyond it must not wrap around.
constexpr int64_t largestNarrowSize = int64_t(1) << 30;

bool fitsInt32(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

/// How many elements fill a vector; 1 if none do evenly.
uint32_t elementsPerVector(DataType type) {
  uint32_t bytes = type.bytes();
  return bytes && vectorBytes % bytes == 0 ? vectorBytes / bytes : 1;
}

/// Number of bits for all pairs of `count` tensors.
size_t pairCount(size_t count) { return count < 2 ? 0 : count * (count - 1) / 2; }

} // namespace

std::string DataType::str() const {
  if (lanes == 1) {
    switch (code) {
    case 0:
      return "i" + std::to_string(bits);
    case 1:
      return "u" + std::to_string(bits);
    case 2:
      return "f" + std::to_string(bits);
    case 4:
      return "bf" + std::to_string(bits);
    case 5:
      return "c" + std::to_string(bits);
    case 6:
      return "bool";
    case 8:
      return "f8e4m3";
    case 10:
      return "f8e4m3fn";
    case 11:
      return "f8e4m3fnuz";
    case 12:
      return "f8e5m2";
    case 13:
      return "f8e5m2fnuz";
    case 14:
      return "f8e8m0fnu";
    }
  }
  if (code == 17 && bits == 4 && lanes == 2)
    return "f4e2m1fnx2";
  return "dlpack(" + std::to_string(code) + "," + std::to_string(bits) + "," +
         std::to_string(lanes) + ")";
}

//===----------------------------------------------------------------------===//
// CallArguments
//===----------------------------------------------------------------------===//

CallArguments::CallArguments()
    : memory(storage, storageBytes), parameters(&memory), pointerList(&memory),
      integerList(&memory), scalarList(&memory), integerFlags(&memory), scalarFlags(&memory),
      floatList(&memory), rangeList(&memory), nameList(&memory), keyBytes(&memory) {
  // The resource never takes memory back, so that growing would waste what it has.
  parameters.reserve(12);
  pointerList.reserve(8);
  integerList.reserve(40);
  scalarList.reserve(8);
  integerFlags.reserve(40);
  scalarFlags.reserve(8);
  floatList.reserve(8);
  rangeList.reserve(8);
  nameList.reserve(8);
  keyBytes.reserve(320);
}

/// The bytes that the tensor's elements lie in, or nothing if the address space has no such range
/// (a tensor without storage may claim any size).
static bool byteRangeOf(const TensorArgument &tensor, ByteRange &range) {
  __int128 lowest = 0, highest = 0;
  for (int32_t dimension = 0; dimension < tensor.rank; ++dimension) {
    if (tensor.sizes[dimension] == 0) {
      range = {};
      return true;
    }
    __int128 reach = static_cast<__int128>(tensor.sizes[dimension] - 1) * tensor.strides[dimension];
    (reach < 0 ? lowest : highest) += reach;
  }
  auto address = static_cast<__int128>(reinterpret_cast<uintptr_t>(tensor.data));
  uint32_t bytes = tensor.type.bytes();
  __int128 begin = address + lowest * bytes, end = address + (highest + 1) * bytes;
  constexpr auto limit = static_cast<__int128>(std::numeric_limits<uintptr_t>::max());
  if (begin < 0 || end > limit)
    return false;
  range = {static_cast<uintptr_t>(begin), static_cast<uintptr_t>(end)};
  return true;
}

void CallArguments::addTensorInteger(int64_t value, uint8_t flags) {
  integerList.push_back(value);
  integerFlags.push_back(flags | (fitsInt32(value) ? 0 : WideIntegerFlag));
}

void CallArguments::addTensor(const TensorArgument &tensor) {
  pointerList.push_back(tensor.data);
  nameList.push_back(tensor.name);
  ByteRange range;
  if (!byteRangeOf(tensor, range))
    range = {0, std::numeric_limits<uintptr_t>::max()};
  constexpr size_t furthest = size_t(1) << 31;
  bool aligned = reinterpret_cast<uintptr_t>(tensor.data) % vectorBytes == 0;
  bool wide = range.size() > furthest;
  // A tensor without memory, of which only the shape is known, overlaps nothing.
  rangeList.push_back(tensor.data ? range : ByteRange());

  int64_t vector = elementsPerVector(tensor.type);
  for (int32_t dimension = 0; dimension < tensor.rank; ++dimension) {
    int64_t size = tensor.sizes[dimension];
    bool vectorised = tensor.strides[dimension] == 1;
    addTensorInteger(size, (size == 1 ? OneFlag : 0) |
                               (vectorised && size % vector == 0 ? DivisibleFlag : 0));
  }
  for (int32_t dimension = 0; dimension < tensor.rank; ++dimension) {
    int64_t stride = tensor.strides[dimension];
    addTensorInteger(stride, (stride == 0 ? ZeroFlag : 0) | (stride == 1 ? OneFlag : 0) |
                                 (stride % vector == 0 ? DivisibleFlag : 0));
    wide |= tensor.sizes[dimension] > largestNarrowSize || !fitsInt32(stride);
  }
  assert(tensor.rank <= std::numeric_limits<uint8_t>::max());
  auto flags = static_cast<uint8_t>((aligned ? AlignedFlag : 0) | (wide ? WideFlag : 0));
  parameters.push_back(
      {ParameterKind::Tensor, 0, tensor.type, static_cast<uint8_t>(tensor.rank), flags});
}

void CallArguments::addInteger(int64_t value) {
  parameters.push_back({ParameterKind::Integer});
  scalarList.push_back(value);
  scalarFlags.push_back((value % vectorBytes == 0 ? DivisibleFlag : 0) |
                        (fitsInt32(value) ? 0 : WideIntegerFlag));
}

void CallArguments::addBool(bool value) {
  parameters.push_back({ParameterKind::Bool});
  scalarList.push_back(value);
  scalarFlags.push_back(BoolFlag);
}

void CallArguments::addFloat(double value) {
  parameters.push_back({ParameterKind::Float});
  floatList.push_back(value);
}

void CallArguments::addConstant(uint32_t number) {
  parameters.push_back({ParameterKind::Constant, number});
}

/// Writes a number and gives the position behind it.
template <typename T> static char *put(char *position, T value) {
  std::memcpy(position, &value, sizeof(T));
  return position + sizeof(T);
}

size_t CallArguments::largestKey(const Device &device) const {
  constexpr size_t header = 4, parameter = 7, integer = 3;
  return header + device.target().size() + parameters.size() * parameter +
         integerList.size() * integer + pairCount(rangeList.size()) / 8 + 1;
}

char *CallArguments::putParameters(char *position) const {
  for (const Parameter &parameter : parameters) {
    position = put(position, parameter.kind);
    if (parameter.kind == ParameterKind::Constant)
      position = put(position, parameter.number);
    if (parameter.kind != ParameterKind::Tensor)
      continue;
    position = put(position, parameter.type.code);
    position = put(position, parameter.type.bits);
    position = put(position, parameter.type.lanes);
    position = put(position, parameter.rank);
    position = put(position, parameter.flags);
  }
  return position;
}

char *CallArguments::putIntegers(char *position) {
  // Few values differ: contiguous tensors of one shape share theirs.
  struct Seen {
    int64_t value;
    uint16_t index;
  };
  std::pmr::vector<Seen> seen(&memory);
  seen.reserve(16);
  for (size_t index = 0; index < integerList.size(); ++index) {
    uint8_t flags = integerFlags[index];
    position = put(position, flags);
    if (flags & (ZeroFlag | OneFlag | BoolFlag))
      continue;
    int64_t value = integerList[index];
    size_t place = 0;
    while (place < seen.size() && seen[place].value != value)
      ++place;
    if (place == seen.size())
      seen.push_back({value, static_cast<uint16_t>(index)});
    position = put(position, seen[place].index);
  }
  return position;
}

char *CallArguments::putOverlaps(char *position) const {
  uint8_t bits = 0;
  size_t used = 0;
  for (size_t second = 1; second < rangeList.size(); ++second)
    for (size_t first = 0; first < second; ++first) {
      if (rangeList[first].meets(rangeList[second]))
        bits |= uint8_t(1) << used;
      if (++used == 8) {
        position = put(position, bits);
        bits = 0;
        used = 0;
      }
    }
  return used ? put(position, bits) : position;
}

void CallArguments::finish(const Device &device) {
  assert(integerList.size() + scalarList.size() <= std::numeric_limits<uint16_t>::max());
  integerList.insert(integerList.end(), scalarList.begin(), scalarList.end());
  integerFlags.insert(integerFlags.end(), scalarFlags.begin(), scalarFlags.end());

  keyBytes.resize(largestKey(device));
  const std::string &target = device.target();
  char *position = put(keyBytes.data(), device.kind());
  position = put(position, static_cast<uint8_t>(target.size()));
  position = std::copy(target.begin(), target.end(), position);
  position = put(position, static_cast<uint16_t>(parameters.size()));
  position = putParameters(position);
  position = putIntegers(position);
  position = putOverlaps(position);
  keyBytes.resize(position - keyBytes.data());
}

//===----------------------------------------------------------------------===//
// Specialisation
//===----------------------------------------------------------------------===//

namespace {
/// Reads a key of this process, so that its form is a matter of assertions.
class KeyReader {
public:
  explicit KeyReader(std::string_view bytes) : bytes(bytes) {}

  template <typename T> T number() {
    T value;
    assert(bytes.size() >= sizeof(T));
    bytes.copy(reinterpret_cast<char *>(&value), sizeof(T));
    bytes.remove_prefix(sizeof(T));
    return value;
  }
  std::string text(size_t size) {
    std::string value(bytes.substr(0, size));
    bytes.remove_prefix(size);
    return value;
  }

private:
  std::string_view bytes;
};
} // namespace

static IntegerFacts readInteger(KeyReader &reader, uint32_t index) {
  IntegerFacts facts;
  auto flags = reader.number<uint8_t>();
  facts.representative = index;
  facts.isBool = flags & BoolFlag;
  facts.fitsInt32 = !(flags & WideIntegerFlag);
  if (flags & ZeroFlag)
    facts.constant = 0;
  else if (flags & OneFlag)
    facts.constant = 1;
  else if (!facts.isBool)
    facts.representative = reader.number<uint16_t>();
  if (flags & DivisibleFlag)
    facts.divisor = vectorBytes; // of a tensor's integers: see decode
  return facts;
}

Specialisation Specialisation::decode(std::string_view key) {
  KeyReader reader(key);
  Specialisation result;
  result.keyBytes = key;
  result.device = reader.number<DeviceKind>();
  result.target = reader.text(reader.number<uint8_t>());

  uint32_t integers = 0, floats = 0;
  auto count = reader.number<uint16_t>();
  for (uint16_t position = 0; position < count; ++position) {
    ParameterFacts parameter = {reader.number<ParameterKind>(), 0};
    if (parameter.kind == ParameterKind::Tensor) {
      TensorFacts tensor;
      tensor.type.code = reader.number<uint8_t>();
      tensor.type.bits = reader.number<uint8_t>();
      tensor.type.lanes = reader.number<uint16_t>();
      tensor.rank = reader.number<uint8_t>();
      auto flags = reader.number<uint8_t>();
      tensor.aligned = flags & AlignedFlag;
      tensor.wide = flags & WideFlag;
      tensor.firstInteger = integers;
      integers += 2 * tensor.rank;
      parameter.index = static_cast<uint32_t>(result.tensors.size());
      result.tensors.push_back(tensor);
    } else if (parameter.kind == ParameterKind::Float) {
      parameter.index = floats++;
    } else if (parameter.kind == ParameterKind::Constant) {
      parameter.index = reader.number<uint32_t>();
    }
    result.parameters.push_back(parameter);
  }
  for (ParameterFacts &parameter : result.parameters)
    if (parameter.kind == ParameterKind::Integer || parameter.kind == ParameterKind::Bool)
      parameter.index = integers++;

  for (uint32_t index = 0; index < integers; ++index)
    result.integers.push_back(readInteger(reader, index));
  for (const TensorFacts &tensor : result.tensors)
    for (uint32_t offset = 0; offset < 2 * tensor.rank; ++offset) {
      IntegerFacts &facts = result.integers[tensor.firstInteger + offset];
      if (facts.divisor > 1)
        facts.divisor = elementsPerVector(tensor.type);
    }

  size_t pairs = pairCount(result.tensors.size());
  uint8_t bits = 0;
  for (size_t pair = 0; pair < pairs; ++pair) {
    if (pair % 8 == 0)
      bits = reader.number<uint8_t>();
    result.overlaps.push_back(bits >> (pair % 8) & 1);
  }
  return result;
}

bool Specialisation::mayOverlap(size_t first, size_t second) const {
  if (first == second)
    return true;
  if (first > second)
    std::swap(first, second);
  return overlaps[pairCount(second) + first];
}

/// "i3", "i3 % 8", "1".
static std::string str(const IntegerFacts &facts) {
  if (facts.constant)
    return std::to_string(*facts.constant);
  std::string text = "i" + std::to_string(facts.representative);
  if (facts.divisor > 1)
    text += " % " + std::to_string(facts.divisor);
  if (!facts.fitsInt32)
    text += " wide";
  return text;
}

std::string Specialisation::str() const {
  auto list = [&](uint32_t first, uint32_t count) {
    std::string text;
    for (uint32_t offset = 0; offset < count; ++offset)
      text += (offset ? ", " : "") + ::str(integers[first + offset]);
    return text;
  };
  std::string text = "target " + target + " on " + nameOf(device) + "\n";
  for (const ParameterFacts &parameter : parameters) {
    switch (parameter.kind) {
    case ParameterKind::Tensor: {
      const TensorFacts &tensor = tensors[parameter.index];
      text += "tensor " + tensor.type.str() + " [" + list(tensor.firstInteger, tensor.rank) +
              "] strides (" + list(tensor.firstInteger + tensor.rank, tensor.rank) + ")";
      text += tensor.aligned ? " aligned" : "";
      text += tensor.wide ? " wide" : "";
      break;
    }
    case ParameterKind::Integer:
      text += "integer " + ::str(integers[parameter.index]);
      break;
    case ParameterKind::Bool:
      text += "bool";
      break;
    case ParameterKind::Float:
      text += "float";
      break;
    case ParameterKind::Constant:
      text += "constant";
      break;
    }
    text += "\n";
  }
  for (size_t second = 1; second < tensors.size(); ++second)
    for (size_t first = 0; first < second; ++first)
      if (mayOverlap(first, second))
        text += "tensors " + std::to_string(first) + " and " + std::to_string(second) +
                " may overlap\n";
  return text;
}
