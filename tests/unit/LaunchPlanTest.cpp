//===- LaunchPlanTest.cpp - Launch plans as data --------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/LaunchPlan.h"
#include "runtime/PlanVerifier.h"
#include "runtime/Serialization.h"

#include <gtest/gtest.h>
#include <random>

using namespace wavetile;
using Kind = ExpressionNode::Kind;

static Expression constant(int64_t value) { return Expression::constant(value); }
static Expression integer(int64_t index) { return Expression::integer(index); }

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static std::optional<int64_t> evaluate(const Expression &expression,
                                       std::vector<int64_t> integers = {}) {
  int64_t result = 0;
  if (!expression.evaluate(integers.data(), result))
    return std::nullopt;
  return result;
}

static std::optional<int64_t> evaluate(Kind kind, int64_t left, int64_t right) {
  return evaluate(Expression::binary(kind, constant(left), constant(right)));
}

TEST(Expression, DividesTowardTheNamedSide) {
  for (int64_t left = -9; left <= 9; ++left)
    for (int64_t right = -4; right <= 4; ++right) {
      if (right == 0) {
        EXPECT_EQ(evaluate(Kind::FloorDivide, left, right), std::nullopt);
        EXPECT_EQ(evaluate(Kind::CeilDivide, left, right), std::nullopt);
        continue;
      }
      double exact = double(left) / double(right);
      EXPECT_EQ(evaluate(Kind::FloorDivide, left, right), std::floor(exact))
          << left << "/" << right;
      EXPECT_EQ(evaluate(Kind::CeilDivide, left, right), std::ceil(exact)) << left << "/" << right;
    }
}

