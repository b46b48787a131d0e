//===- Layout.cpp - Which element of a tile a lane or an LDS word holds ---===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace wavetile {

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

namespace {

unsigned powerOfTwoBits(int64_t size) {
  assert(size > 0 && "the sizes of a tile are positive");
  return countr_zero(uint64_t(size));
}

unsigned log2Exact(uint64_t value) {
  assert(isPowerOf2_64(value) && "expected a power of two");
  return Log2_64(value);
}

unsigned bitSum(ArrayRef<unsigned> bits) { return sum_of(bits, 0u); }

SmallVector<unsigned, 4> atomBits(ArrayRef<int64_t> shape) {
  return map_to_vector<4>(shape, powerOfTwoBits);
}

SmallVector<unsigned, 4> completeOrder(ArrayRef<unsigned> order, unsigned rank) {
  if (order.empty())
    return to_vector<4>(reverse(seq(0u, rank)));
  assert(order.size() == rank && "the order names every dimension");
  return SmallVector<unsigned, 4>(order);
}

/// Collects the bases of an atom input by input, each dimension from its low bits up.
class AtomBuilder {
public:
  explicit AtomBuilder(ArrayRef<int64_t> shape) : available(atomBits(shape)) {
    used.assign(shape.size(), 0);
  }

  /// The next `count` positions along `dim` belong to `input`. Beyond the atom lanes and waves
  /// replicate, and registers stop.
  void take(LayoutInput input, unsigned dim, unsigned bits) {
    for (; bits; --bits) {
      bool inside = used[dim] < available[dim];
      if (!inside && input != LayoutInput::Lane && input != LayoutInput::Wave)
        return;
      Coordinates basis(used.size(), 0);
      if (inside)
        basis[dim] = int64_t(1) << used[dim]++;
      bases[size_t(input) % 3].push_back(basis);
    }
  }
  /// What is left along a dimension belongs to `input`.
  void takeRest(LayoutInput input, unsigned dim) { take(input, dim, available[dim] - used[dim]); }

  void add(LayoutInput input, Coordinates basis) {
    bases[size_t(input) % 3].push_back(std::move(basis));
  }

  LinearMap map(unsigned inputCount) const {
    SmallVector<unsigned, 3> inputBits;
    for (unsigned input = 0; input < inputCount; ++input)
      inputBits.push_back(bases[input].size());
    LinearMap result(inputBits, available);
    for (unsigned input = 0; input < inputCount; ++input)
      for (auto [bit, basis] : enumerate(bases[input]))
        result.setBasis(input, bit, basis);
    return result;
  }

  SmallVector<unsigned, 4> available, used;

private:
  /// Registers (or offsets), lanes, waves.
  SmallVector<Coordinates, 8> bases[3];
};

template <typename Range> std::string listed(const Range &values) {
  std::string text = "[";
  raw_string_ostream os(text);
  interleaveComma(values, os);
  os << ']';
  return text;
}

} // namespace

StringRef name(LayoutInput input) {
  static constexpr StringLiteral names[] = {"register", "lane", "wave", "offset"};
  return names[size_t(input)];
}

Layout::Layout(bool registers, LinearMap map, ArrayRef<int64_t> shape,
               ArrayRef<unsigned> repetitionOrder)
    : registers(registers), map(std::move(map)), extents(shape) {
  assert(this->map.inputCount() == (registers ? 3u : 1u) && this->map.outputCount() == rank());
  for (unsigned dim : completeOrder(repetitionOrder, rank()))
    if (repetitions(dim) > 1)
      order.push_back(dim);
}

