//===- Scans.cpp - tile.scan and tile.combine -------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both go through the bits of the index, the lowest first. After b bits each
// element knows the total of its group, the 2^b elements that share the other
// bits of the index, and, in a scan, that of the members up to itself. One more
// bit joins two groups: their total is the first one's combined with the
// second's, and members of the second put the first one's total before theirs.
// Atoms of a layout that repeat come one after the other in the end.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"
#include "backend_rocm/lowering/Partners.h"

#include <map>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// One element of each source, and after them, if some elements do not count, whether it counts.
using Elements = SmallVector<Value, 3>;

namespace {

class Combination {
public:
  Combination(Lowering &state, Block &body, bool flagged)
      : state(state), body(body), flagged(flagged) {}

  FailureOr<Elements> operator()(const Elements &before, const Elements &one);
  /// `a` where the condition holds, else `b`.
  Elements select(Value condition, const Elements &a, const Elements &b);

private:
  Lowering &state;
  Block &body;
  bool flagged;
};

} // namespace

Elements Combination::select(Value condition, const Elements &a, const Elements &b) {
  Elements result;
  for (auto [x, y] : llvm::zip_equal(a, b))
    result.push_back(x == y ? x : state.select(condition, x, y));
  return result;
}

FailureOr<Elements> Combination::operator()(const Elements &before, const Elements &one) {
  unsigned count = body.getNumArguments() / 2;
  for (unsigned i = 0; i < count; ++i) {
    state.scalars[body.getArgument(i)] = before[i];
    state.scalars[body.getArgument(count + i)] = one[i];
  }
  for (Operation &op : body.without_terminator())
    if (failed(lowerElementwise(state, &op)))
      return failure();
  Elements result;
  for (Value value : body.getTerminator()->getOperands())
    result.push_back(state.scalar(value));
  if (!flagged)
    return result;
  // Where one of them does not count the other one is the result.
  result.push_back(state.constant(state.i1(), 1));
  result = select(one.back(), select(before.back(), result, one), before);
  return result;
}

namespace {

class Scanner {
public:
  Scanner(Lowering &state, const Layout &layout, unsigned axis, bool reverse, Partners &partners,
          Combination &combine, bool keepsPrefixes)
      : state(state), layout(layout), axis(axis), reverse(reverse), partners(partners),
        combine(combine), keepsPrefixes(keepsPrefixes) {}

  LogicalResult run(ArrayRef<Elements> elements);

  /// Of each register.
  SmallVector<Elements, 0> prefixes, totals;

private:
  LogicalResult joinRegisters(unsigned bit);
  LogicalResult joinPartners(IndexBit bit);
  LogicalResult joinRepetitions();
  FailureOr<Elements> total(const Elements &first, const Elements &second);

  Lowering &state;
  const Layout &layout;
  unsigned axis;
  bool reverse;
  Partners &partners;
  Combination &combine;
  bool keepsPrefixes;
  /// Totals that have been computed; groups that share registers have them in common.
  std::map<std::pair<void *, void *>, Elements> known;
};

} // namespace

FailureOr<Elements> Scanner::total(const Elements &first, const Elements &second) {
  std::pair key(first.front().getAsOpaquePointer(), second.front().getAsOpaquePointer());
  if (auto found = known.find(key); found != known.end())
    return found->second;
  FailureOr<Elements> made = combine(first, second);
  if (succeeded(made))
    known.emplace(key, *made);
  return made;
}

LogicalResult Scanner::joinRegisters(unsigned bit) {
  for (unsigned reg = 0; reg < totals.size(); ++reg) {
    if (reg >> bit & 1)
      continue;
    unsigned first = reg, second = reg | 1u << bit;
    if (reverse)
      std::swap(first, second);
    if (keepsPrefixes) {
      FailureOr<Elements> prefix = combine(totals[first], prefixes[second]);
      if (failed(prefix))
        return failure();
      prefixes[second] = *prefix;
    }
    FailureOr<Elements> joined = total(totals[first], totals[second]);
    if (failed(joined))
      return failure();
    totals[first] = totals[second] = *joined;
  }
  return success();
}

LogicalResult Scanner::joinPartners(IndexBit bit) {
  SmallVector<Elements, 0> others(totals.size());
  for (unsigned i = 0; i < totals.front().size(); ++i) {
    SmallVector<Value> registers;
    for (const Elements &elements : totals)
      registers.push_back(elements[i]);
    for (auto [reg, value] : llvm::enumerate(partners.read(bit, registers)))
      others[reg].push_back(value);
  }
  Value isSecond = partners.has(bit, 0);
  if (reverse)
    isSecond = state.bitXor(isSecond, state.constant(state.i1(), 1));
  std::map<void *, Elements> joined;
  for (unsigned reg = 0; reg < totals.size(); ++reg) {
    if (keepsPrefixes) {
      FailureOr<Elements> prefix = combine(others[reg], prefixes[reg]);
      if (failed(prefix))
        return failure();
      prefixes[reg] = combine.select(isSecond, *prefix, prefixes[reg]);
    }
    void *own = totals[reg].front().getAsOpaquePointer();
    auto found = joined.find(own);
    if (found == joined.end()) {
      FailureOr<Elements> sum = combine(combine.select(isSecond, others[reg], totals[reg]),
                                        combine.select(isSecond, totals[reg], others[reg]));
      if (failed(sum))
        return failure();
      found = joined.emplace(own, *sum).first;
    }
    totals[reg] = found->second;
  }
  return success();
}

