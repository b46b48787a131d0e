//===- Layout.h - Which element of a tile a lane or an LDS word holds -*- C++ -*--===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file promises to be the only place that computes which element of a tile a lane owns. Vector
// widths, reductions, conversions, the operand order of matrix instructions, swizzles and LDS
// addresses are queries on the class `Layout` below. Bank conflicts are in ir/LdsBanks.h.
//
// What a layout is
// ----------------
// A register layout maps (register, lane, wave) to the coordinates of a tile element. An LDS layout
// maps an offset, counted in elements, to coordinates. Both have the same form:
//
//     coordinates = atom(bits of the inputs) + repetition * atomShape
//
// *The atom* is linear over F2, the field of two elements, in which addition is XOR. A linear map
// is fixed by its values at the powers of two, which are called bases. To evaluate it, XOR the
// bases of the bits that are set in the input. An atom of 4 x 8 elements for 2 registers, 8 lanes
// and 2 waves:
//
//     register=[[0, 1]]                     bit 0 of the register moves 1 along dimension 1
//     lane=[[0, 2], [0, 4], [1, 0]]         lane 1 holds column 2, lane 2 column 4, lane 4 row 1
//     wave=[[2, 0]]                         wave 1 holds rows 2 and 3
//     shape=[4, 8]
//
// Register 1 of lane 5 in wave 1 holds [0, 1] ^ ([0, 2] ^ [1, 0]) ^ [2, 0] = [3, 3].
// A basis of zeros means that the input bit moves nowhere: both values hold the same element, which
// is replication. A basis with several bits set is a swizzle: an LDS layout with offset=[[0, 1],
// [0, 2], [1, 1], [2, 2]] of shape [4, 4] stores row r with its columns XORed with r.
//
// *Repetition* carries the sizes that are no power of two. Every size is 2^p * q with q odd; the
// atom covers 2^p, and q is the number of its repetitions along that dimension. A tile of [16, 192]
// is an atom of [16, 64] taken 3 times along dimension 1. So two layouts of one shape always have
// the same atom shape and the same repetition counts, and everything but the numbering of
// repetitions is linear algebra. The register index (in LDS: the offset) is
//
//     repetition index * atom registers + atom register
//
// with repetitions enumerated row-major, the last dimension fastest, unless a layout names another
// order (a transpose keeps the registers, so it permutes the order). Powers of two in a requested
// repetition count always go into the atom: 12 repetitions become 2 more register bits and 3
// repetitions. If a lane has 8 registers of the atom of [16, 64], it has 24 of the tile of
// [16, 192]; register 10 is register 2 of repetition 1, 64 columns further on.
//
// A register layout covers its tile: every element has an owner. An LDS layout is a bijection
// between offsets and elements. LDS layouts may have *padding* (after every `interval` elements,
// `amount` elements stay unused) and several *buffers*. A buffer is a repetition along no dimension
// of the tile: any count will do (three buffers), and the address grows by the padded size of the
// tile.
//
// The idea is that of "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using
// F2" (arXiv 2505.23819); repetition, padding and buffers are ours.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_IR_LAYOUT_H
#define WAVETILE_IR_LAYOUT_H

#include "ir/LinearMap.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
}

namespace wavetile {

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// The named inputs of layouts, in order: a register layout has the first three, an LDS layout
/// Offset.
enum class LayoutInput : uint8_t { Register = 0, Lane = 1, Wave = 2, Offset = 3 };
llvm::StringRef name(LayoutInput input);

/// A place in the registers of a workgroup.
struct Position {
  unsigned reg = 0, lane = 0, wave = 0;
  bool operator==(const Position &) const = default;
};

/// After every `interval` elements (a power of two) LDS has `amount` unused ones. No padding: 0, 0.
struct Padding {
  int64_t interval = 0, amount = 0;
  bool operator==(const Padding &) const = default;
};

/// How waves share a tile of matrix atoms: `count` waves along `dimension`, or, without a
/// dimension, `count` waves that hold the same elements.
struct WaveSplit {
  std::optional<unsigned> dimension;
  unsigned count = 1;
};

/// `width` consecutive bits of the lane or wave number, from `inputBit`, land at `coordinateBit`.
struct BitField {
  LayoutInput input;
  unsigned inputBit, width, coordinateBit;
  bool operator==(const BitField &) const = default;
};

/// A position holds the one canonical copy of its element exactly if it has none of these bits.
struct Replication {
  unsigned registerMask = 0, laneMask = 0, waveMask = 0;
  bool operator==(const Replication &) const = default;
};

struct Reduction;
class Conversion;

class Layout {
public:
  using Bases = llvm::ArrayRef<Coordinates>;

