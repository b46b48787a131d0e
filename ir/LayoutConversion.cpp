//===- LayoutConversion.cpp - From one layout to another ------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The queries of Layout.h that relate two layouts of one tile. They have the same atom shape and
// the same repetition counts, so that all of them solve linear equations between the atoms and look
// repetitions up one by one.
//
//===----------------------------------------------------------------------===//

#include "ir/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace wavetile {

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// The source position, packed, that holds what one input bit of the destination adds. The nearest
/// is tried first: the same bit with other registers, then with other lanes, then anything.
static uint64_t nearestSource(const LinearMap &source, unsigned input, unsigned bit,
                              uint64_t element) {
  uint64_t registers = source.inputMask(0), lanes = source.inputMask(1);
  bool sourceHasBit = bit < source.inputBits(input);
  uint64_t ownBit = sourceHasBit ? source.packInput([&] {
    Coordinates point(3, 0);
    point[input] = int64_t(1) << bit;
    return point;
  }())
                                 : 0;
  uint64_t own = sourceHasBit ? source.column(input, bit) : 0;
  if (sourceHasBit && own == element)
    return ownBit;
  // A register need not stay the same register, but lanes and waves are to stay themselves.
  if (input == 0)
    own = ownBit = 0;
  if (auto found = source.solve(element ^ own, registers))
    return *found ^ ownBit;
  if (input == 1)
    own = ownBit = 0;
  if (auto found = source.solve(element ^ own, registers | lanes))
    return *found ^ ownBit;
  std::optional<uint64_t> found = source.solve(element);
  assert(found && "a register layout covers its tile");
  return *found;
}

Conversion::Conversion(const Layout &source, const Layout &destination)
    : conversionKind(Kind::None), map(destination.atom().inputBits(), source.atom().inputBits()) {
  assert(source.isRegisters() && destination.isRegisters() &&
         source.shape() == destination.shape() && source.laneCount() == destination.laneCount() &&
         source.waveCount() == destination.waveCount() &&
         "a conversion keeps the tile, the lanes and the waves");
  for (unsigned input = 0; input < 3; ++input)
    for (unsigned bit = 0; bit < map.inputBits(input); ++bit)
      map.setColumn(
          input, bit,
          nearestSource(source.atom(), input, bit, destination.atom().column(input, bit)));
  for (unsigned repetition = 0; repetition < destination.repetitionCount(); ++repetition)
    repetitions.push_back(source.repetitionOf(destination.repetitionOrigin(repetition)));

  uint64_t waves = map.outputMask(2), lanes = map.outputMask(1);
  for (unsigned input = 0; input < 3; ++input)
    for (unsigned bit = 0; bit < map.inputBits(input); ++bit) {
      uint64_t from = map.column(input, bit);
      Coordinates stay(3, 0);
      stay[input] = int64_t(1) << bit;
      bool fits = input != 0 || bit < map.outputBits(0);
      uint64_t same = fits ? map.packOutput(stay) : 0;
      uint64_t moved = from ^ same;
      Kind needed = moved & waves                         ? Kind::Workgroup
                    : (moved & lanes) || (moved && input) ? Kind::Wave
                    : moved || !fits                      ? Kind::Registers
                                                          : Kind::None;
      conversionKind = std::max(conversionKind, needed);
    }
  if (conversionKind == Kind::None &&
      (source.registerCount() != destination.registerCount() || !is_sorted(repetitions)))
    conversionKind = Kind::Registers;
}

Position Conversion::source(const Position &destination) const {
  unsigned registerBits = map.inputBits(0);
  unsigned inAtom = destination.reg & maskTrailingOnes<unsigned>(registerBits);
  Coordinates from = map.apply({inAtom, destination.lane, destination.wave});
  unsigned repetition = repetitions[destination.reg >> registerBits];
  return {repetition << map.outputBits(0) | unsigned(from[0]), unsigned(from[1]),
          unsigned(from[2])};
}

std::optional<unsigned> Conversion::laneXorMask(unsigned destinationRegister) const {
  for (unsigned bit = 0; bit < map.inputBits(1); ++bit)
    if (map.basis(1, bit)[1] != int64_t(1) << bit)
      return std::nullopt;
  for (unsigned bit = 0; bit < map.inputBits(2); ++bit)
    if (map.basis(2, bit)[1] != 0)
      return std::nullopt;
  return source({destinationRegister, 0, 0}).lane;
}

/// The bits of one input of a conversion that change the source register.
static unsigned registerSelect(const LinearMap &map, unsigned input) {
  unsigned mask = 0;
  for (unsigned bit = 0; bit < map.inputBits(input); ++bit)
    mask |= map.basis(input, bit)[0] ? 1u << bit : 0;
  return mask;
}

