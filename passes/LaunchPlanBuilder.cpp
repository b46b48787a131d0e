//===- LaunchPlanBuilder.cpp - The launch plan of a planned module -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/LaunchPlanBuilder.h"

#include "ir/Tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

class PlanBuilder {
public:
  PlanBuilder(ModuleOp module, KernelOp kernel, const TargetInfo &target)
      : module(module), kernel(kernel), target(target) {}

  llvm::Expected<LaunchPlan> build();

private:
  llvm::Error addScratch(ScratchOp op);
  llvm::Error addGuard(GuardOp op);
  llvm::Error addLaunch(LaunchOp op);
  llvm::Expected<KernelArgument> argument(Value value);
  llvm::Expected<Expression> expression(Value value);
  llvm::Expected<int64_t> binding(BlockArgument argument);

  ModuleOp module;
  KernelOp kernel;
  const TargetInfo &target;
  LaunchPlan plan;
  llvm::DenseMap<Value, uint32_t> scratchNumbers;
};

} // namespace

static llvm::Error unsupported(Value value, StringRef what) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value.getLoc() << ": " << what << ": ";
  value.print(os, OpPrintingFlags().skipRegions());
  return llvm::createStringError(text);
}

llvm::Expected<int64_t> PlanBuilder::binding(BlockArgument argument) {
  auto attr = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), bindingAttrName);
  if (!attr)
    return unsupported(argument, "argument without tile.binding");
  return attr.getInt();
}

llvm::Expected<Expression> PlanBuilder::expression(Value value) {
  using Kind = ExpressionNode::Kind;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    llvm::Expected<int64_t> index = binding(argument);
    if (!index)
      return index.takeError();
    return Expression::integer(*index);
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return Expression::constant(constant.value());

  auto kind = llvm::TypeSwitch<Operation *, std::optional<Kind>>(op)
                  .Case<arith::AddIOp>([](auto) { return Kind::Add; })
                  .Case<arith::SubIOp>([](auto) { return Kind::Subtract; })
                  .Case<arith::MulIOp>([](auto) { return Kind::Multiply; })
                  .Case<arith::FloorDivSIOp>([](auto) { return Kind::FloorDivide; })
                  .Case<arith::CeilDivSIOp>([](auto) { return Kind::CeilDivide; })
                  .Case<arith::MinSIOp>([](auto) { return Kind::Minimum; })
                  .Case<arith::MaxSIOp>([](auto) { return Kind::Maximum; })
                  .Default([](Operation *) { return std::nullopt; });
  if (!kind)
    return unsupported(value, "not an expression of a launch plan");
  llvm::Expected<Expression> left = expression(op->getOperand(0));
  if (!left)
    return left;
  llvm::Expected<Expression> right = expression(op->getOperand(1));
  if (!right)
    return right;
  return Expression::binary(*kind, std::move(*left), std::move(*right));
}

llvm::Error PlanBuilder::addScratch(ScratchOp op) {
  int64_t bits = op.getType().getElementType().getIntOrFloatBitWidth();
  Expression bytes = Expression::constant(llvm::divideCeil(bits, 8));
  for (Value size : op.getSizes()) {
    llvm::Expected<Expression> factor = expression(size);
    if (!factor)
      return factor.takeError();
    bytes =
        Expression::binary(ExpressionNode::Kind::Multiply, std::move(bytes), std::move(*factor));
  }
  scratchNumbers[op.getResult()] = plan.scratch.size();
  plan.scratch.push_back({std::move(bytes)});
  return llvm::Error::success();
}

llvm::Error PlanBuilder::addGuard(GuardOp op) {
  llvm::Expected<Expression> left = expression(op.getValue());
  if (!left)
    return left.takeError();
  plan.guards.push_back(
      {std::move(*left), Expression::constant(op.getBound()), op.getReason().str()});
  return llvm::Error::success();
}