  //===--- Constructors ---===//
  // `order` lists dimensions from the fastest to the slowest; empty means row-major, last fastest.

  /// A register layout from the bases of its atom, which has the shape of the power-of-two parts of
  /// `shape`. Fails if a basis lies outside the atom or an element has no owner.
  static llvm::Expected<Layout> fromBases(llvm::ArrayRef<int64_t> shape, Bases registerBases,
                                          Bases laneBases, Bases waveBases,
                                          llvm::ArrayRef<unsigned> repetitionOrder = {});

  /// The layout of coalesced loads: along each dimension a lane holds `elementsPerLane` consecutive
  /// elements, then come the lanes, then the waves, then as many repetitions as fill `shape`. All
  /// counts are powers of two, one per dimension. Lanes and waves that reach beyond the
  /// power-of-two part of a size replicate, and a lane never holds an element twice. So a size
  /// should have a power-of-two part as large as the product of its counts: 14336 = 2048 * 7 suits
  /// 8 elements, 64 lanes and 4 waves; 12345 would put the whole row into each lane.
  static Layout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                        llvm::ArrayRef<unsigned> elementsPerLane,
                        llvm::ArrayRef<unsigned> lanesPerWave, llvm::ArrayRef<unsigned> waves);

  /// Every lane of every wave holds the whole tile.
  static Layout replicated(llvm::ArrayRef<int64_t> shape, unsigned lanes, unsigned waves,
                           llvm::ArrayRef<unsigned> order = {});

  /// A tile of matrix atoms: `atom` (one wave) times the waves, the first split in the lowest wave
  /// bits, times as many repetitions as fill `shape`. Waves beyond the tile replicate. Fails if the
  /// atom does not divide the shape.
  static llvm::Expected<Layout> tiled(const Layout &atom, llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<WaveSplit> waves,
                                      llvm::ArrayRef<unsigned> repetitionOrder = {});

  /// An LDS layout from the bases of its offsets. Fails if it is not a bijection.
  static llvm::Expected<Layout> ldsFromBases(llvm::ArrayRef<int64_t> shape, Bases offsetBases,
                                             unsigned buffers = 1, Padding padding = {},
                                             llvm::ArrayRef<unsigned> repetitionOrder = {});

  /// Plain LDS: atoms one after the other, elements within an atom in `order`.
  static Layout lds(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order = {},
                    unsigned buffers = 1, Padding padding = {});

  /// LDS with an XOR swizzle: within an atom, vectors of `vector` elements along the fastest
  /// dimension change places; vector v of row r (an index along the second fastest dimension) is
  /// stored at v ^ ((r / rowsPerPhase) % phases). All three are powers of two. Phases beyond the
  /// number of vectors or rows of the atom have no effect.
  static Layout swizzled(llvm::ArrayRef<int64_t> shape, unsigned vector, unsigned rowsPerPhase,
                         unsigned phases, llvm::ArrayRef<unsigned> order = {},
                         unsigned buffers = 1);

  /// The register layout that walks an LDS layout straight through: the first lane has the first
  /// `vector` elements, the next lane the next, then the waves, then the next registers. What a
  /// direct load from global memory to LDS needs, since lane i's datum lands at a base plus i data.
  static Layout inStorageOrder(const Layout &lds, unsigned vector, unsigned lanes, unsigned waves);

  //===--- Sizes ---===//

