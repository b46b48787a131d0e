//===- LdsBanks.cpp - Bank conflicts of LDS layouts -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/LdsBanks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <tuple>

using namespace llvm;

namespace wavetile {

namespace {

constexpr unsigned WordBytes = 4;

struct Cycles {
  unsigned taken = 0, minimum = 0;
};

/// The time to serve the lanes of one phase, whose data start at these bytes.
Cycles servePhase(ArrayRef<int64_t> firstBytes, unsigned bytes, unsigned banks) {
  SmallVector<int64_t, 64> words;
  for (int64_t first : firstBytes)
    for (int64_t word = first / WordBytes; word * WordBytes < first + bytes; ++word)
      words.push_back(word);
  sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  SmallVector<unsigned, 64> wordsOfBank(banks, 0);
  for (int64_t word : words)
    ++wordsOfBank[word % banks];
  return {*max_element(wordsOfBank), unsigned(divideCeil(words.size(), banks))};
}

/// The lanes of each phase.
SmallVector<SmallVector<unsigned, 64>, 0> phases(const LdsAccess &access, unsigned lanes) {
  Subspace together;
  for (unsigned lane : access.phaseLanes)
    together.insert(lane);
  SmallVector<SmallVector<unsigned, 64>, 0> result;
  SmallVector<unsigned, 64> representatives;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned representative = together.reduce({lane, 0}).vector;
    auto *known = find(representatives, representative);
    if (known == representatives.end()) {
      representatives.push_back(representative);
      result.emplace_back().push_back(lane);
    } else {
      result[known - representatives.begin()].push_back(lane);
    }
  }
  return result;
}

} // namespace

LdsCost ldsCost(const LdsPlacement &placement, unsigned vectorElements, unsigned elementBytes,
                const LdsAccess &access) {
  SmallVector<SmallVector<unsigned, 8>, 0> vectors = placement.vectors(vectorElements);
  SmallVector<SmallVector<unsigned, 64>, 0> lanesOfPhase =
      phases(access, placement.registerLayout().laneCount());
  auto serve = [&](unsigned reg, unsigned wave, ArrayRef<unsigned> lanes) {
    SmallVector<int64_t, 64> bytes = map_to_vector<64>(
        lanes, [&](unsigned lane) { return placement.storage({reg, lane, wave}) * elementBytes; });
    return servePhase(bytes, vectorElements * elementBytes, access.banks);
  };

  LdsCost cost;
  cost.accesses = vectors.size();
  cost.vectorElements = vectorElements;
  if (!placement.ldsLayout().padding().amount) {
    // Phases, registers and waves differ by an XOR of the offset, or by whole atoms, and neither
    // changes which words share a bank. One phase tells all.
    Cycles cycles = serve(vectors.front().front(), 0, lanesOfPhase.front());
    cost.cycles = cycles.taken * lanesOfPhase.size() * vectors.size();
    cost.minimum = cycles.minimum * lanesOfPhase.size() * vectors.size();
    return cost;
  }
  for (unsigned wave = 0; wave < placement.registerLayout().waveCount(); ++wave) {
    Cycles total;
    for (ArrayRef<unsigned> vector : vectors)
      for (ArrayRef<unsigned> lanes : lanesOfPhase) {
        Cycles cycles = serve(vector.front(), wave, lanes);
        total.taken += cycles.taken;
        total.minimum += cycles.minimum;
      }
    if (total.taken >= cost.cycles) {
      cost.cycles = total.taken;
      cost.minimum = total.minimum;
    }
  }
  return cost;
}

LdsCost ldsCost(const LdsPlacement &placement, unsigned elementBytes,
                ArrayRef<LdsAccess> accesses) {
  unsigned widestBits = 0;
  for (const LdsAccess &access : accesses)
    widestBits = std::max(widestBits, access.bits);
  unsigned vectorElements = std::min<unsigned>(placement.contiguousElements(),
                                               std::max(1u, widestBits / (8 * elementBytes)));
  return ldsCost(placement, vectorElements, elementBytes,
                 ldsAccess(accesses, vectorElements * elementBytes * 8));
}

