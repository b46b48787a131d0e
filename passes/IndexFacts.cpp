//===- IndexFacts.cpp - What is known of index values -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/IndexFacts.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

IndexFacts::Fact IndexFacts::lookup(Value value) {
  auto found = facts.find(value);
  if (found != facts.end())
    return found->second;
  Fact fact = compute(value);
  facts[value] = fact;
  return fact;
}

//===----------------------------------------------------------------------===//
// Facts of one value
//===----------------------------------------------------------------------===//

/// An integer attribute of a kernel's or program's argument.
static std::optional<int64_t> argumentAttr(BlockArgument argument, StringRef name) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return std::nullopt;
  auto attr = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), name);
  return attr ? std::optional(attr.getInt()) : std::nullopt;
}

/// A size of a tensor; that is what makes an argument of a kernel non-negative.
static bool isSizeOfView(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    auto view = dyn_cast<ViewOp>(use.getOwner());
    unsigned index = use.getOperandNumber();
    return view && index >= 1 && index <= view.getSizes().size();
  });
}

IndexFacts::Fact IndexFacts::computeBegin(Value lower, std::optional<int64_t> blockSize) {
  Fact begin;
  begin.nonNegative = isNonNegative(lower);
  begin.divisor = std::gcd(divisor(lower), blockSize.value_or(1));
  return begin;
}

IndexFacts::Fact IndexFacts::computeExtent(Value lower, Value upper,
                                           std::optional<int64_t> blockSize, bool full) {
  Fact extent;
  extent.nonNegative = extent.positive = true;
  if (!blockSize)
    return extent;
  // The number of elements is that of whole blocks, or a block is one element.
  int64_t total = std::gcd(divisor(lower), divisor(upper));
  if (full || *blockSize == 1 || total % *blockSize == 0)
    return Fact::ofConstant(*blockSize);
  std::optional<int64_t> begin = constant(lower), end = constant(upper);
  if (begin && end && *end > *begin && *end - *begin <= *blockSize)
    return Fact::ofConstant(*end - *begin);
  extent.divisor = std::gcd(total, *blockSize);
  return extent;
}

IndexFacts::Fact IndexFacts::computeArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<ParallelOp>(parent)) {
    unsigned dim = argument.getArgNumber() / 2;
    std::optional<int64_t> size;
    if (auto sizes = loop.getBlockSizes())
      size = (*sizes)[dim];
    Value lower = loop.getLower()[dim], upper = loop.getUpper()[dim];
    return argument.getArgNumber() % 2 == 0 ? computeBegin(lower, size)
                                            : computeExtent(lower, upper, size, false);
  }
  if (auto loop = dyn_cast<ForOp>(parent)) {
    std::optional<int64_t> size;
    if (auto attr = loop.getBlockSizeAttr())
      size = attr.getInt();
    if (argument == loop.getBegin())
      return computeBegin(loop.getLower(), size);
    if (argument == loop.getExtent())
      return computeExtent(loop.getLower(), loop.getUpper(), size, loop.getFull());
    return {};
  }
  Fact fact;
  fact.divisor = std::max<int64_t>(1, argumentAttr(argument, divisorAttrName).value_or(1));
  fact.nonNegative = isSizeOfView(argument);
  return fact;
}

IndexFacts::Fact IndexFacts::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgument(argument);

  auto binary = [&](Operation *op) {
    return std::pair<Fact, Fact>(lookup(op->getOperand(0)), lookup(op->getOperand(1)));
  };
  return llvm::TypeSwitch<Operation *, Fact>(value.getDefiningOp())
      .Case([&](arith::ConstantOp op) {
        auto attr = dyn_cast<IntegerAttr>(op.getValue());
        return attr ? Fact::ofConstant(attr.getInt()) : Fact();
      })
      .Case([&](arith::AddIOp op) {
        auto [left, right] = binary(op);
        if (left.constant && right.constant)
          return Fact::ofConstant(*left.constant + *right.constant);
        bool nonNegative = left.nonNegative && right.nonNegative;
        return Fact{std::gcd(left.divisor, right.divisor), std::nullopt, nonNegative,
                    nonNegative && (left.positive || right.positive)};
      })
      .Case([&](arith::SubIOp op) {
        auto [left, right] = binary(op);
        if (left.constant && right.constant)
          return Fact::ofConstant(*left.constant - *right.constant);
        return Fact{std::gcd(left.divisor, right.divisor), std::nullopt,
                    isAtMost(op.getRhs(), op.getLhs()), false};
      })
      .Case([&](arith::MulIOp op) {
        auto [left, right] = binary(op);
        if (left.constant && right.constant)
          return Fact::ofConstant(*left.constant * *right.constant);
        int64_t product;
        if (llvm::MulOverflow(left.divisor, right.divisor, product))
          product = std::max(left.divisor, right.divisor);
        return Fact{product, std::nullopt, left.nonNegative && right.nonNegative,
                    left.positive && right.positive};
      })
      .Case<arith::MinSIOp, arith::MaxSIOp>([&](auto op) {
        auto [left, right] = binary(op);
        constexpr bool isMin = std::is_same_v<decltype(op), arith::MinSIOp>;
        if (left.constant && right.constant)
          return Fact::ofConstant(isMin ? std::min(*left.constant, *right.constant)
                                        : std::max(*left.constant, *right.constant));
        Fact fact;
        fact.divisor = std::gcd(left.divisor, right.divisor);
        fact.nonNegative =
            isMin ? left.nonNegative && right.nonNegative : left.nonNegative || right.nonNegative;
        fact.positive = isMin ? left.positive && right.positive : left.positive || right.positive;
        return fact;
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto op) {
        auto [left, right] = binary(op);
        if (left.constant && right.constant && *left.constant >= 0 && *right.constant > 0)
          return Fact::ofConstant(*left.constant % *right.constant);
        // A multiple of the modulus leaves nothing; otherwise what divides both
        // divides the remainder.
        if (right.constant && *right.constant != 0 && left.divisor % *right.constant == 0)
          return Fact::ofConstant(0);
        return Fact{std::gcd(left.divisor, right.divisor), std::nullopt,
                    left.nonNegative && right.nonNegative, false};
      })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>([&](auto op) {
        auto [left, right] = binary(op);
        Fact fact;
        fact.nonNegative = left.nonNegative && right.nonNegative;
        if (right.constant && *right.constant > 0 && left.divisor % *right.constant == 0)
          fact.divisor = left.divisor / *right.constant;
        if (left.constant && right.constant && *left.constant >= 0 && *right.constant > 0 &&
            *left.constant % *right.constant == 0)
          return Fact::ofConstant(*left.constant / *right.constant);
        return fact;
      })
      .Case([&](arith::SelectOp op) {
        const Fact yes = lookup(op.getTrueValue()), no = lookup(op.getFalseValue());
        return Fact{std::gcd(yes.divisor, no.divisor), std::nullopt,
                    yes.nonNegative && no.nonNegative, yes.positive && no.positive};
      })
      .Case([&](BlockIdOp) { return Fact{1, std::nullopt, true, false}; })
      .Default([](Operation *) { return Fact(); });
}

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

