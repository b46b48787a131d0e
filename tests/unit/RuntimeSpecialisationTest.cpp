//===- RuntimeSpecialisationTest.cpp - What is in the key of a call -------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Specialisation.h"
#include "tests/unit/fake_hip/FakeHip.h"

#include <functional>
#include <gtest/gtest.h>

using namespace wavetile;

namespace {

constexpr DataType bf16 = {4, 16, 1}, f32 = {2, 32, 1}, f8 = {10, 8, 1};

/// A tensor that owns its shape. Its address is only looked at.
struct Tensor {
  std::vector<int64_t> sizes, strides;
  DataType type = bf16;
  uintptr_t address = 0x10000000;

  TensorArgument argument() const {
    return {reinterpret_cast<const void *>(address),
            type,
            static_cast<int32_t>(sizes.size()),
            sizes.data(),
            strides.data(),
            "x"};
  }
};

Tensor contiguous(std::vector<int64_t> sizes, DataType type = bf16,
                  uintptr_t address = 0x10000000) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dimension = sizes.size(); dimension-- > 0;) {
    strides[dimension] = stride;
    stride *= std::max<int64_t>(sizes[dimension], 1);
  }
  return {sizes, strides, type, address};
}

std::shared_ptr<Device> softwareDevice(int ordinal = 0) {
  auto library = std::make_shared<HipLibrary>();
  EXPECT_FALSE(HipLibrary::open(fakeSoftwareDevice().path, *library));
  HipDeviceProperties properties = {};
  EXPECT_EQ(library->getDeviceProperties(&properties, ordinal), 0);
  return std::make_shared<Device>(library, ordinal, properties);
}

/// The key of a call whose values `add` adds.
std::string keyOf(const std::function<void(CallArguments &)> &add, int ordinal = 0) {
  CallArguments arguments;
  add(arguments);
  arguments.finish(*softwareDevice(ordinal));
  return std::string(arguments.key());
}

std::string keyOf(const std::vector<Tensor> &tensors) {
  return keyOf([&](CallArguments &arguments) {
    for (const Tensor &tensor : tensors)
      arguments.addTensor(tensor.argument());
  });
}

Specialisation of(const std::vector<Tensor> &tensors) {
  return Specialisation::decode(keyOf(tensors));
}

std::vector<uint32_t> representatives(const Specialisation &specialisation) {
  std::vector<uint32_t> result;
  for (const IntegerFacts &facts : specialisation.integers)
    result.push_back(facts.representative);
  return result;
}

} // namespace

TEST(Specialisation, IsTheSameForEveryRowLengthOfOneAlignment) {
  std::string key =
      keyOf({contiguous({4096, 4096 + 8}), contiguous({4096, 4096 + 8}, bf16, 1 << 30)});
  // A softmax: rows, columns, a multiple of 8 elements of 16 bits.
  for (int64_t columns : {1000, 4104, 32000})
    EXPECT_EQ(key, keyOf({contiguous({77, columns}), contiguous({77, columns}, bf16, 1 << 30)}))
        << columns;
  EXPECT_NE(key, keyOf({contiguous({77, 1001}), contiguous({77, 1001}, bf16, 1 << 30)}));
}

TEST(Specialisation, CountsDivisibilityInBytes) {
  EXPECT_EQ(of({contiguous({3, 24})}).integers[1].divisor, 8u);
  EXPECT_EQ(of({contiguous({3, 24}, f8)}).integers[1].divisor, 1u);
  EXPECT_EQ(of({contiguous({3, 32}, f8)}).integers[1].divisor, 16u);
  EXPECT_EQ(of({contiguous({3, 20}, f32)}).integers[1].divisor, 4u);
  EXPECT_EQ(of({contiguous({3, 20}, f32)}).integers[2].divisor, 4u); // the row stride
  // The number of rows does not matter: no vector lies along them.
  EXPECT_EQ(of({contiguous({16, 24})}).integers[0].divisor, 1u);
  // In a transposed view it does.
  EXPECT_EQ(of({Tensor{{16, 24}, {1, 16}}}).integers[0].divisor, 8u);
}

TEST(Specialisation, KnowsOnesAndZeros) {
  Specialisation facts = of({Tensor{{1, 5, 0}, {5, 0, 1}}});
  EXPECT_EQ(facts.integers[0].constant, 1);            // size 1
  EXPECT_EQ(facts.integers[1].constant, std::nullopt); // size 5
  EXPECT_EQ(facts.integers[2].constant, std::nullopt); // an empty dimension is no special case
  EXPECT_EQ(facts.integers[3].constant, std::nullopt);
  EXPECT_EQ(facts.integers[4].constant, 0); // expanded
  EXPECT_EQ(facts.integers[5].constant, 1);
}