Expected<Layout> Layout::create(bool registers, ArrayRef<int64_t> shape, ArrayRef<Bases> inputBases,
                                ArrayRef<unsigned> repetitionOrder) {
  auto fail = [](const Twine &message) {
    return createStringError(inconvertibleErrorCode(), message);
  };
  // Offsets of all elements and all positions stay well inside 63 bits.
  uint64_t elements = 1;
  for (int64_t size : shape) {
    if (size <= 0)
      return fail("sizes of a tile are positive, not " + listed(shape));
    elements = SaturatingMultiply(elements, uint64_t(size));
  }
  if (elements > uint64_t(1) << 48)
    return fail("a tile of " + listed(shape) + " elements is too large");

  SmallVector<unsigned, 4> sortedOrder(repetitionOrder);
  sort(sortedOrder);
  if (!repetitionOrder.empty() && !equal(sortedOrder, seq(0u, unsigned(shape.size()))))
    return fail("the order of repetitions names each dimension once, not " +
                listed(repetitionOrder));

  SmallVector<unsigned, 3> inputBits;
  for (auto [input, bases] : enumerate(inputBases)) {
    if (bases.size() > 20)
      return fail("more than 20 bases of one input");
    inputBits.push_back(bases.size());
  }
  LinearMap map(inputBits, atomBits(shape));
  for (auto [input, bases] : enumerate(inputBases)) {
    StringRef inputName = name(registers ? LayoutInput(input) : LayoutInput::Offset);
    for (auto [bit, basis] : enumerate(bases)) {
      if (basis.size() != shape.size())
        return fail("basis " + listed(basis) + " of " + inputName + " for a tile of rank " +
                    Twine(shape.size()));
      for (auto [coordinate, bits] : zip_equal(basis, map.outputBits()))
        if (coordinate < 0 || coordinate >= int64_t(1) << bits)
          return fail("basis " + listed(basis) + " of " + inputName +
                      " lies outside the atom, the power-of-two part of " + listed(shape));
      map.setBasis(input, bit, basis);
    }
  }
  if (!map.isSurjective())
    return fail("some elements of the tile are in no " + Twine(registers ? "register" : "place") +
                ": the bases do not span the atom of " + listed(shape));
  if (!registers && !map.isInjective())
    return fail("two offsets of an LDS layout hold the same element");
  return Layout(registers, std::move(map), shape, repetitionOrder);
}

Expected<Layout> Layout::fromBases(ArrayRef<int64_t> shape, Bases registerBases, Bases laneBases,
                                   Bases waveBases, ArrayRef<unsigned> repetitionOrder) {
  return create(/*registers=*/true, shape, {registerBases, laneBases, waveBases}, repetitionOrder);
}

Layout Layout::blocked(ArrayRef<int64_t> shape, ArrayRef<unsigned> order,
                       ArrayRef<unsigned> elementsPerLane, ArrayRef<unsigned> lanesPerWave,
                       ArrayRef<unsigned> waves) {
  SmallVector<unsigned, 4> dims = completeOrder(order, shape.size());
  AtomBuilder builder(shape);
  for (unsigned dim : dims)
    builder.take(LayoutInput::Register, dim, log2Exact(elementsPerLane[dim]));
  for (unsigned dim : dims)
    builder.take(LayoutInput::Lane, dim, log2Exact(lanesPerWave[dim]));
  for (unsigned dim : dims)
    builder.take(LayoutInput::Wave, dim, log2Exact(waves[dim]));
  for (unsigned dim : dims)
    builder.takeRest(LayoutInput::Register, dim);
  return Layout(/*registers=*/true, builder.map(3), shape, dims);
}

Layout Layout::replicated(ArrayRef<int64_t> shape, unsigned lanes, unsigned waves,
                          ArrayRef<unsigned> order) {
  SmallVector<unsigned, 4> dims = completeOrder(order, shape.size());
  AtomBuilder builder(shape);
  for (unsigned dim : dims)
    builder.takeRest(LayoutInput::Register, dim);
  for (unsigned bit = 0; bit < log2Exact(lanes); ++bit)
    builder.add(LayoutInput::Lane, Coordinates(shape.size(), 0));
  for (unsigned bit = 0; bit < log2Exact(waves); ++bit)
    builder.add(LayoutInput::Wave, Coordinates(shape.size(), 0));
  return Layout(/*registers=*/true, builder.map(3), shape, dims);
}

