//===- LinearForm.cpp - Indices as sums of values ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/LinearForm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

LinearForm LinearForm::of(Value value) {
  LinearForm form;
  form.terms[value] = 1;
  return form;
}

LinearForm LinearForm::operator+(const LinearForm &other) const {
  LinearForm sum = *this;
  sum.constant += other.constant;
  for (auto [value, factor] : other.terms)
    sum.terms[value] += factor;
  sum.terms.remove_if([](auto term) { return term.second == 0; });
  return sum;
}

LinearForm LinearForm::operator*(int64_t factor) const {
  LinearForm product;
  if (factor == 0)
    return product;
  product.constant = constant * factor;
  for (auto [value, own] : terms)
    product.terms[value] = own * factor;
  return product;
}

bool LinearForm::operator==(const LinearForm &other) const {
  LinearForm difference = *this - other;
  return difference.isConstant() && difference.constant == 0;
}

namespace {

/// The results of a function of values that asks for those of operands, each computed once: values
/// that are used twice would make the work double with every step otherwise.
template <typename Result> class Memo {
public:
  using Function = Result (*)(Value, Memo &);

  explicit Memo(Function compute) : compute(compute) {}

  Result of(Value value) {
    if (auto found = results.find(value); found != results.end())
      return found->second;
    Result result = compute(value, *this);
    results[value] = result;
    return result;
  }

private:
  Function compute;
  llvm::DenseMap<Value, Result> results;
};

} // namespace

static LinearForm computeLinearForm(Value value, Memo<LinearForm> &forms) {
  Operation *op = value.getDefiningOp();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    LinearForm form;
    form.constant = number.getSExtValue();
    return form;
  }
  if (!op || !value.getType().isIntOrIndex())
    return LinearForm::of(value);
  if (isa<arith::AddIOp>(op))
    return forms.of(op->getOperand(0)) + forms.of(op->getOperand(1));
  if (isa<arith::SubIOp>(op))
    return forms.of(op->getOperand(0)) - forms.of(op->getOperand(1));
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return forms.of(op->getOperand(0));
  if (isa<arith::MulIOp>(op)) {
    LinearForm left = forms.of(op->getOperand(0)), right = forms.of(op->getOperand(1));
    if (right.isConstant())
      return left * right.constant;
    if (left.isConstant())
      return right * left.constant;
  }
  return LinearForm::of(value);
}

LinearForm wavetile::linearFormOf(Value value) {
  return Memo<LinearForm>(computeLinearForm).of(value);
}

static TileForm computeTileForm(Value tile, Memo<TileForm> &forms) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return {};
  return llvm::TypeSwitch<Operation *, TileForm>(op)
      .Case([&](IotaOp) {
        return TileForm{true, {}, getDimName(cast<RankedTensorType>(tile.getType()), 0)};
      })
      .Case([&](FullOp full) { return TileForm{true, linearFormOf(full->getOperand(0)), nullptr}; })
      .Case<ExpandDimsOp, SqueezeDimsOp, BroadcastOp, arith::ExtSIOp>(
          [&](Operation *same) { return forms.of(same->getOperand(0)); })
      .Case([&](arith::AddIOp sum) {
        TileForm left = forms.of(sum.getLhs()), right = forms.of(sum.getRhs());
        if (!left.known || !right.known || (left.dim && right.dim))
          return TileForm();
        return TileForm{true, left.first + right.first, left.dim ? left.dim : right.dim};
      })
      .Default([](Operation *) { return TileForm(); });
}

TileForm wavetile::tileFormOf(Value tile) { return Memo<TileForm>(computeTileForm).of(tile); }

static std::optional<int64_t> computeHint(Value value, Memo<std::optional<int64_t>> &hints) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
    if (!kernel)
      return std::nullopt;
    auto attr = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), hintAttrName);
    return attr ? std::optional(attr.getInt()) : std::nullopt;
  }
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<int64_t> left = hints.of(op->getOperand(0)), right = hints.of(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return *left + *right; })
      .Case<arith::SubIOp>([&](auto) { return *left - *right; })
      .Case<arith::MulIOp>([&](auto) { return *left * *right; })
      .Case<arith::MinSIOp>([&](auto) { return std::min(*left, *right); })
      .Case<arith::MaxSIOp>([&](auto) { return std::max(*left, *right); })
      .Case<arith::FloorDivSIOp>([&](auto) {
        return *right == 0 ? std::nullopt : std::optional(llvm::divideFloorSigned(*left, *right));
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int64_t> wavetile::hintOf(Value value) {
  return Memo<std::optional<int64_t>>(computeHint).of(value);
}