bool IndexFacts::areEqual(Value left, Value right) {
  if (left == right)
    return true;
  std::optional<int64_t> a = constant(left), b = constant(right);
  return a && b && *a == *b;
}

bool IndexFacts::isAtMost(Value left, Value right) {
  if (areEqual(left, right))
    return true;
  std::optional<int64_t> a = constant(left), b = constant(right);
  if (a && b)
    return *a <= *b;
  if (a && *a <= 0 && isNonNegative(right))
    return true;
  if (a && *a == 1 && isPositive(right))
    return true;

  if (Operation *op = left.getDefiningOp()) {
    // x - y <= x where y >= 0, and min(x, y) <= x.
    if (auto sub = dyn_cast<arith::SubIOp>(op))
      return isNonNegative(sub.getRhs()) && isAtMost(sub.getLhs(), right);
    if (auto min = dyn_cast<arith::MinSIOp>(op))
      return isAtMost(min.getLhs(), right) || isAtMost(min.getRhs(), right);
    // x % y <= x where both are unsigned.
    if (auto rem = dyn_cast<arith::RemUIOp>(op))
      return isNonNegative(rem.getLhs()) && isAtMost(rem.getLhs(), right);
  }
  // An extent is at most its block size.
  if (auto argument = dyn_cast<BlockArgument>(left); argument && b) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<ParallelOp>(parent); loop && loop.getBlockSizes())
      return argument.getArgNumber() % 2 == 1 &&
             (*loop.getBlockSizes())[argument.getArgNumber() / 2] <= *b;
    if (auto loop = dyn_cast<ForOp>(parent); loop && loop.getBlockSizeAttr())
      return argument == loop.getExtent() && loop.getBlockSizeAttr().getInt() <= *b;
  }
  return false;
}

/// The upper bound of the loop that counts with this begin, if `extent` is at
/// most that loop's extent.
static Value endOfStep(IndexFacts &facts, Value begin, Value extent) {
  auto argument = dyn_cast<BlockArgument>(begin);
  if (!argument)
    return {};
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<ParallelOp>(parent)) {
    unsigned dim = argument.getArgNumber() / 2;
    bool isStep = argument.getArgNumber() % 2 == 0 && facts.isAtMost(extent, loop.getExtent(dim));
    return isStep ? loop.getUpper()[dim] : Value();
  }
  if (auto loop = dyn_cast<ForOp>(parent))
    return argument == loop.getBegin() && facts.isAtMost(extent, loop.getExtent()) ? loop.getUpper()
                                                                                   : Value();
  return {};
}

bool IndexFacts::endsWithin(Value offset, Value extent, Value size) {
  if (constant(offset) == 0)
    return isAtMost(extent, size);
  if (Value end = endOfStep(*this, offset, extent))
    return isAtMost(end, size);
  std::optional<int64_t> a = constant(offset), b = constant(extent), c = constant(size);
  if (a && b && c)
    return *a + *b <= *c;
  return false;
}

int64_t IndexFacts::divisorOfEnd(Value offset, Value extent, Value size) {
  int64_t divides = divisor(extent);
  if (isNonNegative(offset) && endsWithin(offset, extent, size))
    return divides;
  return std::gcd(divides, std::gcd(divisor(size), divisor(offset)));
}

bool IndexFacts::isInside(Value place, Value size) {
  if (!isNonNegative(place))
    return false;
  std::optional<int64_t> a = constant(place), b = constant(size);
  if (a && b)
    return *a < *b;
  if (a == 0)
    return isPositive(size);
  // The begin of a step is below the upper bound.
  if (auto argument = dyn_cast<BlockArgument>(place)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<ParallelOp>(parent))
      return argument.getArgNumber() % 2 == 0 &&
             isAtMost(loop.getUpper()[argument.getArgNumber() / 2], size);
    if (auto loop = dyn_cast<ForOp>(parent))
      return argument == loop.getBegin() && isAtMost(loop.getUpper(), size);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

int64_t IndexFacts::alignment(Value pointer) {
  if (pointer.getDefiningOp<ScratchOp>())
    return scratchAlignment;
  int64_t bytes = 1;
  if (auto argument = dyn_cast<BlockArgument>(pointer))
    bytes = std::max<int64_t>(1, argumentAttr(argument, alignAttrName).value_or(1));
  return bytes & -bytes;
}