Expected<Layout> Layout::tiled(const Layout &atom, ArrayRef<int64_t> shape,
                               ArrayRef<WaveSplit> waves, ArrayRef<unsigned> repetitionOrder) {
  assert(atom.isRegisters() && "tiles of matrix atoms are in registers");
  auto divides = [&] {
    return atom.rank() == shape.size() && atom.repetitionCount() == 1 &&
           all_of(zip(shape, atom.shape()), [](auto sizes) {
             auto [size, atomSize] = sizes;
             return size > 0 && size % atomSize == 0;
           });
  };
  if (!divides())
    return createStringError(inconvertibleErrorCode(), "a tile of " + listed(shape) +
                                                           " cannot be filled with atoms of " +
                                                           listed(atom.shape()));
  AtomBuilder builder(shape);
  for (unsigned input = 0; input < 3; ++input)
    for (unsigned bit = 0; bit < atom.map.inputBits(input); ++bit)
      builder.add(LayoutInput(input), atom.map.basis(input, bit));
  builder.used.assign(atom.map.outputBits().begin(), atom.map.outputBits().end());
  for (const WaveSplit &split : waves) {
    if (split.dimension)
      builder.take(LayoutInput::Wave, *split.dimension, log2Exact(split.count));
    else
      for (unsigned bit = 0; bit < log2Exact(split.count); ++bit)
        builder.add(LayoutInput::Wave, Coordinates(shape.size(), 0));
  }
  for (unsigned dim : completeOrder(repetitionOrder, shape.size()))
    builder.takeRest(LayoutInput::Register, dim);
  return Layout(/*registers=*/true, builder.map(3), shape, repetitionOrder);
}

Expected<Layout> Layout::ldsFromBases(ArrayRef<int64_t> shape, Bases offsetBases, unsigned buffers,
                                      Padding padding, ArrayRef<unsigned> repetitionOrder) {
  if (buffers == 0)
    return createStringError(inconvertibleErrorCode(), "LDS has at least one buffer");
  if (padding.amount < 0 || padding.interval < 0 ||
      (padding.amount && !isPowerOf2_64(padding.interval)))
    return createStringError(inconvertibleErrorCode(),
                             "padding is a positive number of elements after a power of two");
  Expected<Layout> layout = create(/*registers=*/false, shape, {offsetBases}, repetitionOrder);
  if (!layout)
    return layout;
  return layout->withBuffers(buffers).withPadding(padding);
}

Layout Layout::lds(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, unsigned buffers,
                   Padding padding) {
  return swizzled(shape, 1, 1, 1, order, buffers).withPadding(padding);
}

Layout Layout::swizzled(ArrayRef<int64_t> shape, unsigned vector, unsigned rowsPerPhase,
                        unsigned phases, ArrayRef<unsigned> order, unsigned buffers) {
  SmallVector<unsigned, 4> dims = completeOrder(order, shape.size());
  SmallVector<unsigned, 4> bits = atomBits(shape);
  LinearMap map({bitSum(bits)}, bits);
  unsigned vectorBits = log2Exact(vector), rowBits = log2Exact(rowsPerPhase),
           phaseBits = log2Exact(phases), offsetBit = 0;
  for (auto [place, dim] : enumerate(dims)) {
    for (unsigned bit = 0; bit < bits[dim]; ++bit) {
      Coordinates basis(shape.size(), 0);
      basis[dim] = int64_t(1) << bit;
      // A step along the row also moves the vector; which one, the phase says.
      bool swizzles = place == 1 && bit >= rowBits && bit < rowBits + phaseBits;
      unsigned vectorBit = vectorBits + bit - rowBits;
      if (swizzles && vectorBit < bits[dims[0]])
        basis[dims[0]] = int64_t(1) << vectorBit;
      map.setBasis(0, offsetBit++, basis);
    }
  }
  return Layout(/*registers=*/false, std::move(map), shape, dims).withBuffers(buffers);
}