  bool isRegisters() const { return registers; }
  bool isLds() const { return !registers; }
  unsigned rank() const { return extents.size(); }
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  int64_t elementCount() const;
  /// The power-of-two part of each size, and the odd rest.
  Coordinates atomShape() const;
  int64_t atomShape(unsigned dim) const { return int64_t(1) << map.outputBits(dim); }
  int64_t repetitions(unsigned dim) const { return extents[dim] >> map.outputBits(dim); }
  /// The dimensions with more than one repetition, the fastest first.
  llvm::ArrayRef<unsigned> repetitionOrder() const { return order; }
  unsigned repetitionCount() const;

  /// Registers of a lane, in elements; lanes of a wave; waves of a workgroup.
  unsigned registerCount() const { return atomRegisterCount() * repetitionCount(); }
  unsigned atomRegisterCount() const { return 1u << map.inputBits(0); }
  unsigned laneCount() const { return 1u << map.inputBits(1); }
  unsigned waveCount() const { return 1u << map.inputBits(2); }

  /// The linear part: inputs {register, lane, wave} or {offset}, outputs the tile's dimensions.
  const LinearMap &atom() const { return map; }

  //===--- Elements of registers ---===//

  /// The element that `reg` of `lane` in `wave` holds. It always equals, dimension by dimension,
  /// coordinates(reg, 0, 0) ^ coordinates(0, lane, wave); see addsRegisters for when + will do.
  Coordinates coordinates(unsigned reg, unsigned lane = 0, unsigned wave = 0) const;
  Coordinates coordinates(const Position &at) const {
    return coordinates(at.reg, at.lane, at.wave);
  }
  /// The contribution of one bit of the lane or wave number.
  Coordinates laneBasis(unsigned bit) const { return map.basis(1, bit); }
  Coordinates waveBasis(unsigned bit) const { return map.basis(2, bit); }

  /// The registers' part of a coordinate never shares a bit with the lanes' and waves' part, so a
  /// coordinate is coordinates(0, lane, wave) plus a constant for each register.
  bool addsRegisters() const;
  /// The lanes' and waves' part of the coordinate along `dim` as an XOR of bit fields, each
  /// ((number >> inputBit) & (2^width - 1)) << coordinateBit.
  llvm::SmallVector<BitField, 4> bitFields(unsigned dim) const;
  /// No two of those fields overlap, in any dimension: the XOR is an OR.
  bool hasDisjointFields() const;

  /// The smallest position that holds an element (fewest waves, then lanes, then registers).
  Position position(llvm::ArrayRef<int64_t> coordinates) const;

  /// How many elements that are consecutive along `dim`, from an index that is a multiple of their
  /// number, each lane holds: the widest vector of a load or store. A power of two.
  unsigned contiguousElements(unsigned dim) const;
  /// All registers in groups of `width` that hold consecutive elements along `dim`, in their order;
  /// `width` divides contiguousElements(dim). Groups are ordered by their first register.
  llvm::SmallVector<llvm::SmallVector<unsigned, 8>, 0> vectors(unsigned dim, unsigned width) const;

  /// Which positions are copies of others; a store by all others writes each element once.
  Replication replication() const;
  bool isReplicated() const { return replication() != Replication(); }

  //===--- LDS ---===//

  unsigned bufferCount() const { return buffers; }
  Padding padding() const { return pad; }
  Layout withBuffers(unsigned count) const;
  Layout withPadding(Padding padding) const;

  /// The element at an offset before padding.
  Coordinates coordinatesOfOffset(int64_t offset) const;
  /// The offset of an element before padding, and in LDS, in elements.
  int64_t offset(llvm::ArrayRef<int64_t> coordinates) const;
  int64_t paddedOffset(int64_t offset) const;
  int64_t storage(llvm::ArrayRef<int64_t> coordinates, unsigned buffer = 0) const {
    return buffer * bufferStride() + paddedOffset(offset(coordinates));
  }
  /// Elements from one buffer to the next, and of all buffers, padding included.
  int64_t bufferStride() const;
  int64_t allocatedElements() const { return buffers * bufferStride(); }

  //===--- Layouts of derived tiles ---===//