llvm::Expected<KernelArgument> PlanBuilder::argument(Value value) {
  KernelArgument result;
  Type type = value.getType();
  if (auto scratch = scratchNumbers.find(value); scratch != scratchNumbers.end()) {
    result.kind = KernelArgument::Kind::Scratch;
    result.index = scratch->second;
    return result;
  }
  if (type.isIndex()) {
    llvm::Expected<Expression> integer = expression(value);
    if (!integer)
      return integer.takeError();
    result.kind =
        kernel.getWideOffsets() ? KernelArgument::Kind::Int64 : KernelArgument::Kind::Int32;
    result.expression = std::move(*integer);
    return result;
  }
  auto blockArgument = dyn_cast<BlockArgument>(value);
  if (!blockArgument)
    return unsupported(value, "not an argument of a launch");
  llvm::Expected<int64_t> index = binding(blockArgument);
  if (!index)
    return index.takeError();
  result.index = *index;
  if (isa<PointerType>(type))
    result.kind = KernelArgument::Kind::Pointer;
  else
    result.kind = type.isF32() ? KernelArgument::Kind::Float32 : KernelArgument::Kind::Float64;
  return result;
}

static uint32_t argumentBytes(KernelArgument::Kind kind) {
  switch (kind) {
  case KernelArgument::Kind::Int32:
  case KernelArgument::Kind::Float32:
    return 4;
  case KernelArgument::Kind::Pointer:
  case KernelArgument::Kind::Scratch:
  case KernelArgument::Kind::Int64:
  case KernelArgument::Kind::Float64:
    return 8;
  }
  llvm_unreachable("covered switch");
}

/// Whether a program has atomics of less than 32 bits on the tensor at a pointer: each is an
/// exchange of the word around it.
static bool hasNarrowAtomics(BlockArgument pointer) {
  return llvm::any_of(pointer.getUsers(), [](Operation *user) {
    return isa<ViewOp>(user) && llvm::any_of(user->getUsers(), [](Operation *access) {
             auto atomic = dyn_cast<AtomicOp>(access);
             return atomic && atomic.getType().getElementTypeBitWidth() < 32;
           });
  });
}

llvm::Error PlanBuilder::addLaunch(LaunchOp op) {
  auto program = module.lookupSymbol<ProgramOp>(op.getProgram());
  KernelLaunch launch;
  launch.symbol = op.getProgram().str();
  launch.grid.fill(Expression::constant(1));
  for (auto [dim, value] : llvm::enumerate(op.getGrid())) {
    llvm::Expected<Expression> blocks = expression(value);
    if (!blocks)
      return blocks.takeError();
    launch.grid[dim] = std::move(*blocks);
  }
  launch.workgroup = {uint32_t(program.getWaves()) * target.waveSize(), 1, 1};

  for (auto [index, value] : llvm::enumerate(op.getArguments())) {
    llvm::Expected<KernelArgument> next = argument(value);
    if (!next)
      return next.takeError();
    next->wholeWords = hasNarrowAtomics(program.getBody().getArgument(index));
    uint32_t bytes = argumentBytes(next->kind);
    next->offset = llvm::alignTo(launch.kernargBytes, bytes);
    launch.kernargBytes = next->offset + bytes;
    launch.arguments.push_back(std::move(*next));
  }
  plan.steps.push_back(std::move(launch));
  return llvm::Error::success();
}

llvm::Expected<LaunchPlan> PlanBuilder::build() {
  plan.target = target.name().str();
  for (Operation &op : kernel.getBody().front()) {
    llvm::Error error =
        llvm::TypeSwitch<Operation *, llvm::Error>(&op)
            .Case<ScratchOp>([&](ScratchOp scratch) { return addScratch(scratch); })
            .Case<GuardOp>([&](GuardOp guard) { return addGuard(guard); })
            .Case<LaunchOp>([&](LaunchOp launch) { return addLaunch(launch); })
            .Case<ParallelOp>([](ParallelOp loop) {
              return llvm::createStringError("a top-level loop is not planned; run tile-plan");
            })
            .Default([](Operation *) { return llvm::Error::success(); });
    if (error)
      return std::move(error);
  }
  return std::move(plan);
}

llvm::Expected<LaunchPlan> wavetile::buildLaunchPlan(ModuleOp module, const TargetInfo &target) {
  auto kernels = module.getOps<KernelOp>();
  if (!llvm::hasSingleElement(kernels))
    return llvm::createStringError("a module to plan holds exactly one tile.kernel");
  return PlanBuilder(module, *kernels.begin(), target).build();
}
