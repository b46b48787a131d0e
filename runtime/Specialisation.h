//===- Specialisation.h - What code may rely on about a call ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of a region is a list of values. Its key is a byte string that holds all
// that compiled code may rely on; two calls with equal keys are served by the same
// code. A Specialisation is the key in readable form, and is made from the key
// alone: a fact that is not in the key cannot reach the compiler.
//
// In the key are, besides the kinds of the parameters and the device's target:
//   * of a tensor: dtype, rank, whether its address is a multiple of 16, whether it
//     is wide (a byte offset or stride passes 2^31, or a size 2^30);
//   * of a size: whether it is 1; of a stride: whether it is 0 or 1;
//   * of a stride, and of the size of a dimension with stride 1: whether it is a
//     multiple of 16 bytes (so that a 16-bit row of 4104 is served as one of 4096);
//   * of an integer: whether 16 divides it and whether it fits 32 bits;
//   * which sizes, strides and integers are equal, unless they are constants (above);
//   * which pairs of tensors may overlap: whether the ranges of bytes meet that
//     their elements lie in;
//   * of a constant: its number, given by whoever can compare its values.
//
// Making a key allocates nothing as long as a call is of ordinary size.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_SPECIALISATION_H
#define WAVETILE_RUNTIME_SPECIALISATION_H

#include "runtime/Device.h"

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavetile {

/// An element type with DLPack's numbers.
struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;

  /// Bytes of one element, as strides count them.
  uint32_t bytes() const { return (uint32_t(bits) * lanes + 7) / 8; }
  bool isComplex() const { return code == 5; }
  /// "bf16", "f8e4m3fn", "i32", "u8", "bool"; DLPack's numbers for a type without a name.
  std::string str() const;

  bool operator==(const DataType &) const = default;
};

/// What a launch needs of a tensor. Points into the tensor.
struct TensorArgument {
  const void *data;
  DataType type;
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides; // in elements
  const char *name;       // of its parameter; must live as long as the call
};

/// Bytes from the first to the last element, both whole. Empty for a tensor without elements.
struct ByteRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  size_t size() const { return end - begin; }
  bool meets(const ByteRange &other) const { return begin < other.end && other.begin < end; }
};

enum class ParameterKind : uint8_t { Tensor, Integer, Bool, Float, Constant };

/// The values of one call, in the order in which a launch plan numbers them. Lives on the stack;
/// parameters are added in order, then `finish` makes the key. Shapes are copied.
class CallArguments {
public:
  CallArguments();
  CallArguments(const CallArguments &) = delete;

  void addTensor(const TensorArgument &tensor);
  void addInteger(int64_t value);
  void addBool(bool value);
  void addFloat(double value);
  void addConstant(uint32_t number);
  void finish(const Device &device);

  std::string_view key() const { return {keyBytes.data(), keyBytes.size()}; }
  size_t tensorCount() const { return pointerList.size(); }
  const std::pmr::vector<const void *> &pointers() const { return pointerList; }
  const std::pmr::vector<int64_t> &integers() const { return integerList; }
  const std::pmr::vector<double> &floats() const { return floatList; }
  const std::pmr::vector<ByteRange> &ranges() const { return rangeList; }
  const std::pmr::vector<const char *> &tensorNames() const { return nameList; }

private:
  struct Parameter {
    ParameterKind kind;
    uint32_t number = 0; // of a constant
    // Of a tensor:
    DataType type = {};
    uint8_t rank = 0;
    uint8_t flags = 0;
  };
  void addTensorInteger(int64_t value, uint8_t flags);
  size_t largestKey(const Device &device) const;
  char *putParameters(char *position) const;
  char *putIntegers(char *position);
  char *putOverlaps(char *position) const;

  // Enough for eight matrices with their key; beyond it the heap serves.
  static constexpr size_t storageBytes = 4096;
  alignas(std::max_align_t) std::byte storage[storageBytes];
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<Parameter> parameters;
  std::pmr::vector<const void *> pointerList;
  std::pmr::vector<int64_t> integerList; // the sizes and strides; `finish` appends the scalars
  std::pmr::vector<int64_t> scalarList;
  std::pmr::vector<uint8_t> integerFlags; // of integerList
  std::pmr::vector<uint8_t> scalarFlags;
  std::pmr::vector<double> floatList;
  std::pmr::vector<ByteRange> rangeList;
  std::pmr::vector<const char *> nameList;
  std::pmr::vector<char> keyBytes;
};

/// What the key says about one bound integer.
struct IntegerFacts {
  std::optional<int64_t> constant;
  uint32_t representative = 0; // the first integer that is always equal; itself if none
  uint32_t divisor = 1;        // divides it
  bool fitsInt32 = true;
  bool isBool = false;
};

struct TensorFacts {
  DataType type;
  uint32_t rank;
  bool aligned;          // address is a multiple of 16
  bool wide;             // a byte offset or stride passes 2^31, or a size 2^30
  uint32_t firstInteger; // `rank` sizes, then `rank` strides
};

struct ParameterFacts {
  ParameterKind kind;
  uint32_t index; // into `tensors`, the integers, the floats; or the number of a constant
};

struct Specialisation {
  std::string target;
  DeviceKind device;
  std::vector<ParameterFacts> parameters;
  std::vector<TensorFacts> tensors;
  std::vector<IntegerFacts> integers; // in the order of LaunchPlan.h

  /// Reads a key that CallArguments made.
  static Specialisation decode(std::string_view key);

  const std::string &key() const { return keyBytes; }
  bool mayOverlap(size_t first, size_t second) const;

  /// The same in every process: constants are left out, and so is the device's ordinal.
  std::string str() const;

private:
  std::string keyBytes;
  std::vector<bool> overlaps; // of pairs (0,1), (0,2), (1,2), (0,3), ...
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_SPECIALISATION_H