Layout Layout::inStorageOrder(const Layout &lds, unsigned vector, unsigned lanes, unsigned waves) {
  assert(lds.isLds());
  unsigned offsetBits = lds.map.inputBits(0), next = 0;
  AtomBuilder builder(lds.shape());
  auto take = [&](LayoutInput input, unsigned bits) {
    for (; bits; --bits) {
      bool inside = next < offsetBits;
      if (!inside && input == LayoutInput::Register)
        return;
      builder.add(input, inside ? lds.map.basis(0, next++) : Coordinates(lds.rank(), 0));
    }
  };
  take(LayoutInput::Register, log2Exact(vector));
  take(LayoutInput::Lane, log2Exact(lanes));
  take(LayoutInput::Wave, log2Exact(waves));
  take(LayoutInput::Register, offsetBits - next);
  Layout result(/*registers=*/true, builder.map(3), lds.shape(), {});
  result.order = lds.order;
  return result;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

/// For each of the lowest bits of one output the registers that move it and nothing else, as long
/// as lanes and waves leave these bits alone: the steps between the elements of a memory access.
SmallVector<unsigned, 4> vectorSteps(const LinearMap &map, unsigned output) {
  uint64_t movedByLanes = 0;
  for (uint64_t column : map.allColumns().drop_front(map.inputBits(0)))
    movedByLanes |= column;
  unsigned outputShift = bitSum(map.outputBits().take_front(output));
  SmallVector<unsigned, 4> steps;
  for (unsigned bit = 0; bit < map.outputBits(output); ++bit) {
    uint64_t next = uint64_t(1) << (outputShift + bit);
    std::optional<uint64_t> step = map.solve(next, map.inputMask(0));
    if ((movedByLanes & next) || !step)
      break;
    steps.push_back(*step);
  }
  return steps;
}

/// All registers in vectors along one output. `map` sends registers of the atom to elements.
SmallVector<SmallVector<unsigned, 8>, 0> groupRegisters(const LinearMap &map, unsigned output,
                                                        ArrayRef<unsigned> steps,
                                                        unsigned registerCount) {
  uint64_t withinVector = maskTrailingOnes<uint64_t>(steps.size())
                          << bitSum(map.outputBits().take_front(output));
  uint64_t atomRegisters = map.inputMask(0);
  SmallVector<SmallVector<unsigned, 8>, 0> groups;
  for (unsigned first = 0; first < registerCount; ++first) {
    if (map.applyPacked(first & atomRegisters) & withinVector)
      continue;
    SmallVector<unsigned, 8> &group = groups.emplace_back();
    for (unsigned element = 0; element < 1u << steps.size(); ++element) {
      unsigned reg = first;
      for (auto [bit, step] : enumerate(steps))
        reg ^= (element >> bit) & 1 ? step : 0;
      group.push_back(reg);
    }
  }
  return groups;
}

} // namespace

int64_t Layout::elementCount() const { return product_of(extents, int64_t(1)); }

Coordinates Layout::atomShape() const {
  return map_to_vector<4>(seq(0u, rank()), [&](unsigned dim) { return atomShape(dim); });
}

unsigned Layout::repetitionCount() const {
  unsigned count = 1;
  for (unsigned dim : order)
    count *= repetitions(dim);
  return count;
}

Coordinates Layout::repetitionOrigin(unsigned repetition) const {
  Coordinates origin(rank(), 0);
  for (unsigned dim : order) {
    origin[dim] = repetition % repetitions(dim) * atomShape(dim);
    repetition /= repetitions(dim);
  }
  assert(repetition == 0 && "the register or offset is out of range");
  return origin;
}

unsigned Layout::repetitionOf(ArrayRef<int64_t> coordinates) const {
  unsigned repetition = 0;
  for (unsigned dim : reverse(order))
    repetition = repetition * repetitions(dim) + unsigned(coordinates[dim] >> map.outputBits(dim));
  return repetition;
}