TEST(Specialisation, FindsEqualIntegers) {
  // x[m, n], out[m, n]: n, and both row strides, are one number; m another.
  EXPECT_EQ(representatives(of({contiguous({3, 40}), contiguous({3, 40})})),
            (std::vector<uint32_t>{0, 1, 1, 3, 0, 1, 1, 7}));
  EXPECT_EQ(representatives(of({contiguous({3, 40}), contiguous({4, 40})})),
            (std::vector<uint32_t>{0, 1, 1, 3, 4, 1, 1, 7}));
  // Ones and zeros are constants and form no class.
  EXPECT_EQ(representatives(of({Tensor{{1, 1}, {1, 1}}})), (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(Specialisation, ScalarsFollowTheTensors) {
  std::string key = keyOf([](CallArguments &arguments) {
    arguments.addInteger(48);
    arguments.addFloat(0.5);
    Tensor tensor = contiguous({3, 48});
    arguments.addTensor(tensor.argument());
    arguments.addBool(true);
    arguments.addConstant(7);
    arguments.addInteger(int64_t(1) << 40);
    arguments.addFloat(1.5);
  });
  Specialisation facts = Specialisation::decode(key);
  EXPECT_EQ(representatives(facts), (std::vector<uint32_t>{0, 1, 1, 3, 1, 5, 6}));
  ASSERT_EQ(facts.parameters.size(), 7u);
  EXPECT_EQ(facts.parameters[0].kind, ParameterKind::Integer);
  EXPECT_EQ(facts.parameters[0].index, 4u);
  EXPECT_EQ(facts.parameters[1].index, 0u); // first float
  EXPECT_EQ(facts.parameters[2].kind, ParameterKind::Tensor);
  EXPECT_EQ(facts.parameters[3].kind, ParameterKind::Bool);
  EXPECT_TRUE(facts.integers[facts.parameters[3].index].isBool);
  EXPECT_EQ(facts.parameters[4].index, 7u); // number of the constant
  EXPECT_FALSE(facts.integers[facts.parameters[5].index].fitsInt32);
  EXPECT_EQ(facts.parameters[6].index, 1u); // second float
  EXPECT_EQ(facts.integers[4].divisor, 16u);
}

TEST(Specialisation, BoolsAndFloatsAreNotInTheKey) {
  auto key = [](bool flag, double number) {
    return keyOf([=](CallArguments &arguments) {
      arguments.addBool(flag);
      arguments.addFloat(number);
    });
  };
  EXPECT_EQ(key(true, 1), key(false, -3));
}

TEST(Specialisation, TellsKindsTypesTargetsAndConstantsApart) {
  std::vector<std::string> keys = {
      keyOf([](CallArguments &arguments) { arguments.addInteger(5); }),
      keyOf([](CallArguments &arguments) { arguments.addBool(true); }),
      keyOf([](CallArguments &arguments) { arguments.addFloat(5); }),
      keyOf([](CallArguments &arguments) { arguments.addConstant(5); }),
      keyOf([](CallArguments &arguments) { arguments.addConstant(6); }),
      keyOf([](CallArguments &arguments) { arguments.addInteger(5); }, 1),
      keyOf({contiguous({5})}),
      keyOf({contiguous({5}, f8)}),
      keyOf({contiguous({5}, {10, 8, 2})}),
      keyOf({contiguous({5, 7})}),
      keyOf({contiguous({5}, bf16, 0x10000008)}),
  };
  for (size_t first = 0; first < keys.size(); ++first)
    for (size_t second = 0; second < first; ++second)
      EXPECT_NE(keys[first], keys[second]) << first << " and " << second;
}

TEST(Specialisation, FindsOverlapByTheBytesOfTheElements) {
  uintptr_t base = 0x10000000;
  auto overlap = [](const Tensor &first, const Tensor &second) {
    Specialisation facts = of({first, second});
    EXPECT_EQ(facts.mayOverlap(0, 1), facts.mayOverlap(1, 0));
    return facts.mayOverlap(0, 1);
  };
  Tensor x = contiguous({3, 8}, bf16, base); // 48 bytes
  EXPECT_TRUE(overlap(x, x));
  EXPECT_FALSE(overlap(x, contiguous({3, 8}, bf16, base + 48)));
  EXPECT_TRUE(overlap(x, contiguous({3, 8}, bf16, base + 46)));
  EXPECT_FALSE(overlap(contiguous({3, 8}, bf16, base + 48), x));
  EXPECT_FALSE(overlap(x, contiguous({0, 8}, bf16, base + 4)));
  // A column view reaches as far as its last element, and no further.
  Tensor column = Tensor{{3}, {8}, bf16, base};
  EXPECT_FALSE(overlap(column, contiguous({4}, bf16, base + 34)));
  EXPECT_TRUE(overlap(column, contiguous({4}, bf16, base + 32)));
}

TEST(Specialisation, TensorsWithoutMemoryOverlapNothing) {
  Specialisation facts = of({contiguous({3, 8}, bf16, 0), contiguous({3, 8}, bf16, 0)});
  EXPECT_FALSE(facts.mayOverlap(0, 1));
  EXPECT_TRUE(facts.tensors[0].aligned);
  EXPECT_TRUE(of({contiguous({1 << 16, 1 << 16}, bf16, 0)}).tensors[0].wide);
}

TEST(Specialisation, HasOneBitForEachPairOfTensors) {
  // 5 tensors, 10 pairs: more than a byte. Tensor 4 overlaps 0 and 3 only.
  std::vector<Tensor> tensors;
  for (uintptr_t index = 0; index < 4; ++index)
    tensors.push_back(contiguous({8}, bf16, 0x1000 + 0x100 * index));
  tensors.push_back(Tensor{{2}, {1}, bf16, 0x1300});
  Specialisation facts = of(tensors);
  for (size_t second = 0; second < 5; ++second)
    for (size_t first = 0; first < second; ++first)
      EXPECT_EQ(facts.mayOverlap(first, second), first == 3 && second == 4) << first << second;
}

TEST(Specialisation, KnowsWideTensors) {
  auto wide = [](const Tensor &tensor) { return of({tensor}).tensors[0].wide; };
  EXPECT_FALSE(wide(contiguous({1 << 15, 1 << 15}))); // 2^31 bytes: the last offset is below
  EXPECT_TRUE(wide(contiguous({(1 << 15) + 1, 1 << 15})));
  EXPECT_TRUE(wide(Tensor{{2, 8}, {int64_t(1) << 30, 1}}));
  EXPECT_TRUE(wide(Tensor{{int64_t(1) << 40, 8}, {0, 1}})); // bytes are few, the size is not
  // The begin of the step after the last one must fit 32 bits as well.
  EXPECT_FALSE(wide(Tensor{{1 << 30, 8}, {0, 1}}));
  EXPECT_TRUE(wide(Tensor{{(1 << 30) + 1, 8}, {0, 1}}));
  EXPECT_TRUE(wide(Tensor{{INT64_MAX, 8}, {INT64_MAX, 1}}));
  EXPECT_FALSE(wide(contiguous({0, 8})));
}

TEST(Specialisation, TextIsStableAndComplete) {
  Specialisation facts = Specialisation::decode(keyOf([](CallArguments &arguments) {
    Tensor x = contiguous({3, 40}), out = Tensor{{3, 40}, {48, 1}, f32, 0x10000004};
    arguments.addTensor(x.argument());
    arguments.addTensor(out.argument());
    arguments.addInteger(16);
    arguments.addFloat(1);
    arguments.addConstant(3);
  }));
  EXPECT_EQ(facts.str(), R"(target gfx950 on software
tensor bf16 [i0, i1 % 8] strides (i1 % 8, 1) aligned
tensor f32 [i0, i1 % 4] strides (i6 % 4, 1)
integer i8 % 16
float
constant
tensors 0 and 1 may overlap
)");
}

TEST(Specialisation, NamesTheTypesOfPyTorch) {
  EXPECT_EQ((DataType{0, 64, 1}).str(), "i64");
  EXPECT_EQ((DataType{1, 8, 1}).str(), "u8");
  EXPECT_EQ((DataType{6, 8, 1}).str(), "bool");
  EXPECT_EQ((DataType{5, 64, 1}).str(), "c64");
  EXPECT_EQ((DataType{12, 8, 1}).str(), "f8e5m2");
  EXPECT_EQ((DataType{17, 4, 2}).str(), "f4e2m1fnx2");
  EXPECT_EQ((DataType{3, 64, 1}).str(), "dlpack(3,64,1)");
}
