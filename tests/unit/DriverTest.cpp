//===- DriverTest.cpp - Default Configs, plans and errors -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "ir/Tile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace wavetile;

namespace {

/// out = x / sum(x) along rows of f32 or bf16, for shapes like m x n.
std::string rowKernel(int64_t m, int64_t n, llvm::StringRef element, bool disjoint = true) {
  std::string text = R"mlir(
tile.kernel @normalise(%x: !tile.pointer<{E}> {tile.align = 16 : i64, tile.binding = 0 : i64},
                       %out: !tile.pointer<{E}> {tile.align = 16 : i64, tile.binding = 1 : i64},
                       %m: index {tile.binding = 0 : i64, tile.hint = {M} : i64},
                       %n: index {tile.binding = 1 : i64, tile.hint = {N} : i64}) {D} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.view %x sizes(%m, %n) strides(%n, %c1) : !tile.pointer<{E}> -> !tile.view<2 x {E}>
  %w = tile.view %out sizes(%m, %n) strides(%n, %c1) : !tile.pointer<{E}> -> !tile.view<2 x {E}>
  tile.parallel (%c0) to (%m) dims ["rows"] {
  ^bb0(%row: index, %rows: index):
    %a = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : !tile.view<2 x {E}> -> tensor<?x?x{E}, #tile.dims<[rows, cols]>>
    %s = tile.reduce sum %a axis 1 extent(%n) : tensor<?x?x{E}, #tile.dims<[rows, cols]>> -> tensor<?x{E}, #tile.dims<[rows]>>
    %s1 = tile.expand_dims %s axis 1 : tensor<?x{E}, #tile.dims<[rows]>> -> tensor<?x1x{E}, #tile.dims<[rows, _]>>
    %sb = tile.broadcast %s1 : tensor<?x1x{E}, #tile.dims<[rows, _]>> -> tensor<?x?x{E}, #tile.dims<[rows, cols]>>
    %q = arith.divf %a, %sb : tensor<?x?x{E}, #tile.dims<[rows, cols]>>
    tile.store %q, %w[%row, %c0] dims [0, 1] extents(%rows, %n) : tensor<?x?x{E}, #tile.dims<[rows, cols]>>, !tile.view<2 x {E}>
  }
  tile.return
}
)mlir";
  auto replace = [&](llvm::StringRef from, llvm::StringRef to) {
    for (size_t at; (at = text.find(from.str())) != std::string::npos;)
      text.replace(at, from.size(), to.str());
  };
  replace("{E}", element);
  replace("{M}", std::to_string(m));
  replace("{N}", std::to_string(n));
  replace("{D}", disjoint ? "attributes {disjoint}" : "");
  return text;
}