Coordinates Layout::coordinates(unsigned reg, unsigned lane, unsigned wave) const {
  assert(registers && reg < registerCount() && lane < laneCount() && wave < waveCount());
  unsigned registerBits = map.inputBits(0);
  uint64_t packed = (reg & maskTrailingOnes<unsigned>(registerBits)) |
                    uint64_t(lane) << registerBits |
                    uint64_t(wave) << (registerBits + map.inputBits(1));
  Coordinates result = map.unpackOutput(map.applyPacked(packed));
  if (!order.empty())
    for (auto [coordinate, origin] : zip_equal(result, repetitionOrigin(reg >> registerBits)))
      coordinate += origin;
  return result;
}

bool Layout::addsRegisters() const {
  uint64_t moved[2] = {0, 0};
  for (auto [bit, column] : enumerate(map.allColumns()))
    moved[bit < map.inputBits(0)] |= column;
  return (moved[0] & moved[1]) == 0;
}

SmallVector<BitField, 4> Layout::bitFields(unsigned dim) const {
  SmallVector<BitField, 4> fields;
  unsigned coordinateBits = map.outputBits(dim);
  for (LayoutInput input : {LayoutInput::Lane, LayoutInput::Wave}) {
    unsigned inputBits = map.inputBits(unsigned(input));
    auto moves = [&](unsigned inputBit, unsigned coordinateBit) {
      return inputBit < inputBits && coordinateBit < coordinateBits &&
             (map.basis(unsigned(input), inputBit)[dim] >> coordinateBit & 1);
    };
    // A field is a run along a diagonal of the matrix.
    for (unsigned inputBit = 0; inputBit < inputBits; ++inputBit)
      for (unsigned bit = 0; bit < coordinateBits; ++bit) {
        bool continues = inputBit && bit && moves(inputBit - 1, bit - 1);
        if (!moves(inputBit, bit) || continues)
          continue;
        unsigned width = 1;
        while (moves(inputBit + width, bit + width))
          ++width;
        fields.push_back({input, inputBit, width, bit});
      }
  }
  return fields;
}

bool Layout::hasDisjointFields() const {
  uint64_t seen = 0;
  for (uint64_t column : map.allColumns().drop_front(map.inputBits(0))) {
    if (seen & column)
      return false;
    seen |= column;
  }
  return true;
}

Position Layout::position(ArrayRef<int64_t> coordinates) const {
  assert(registers && "an element of LDS has an offset");
  Coordinates inAtom;
  for (auto [dim, coordinate] : enumerate(coordinates))
    inAtom.push_back(coordinate & (atomShape(dim) - 1));
  Coordinates place = map.unpackInput(*map.solve(map.packOutput(inAtom)));
  return {repetitionOf(coordinates) * atomRegisterCount() + unsigned(place[0]), unsigned(place[1]),
          unsigned(place[2])};
}

unsigned Layout::contiguousElements(unsigned dim) const {
  assert(registers);
  return 1u << vectorSteps(map, dim).size();
}

SmallVector<SmallVector<unsigned, 8>, 0> Layout::vectors(unsigned dim, unsigned width) const {
  SmallVector<unsigned, 4> steps = vectorSteps(map, dim);
  assert(registers && log2Exact(width) <= steps.size() && "the layout has no such vectors");
  return groupRegisters(map, dim, ArrayRef(steps).take_front(log2Exact(width)), registerCount());
}

unsigned LdsPlacement::contiguousElements() const {
  uint64_t width = uint64_t(1) << vectorSteps(map, 0).size();
  // Padding ends a run of elements, and shifts those that follow.
  Padding padding = lds.padding();
  if (padding.amount)
    width = std::min(
        {width, uint64_t(padding.interval), uint64_t(1) << countr_zero(uint64_t(padding.amount))});
  return width;
}

