//===- LaunchPlan.cpp - What a compiled tile module does when launched ----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/LaunchPlan.h"

#include <cassert>
#include <sstream>
#include <utility>

using namespace wavetile;

using Kind = ExpressionNode::Kind;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Expression Expression::binary(Kind kind, Expression left, Expression right) {
  assert(kind != Kind::Constant && kind != Kind::Integer && "not a binary node");
  Expression result = std::move(left);
  result.nodes.insert(result.nodes.end(), right.nodes.begin(), right.nodes.end());
  result.nodes.push_back({kind});
  return result;
}

/// `left kind right`, or false where int64 arithmetic does not define it.
static bool apply(Kind kind, int64_t left, int64_t right, int64_t &result) {
  switch (kind) {
  case Kind::Add:
    return !__builtin_add_overflow(left, right, &result);
  case Kind::Subtract:
    return !__builtin_sub_overflow(left, right, &result);
  case Kind::Multiply:
    return !__builtin_mul_overflow(left, right, &result);
  case Kind::FloorDivide:
  case Kind::CeilDivide: {
    if (right == 0 || (left == INT64_MIN && right == -1))
      return false;
    // C++ rounds toward zero: a quotient with a remainder is below the exact
    // value if that is positive, and above it if negative.
    result = left / right;
    if (left % right != 0) {
      bool negative = (left < 0) != (right < 0);
      if (kind == Kind::FloorDivide && negative)
        --result;
      if (kind == Kind::CeilDivide && !negative)
        ++result;
    }
    return true;
  }
  case Kind::Minimum:
    result = left < right ? left : right;
    return true;
  case Kind::Maximum:
    result = left > right ? left : right;
    return true;
  case Kind::Constant:
  case Kind::Integer:
    break;
  }
  return false;
}

/// Evaluates with a stack of at least `nodes.size()` entries.
static bool evaluateOn(int64_t *stack, const std::vector<ExpressionNode> &nodes,
                       const int64_t *integers, int64_t &result) {
  size_t depth = 0;
  for (const ExpressionNode &node : nodes) {
    if (node.kind == Kind::Constant) {
      stack[depth++] = node.value;
    } else if (node.kind == Kind::Integer) {
      stack[depth++] = integers[node.value];
    } else {
      if (depth < 2)
        return false;
      --depth;
      if (!apply(node.kind, stack[depth - 1], stack[depth], stack[depth - 1]))
        return false;
    }
  }
  if (depth != 1)
    return false;
  result = stack[0];
  return true;
}

bool Expression::evaluate(const int64_t *integers, int64_t &result) const {
  // Nearly every expression has a handful of nodes; the stack never holds more.
  constexpr size_t inlineNodes = 32;
  if (nodes.size() <= inlineNodes) {
    int64_t stack[inlineNodes];
    return evaluateOn(stack, nodes, integers, result);
  }
  std::vector<int64_t> stack(nodes.size());
  return evaluateOn(stack.data(), nodes, integers, result);
}

namespace {
/// Text of a subexpression, and whether it must be put in parentheses when it
/// becomes an operand.
struct Text {
  std::string text;
  bool compound;
};
} // namespace

static std::string operand(const Text &text) {
  return text.compound ? "(" + text.text + ")" : text.text;
}

std::string Expression::str() const {
  std::vector<Text> stack;
  for (const ExpressionNode &node : nodes) {
    if (node.kind == Kind::Constant) {
      stack.push_back({std::to_string(node.value), node.value < 0});
      continue;
    }
    if (node.kind == Kind::Integer) {
      stack.push_back({"i" + std::to_string(node.value), false});
      continue;
    }
    if (stack.size() < 2)
      return "<malformed>";
    Text right = std::move(stack.back());
    stack.pop_back();
    Text &left = stack.back();
    switch (node.kind) {
    case Kind::Add:
      left = {operand(left) + " + " + operand(right), true};
      break;
    case Kind::Subtract:
      left = {operand(left) + " - " + operand(right), true};
      break;
    case Kind::Multiply:
      left = {operand(left) + " * " + operand(right), true};
      break;
    case Kind::FloorDivide:
      left = {"floordiv(" + left.text + ", " + right.text + ")", false};
      break;
    case Kind::CeilDivide:
      left = {"ceildiv(" + left.text + ", " + right.text + ")", false};
      break;
    case Kind::Minimum:
      left = {"min(" + left.text + ", " + right.text + ")", false};
      break;
    case Kind::Maximum:
      left = {"max(" + left.text + ", " + right.text + ")", false};
      break;
    case Kind::Constant:
    case Kind::Integer:
      break;
    }
  }
  return stack.size() == 1 ? stack.front().text : "<malformed>";
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static std::string str(const KernelArgument &argument) {
  std::string index = std::to_string(argument.index);
  switch (argument.kind) {
  case KernelArgument::Kind::Pointer:
    return "pointer p" + index + (argument.wholeWords ? " in whole words" : "");
  case KernelArgument::Kind::Scratch:
    return "pointer scratch" + index;
  case KernelArgument::Kind::Int32:
    return "i32 " + argument.expression.str();
  case KernelArgument::Kind::Int64:
    return "i64 " + argument.expression.str();
  case KernelArgument::Kind::Float32:
    return "f32 f" + index;
  case KernelArgument::Kind::Float64:
    return "f64 f" + index;
  }
  return "<malformed>";
}

static void print(std::ostream &os, const KernelLaunch &launch) {
  os << "kernel " << launch.symbol << "\n";
  os << "  grid (" << launch.grid[0].str() << ", " << launch.grid[1].str() << ", "
     << launch.grid[2].str() << ")\n";
  os << "  workgroup (" << launch.workgroup[0] << ", " << launch.workgroup[1] << ", "
     << launch.workgroup[2] << ")\n";
  if (launch.ldsBytes)
    os << "  dynamic LDS " << launch.ldsBytes << " bytes\n";
  os << "  arguments, " << launch.kernargBytes << " bytes\n";
  for (const KernelArgument &argument : launch.arguments)
    os << "    +" << argument.offset << " " << str(argument) << "\n";
}

std::string LaunchPlan::str() const {
  std::ostringstream os;
  os << "plan for " << target << "\n";
  for (const Guard &guard : guards) {
    os << "guard " << guard.left.str() << " <= " << guard.right.str();
    if (!guard.reason.empty())
      os << "  // " << guard.reason;
    os << "\n";
  }
  for (size_t index = 0; index < scratch.size(); ++index)
    os << "scratch" << index << " " << scratch[index].bytes.str() << " bytes\n";
  for (const auto &step : steps) {
    if (const auto *launch = std::get_if<KernelLaunch>(&step))
      print(os, *launch);
    else if (const auto *fill = std::get_if<ScratchFill>(&step))
      os << "fill scratch" << fill->scratch << " with " << unsigned(fill->value) << "\n";
  }
  return os.str();
}