bool LdsChoice::isConflictFree() const {
  return all_of(costs, [](const LdsCost &cost) { return cost.conflicts() == 0; });
}

/// As Layout::swizzled, but vector v of row r is stored at v ^ ((q ^ q / 2) % phases) with q = r /
/// rowsPerPhase. Lanes that are `phases` rows apart then differ as well, so that one access may go
/// by neighbouring rows and another by distant ones.
static Layout foldedSwizzle(ArrayRef<int64_t> shape, unsigned vector, unsigned rowsPerPhase,
                            unsigned phases, ArrayRef<unsigned> order, unsigned buffers) {
  Coordinates atom = Layout::lds(shape).atomShape();
  SmallVector<Coordinates> bases;
  for (auto [place, dim] : enumerate(order)) {
    for (int64_t step = 1; step < atom[dim]; step *= 2) {
      Coordinates basis(shape.size(), 0);
      basis[dim] = step;
      if (place == 1) {
        int64_t q = step / rowsPerPhase;
        basis[order[0]] = ((q ^ q / 2) % phases) * vector;
      }
      bases.push_back(basis);
    }
  }
  return cantFail(Layout::ldsFromBases(shape, bases, buffers, {}, order));
}

namespace {

/// Searches all swizzles in which each bit of the row number moves a vector of `vector` elements by
/// an XOR of its own, for one in which no use has a conflict with accesses of one vector.
class SwizzleSearch {
public:
  SwizzleSearch(ArrayRef<int64_t> shape, unsigned vector, unsigned elementBytes,
                ArrayRef<LdsUse> uses, ArrayRef<unsigned> order)
      : shape(shape), order(order), vector(vector), atom(Layout::lds(shape).atomShape()),
        slots(atom[order[0]] / vector), moves(Log2_64(atom[order[1]]), 0) {
    for (const LdsUse &use : uses)
      addPhase(use, vector * elementBytes);
  }

  std::optional<Layout> run(unsigned buffers) {
    if (slots < 2 || !assign(0))
      return std::nullopt;
    SmallVector<Coordinates> bases;
    for (auto [place, dim] : enumerate(order))
      for (unsigned bit = 0; (int64_t(1) << bit) < atom[dim]; ++bit) {
        Coordinates basis(shape.size(), 0);
        basis[dim] = int64_t(1) << bit;
        if (place == 1)
          basis[order[0]] = int64_t(moves[bit]) * vector;
        bases.push_back(basis);
      }
    return cantFail(Layout::ldsFromBases(shape, bases, buffers, {}, order));
  }

private:
  /// What a phase's lanes differ by: vectors along the row, and rows.
  struct Difference {
    uint64_t slot, row;
  };
  struct Phase {
    SmallVector<Difference, 6> differences;
    uint64_t bankSlots; // vectors that all banks serve at once
    uint64_t rows;      // the row bits of all differences
    unsigned rank;      // of the differences
  };

  void addPhase(const LdsUse &use, unsigned bytes) {
    const LdsAccess &access = ldsAccess(use.accesses, bytes * 8);
    Phase phase{{}, access.banks * WordBytes / bytes, 0, 0};
    Subspace addresses;
    for (unsigned lanes : access.phaseLanes) {
      Coordinates at(shape.size(), 0);
      for (unsigned bit = 0; lanes >> bit; ++bit)
        if (lanes >> bit & 1 && (1u << bit) < use.registers.laneCount())
          for (auto [sum, part] : zip_equal(at, use.registers.laneBasis(bit)))
            sum ^= part;
      Difference difference{uint64_t(at[order[0]]) / vector, uint64_t(at[order[1]])};
      addresses.insert(difference.row * slots + difference.slot);
      phase.differences.push_back(difference);
      phase.rows |= difference.row;
    }
    involved |= phase.rows;
    phase.rank = addresses.dimension();
    phases.push_back(std::move(phase));
  }