class Driver : public ::testing::Test {
protected:
  Driver() {
    DialectRegistry registry;
    registerDialects(registry, BackendRegistry::builtin());
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(llvm::StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module;
  }

  std::string complete(llvm::StringRef text, llvm::StringRef target, llvm::StringRef given = "") {
    OwningOpRef<ModuleOp> module = parse(text);
    const Backend *backend = llvm::cantFail(BackendRegistry::builtin().find(target));
    const TargetInfo *info = llvm::cantFail(backend->target(target));
    return llvm::cantFail(completeConfig(*module, *info, llvm::cantFail(Config::parse(given))))
        .str();
  }

  llvm::Expected<CompileResult> compileText(llvm::StringRef text, llvm::StringRef target,
                                            llvm::StringRef config = "") {
    OwningOpRef<ModuleOp> module = parse(text);
    CompileOptions options;
    options.target = target.str();
    options.config = llvm::cantFail(Config::parse(config));
    return compile(*module, options);
  }

  std::string errorOf(llvm::StringRef text, llvm::StringRef target, llvm::StringRef config = "") {
    llvm::Expected<CompileResult> result = compileText(text, target, config);
    return result ? "" : llvm::toString(result.takeError());
  }

  MLIRContext context;
};

TEST_F(Driver, ARowThatFitsAWaveTakesOne) {
  EXPECT_EQ(complete(rowKernel(8192, 4096, "bf16"), "gfx950"),
            "cols=4096,cols.strategy=resident,rows=4,waves=4");
}

TEST_F(Driver, ShortRowsShareAWave) {
  // 16 lanes of 8 elements each, four rows to a wave.
  EXPECT_EQ(complete(rowKernel(8192, 128, "bf16"), "gfx950"),
            "cols=128,cols.strategy=resident,rows=16,waves=4");
}

TEST_F(Driver, LongRowsTakeSeveralWaves) {
  EXPECT_EQ(complete(rowKernel(8192, 32000, "bf16"), "gfx950"),
            "cols=32768,cols.strategy=resident,rows=1,waves=8");
}

TEST_F(Driver, LittleOfACapacityIsIdle) {
  for (const char *target : {"gfx942", "gfx950", "gfx1150"}) {
    for (int64_t n : {520, 600, 1000, 1500, 2056, 4096, 5000, 8200, 12345, 20000, 32000}) {
      OwningOpRef<ModuleOp> module = parse(rowKernel(8192, n, "bf16"));
      const Backend *backend = llvm::cantFail(BackendRegistry::builtin().find(target));
      const TargetInfo *info = llvm::cantFail(backend->target(target));
      Config config = llvm::cantFail(completeConfig(*module, *info, Config()));
      int64_t capacity = *config.integer("cols");
      EXPECT_GE(capacity, n) << target;
      EXPECT_LE(double(capacity - n) / double(capacity), 0.15) << target << " " << n;
      EXPECT_EQ(capacity % 8, 0);
    }
  }
}

TEST_F(Driver, RowsBeyondTheRegistersAreLooped) {
  EXPECT_EQ(complete(rowKernel(8192, 1000000, "bf16"), "gfx950"),
            "cols=16384,cols.strategy=looped,rows=1,waves=8");
}

TEST_F(Driver, GivenRowsAndWavesDecideWhatFits) {
  EXPECT_EQ(complete(rowKernel(8192, 4096, "f32"), "gfx1150", "rows=8,waves=4"),
            "cols=256,cols.strategy=looped,rows=8,waves=4");
}

TEST_F(Driver, FewLongRowsAreSharedByBlocks) {
  EXPECT_EQ(complete(rowKernel(4, 1000000, "f32"), "gfx950"),
            "cols=2048,cols.blocks=128,cols.strategy=grid,rows=1,waves=4");
}

TEST_F(Driver, ARowThatMayOverlapItsResultIsNeverRolled) {
  EXPECT_EQ(complete(rowKernel(4, 100000, "bf16", /*disjoint=*/false), "gfx950").find("resident") !=
                std::string::npos,
            true);
}

TEST_F(Driver, WhatIsGivenIsKept) {
  EXPECT_EQ(complete(rowKernel(8192, 4096, "bf16"), "gfx950", "cols=8192,waves=2,rows=2"),
            "cols=8192,cols.strategy=resident,rows=2,waves=2");
}

TEST_F(Driver, TheSameModuleGivesTheSameConfigTwice) {
  std::string text = rowKernel(4, 1000000, "bf16");
  EXPECT_EQ(complete(text, "gfx1150"), complete(text, "gfx1150"));
}

TEST_F(Driver, UnknownTargetsAndStagesAreListed) {
  std::string text = rowKernel(8, 64, "f32");
  EXPECT_NE(errorOf(text, "gfx000").find("unknown target 'gfx000'; there are gfx"),
            std::string::npos);
  OwningOpRef<ModuleOp> module = parse(text);
  CompileOptions options;
  options.target = "gfx950";
  options.keepStages = {"asm"};
  llvm::Expected<CompileResult> result = compile(*module, options);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(llvm::toString(result.takeError()),
            "unknown stage 'asm'; there are tile, bound, final, llvm");
}

TEST_F(Driver, ErrorsOfPassesCarryTheirPlace) {
  std::string error = errorOf(rowKernel(8, 64, "f32"), "gfx950", "cols=65536,waves=1,rows=1");
  EXPECT_NE(error.find(":12:10: "), std::string::npos) << error;
  EXPECT_EQ(error.find("see current operation"), std::string::npos) << error;
  EXPECT_NE(error.find("1024 registers a lane"), std::string::npos) << error;
}

TEST_F(Driver, TheUnboundModuleIsLeftAsItWas) {
  OwningOpRef<ModuleOp> module = parse(rowKernel(8, 64, "f32"));
  std::string before, after;
  llvm::raw_string_ostream(before) << *module;
  CompileOptions options;
  options.target = "gfx942";
  llvm::Expected<CompileResult> result = compile(*module, options);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  llvm::raw_string_ostream(after) << *module;
  EXPECT_EQ(before, after);
  EXPECT_FALSE(result->codeObject.empty());
}

TEST_F(Driver, ALoneGridPlanHasOneKernelForEachPhase) {
  llvm::Expected<CompileResult> result = compileText(rowKernel(4, 1000000, "f32"), "gfx950");
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  const LaunchPlan &plan = result->plan;
  ASSERT_EQ(plan.steps.size(), 2u);
  ASSERT_EQ(plan.scratch.size(), 1u);
  // The row may have any length; only the scratch, whose size is its own, is bounded.
  ASSERT_EQ(plan.guards.size(), 1u);
  EXPECT_EQ(plan.guards[0].reason, "scratch for cols has at most 2^31 bytes");
  const int64_t sizes[] = {4, 1000000};
  int64_t bytes = 0, blocks = 0;
  ASSERT_TRUE(plan.scratch[0].bytes.evaluate(sizes, bytes));
  EXPECT_EQ(bytes, 4 * 128 * 4);
  const auto &launch = std::get<KernelLaunch>(plan.steps[1]);
  ASSERT_TRUE(launch.grid[0].evaluate(sizes, blocks));
  EXPECT_EQ(blocks, 4 * 128);
  EXPECT_EQ(launch.workgroup[0], 256u);
}

TEST_F(Driver, ArgumentsAreNaturallyAligned) {
  llvm::Expected<CompileResult> result = compileText(rowKernel(8, 64, "f32"), "gfx950");
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  ASSERT_EQ(result->plan.steps.size(), 1u);
  const auto &launch = std::get<KernelLaunch>(result->plan.steps[0]);
  ASSERT_EQ(launch.arguments.size(), 4u);
  EXPECT_EQ(launch.arguments[1].offset, 8u);
  EXPECT_EQ(launch.arguments[1].kind, KernelArgument::Kind::Pointer);
  EXPECT_EQ(launch.arguments[2].offset, 16u);
  EXPECT_EQ(launch.arguments[2].kind, KernelArgument::Kind::Int32);
  EXPECT_EQ(launch.arguments[3].offset, 20u);
  EXPECT_EQ(launch.kernargBytes, 24u);
  ASSERT_EQ(result->plan.guards.size(), 1u);
  EXPECT_EQ(result->plan.guards[0].reason, "cols <= capacity");
}

} // namespace