/// Repetitions of the atom along the axis, one after the other.
LogicalResult Scanner::joinRepetitions() {
  int64_t count = layout.repetitions(axis), atom = layout.atomShape(axis);
  if (count == 1)
    return success();
  std::map<SmallVector<int64_t>, unsigned> registers;
  for (unsigned reg = 0; reg < totals.size(); ++reg)
    registers.emplace(SmallVector<int64_t>(layout.coordinates(reg)), reg);
  SmallVector<Elements, 0> before(totals);
  for (int64_t step = 0; step < count; ++step) {
    int64_t repetition = reverse ? count - 1 - step : step;
    for (auto &[coordinates, reg] : registers) {
      if (coordinates[axis] / atom != repetition || step == 0)
        continue;
      SmallVector<int64_t> place(coordinates);
      place[axis] += reverse ? atom : -atom;
      const Elements &carried = before[registers.at(place)];
      if (keepsPrefixes) {
        FailureOr<Elements> prefix = combine(carried, prefixes[reg]);
        if (failed(prefix))
          return failure();
        prefixes[reg] = *prefix;
      }
      FailureOr<Elements> joined = total(carried, totals[reg]);
      if (failed(joined))
        return failure();
      before[reg] = *joined;
    }
  }
  // The last repetition's total is that of all.
  for (auto &[coordinates, reg] : registers) {
    SmallVector<int64_t> place(coordinates);
    place[axis] = coordinates[axis] % atom + (reverse ? 0 : (count - 1) * atom);
    totals[reg] = before[registers.at(place)];
  }
  return success();
}

LogicalResult Scanner::run(ArrayRef<Elements> elements) {
  prefixes.assign(elements.begin(), elements.end());
  totals.assign(elements.begin(), elements.end());
  for (IndexBit bit : partners.bits()) {
    LogicalResult joined =
        bit.input == LayoutInput::Register ? joinRegisters(bit.bit) : joinPartners(bit);
    if (failed(joined))
      return failure();
  }
  return joinRepetitions();
}

/// The elements of each register, with a flag whether they are below the extent if `flagged`.
static SmallVector<Elements, 0> gatherElements(Lowering &state, OperandRange sources,
                                               Partners &partners, Value extent, bool flagged) {
  SmallVector<Elements, 0> elements;
  for (Value source : sources) {
    SmallVector<Value> registers = state.unpack(state.registers(source));
    elements.resize(registers.size());
    for (auto [reg, value] : llvm::enumerate(registers))
      elements[reg].push_back(value);
  }
  if (flagged) {
    Value limit = state.castInteger(state.scalar(extent), state.i32());
    for (auto [reg, index] : llvm::enumerate(partners.indices()))
      elements[reg].push_back(state.compare(LLVM::ICmpPredicate::slt, index, limit));
  }
  return elements;
}

LogicalResult rocm::lowerScan(Lowering &state, tile::ScanOp op) {
  const Layout &layout = Lowering::layoutOf(op.getSources().front());
  for (Value value : op->getResults())
    if (Lowering::layoutOf(value) != layout)
      return op.emitOpError("needs one layout for its operands and results");
  FailureOr<Partners> partners = Partners::along(state, op, layout, op.getAxis());
  if (failed(partners))
    return failure();
  // Forwards, what is beyond the extent comes after all that counts.
  bool flagged = op.getReverse();
  Combination combine(state, op.getBody().front(), flagged);
  Scanner scanner(state, layout, op.getAxis(), op.getReverse(), *partners, combine,
                  /*keepsPrefixes=*/true);
  SmallVector<Elements, 0> elements =
      gatherElements(state, op.getSources(), *partners, op.getExtent(), flagged);
  if (failed(scanner.run(elements)))
    return failure();
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    SmallVector<Value> registers;
    for (const Elements &prefix : scanner.prefixes)
      registers.push_back(prefix[number]);
    state.tiles[result] = state.pack(registers);
  }
  return success();
}

LogicalResult rocm::lowerCombine(Lowering &state, tile::CombineOp op) {
  const Layout &layout = Lowering::layoutOf(op.getSources().front());
  auto reduction = layout.reduction(op.getAxis());
  if (!reduction)
    return op.emitOpError("needs another layout to combine elements");
  for (Value source : op.getSources())
    if (Lowering::layoutOf(source) != layout)
      return op.emitOpError("needs one layout for its operands");
  for (Value result : op.getResults())
    if (Lowering::layoutOf(result) != reduction->result)
      return op.emitOpError("needs the source's layout, without the axis, for its results");
  FailureOr<Partners> partners = Partners::along(state, op, layout, op.getAxis());
  if (failed(partners))
    return failure();
  Combination combine(state, op.getBody().front(), /*flagged=*/true);
  Scanner scanner(state, layout, op.getAxis(), /*reverse=*/false, *partners, combine,
                  /*keepsPrefixes=*/false);
  SmallVector<Elements, 0> elements =
      gatherElements(state, op.getSources(), *partners, op.getExtent(), /*flagged=*/true);
  if (failed(scanner.run(elements)))
    return failure();
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    SmallVector<Value> registers;
    for (const auto &group : reduction->registers)
      registers.push_back(scanner.totals[group.front()][number]);
    state.tiles[result] = state.pack(registers);
  }
  return success();
}