unsigned Conversion::registerSelectLanes() const { return registerSelect(map, 1); }
unsigned Conversion::registerSelectWaves() const { return registerSelect(map, 2); }

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

std::optional<SmallVector<unsigned, 16>> broadcastRegisters(const Layout &source,
                                                            const Layout &result) {
  assert(source.rank() == result.rank() && "a broadcast keeps the rank");
  if (source.laneCount() != result.laneCount() || source.waveCount() != result.waveCount())
    return std::nullopt;
  SmallVector<unsigned, 4> kept;
  for (auto [dim, sizes] : enumerate(zip_equal(source.shape(), result.shape()))) {
    auto [sourceSize, resultSize] = sizes;
    assert((sourceSize == resultSize || sourceSize == 1) && "only a size of 1 is broadcast");
    if (sourceSize == resultSize)
      kept.push_back(dim);
  }
  LinearMap from = source.atom().selectOutputs(kept), to = result.atom().selectOutputs(kept);
  for (unsigned input : {1, 2})
    for (unsigned bit = 0; bit < to.inputBits(input); ++bit)
      if (from.column(input, bit) != to.column(input, bit))
        return std::nullopt;

  SmallVector<unsigned, 8> atomRegisters;
  for (unsigned bit = 0; bit < to.inputBits(0); ++bit) {
    uint64_t element = to.column(0, bit);
    std::optional<uint64_t> found = from.solve(element, from.inputMask(0));
    if (!found)
      return std::nullopt;
    atomRegisters.push_back(*found);
  }
  SmallVector<unsigned, 16> registers;
  for (unsigned reg = 0; reg < result.registerCount(); ++reg) {
    Coordinates origin = result.repetitionOrigin(reg / result.atomRegisterCount());
    // Along a dimension that is broadcast the source has no repetitions to count.
    unsigned sourceRegister = source.repetitionOf(origin) * source.atomRegisterCount();
    for (auto [bit, atomRegister] : enumerate(atomRegisters))
      sourceRegister ^= reg >> bit & 1 ? atomRegister : 0;
    registers.push_back(sourceRegister);
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// LdsPlacement
//===----------------------------------------------------------------------===//

LdsPlacement::LdsPlacement(const Layout &registers, const Layout &lds)
    : registers(registers), lds(lds), map(lds.atom().inverse().compose(registers.atom())) {
  assert(registers.isRegisters() && lds.isLds() && registers.shape() == lds.shape() &&
         "a tile in LDS has the shape of the tile in registers");
}

int64_t LdsPlacement::registerXor(unsigned reg) const {
  return map.apply({int64_t(reg % registers.atomRegisterCount()), 0, 0})[0];
}

int64_t LdsPlacement::registerAdd(unsigned reg) const {
  Coordinates origin = registers.repetitionOrigin(reg / registers.atomRegisterCount());
  return lds.paddedOffset(int64_t(lds.repetitionOf(origin)) << map.outputBits(0));
}

int64_t LdsPlacement::storage(const Position &at, unsigned buffer) const {
  int64_t lanes = map.apply({0, at.lane, at.wave})[0];
  // Adding the repetition after padding is right: a repetition is a power of two of elements, so
  // that either it is a multiple of the padding's interval or the interval is a multiple of it.
  return buffer * bufferStride() + padded(lanes ^ registerXor(at.reg)) + registerAdd(at.reg);
}

std::optional<int64_t> LdsPlacement::displacement(unsigned reg) const {
  uint64_t moved = 0;
  for (uint64_t column : map.allColumns().drop_front(map.inputBits(0)))
    moved |= column;
  int64_t constant = registerXor(reg);
  if (moved & constant)
    return std::nullopt;
  return padded(constant) + registerAdd(reg);
}

std::optional<int64_t> LdsPlacement::laneStride() const {
  if (map.inputBits(1) == 0 || lds.padding().amount)
    return std::nullopt;
  int64_t stride = laneBasis(0);
  for (unsigned bit = 0; bit < map.inputBits(1); ++bit)
    if (laneBasis(bit) != stride << bit)
      return std::nullopt;
  // A register or wave whose part shares bits with the lanes' would permute them.
  uint64_t lanes = uint64_t(stride) * (registers.laneCount() - 1);
  for (auto [bit, column] : enumerate(map.allColumns())) {
    bool isLane = bit >= map.inputBits(0) && bit < map.inputBits(0) + map.inputBits(1);
    if (!isLane && (column & lanes))
      return std::nullopt;
  }
  return stride > 0 ? std::optional(stride) : std::nullopt;
}

} // namespace wavetile
