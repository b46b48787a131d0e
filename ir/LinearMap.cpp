//===- LinearMap.cpp - Linear algebra over F2 -----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/LinearMap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace llvm;

namespace wavetile {

Subspace::Row Subspace::reduce(Row row) const {
  for (const Row &other : rows)
    if (row.contains(other.leadingBit()))
      row.add(other);
  return row;
}

Subspace::Row Subspace::insert(Row row) {
  row = reduce(row);
  if (!row.vector)
    return row;
  for (Row &other : rows)
    if (other.contains(row.leadingBit()))
      other.add(row);
  auto *place = find_if(rows, [&](const Row &other) { return other.vector < row.vector; });
  rows.insert(place, row);
  return row;
}

namespace {

/// Image and kernel of some of the columns of a map, ready to solve equations.
class Solver {
public:
  explicit Solver(const LinearMap &map, uint64_t columnMask = ~uint64_t(0)) {
    for (auto [bit, column] : enumerate(map.allColumns())) {
      uint64_t generator = uint64_t(1) << bit;
      if (!(columnMask & generator))
        continue;
      Subspace::Row rest = image.insert({column, generator});
      if (!rest.vector)
        kernel.insert(rest.combination);
    }
  }

  /// The smallest preimage among the chosen columns. Rows of the image are combinations of columns
  /// that were new when they came, and each vector of the kernel leads with one that was not: no
  /// sum with a vector of the kernel is smaller.
  std::optional<uint64_t> solve(uint64_t output) const {
    Subspace::Row rest = image.reduce({output, 0});
    return rest.vector ? std::nullopt : std::optional(rest.combination);
  }

