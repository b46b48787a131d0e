//===- PassConfigTest.cpp - Configs as text and attributes ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Config.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace wavetile;

namespace {

std::string errorOf(llvm::StringRef text) {
  llvm::Expected<Config> config = Config::parse(text);
  return config ? "" : llvm::toString(config.takeError());
}

Config parsed(llvm::StringRef text) {
  llvm::Expected<Config> config = Config::parse(text);
  if (!config) {
    ADD_FAILURE() << llvm::toString(config.takeError());
    return Config();
  }
  return *config;
}

TEST(PassConfig, TextIsReadAndWrittenInOrderOfKeys) {
  Config config = parsed(" waves=4, cols.strategy=looped ,rows=2,cols=1024");
  EXPECT_EQ(config.integer("rows"), 2);
  EXPECT_EQ(config.integer("cols"), 1024);
  EXPECT_EQ(config.string("cols.strategy"), "looped");
  EXPECT_EQ(config.str(), "cols=1024,cols.strategy=looped,rows=2,waves=4");
  EXPECT_EQ(parsed(config.str()), config);
  EXPECT_EQ(parsed("").str(), "");
}

TEST(PassConfig, AQueryOfTheWrongTypeFindsNothing) {
  Config config = parsed("rows=2,cols.strategy=grid");
  EXPECT_EQ(config.string("rows"), std::nullopt);
  EXPECT_EQ(config.integer("cols.strategy"), std::nullopt);
  EXPECT_EQ(config.integer("waves"), std::nullopt);
}

TEST(PassConfig, AttributesRoundTrip) {
  mlir::MLIRContext context;
  Config config = parsed("rows=2,cols=1024,cols.strategy=grid,cols.blocks=16,matrix=32");
  llvm::Expected<Config> back = Config::fromAttribute(config.toAttribute(&context));
  ASSERT_TRUE(bool(back));
  EXPECT_EQ(*back, config);
}

TEST(PassConfig, MistakesNameTheNearestSpelling) {
  EXPECT_EQ(errorOf("cols.strateg=grid"),
            "unknown Config key 'cols.strateg'; did you mean 'cols.strategy'?");
  EXPECT_EQ(errorOf("cols.strategy=gird"),
            "Config key 'cols.strategy' takes resident | looped | grid, not 'gird'; did you mean "
            "'grid'?");
  EXPECT_EQ(errorOf("matrix=8"), "Config key 'matrix' takes 16 | 32, not '8'; did you mean '16'?");
}

TEST(PassConfig, ValuesOutOfRangeAreErrors) {
  EXPECT_EQ(errorOf("rows=0"), "Config key 'rows' takes a positive integer, not '0'");
  EXPECT_EQ(errorOf("rows=-4"), "Config key 'rows' takes a positive integer, not '-4'");
  EXPECT_EQ(errorOf("waves=many"), "Config key 'waves' takes a positive integer, not 'many'");
  EXPECT_EQ(errorOf("rows"), "Config entry 'rows' is not 'key=value'");
  EXPECT_EQ(errorOf("rows=1,rows=2"), "Config key 'rows' is given twice");
  EXPECT_NE(errorOf(".strategy=grid"), "");
}

TEST(PassConfig, EveryRowOfTheTableIsDescribed) {
  for (const ConfigKey &key : configKeys()) {
    EXPECT_FALSE(key.values.empty()) << key.suffix.str();
    EXPECT_FALSE(key.description.empty()) << key.suffix.str();
    EXPECT_TRUE(key.perDim || !key.suffix.empty());
  }
}

} // namespace
