//===- LaunchPlan.h - What a compiled tile module does when launched ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch plan is plain data: an ordered list of steps (kernels and memsets)
// over scratch buffers, with every size given as an integer expression of the
// values that a launch binds. The compiler makes it, and the launcher, the
// wrapper, the cache, the tuner and ahead-of-time packaging read it.
//
// The values that a launch binds ("bindings") are, in this order:
//   * pointers: one per tensor parameter, in parameter order;
//   * integers: for each tensor parameter in order its sizes, then its strides
//     (in elements); after all tensors, each integer parameter in order
//     (bool parameters count as integers);
//   * floats: each floating-point parameter in order (as double).
// Expressions and arguments name an entry by its index in that list.
//
// This header depends on nothing but the standard library.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_LAUNCHPLAN_H
#define WAVETILE_RUNTIME_LAUNCHPLAN_H

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace wavetile {

/// One node of an integer expression. Binary nodes take the two values on top
/// of the evaluation stack (left below right).
struct ExpressionNode {
  enum class Kind : uint8_t {
    Constant, // pushes `value`
    Integer,  // pushes the bound integer number `value`
    Add,
    Subtract,
    Multiply,
    FloorDivide,
    CeilDivide,
    Minimum,
    Maximum,
  };
  Kind kind;
  int64_t value = 0;

  bool operator==(const ExpressionNode &) const = default;
};

/// An integer expression in postfix order, evaluated in int64 arithmetic.
struct Expression {
  std::vector<ExpressionNode> nodes;

  static Expression constant(int64_t value) { return {{{ExpressionNode::Kind::Constant, value}}}; }
  static Expression integer(int64_t index) { return {{{ExpressionNode::Kind::Integer, index}}}; }
  /// `left kind right`.
  static Expression binary(ExpressionNode::Kind kind, Expression left, Expression right);

  /// The value for these bound integers. Division by zero and overflow give
  /// false and leave `result` alone.
  bool evaluate(const int64_t *integers, int64_t &result) const;

  /// Infix text with bound integers written `i0`, `i1`, ...
  std::string str() const;

  bool operator==(const Expression &) const = default;
};

/// One explicit kernel argument, in kernarg order.
struct KernelArgument {
  enum class Kind : uint8_t {
    Pointer, // device pointer of tensor parameter `index`
    Scratch, // device pointer of scratch buffer `index`
    Int32,   // expression, checked to fit int32 by the guard
    Int64,   // expression
    Float32, // bound float number `index`
    Float64, // bound float number `index`
  };
  Kind kind;
  uint32_t index = 0;
  Expression expression;
  uint32_t offset = 0; // bytes from the start of the kernarg segment
  /// Pointer: the kernel exchanges whole words of 32 bits, also those that the tensor has a part of
  /// only, because its atomics are of 8 or 16 bits.
  bool wholeWords = false;

  bool operator==(const KernelArgument &) const = default;
};

struct KernelLaunch {
  std::string symbol;                // without ".kd"
  std::array<Expression, 3> grid;    // workgroups
  std::array<uint32_t, 3> workgroup; // work items
  uint32_t ldsBytes = 0;             // dynamic LDS, on top of what the kernel declares
  std::vector<KernelArgument> arguments;
  uint32_t kernargBytes = 0;

  bool operator==(const KernelLaunch &) const = default;
};

/// Sets all bytes of a scratch buffer.
struct ScratchFill {
  uint32_t scratch;
  uint8_t value;

  bool operator==(const ScratchFill &) const = default;
};

struct ScratchBuffer {
  Expression bytes;

  bool operator==(const ScratchBuffer &) const = default;
};

/// `left <= right` must hold for this variant to serve a launch; the row
/// capacity of a resident strategy is one.
struct Guard {
  Expression left;
  Expression right;
  std::string reason; // shown by explain(): "cols <= capacity"

  bool operator==(const Guard &) const = default;
};

struct LaunchPlan {
  std::string target; // "gfx950"
  std::vector<Guard> guards;
  std::vector<ScratchBuffer> scratch;
  std::vector<std::variant<KernelLaunch, ScratchFill>> steps;

  /// A readable listing, stable across runs.
  std::string str() const;

  bool operator==(const LaunchPlan &) const = default;
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_LAUNCHPLAN_H
