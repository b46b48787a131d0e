//===- LayoutShapes.cpp - Layouts of derived tiles ------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The queries of Layout.h that give the layout of a tile of another shape, in which each element
// stays where it is: slices, reductions, unit dimensions, transposes and reshapes.
//
//===----------------------------------------------------------------------===//

#include "ir/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/bit.h"

#include <cassert>

using namespace llvm;

namespace wavetile {

namespace {

SmallVector<unsigned, 4> allBut(unsigned dim, unsigned rank) {
  return filter_to_vector<4>(seq(0u, rank), [&](unsigned other) { return other != dim; });
}

/// The register bits that move independently of lower ones.
SmallVector<unsigned, 8> independentRegisterBits(const LinearMap &map) {
  Subspace seen;
  SmallVector<unsigned, 8> bits;
  for (unsigned bit = 0; bit < map.inputBits(0); ++bit)
    if (seen.insert(map.column(0, bit)))
      bits.push_back(bit);
  return bits;
}

} // namespace

Layout Layout::slice(unsigned dim) const {
  assert(registers && dim < rank());
  SmallVector<unsigned, 4> kept = allBut(dim, rank());
  LinearMap projected = map.selectOutputs(kept);
  SmallVector<unsigned, 8> registerBits = independentRegisterBits(projected);
  LinearMap result({unsigned(registerBits.size()), map.inputBits(1), map.inputBits(2)},
                   projected.outputBits());
  for (auto [to, from] : enumerate(registerBits))
    result.setColumn(0, to, projected.column(0, from));
  for (unsigned input : {1, 2})
    for (unsigned bit = 0; bit < map.inputBits(input); ++bit)
      result.setColumn(input, bit, projected.column(input, bit));

  Coordinates shape = map_to_vector<4>(kept, [&](unsigned other) { return extents[other]; });
  Layout sliced(/*registers=*/true, std::move(result), shape, {});
  sliced.order.clear();
  for (unsigned other : order)
    if (other != dim)
      sliced.order.push_back(other - (other > dim));
  return sliced;
}

Layout Layout::expandDims(unsigned dim) const {
  assert(dim <= rank());
  Coordinates shape = extents;
  shape.insert(shape.begin() + dim, 1);
  SmallVector<unsigned, 4> outputBits(map.outputBits());
  outputBits.insert(outputBits.begin() + dim, 0);
  // A dimension without bits leaves the packed columns as they are.
  LinearMap result(map.inputBits(), outputBits);
  for (unsigned input = 0; input < map.inputCount(); ++input)
    for (unsigned bit = 0; bit < map.inputBits(input); ++bit)
      result.setColumn(input, bit, map.column(input, bit));
  Layout expanded = *this;
  expanded.map = std::move(result);
  expanded.extents = std::move(shape);
  for (unsigned &other : expanded.order)
    other += other >= dim;
  return expanded;
}

Layout Layout::transpose(ArrayRef<unsigned> permutation) const {
  assert(permutation.size() == rank());
  Layout result = *this;
  result.map = map.selectOutputs(permutation);
  for (auto [to, from] : enumerate(permutation))
    result.extents[to] = extents[from];
  for (unsigned &dim : result.order)
    dim = find(permutation, dim) - permutation.begin();
  return result;
}

namespace {

/// A digit of the row-major index of a tile: one bit of an atom (count 2) or the repetitions.
struct Digit {
  unsigned dim, bit;
  int64_t count;
  bool isRepetition() const { return count != 2; }
};

/// All digits, the fastest first.
SmallVector<Digit, 32> rowMajorDigits(ArrayRef<int64_t> shape) {
  SmallVector<Digit, 32> digits;
  for (unsigned dim : reverse(seq(0u, unsigned(shape.size())))) {
    unsigned bits = countr_zero(uint64_t(shape[dim]));
    for (unsigned bit = 0; bit < bits; ++bit)
      digits.push_back({dim, bit, 2});
    if (int64_t repetitions = shape[dim] >> bits; repetitions > 1)
      digits.push_back({dim, 0, repetitions});
  }
  return digits;
}

/// Takes digits from the front until their counts multiply to `count`; empty if they do not.
SmallVector<Digit, 2> takeRepetitions(ArrayRef<Digit> &digits, int64_t count) {
  SmallVector<Digit, 2> taken;
  for (int64_t product = 1; product != count; product *= taken.back().count) {
    if (digits.empty() || !digits.front().isRepetition() ||
        count % (product * digits.front().count) != 0)
      return {};
    taken.push_back(digits.front());
    digits = digits.drop_front();
  }
  return taken;
}

} // namespace

std::optional<Layout> Layout::reshape(ArrayRef<int64_t> shape) const {
  if (product_of(shape, int64_t(1)) != elementCount() ||
      any_of(shape, [](int64_t size) { return size <= 0; }))
    return std::nullopt;
  SmallVector<Digit, 32> oldDigits = rowMajorDigits(extents), newDigits = rowMajorDigits(shape);
  ArrayRef<Digit> from = oldDigits, to = newDigits;
  // Bits of the atom go one to one; a repetition splits into several or several join.
  SmallVector<unsigned, 4> outputBits =
      map_to_vector<4>(shape, [](int64_t size) -> unsigned { return countr_zero(uint64_t(size)); });
  LinearMap rename(map.outputBits(), outputBits);
  SmallVector<SmallVector<unsigned, 2>, 4> newDims(rank());
  while (!from.empty() && !to.empty()) {
    if (from.front().isRepetition() != to.front().isRepetition())
      return std::nullopt;
    if (!from.front().isRepetition()) {
      Coordinates basis(shape.size(), 0);
      basis[to.front().dim] = int64_t(1) << to.front().bit;
      rename.setBasis(from.front().dim, from.front().bit, basis);
      from = from.drop_front();
      to = to.drop_front();
    } else if (from.front().count >= to.front().count) {
      Digit whole = from.front();
      from = from.drop_front();
      SmallVector<Digit, 2> parts = takeRepetitions(to, whole.count);
      if (parts.empty())
        return std::nullopt;
      for (const Digit &part : parts)
        newDims[whole.dim].push_back(part.dim);
    } else {
      Digit whole = to.front();
      to = to.drop_front();
      SmallVector<Digit, 2> parts = takeRepetitions(from, whole.count);
      // Joined digits must be enumerated one after the other, or the registers would change places.
      const auto *place = parts.empty() ? order.end() : find(order, parts.front().dim);
      for (const Digit &part : parts)
        if (place == order.end() || *place++ != part.dim)
          return std::nullopt;
      if (parts.empty())
        return std::nullopt;
      newDims[parts.front().dim].push_back(whole.dim);
    }
  }
  Layout result = *this;
  result.map = rename.compose(map);
  result.extents.assign(shape.begin(), shape.end());
  result.order.clear();
  for (unsigned dim : order)
    append_range(result.order, newDims[dim]);
  return result;
}

std::optional<Reduction> Layout::reduction(unsigned dim) const {
  assert(registers && dim < rank());
  LinearMap projected = map.selectOutputs(allBut(dim, rank()));
  // Inputs that differ by an element of `along` hold elements to combine; those that differ by an
  // element of `copies` hold the same element. Pick representatives within one input at a time.
  Subspace copies;
  for (uint64_t vector : map.kernel())
    copies.insert(vector);
  SmallVector<unsigned, 8> picked[3];
  unsigned firstBit = 0;
  for (unsigned input = 0; input < 3; ++input) {
    SmallVector<uint64_t, 8> along = projected.selectInputs({input}).kernel();
    for (uint64_t vector : reverse(along))
      if (copies.insert(vector << firstBit))
        picked[input].push_back(vector);
    firstBit += map.inputBits(input);
  }
  if (copies.dimension() != projected.kernel().size())
    return std::nullopt;

  Reduction reduction{slice(dim), {}, {}, {}};
  reduction.laneMasks.append(picked[1].begin(), picked[1].end());
  reduction.waveMasks.append(picked[2].begin(), picked[2].end());

  SmallVector<unsigned, 8> keptBits = independentRegisterBits(projected);
  const Layout &result = reduction.result;
  for (unsigned reg = 0; reg < result.registerCount(); ++reg) {
    unsigned first = 0;
    for (auto [i, bit] : enumerate(keptBits))
      first |= ((reg >> i) & 1) << bit;
    Coordinates origin = result.repetitionOrigin(reg >> result.map.inputBits(0));
    origin.insert(origin.begin() + dim, 0);
    SmallVector<unsigned, 8> &group = reduction.registers.emplace_back();
    for (int64_t repetition = 0; repetition < repetitions(dim); ++repetition) {
      origin[dim] = repetition * atomShape(dim);
      unsigned base = repetitionOf(origin) * atomRegisterCount();
      for (unsigned combination = 0; combination < 1u << picked[0].size(); ++combination) {
        unsigned atomRegister = first;
        for (auto [i, vector] : enumerate(picked[0]))
          atomRegister ^= combination >> i & 1 ? vector : 0;
        group.push_back(base + atomRegister);
      }
    }
    sort(group, [&](unsigned a, unsigned b) { return coordinates(a)[dim] < coordinates(b)[dim]; });
  }
  return reduction;
}

} // namespace wavetile