TEST(Expression, GivesNoValueOnOverflow) {
  EXPECT_EQ(evaluate(Kind::Add, INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(evaluate(Kind::Subtract, INT64_MIN, 1), std::nullopt);
  EXPECT_EQ(evaluate(Kind::Multiply, INT64_MAX / 2, 3), std::nullopt);
  EXPECT_EQ(evaluate(Kind::FloorDivide, INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(evaluate(Kind::CeilDivide, INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(evaluate(Kind::Add, INT64_MAX, 0), INT64_MAX);
  int64_t untouched = 17;
  Expression overflow = Expression::binary(Kind::Add, constant(INT64_MAX), constant(1));
  EXPECT_FALSE(overflow.evaluate(nullptr, untouched));
  EXPECT_EQ(untouched, 17);
}

TEST(Expression, KeepsOperandsInOrder) {
  Expression expression =
      Expression::binary(Kind::Minimum, Expression::binary(Kind::Subtract, integer(1), integer(0)),
                         Expression::binary(Kind::Maximum, integer(2), constant(3)));
  EXPECT_EQ(expression.str(), "min(i1 - i0, max(i2, 3))");
  EXPECT_EQ(evaluate(expression, {10, 14, 1}), 3);
  EXPECT_EQ(evaluate(expression, {10, 12, 1}), 2);
}

TEST(Expression, PutsCompoundOperandsInParentheses) {
  Expression sum = Expression::binary(Kind::Add, integer(0), constant(-1));
  EXPECT_EQ(Expression::binary(Kind::Multiply, sum, integer(1)).str(), "(i0 + (-1)) * i1");
  EXPECT_EQ(Expression::binary(Kind::CeilDivide, sum, constant(64)).str(),
            "ceildiv(i0 + (-1), 64)");
}

TEST(Expression, HasNoLimitOfDepth) {
  // Right-leaning, so that every operand waits on the stack.
  Expression expression;
  for (int count = 0; count < 100; ++count)
    expression.nodes.push_back({Kind::Integer, 0});
  for (int count = 0; count < 99; ++count)
    expression.nodes.push_back({Kind::Add});
  EXPECT_EQ(evaluate(expression, {7}), 700);
}

TEST(Expression, RefusesMalformedNodes) {
  EXPECT_EQ(evaluate(Expression{}), std::nullopt);
  EXPECT_EQ(evaluate(Expression{{{Kind::Add}}}), std::nullopt);
  EXPECT_EQ(evaluate(Expression{{{Kind::Constant, 1}, {Kind::Constant, 2}}}), std::nullopt);
  EXPECT_EQ((Expression{{{Kind::Constant, 1}, {Kind::Constant, 2}}}).str(), "<malformed>");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Two kernels with scratch between them, as a two-stage reduction has.
static LaunchPlan twoStagePlan() {
  LaunchPlan plan;
  plan.target = "gfx950";
  plan.guards.push_back({integer(1), constant(4096), "cols <= capacity"});
  plan.scratch.push_back({Expression::binary(Kind::Multiply, integer(0), constant(4))});
  KernelLaunch partial;
  partial.symbol = "sum_partial";
  partial.grid = {integer(0), constant(8), constant(1)};
  partial.workgroup = {256, 1, 1};
  partial.ldsBytes = 512;
  partial.arguments = {{KernelArgument::Kind::Pointer, 0, {}, 0},
                       {KernelArgument::Kind::Scratch, 0, {}, 8},
                       {KernelArgument::Kind::Int32, 0, integer(1), 16},
                       {KernelArgument::Kind::Float32, 0, {}, 20}};
  partial.kernargBytes = 24;
  KernelLaunch final = partial;
  final.symbol = "sum_final";
  final.ldsBytes = 0;
  final.arguments[3].kind = KernelArgument::Kind::Int32;
  final.arguments[3].expression = constant(8);
  plan.steps = {ScratchFill{0, 255}, partial, final};
  return plan;
}

TEST(LaunchPlan, PrintsEachStep) {
  EXPECT_EQ(twoStagePlan().str(), R"(plan for gfx950
guard i1 <= 4096  // cols <= capacity
scratch0 i0 * 4 bytes
fill scratch0 with 255
kernel sum_partial
  grid (i0, 8, 1)
  workgroup (256, 1, 1)
  dynamic LDS 512 bytes
  arguments, 24 bytes
    +0 pointer p0
    +8 pointer scratch0
    +16 i32 i1
    +20 f32 f0
kernel sum_final
  grid (i0, 8, 1)
  workgroup (256, 1, 1)
  arguments, 24 bytes
    +0 pointer p0
    +8 pointer scratch0
    +16 i32 i1
    +20 i32 8
)");
}

TEST(LaunchPlan, JsonNamesEachPart) {
  std::string json = toJson(twoStagePlan());
  EXPECT_PRED_FORMAT2(testing::IsSubstring, R"("target": "gfx950")", json);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, R"("reason": "cols <= capacity")", json);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, R"({"bytes": "i0 * 4"})", json);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, R"({"fill": 0, "value": 255})", json);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, R"("grid": ["i0", "8", "1"], "workgroup": [256, 1, 1])",
                      json);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, R"({"kind": "i32", "value": "i1", "offset": 16})",
                      json);
  LaunchPlan quoted;
  quoted.target = "a\"b\\c\n";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, R"("target": "a\"b\\c\u000a")", toJson(quoted));
}

//===----------------------------------------------------------------------===//
// Serialisation
//===----------------------------------------------------------------------===//

namespace {
/// Makes arbitrary plans, well formed or not: bytes know nothing of meaning.
class PlanGenerator {
public:
  explicit PlanGenerator(uint32_t seed) : random(seed) {}

  LaunchPlan plan() {
    LaunchPlan plan;
    plan.target = text();
    repeat([&] { plan.guards.push_back({expression(), expression(), text()}); });
    repeat([&] { plan.scratch.push_back({expression()}); });
    repeat([&] {
      if (below(2))
        plan.steps.push_back(ScratchFill{number(), static_cast<uint8_t>(below(256))});
      else
        plan.steps.push_back(kernel());
    });
    return plan;
  }

private:
  uint32_t below(uint32_t limit) { return random() % limit; }
  uint32_t number() { return static_cast<uint32_t>(random()); }
  template <typename Function> void repeat(Function function) {
    for (uint32_t count = below(4); count > 0; --count)
      function();
  }
  std::string text() {
    std::string result;
    repeat([&] { result += static_cast<char>(below(256)); });
    return result;
  }
  Expression expression() {
    Expression result;
    repeat([&] {
      result.nodes.push_back({static_cast<Kind>(below(9)), static_cast<int64_t>(random())});
    });
    return result;
  }
  KernelLaunch kernel() {
    KernelLaunch launch;
    launch.symbol = text();
    for (Expression &extent : launch.grid)
      extent = expression();
    for (uint32_t &extent : launch.workgroup)
      extent = number();
    launch.ldsBytes = number();
    launch.kernargBytes = number();
    repeat([&] {
      launch.arguments.push_back(
          {static_cast<KernelArgument::Kind>(below(6)), number(), expression(), number()});
    });
    return launch;
  }

  std::mt19937_64 random;
};
} // namespace

TEST(Serialization, ReadsWhatItWrites) {
  uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  PlanGenerator generator(seed);
  for (int count = 0; count < 200; ++count) {
    LaunchPlan plan = generator.plan();
    std::string bytes = serialize(plan);
    std::optional<LaunchPlan> read = deserializeLaunchPlan(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, plan);
    EXPECT_EQ(serialize(*read), bytes);
  }
}

TEST(Serialization, RefusesEveryTruncationAndExtension) {
  std::string bytes = serialize(twoStagePlan());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(deserializeLaunchPlan(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(deserializeLaunchPlan(bytes + '\0'));
}

TEST(Serialization, SurvivesEveryFlippedBit) {
  const std::string bytes = serialize(twoStagePlan());
  for (size_t position = 0; position < bytes.size() * 8; ++position) {
    std::string damaged = bytes;
    damaged[position / 8] ^= static_cast<char>(1 << position % 8);
    // Either refused, or another plan: never the same, never a crash.
    if (std::optional<LaunchPlan> read = deserializeLaunchPlan(damaged))
      EXPECT_NE(*read, twoStagePlan()) << position;
  }
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static const BindingCounts twoStageCounts = {1, 2, 1};

static std::string problemOf(const LaunchPlan &plan) {
  Status status = verify(plan, twoStageCounts);
  return status ? status.get().message : "";
}

static KernelLaunch &firstKernel(LaunchPlan &plan) { return std::get<KernelLaunch>(plan.steps[1]); }

TEST(PlanVerifier, AcceptsAWellFormedPlan) { EXPECT_EQ(problemOf(twoStagePlan()), ""); }

TEST(PlanVerifier, NamesWhatIsNotThere) {
  auto problem = [](auto change) {
    LaunchPlan plan = twoStagePlan();
    change(plan);
    return problemOf(plan);
  };
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "names no target",
                      problem([](auto &plan) { plan.target.clear(); }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "a guard names integer 2 of 2",
                      problem([](auto &plan) { plan.guards[0].left = integer(2); }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "a guard names integer",
                      problem([](auto &plan) { plan.guards[0].right = integer(-1); }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "the size of a scratch buffer is no expression",
                      problem([](auto &plan) { plan.scratch[0].bytes = {}; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "a fill names scratch buffer 1 of 1",
                      problem([](auto &plan) { plan.steps[0] = ScratchFill{1, 0}; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "a kernel has no name",
                      problem([](auto &plan) { firstKernel(plan).symbol.clear(); }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "the grid of sum_partial is no expression",
                      problem([](auto &plan) { firstKernel(plan).grid[2] = {{{Kind::Add}}}; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "the workgroup of sum_partial is empty",
                      problem([](auto &plan) { firstKernel(plan).workgroup[1] = 0; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "names tensor 1 of 1",
                      problem([](auto &plan) { firstKernel(plan).arguments[0].index = 1; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "names scratch buffer 1 of 1",
                      problem([](auto &plan) { firstKernel(plan).arguments[1].index = 1; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "names float 1 of 1",
                      problem([](auto &plan) { firstKernel(plan).arguments[3].index = 1; }));
  EXPECT_PRED_FORMAT2(
      testing::IsSubstring, "an argument of sum_partial names integer 9 of 2",
      problem([](auto &plan) { firstKernel(plan).arguments[2].expression = integer(9); }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "lies at 20 of 24 bytes",
                      problem([](auto &plan) { firstKernel(plan).arguments[1].offset = 20; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "lies at 4",
                      problem([](auto &plan) { firstKernel(plan).arguments[1].offset = 4; }));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "lies at 4294967292", problem([](auto &plan) {
                        firstKernel(plan).arguments[3].offset = UINT32_MAX - 3;
                      }));
}