  bool isFree(const Phase &phase) const {
    Subspace banks;
    for (const Difference &difference : phase.differences) {
      uint64_t slot = difference.slot;
      for (unsigned bit = 0; bit < moves.size(); ++bit)
        if (difference.row >> bit & 1)
          slot ^= moves[bit];
      banks.insert((difference.row * slots + slot) % phase.bankSlots);
    }
    return banks.dimension() == phase.rank;
  }

  /// Moves for the row bits from `bit` on, given those before.
  bool assign(unsigned bit) {
    if (bit == moves.size())
      return true;
    uint64_t choices = involved >> bit & 1 ? slots : 1;
    for (moves[bit] = 0; moves[bit] < choices && attempts-- > 0; ++moves[bit]) {
      // A phase is decided by the highest bit in which its lanes differ.
      bool isPossible = all_of(phases, [&](const Phase &phase) {
        return Log2_64(phase.rows | 1) != bit || isFree(phase);
      });
      if (isPossible && assign(bit + 1))
        return true;
    }
    moves[bit] = 0;
    return false;
  }

  ArrayRef<int64_t> shape;
  ArrayRef<unsigned> order;
  unsigned vector;
  Coordinates atom;
  uint64_t slots;
  SmallVector<uint64_t> moves; // for each bit of the row number
  uint64_t involved = 0;       // rows' bits in which lanes of a phase differ
  SmallVector<Phase, 2> phases;
  /// A search that takes longer is given up.
  int attempts = 1 << 14;
};

} // namespace

LdsChoice chooseSwizzle(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, unsigned elementBytes,
                        ArrayRef<LdsUse> uses, unsigned buffers) {
  auto evaluate = [&](Layout layout) {
    SmallVector<LdsCost, 2> costs = map_to_vector<2>(uses, [&](const LdsUse &use) {
      return ldsCost(LdsPlacement(use.registers, layout), elementBytes, use.accesses);
    });
    return LdsChoice{std::move(layout), std::move(costs)};
  };
  auto total = [](const LdsChoice &choice) {
    unsigned cycles = 0, accesses = 0;
    for (const LdsCost &cost : choice.costs) {
      cycles += cost.cycles;
      accesses += cost.accesses;
    }
    return std::make_tuple(cycles, accesses);
  };

  LdsChoice best = evaluate(Layout::lds(shape, order, buffers));
  if (shape.size() < 2 || best.isConflictFree())
    return best;
  // Plain storage has the widest vectors, so nothing is better than as few accesses without
  // conflict.
  unsigned fewestAccesses = std::get<1>(total(best));
  unsigned fastest = order.empty() ? shape.size() - 1 : order[0];
  unsigned second = order.empty() ? shape.size() - 2 : order[1];
  int64_t columns = best.layout.atomShape(fastest), rows = best.layout.atomShape(second);
  constexpr unsigned WidestVectorBytes = 16;
  SmallVector<unsigned, 4> dims(order);
  if (dims.empty())
    for (unsigned dim = shape.size(); dim-- > 0;)
      dims.push_back(dim);
  for (bool folded : {false, true})
    for (unsigned vector = std::max(1u, WidestVectorBytes / elementBytes); vector; vector /= 2)
      for (unsigned phases = 2; phases * vector <= columns && phases <= rows; phases *= 2)
        for (unsigned rowsPerPhase = 1; rowsPerPhase * phases <= rows; rowsPerPhase *= 2) {
          LdsChoice choice = evaluate(
              folded ? foldedSwizzle(shape, vector, rowsPerPhase, phases, dims, buffers)
                     : Layout::swizzled(shape, vector, rowsPerPhase, phases, order, buffers));
          if (total(choice) < total(best))
            best = std::move(choice);
          if (best.isConflictFree() && std::get<1>(total(best)) == fewestAccesses)
            return best;
        }
  // The usual ones do not do.
  SwizzleSearch search(shape, std::max(1u, WidestVectorBytes / elementBytes), elementBytes, uses,
                       dims);
  if (std::optional<Layout> found = search.run(buffers)) {
    LdsChoice choice = evaluate(std::move(*found));
    if (total(choice) < total(best))
      best = std::move(choice);
  }
  return best;
}

} // namespace wavetile
