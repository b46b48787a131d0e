//===- LinearMap.h - Linear algebra over F2 --------------------*- C++ -*--===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear maps over F2, the field of two elements in which addition is XOR, between points whose
// coordinates have a power-of-two range. This is the arithmetic under ir/Layout.h; it knows neither
// lanes nor tiles. Everything fits in registers of the host: a point has at most 64 bits in all,
// and a map is a column of 64 bits for each input bit. Evaluation takes an XOR for each bit that is
// set, and an elimination some hundred operations.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_LINEARMAP_H
#define WAVETILE_IR_LINEARMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"

#include <cstdint>
#include <optional>

namespace wavetile {

/// One integer per dimension.
using Coordinates = llvm::SmallVector<int64_t, 4>;

/// A subspace of F2^64 in reduced echelon form: the leading bit of a row occurs in no other row.
/// Each row remembers the combination of generators that it is.
class Subspace {
public:
  struct Row {
    uint64_t vector = 0, combination = 0;
    void add(const Row &other) {
      vector ^= other.vector;
      combination ^= other.combination;
    }
    bool contains(uint64_t bit) const { return vector & bit; }
    uint64_t leadingBit() const { return llvm::bit_floor(vector); }
  };

  /// What is left of a row modulo the subspace. Its vector is zero if it lies inside.
  Row reduce(Row row) const;

  /// Adds a generator; returns what was new about it.
  Row insert(Row row);
  bool insert(uint64_t vector) { return insert(Row{vector, 0}).vector != 0; }

  unsigned dimension() const { return rows.size(); }
  /// The basis, leading bits descending.
  llvm::ArrayRef<Row> basis() const { return rows; }

private:
  llvm::SmallVector<Row, 16> rows;
};

/// A linear map over F2 between two lists of dimensions whose sizes are powers of two. A point is
/// given as one integer per dimension, or *packed* into 64 bits with dimension 0 lowest.
class LinearMap {
public:
  LinearMap() = default;
  /// The map that sends everything to zero; sizes are given as numbers of bits.
  LinearMap(llvm::ArrayRef<unsigned> inputBits, llvm::ArrayRef<unsigned> outputBits);
  static LinearMap identity(llvm::ArrayRef<unsigned> bits);

  unsigned inputCount() const { return inputs.size(); }
  unsigned outputCount() const { return outputs.size(); }
  unsigned inputBits(unsigned input) const { return inputs[input]; }
  unsigned outputBits(unsigned output) const { return outputs[output]; }
  llvm::ArrayRef<unsigned> inputBits() const { return inputs; }
  llvm::ArrayRef<unsigned> outputBits() const { return outputs; }
  unsigned totalInputBits() const { return columns.size(); }
  unsigned totalOutputBits() const;

  /// The basis of one input bit: its image, packed or unpacked.
  uint64_t column(unsigned input, unsigned bit) const { return columns[firstBit(input) + bit]; }
  void setColumn(unsigned input, unsigned bit, uint64_t packedOutput);
  Coordinates basis(unsigned input, unsigned bit) const { return unpackOutput(column(input, bit)); }
  void setBasis(unsigned input, unsigned bit, llvm::ArrayRef<int64_t> coordinates);
  /// All columns, in the order of packed input bits.
  llvm::ArrayRef<uint64_t> allColumns() const { return columns; }

  uint64_t applyPacked(uint64_t packedInput) const;
  Coordinates apply(llvm::ArrayRef<int64_t> input) const;

  uint64_t packInput(llvm::ArrayRef<int64_t> point) const { return pack(inputs, point); }
  uint64_t packOutput(llvm::ArrayRef<int64_t> point) const { return pack(outputs, point); }
  Coordinates unpackInput(uint64_t packed) const { return unpack(inputs, packed); }
  Coordinates unpackOutput(uint64_t packed) const { return unpack(outputs, packed); }
  /// The mask of the packed bits that belong to one dimension.
  uint64_t inputMask(unsigned input) const { return mask(inputs, input); }
  uint64_t outputMask(unsigned output) const { return mask(outputs, output); }

  /// x -> this(inner(x)). The outputs of `inner` are the inputs of this map.
  LinearMap compose(const LinearMap &inner) const;
  /// The map on pairs: in every dimension `inner` takes the low bits and `outer` the high bits, so
  /// that outer's coordinates are multiples of inner's output sizes. A missing dimension has no
  /// bits.
  static LinearMap product(const LinearMap &inner, const LinearMap &outer);
  /// The map `outer` with `product(inner, outer) == *this`, if there is one.
  std::optional<LinearMap> leftDivide(const LinearMap &inner) const;

  unsigned rank() const;
  bool isInjective() const { return rank() == totalInputBits(); }
  bool isSurjective() const { return rank() == totalOutputBits(); }
  bool isInvertible() const { return isInjective() && isSurjective(); }
  /// A basis of the inputs that are sent to zero, and one of the image: packed vectors in reduced
  /// echelon form (no vector has the leading bit of another), leading bits descending.
  llvm::SmallVector<uint64_t, 8> kernel() const;
  llvm::SmallVector<uint64_t, 16> image() const;
  /// The smallest packed input, among those with no bit outside `allowedInputs`, that is sent to
  /// `packedOutput`; none if there is none.
  std::optional<uint64_t> solve(uint64_t packedOutput, uint64_t allowedInputs = ~uint64_t(0)) const;
  /// The inverse; the map must be invertible.
  LinearMap inverse() const;
  /// The linear map that sends each point of the image to its smallest preimage, and the directions
  /// that the image misses to zero. `a.compose(a.pseudoInverse()).compose(a) == a` for every map.
  LinearMap pseudoInverse() const;

  /// The map with only some of the inputs, or outputs, in the given order.
  LinearMap selectInputs(llvm::ArrayRef<unsigned> kept) const;
  LinearMap selectOutputs(llvm::ArrayRef<unsigned> kept) const;

  bool operator==(const LinearMap &) const = default;
  friend llvm::hash_code hash_value(const LinearMap &map);

private:
  unsigned firstBit(unsigned input) const;
  static uint64_t pack(llvm::ArrayRef<unsigned> bits, llvm::ArrayRef<int64_t> point);
  static Coordinates unpack(llvm::ArrayRef<unsigned> bits, uint64_t packed);
  static uint64_t mask(llvm::ArrayRef<unsigned> bits, unsigned dimension);

  llvm::SmallVector<unsigned, 4> inputs, outputs;
  llvm::SmallVector<uint64_t, 16> columns;
};

} // namespace wavetile

#endif // WAVETILE_IR_LINEARMAP_H