  /// The layout of the tile without dimension `dim`: what a reduction along it leaves. Registers
  /// that differed only along `dim` become one; lanes and waves that did become replicas.
  Layout slice(unsigned dim) const;
  /// The layout of the tile with a dimension of size 1 inserted before `dim`.
  Layout expandDims(unsigned dim) const;
  /// slice(dim), keeping the dimension with size 1.
  Layout keepDim(unsigned dim) const { return slice(dim).expandDims(dim); }
  /// This is the layout that slicing `parent` gives, so that broadcasting along `dim` is free.
  bool isSliceOf(const Layout &parent, unsigned dim) const { return *this == parent.slice(dim); }
  /// Dimension i of the result is dimension permutation[i] of this one. Positions are unchanged.
  Layout transpose(llvm::ArrayRef<unsigned> permutation) const;
  /// The layout that holds the same row-major element at each position, if it is linear: dimensions
  /// are merged or split at powers of two, or where a repetition ends.
  std::optional<Layout> reshape(llvm::ArrayRef<int64_t> shape) const;

  /// How to reduce along `dim`; none if elements along it sit at mixtures of registers, lanes and
  /// waves (as no layout of the constructors here does), so that a conversion must come first.
  std::optional<Reduction> reduction(unsigned dim) const;

  //===--- Algebra ---===//

  /// This layout inside each element of `outer`: atoms are multiplied as linear maps, repetition
  /// counts and buffers as numbers, and the order of repetitions is this one's, then outer's. If
  /// this layout does not repeat, the coordinates are its own plus outer's times this shape.
  /// Padding is this one's; `outer` has none.
  Layout operator*(const Layout &outer) const;
  /// The layout `outer` with `inner * outer == *this`, if there is one.
  std::optional<Layout> leftDivide(const Layout &inner) const;

  /// Semantic: the same function of the same inputs. (The form above is unique for each function.)
  bool operator==(const Layout &) const = default;
  friend llvm::hash_code hash_value(const Layout &layout);

  //===--- Text ---===//

  /// "register=[[0, 1]], lane=[...], wave=[], shape=[16, 192]" or "offset=[...], shape=[64, 64],
  /// buffers=3, padding=[64, 8]" (interval, amount); "repeat=[0, 1]" is the order of repetitions,
  /// printed where it is not row-major. The body of the attribute #tile.layout<"...">.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
  static llvm::Expected<Layout> parse(llvm::StringRef text);

private:
  friend class Conversion;
  friend class LdsPlacement;
  friend std::optional<llvm::SmallVector<unsigned, 16>> broadcastRegisters(const Layout &source,
                                                                           const Layout &result);
  Layout(bool registers, LinearMap map, llvm::ArrayRef<int64_t> shape,
         llvm::ArrayRef<unsigned> repetitionOrder);
  static llvm::Expected<Layout> create(bool registers, llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<Bases> inputBases,
                                       llvm::ArrayRef<unsigned> repetitionOrder);
  /// The first element of a repetition, and the number of the repetition that an element is in.
  Coordinates repetitionOrigin(unsigned repetition) const;
  unsigned repetitionOf(llvm::ArrayRef<int64_t> coordinates) const;

