//===- PassAnalysisSupport.h - Kernels to analyse ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module from text, whose values are found by the discardable attribute `id` of
// the operations that make them.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_PASSANALYSISSUPPORT_H
#define WAVETILE_TESTS_UNIT_PASSANALYSISSUPPORT_H

#include "ir/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace wavetile {

class PassAnalysisTest : public ::testing::Test {
protected:
  PassAnalysisTest() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  }

  void parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text.str();
  }

  template <typename Op> Op find(llvm::StringRef id) {
    Op found = {};
    module->walk([&](mlir::Operation *op) {
      if (auto name = op->getAttrOfType<mlir::StringAttr>("id"); name && name.getValue() == id)
        found = llvm::cast<Op>(op);
    });
    EXPECT_TRUE(found) << id.str();
    return found;
  }

  mlir::Value value(llvm::StringRef id) { return find<mlir::Operation *>(id)->getResult(0); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace wavetile

#endif // WAVETILE_TESTS_UNIT_PASSANALYSISSUPPORT_H