SmallVector<SmallVector<unsigned, 8>, 0> LdsPlacement::vectors(unsigned width) const {
  SmallVector<unsigned, 4> steps = vectorSteps(map, 0);
  assert(width <= contiguousElements() && "the placement has no such vectors");
  return groupRegisters(map, 0, ArrayRef(steps).take_front(log2Exact(width)),
                        registers.registerCount());
}

Replication Layout::replication() const {
  assert(registers);
  uint64_t copies = 0;
  for (uint64_t vector : map.kernel())
    copies |= bit_floor(vector);
  Coordinates masks = map.unpackInput(copies);
  return {unsigned(masks[0]), unsigned(masks[1]), unsigned(masks[2])};
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

Layout Layout::withBuffers(unsigned count) const {
  assert(isLds() && count > 0);
  Layout result = *this;
  result.buffers = count;
  return result;
}

Layout Layout::withPadding(Padding padding) const {
  assert(isLds() && padding.amount >= 0 && (!padding.amount || isPowerOf2_64(padding.interval)));
  Layout result = *this;
  result.pad = padding.amount ? padding : Padding();
  return result;
}

Coordinates Layout::coordinatesOfOffset(int64_t offset) const {
  assert(isLds() && offset >= 0 && offset < elementCount());
  unsigned offsetBits = map.inputBits(0);
  Coordinates result =
      map.unpackOutput(map.applyPacked(offset & maskTrailingOnes<uint64_t>(offsetBits)));
  for (auto [coordinate, origin] : zip_equal(result, repetitionOrigin(offset >> offsetBits)))
    coordinate += origin;
  return result;
}

int64_t Layout::offset(ArrayRef<int64_t> coordinates) const {
  assert(isLds());
  Coordinates inAtom;
  for (auto [dim, coordinate] : enumerate(coordinates))
    inAtom.push_back(coordinate & (atomShape(dim) - 1));
  return (int64_t(repetitionOf(coordinates)) << map.inputBits(0)) |
         int64_t(*map.solve(map.packOutput(inAtom)));
}

int64_t Layout::paddedOffset(int64_t offset) const {
  return pad.amount ? offset + offset / pad.interval * pad.amount : offset;
}

int64_t Layout::bufferStride() const {
  // A full period at the end, so that every buffer starts at the same phase of the padding.
  int64_t elements = elementCount();
  return pad.amount ? elements + divideCeil(elements, pad.interval) * pad.amount : elements;
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

Layout Layout::operator*(const Layout &outer) const {
  assert(registers == outer.registers && rank() == outer.rank() && !outer.pad.amount);
  Layout result = *this;
  result.map = LinearMap::product(map, outer.map);
  for (auto [size, factor] : zip_equal(result.extents, outer.extents))
    size *= factor;
  for (unsigned dim : outer.order)
    if (!is_contained(order, dim))
      result.order.push_back(dim);
  result.buffers *= outer.buffers;
  return result;
}

std::optional<Layout> Layout::leftDivide(const Layout &inner) const {
  if (registers != inner.registers || rank() != inner.rank() || buffers % inner.buffers)
    return std::nullopt;
  std::optional<LinearMap> outerMap = map.leftDivide(inner.map);
  if (!outerMap)
    return std::nullopt;
  Layout outer = *this;
  outer.map = std::move(*outerMap);
  outer.pad = Padding();
  outer.buffers /= inner.buffers;
  for (auto [size, factor] : zip_equal(outer.extents, inner.extents)) {
    if (size % factor)
      return std::nullopt;
    size /= factor;
  }
  erase_if(outer.order, [&](unsigned dim) { return outer.repetitions(dim) == 1; });
  if (inner * outer != *this)
    return std::nullopt;
  return outer;
}

hash_code hash_value(const Layout &layout) {
  return hash_combine(layout.registers, layout.map, hash_combine_range(layout.extents),
                      hash_combine_range(layout.order), layout.buffers, layout.pad.interval,
                      layout.pad.amount);
}

} // namespace wavetile
