//===- PlanVerifier.cpp - Whether a plan can be launched at all -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/PlanVerifier.h"

using namespace wavetile;

uint32_t wavetile::sizeOf(KernelArgument::Kind kind) {
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
  return 8;
}

namespace {

class Verifier {
public:
  Verifier(const LaunchPlan &plan, const BindingCounts &counts) : plan(plan), counts(counts) {}

  Status run() {
    if (plan.target.empty())
      return fail("it names no target");
    for (const Guard &guard : plan.guards) {
      if (Status status = expression(guard.left, "a guard"))
        return status;
      if (Status status = expression(guard.right, "a guard"))
        return status;
    }
    for (const ScratchBuffer &buffer : plan.scratch)
      if (Status status = expression(buffer.bytes, "the size of a scratch buffer"))
        return status;
    for (const auto &step : plan.steps)
      if (Status status = std::visit([this](const auto &value) { return check(value); }, step))
        return status;
    return Status::success();
  }

private:
  Status fail(const std::string &what) {
    return Status::error(ErrorKind::Launch, "malformed launch plan: " + what);
  }

  Status below(size_t index, size_t count, const std::string &what) {
    if (index < count)
      return Status::success();
    return fail(what + " " + std::to_string(index) + " of " + std::to_string(count));
  }

  Status expression(const Expression &expression, const std::string &where) {
    size_t depth = 0;
    for (const ExpressionNode &node : expression.nodes) {
      if (node.kind == ExpressionNode::Kind::Constant) {
        ++depth;
      } else if (node.kind == ExpressionNode::Kind::Integer) {
        if (Status status =
                below(static_cast<size_t>(node.value), counts.integers, where + " names integer"))
          return status;
        ++depth;
      } else {
        if (depth < 2)
          return fail(where + " is no expression");
        --depth;
      }
    }
    return depth == 1 ? Status::success() : fail(where + " is no expression");
  }

  Status check(const ScratchFill &fill) {
    return below(fill.scratch, plan.scratch.size(), "a fill names scratch buffer");
  }

  Status check(const KernelLaunch &launch) {
    if (launch.symbol.empty())
      return fail("a kernel has no name");
    for (size_t dimension = 0; dimension < 3; ++dimension) {
      if (Status status = expression(launch.grid[dimension], "the grid of " + launch.symbol))
        return status;
      if (launch.workgroup[dimension] == 0)
        return fail("the workgroup of " + launch.symbol + " is empty");
    }
    for (const KernelArgument &argument : launch.arguments)
      if (Status status = check(launch, argument))
        return status;
    return Status::success();
  }

  Status check(const KernelLaunch &launch, const KernelArgument &argument) {
    const std::string who = "an argument of " + launch.symbol;
    uint32_t size = sizeOf(argument.kind);
    if (argument.offset % size != 0 || argument.offset + uint64_t(size) > launch.kernargBytes)
      return fail(who + " lies at " + std::to_string(argument.offset) + " of " +
                  std::to_string(launch.kernargBytes) + " bytes");
    switch (argument.kind) {
    case KernelArgument::Kind::Pointer:
      return below(argument.index, counts.pointers, who + " names tensor");
    case KernelArgument::Kind::Scratch:
      return below(argument.index, plan.scratch.size(), who + " names scratch buffer");
    case KernelArgument::Kind::Float32:
    case KernelArgument::Kind::Float64:
      return below(argument.index, counts.floats, who + " names float");
    case KernelArgument::Kind::Int32:
    case KernelArgument::Kind::Int64:
      return expression(argument.expression, who);
    }
    return fail(who + " is of no known kind");
  }

  const LaunchPlan &plan;
  const BindingCounts &counts;
};

} // namespace

Status wavetile::verify(const LaunchPlan &plan, const BindingCounts &counts) {
  return Verifier(plan, counts).run();
}