  Subspace image, kernel;
};

template <unsigned N> SmallVector<uint64_t, N> vectors(const Subspace &space) {
  return map_to_vector<N>(space.basis(), [](const Subspace::Row &row) { return row.vector; });
}

unsigned bitSum(ArrayRef<unsigned> bits) { return sum_of(bits, 0u); }

} // namespace

LinearMap::LinearMap(ArrayRef<unsigned> inputBits, ArrayRef<unsigned> outputBits)
    : inputs(inputBits), outputs(outputBits), columns(bitSum(inputBits), 0) {
  assert(bitSum(inputBits) <= 64 && bitSum(outputBits) <= 64 && "points are packed into 64 bits");
}

LinearMap LinearMap::identity(ArrayRef<unsigned> bits) {
  LinearMap result(bits, bits);
  for (auto [bit, column] : enumerate(result.columns))
    column = uint64_t(1) << bit;
  return result;
}

unsigned LinearMap::totalOutputBits() const { return bitSum(outputs); }

unsigned LinearMap::firstBit(unsigned input) const {
  return bitSum(ArrayRef(inputs).take_front(input));
}

uint64_t LinearMap::mask(ArrayRef<unsigned> bits, unsigned dimension) {
  return maskTrailingOnes<uint64_t>(bits[dimension]) << bitSum(bits.take_front(dimension));
}

uint64_t LinearMap::pack(ArrayRef<unsigned> bits, ArrayRef<int64_t> point) {
  assert(bits.size() == point.size() && "a point has one integer per dimension");
  uint64_t packed = 0;
  unsigned shift = 0;
  for (auto [width, value] : zip_equal(bits, point)) {
    assert(uint64_t(value) <= maskTrailingOnes<uint64_t>(width) && "the point is out of range");
    packed |= width ? uint64_t(value) << shift : 0;
    shift += width;
  }
  return packed;
}

Coordinates LinearMap::unpack(ArrayRef<unsigned> bits, uint64_t packed) {
  Coordinates point;
  for (unsigned width : bits) {
    point.push_back(packed & maskTrailingOnes<uint64_t>(width));
    packed = width < 64 ? packed >> width : 0;
  }
  return point;
}

void LinearMap::setColumn(unsigned input, unsigned bit, uint64_t packedOutput) {
  assert(bit < inputs[input] && packedOutput <= maskTrailingOnes<uint64_t>(totalOutputBits()));
  columns[firstBit(input) + bit] = packedOutput;
}

void LinearMap::setBasis(unsigned input, unsigned bit, ArrayRef<int64_t> coordinates) {
  setColumn(input, bit, packOutput(coordinates));
}

uint64_t LinearMap::applyPacked(uint64_t packedInput) const {
  uint64_t result = 0;
  for (; packedInput; packedInput &= packedInput - 1)
    result ^= columns[countr_zero(packedInput)];
  return result;
}

Coordinates LinearMap::apply(ArrayRef<int64_t> input) const {
  return unpackOutput(applyPacked(packInput(input)));
}

LinearMap LinearMap::compose(const LinearMap &inner) const {
  assert(inner.outputs == inputs && "the inner map's outputs are the outer map's inputs");
  LinearMap result(inner.inputs, outputs);
  for (auto [column, innerColumn] : zip_equal(result.columns, inner.columns))
    column = applyPacked(innerColumn);
  return result;
}

LinearMap LinearMap::product(const LinearMap &inner, const LinearMap &outer) {
  auto size = [](ArrayRef<unsigned> bits, size_t i) { return i < bits.size() ? bits[i] : 0; };
  auto add = [&](ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
    SmallVector<unsigned, 4> sum;
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
      sum.push_back(size(a, i) + size(b, i));
    return sum;
  };
  LinearMap result(add(inner.inputs, outer.inputs), add(inner.outputs, outer.outputs));
  auto place = [&](const LinearMap &factor, unsigned input, unsigned bit, bool high) {
    Coordinates basis = factor.basis(input, bit);
    basis.resize(result.outputCount(), 0);
    for (unsigned output = 0; high && output < result.outputCount(); ++output)
      basis[output] <<= size(inner.outputs, output);
    result.setBasis(input, bit + (high ? size(inner.inputs, input) : 0), basis);
  };
  for (unsigned input = 0; input < inner.inputCount(); ++input)
    for (unsigned bit = 0; bit < inner.inputBits(input); ++bit)
      place(inner, input, bit, /*high=*/false);
  for (unsigned input = 0; input < outer.inputCount(); ++input)
    for (unsigned bit = 0; bit < outer.inputBits(input); ++bit)
      place(outer, input, bit, /*high=*/true);
  return result;
}

std::optional<LinearMap> LinearMap::leftDivide(const LinearMap &inner) const {
  auto subtract = [](ArrayRef<unsigned> a,
                     ArrayRef<unsigned> b) -> std::optional<SmallVector<unsigned, 4>> {
    SmallVector<unsigned, 4> rest(a);
    for (auto [i, bits] : enumerate(b)) {
      if (i >= rest.size() || rest[i] < bits)
        return std::nullopt;
      rest[i] -= bits;
    }
    return rest;
  };
  auto restInputs = subtract(inputs, inner.inputs), restOutputs = subtract(outputs, inner.outputs);
  if (!restInputs || !restOutputs)
    return std::nullopt;
  LinearMap outer(*restInputs, *restOutputs);
  for (unsigned input = 0; input < outer.inputCount(); ++input) {
    unsigned low = inputs[input] - outer.inputs[input];
    for (unsigned bit = 0; bit < outer.inputs[input]; ++bit) {
      Coordinates coordinates = basis(input, low + bit);
      for (unsigned output = 0; output < outputCount(); ++output)
        coordinates[output] >>= outputs[output] - outer.outputs[output];
      outer.setBasis(input, bit, coordinates);
    }
  }
  if (product(inner, outer) != *this)
    return std::nullopt;
  return outer;
}

unsigned LinearMap::rank() const { return Solver(*this).image.dimension(); }

SmallVector<uint64_t, 8> LinearMap::kernel() const { return vectors<8>(Solver(*this).kernel); }

SmallVector<uint64_t, 16> LinearMap::image() const { return vectors<16>(Solver(*this).image); }

std::optional<uint64_t> LinearMap::solve(uint64_t packedOutput, uint64_t allowedInputs) const {
  return Solver(*this, allowedInputs).solve(packedOutput);
}

LinearMap LinearMap::inverse() const {
  assert(isInvertible() && "the map has no inverse");
  return pseudoInverse();
}

LinearMap LinearMap::pseudoInverse() const {
  Solver solver(*this);
  LinearMap result(outputs, inputs);
  for (auto [bit, column] : enumerate(result.columns))
    column = solver.image.reduce({uint64_t(1) << bit, 0}).combination;
  return result;
}

LinearMap LinearMap::selectInputs(ArrayRef<unsigned> kept) const {
  LinearMap result(map_to_vector<4>(kept, [&](unsigned input) { return inputs[input]; }), outputs);
  for (auto [to, from] : enumerate(kept))
    for (unsigned bit = 0; bit < inputs[from]; ++bit)
      result.setColumn(to, bit, column(from, bit));
  return result;
}

LinearMap LinearMap::selectOutputs(ArrayRef<unsigned> kept) const {
  LinearMap result(inputs,
                   map_to_vector<4>(kept, [&](unsigned output) { return outputs[output]; }));
  for (auto [column, from] : zip_equal(result.columns, columns)) {
    Coordinates all = unpackOutput(from);
    column =
        result.packOutput(map_to_vector<4>(kept, [&](unsigned output) { return all[output]; }));
  }
  return result;
}

hash_code hash_value(const LinearMap &map) {
  return hash_combine(hash_combine_range(map.inputs), hash_combine_range(map.outputs),
                      hash_combine_range(map.columns));
}

} // namespace wavetile