  bool registers;
  LinearMap map;
  Coordinates extents;
  llvm::SmallVector<unsigned, 4> order;
  unsigned buffers = 1;
  Padding pad;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &layout) {
  layout.print(os);
  return os;
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

/// A reduction along one dimension in three steps: each lane combines registers; then, for each of
/// `laneMasks`, each lane combines its value with that of lane ^ mask; then, for each of
/// `waveMasks`, the same among waves through LDS. Each element enters exactly once, also where the
/// layout holds copies. Afterwards all lanes and waves of a group hold the result, as `result`
/// says.
struct Reduction {
  /// The tile without the dimension (Layout::slice).
  Layout result;
  /// For each register of the result the registers to combine, by ascending index along the
  /// dimension.
  llvm::SmallVector<llvm::SmallVector<unsigned, 8>, 0> registers;
  llvm::SmallVector<unsigned, 6> laneMasks;
  llvm::SmallVector<unsigned, 4> waveMasks;
};

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// How a tile gets from one register layout to another of the same shape, lanes and waves: for each
/// position of the destination a position of the source that holds the element. Of the choices that
/// replication leaves, the nearest is taken: the same lane, else the same wave.
class Conversion {
public:
  enum class Kind {
    None,      ///< Both layouts put each element in the same place.
    Registers, ///< The same lane has it, in a register that is the same for all lanes.
    Wave,      ///< A lane of the same wave has it: DPP, permlane or ds_bpermute.
    Workgroup, ///< Another wave has it: through LDS.
  };

  Conversion(const Layout &source, const Layout &destination);

  Kind kind() const { return conversionKind; }
  /// Where the source holds the element that the destination has at this position.
  Position source(const Position &destination) const;
  /// For Kind::None and Kind::Registers: the source register of a destination register.
  unsigned sourceRegister(unsigned destinationRegister) const {
    return source({destinationRegister, 0, 0}).reg;
  }
  /// For Kind::Wave: lane l of this destination register reads lane l ^ mask. None if the lanes are
  /// permuted in another way.
  std::optional<unsigned> laneXorMask(unsigned destinationRegister) const;
  /// The bits of the lane and of the wave number on which the register that a lane reads depends.
  /// Both zero: one cross-lane move for each destination register will do. Otherwise it takes one
  /// for each register that may be meant, and selects.
  unsigned registerSelectLanes() const;
  unsigned registerSelectWaves() const;
  /// The linear part: destination {register, lane, wave} of the atom to that of the source.
  const LinearMap &atom() const { return map; }

private:
  Kind conversionKind;
  LinearMap map;
  /// The repetition of the source for each of the destination.
  llvm::SmallVector<unsigned, 8> repetitions;
};

/// For a broadcast of `source` (whose size is 1 along some dimensions) to `result`: the source
/// register of each result register, if every lane already has what it needs.
std::optional<llvm::SmallVector<unsigned, 16>> broadcastRegisters(const Layout &source,
                                                                  const Layout &result);

//===----------------------------------------------------------------------===//
// LdsPlacement
//===----------------------------------------------------------------------===//

/// Where the elements of a register layout lie in an LDS layout of the same shape.
class LdsPlacement {
public:
  LdsPlacement(const Layout &registers, const Layout &lds);

  /// Elements from the start of LDS, padding included.
  int64_t storage(const Position &at, unsigned buffer = 0) const;

  /// The parts of an address: with x = laneOffset ^ waveOffset (XORs of the bases of the bits set),
  ///   storage = buffer * bufferStride + padded(x ^ registerXor(reg)) + registerAdd(reg).
  /// If the register has a constant displacement, then more simply
  ///   storage = buffer * bufferStride + padded(x) + *displacement(reg),
  /// which fits the offset field of an LDS instruction.
  int64_t laneBasis(unsigned bit) const { return map.column(1, bit); }
  int64_t waveBasis(unsigned bit) const { return map.column(2, bit); }
  int64_t registerXor(unsigned reg) const;
  int64_t registerAdd(unsigned reg) const;
  std::optional<int64_t> displacement(unsigned reg) const;
  int64_t padded(int64_t offset) const { return lds.paddedOffset(offset); }
  /// The elements from each lane's datum to the next lane's, if that is a constant for all lanes
  /// and registers: a direct load to LDS of that width has its data in place.
  std::optional<int64_t> laneStride() const;
  int64_t bufferStride() const { return lds.bufferStride(); }

  /// How many elements that are consecutive in LDS, from a storage index that is a multiple of
  /// their number, each lane holds; and the registers in groups of such, as Layout::vectors.
  unsigned contiguousElements() const;
  llvm::SmallVector<llvm::SmallVector<unsigned, 8>, 0> vectors(unsigned width) const;

  /// Atom {register, lane, wave} to offset in the atom.
  const LinearMap &atom() const { return map; }
  const Layout &ldsLayout() const { return lds; }
  const Layout &registerLayout() const { return registers; }

private:
  Layout registers, lds;
  LinearMap map;
};

} // namespace wavetile

#endif // WAVETILE_IR_LAYOUT_H
