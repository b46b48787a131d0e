//===- DriverMatrixTest.cpp - LDS accesses of matrix products ---*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of all operand orders and types keep to 128-bit accesses of LDS and
// memory without bank conflicts, by the layout algebra.
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "ir/LdsBanks.h"
#include "ir/Tile.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace wavetile;

namespace {

struct Product {
  std::string target, element, accumulator;
  bool lhsTransposed, rhsTransposed;
  int64_t depth; // of the K block
  int64_t matrix;
  int64_t waves;
};

void PrintTo(const Product &product, std::ostream *os) {
  *os << product.target << " " << product.element << (product.lhsTransposed ? " t" : " n")
      << (product.rhsTransposed ? "t " : "n ") << product.matrix;
}

std::string kernelText(const Product &product) {
  std::string text = R"mlir(
tile.kernel @product(%ap: !tile.pointer<{E}> {tile.align = 16 : i64, tile.binding = 0 : i64},
                     %bp: !tile.pointer<{E}> {tile.align = 16 : i64, tile.binding = 1 : i64},
                     %cp: !tile.pointer<{R}> {tile.align = 16 : i64, tile.binding = 2 : i64},
                     %m: index {tile.binding = 0 : i64}, %n: index {tile.binding = 1 : i64},
                     %k: index {tile.binding = 2 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant {Z} : {R}
  %a = tile.view %ap sizes(%m, %k) strides({A}) : !tile.pointer<{E}> -> !tile.view<2 x {E}>
  %b = tile.view %bp sizes(%k, %n) strides({B}) : !tile.pointer<{E}> -> !tile.view<2 x {E}>
  %c = tile.view %cp sizes(%m, %n) strides(%n, %c1) : !tile.pointer<{R}> -> !tile.view<2 x {R}>
  tile.parallel (%c0, %c0) to (%m, %n) dims ["m", "n"] {
  ^bb0(%i: index, %mi: index, %j: index, %nj: index):
    %zero = tile.full %z : {R} -> tensor<?x?x{R}, #tile.dims<[m, n]>>
    %d = tile.for (%c0) to (%k) dim "k" carries(%zero) : tensor<?x?x{R}, #tile.dims<[m, n]>> {
    ^bb0(%kk: index, %ke: index, %acc: tensor<?x?x{R}, #tile.dims<[m, n]>>):
      %la = tile.load %a[%i, %kk] dims [0, 1] extents(%mi, %ke) : !tile.view<2 x {E}> -> tensor<?x?x{E}, #tile.dims<[m, k]>>
      %lb = tile.load %b[%kk, %j] dims [0, 1] extents(%ke, %nj) : !tile.view<2 x {E}> -> tensor<?x?x{E}, #tile.dims<[k, n]>>
      %dd = tile.dot %la, %lb, %acc extent(%ke) : tensor<?x?x{E}, #tile.dims<[m, k]>>, tensor<?x?x{E}, #tile.dims<[k, n]>>, tensor<?x?x{R}, #tile.dims<[m, n]>>
      tile.yield %dd : tensor<?x?x{R}, #tile.dims<[m, n]>>
    }
    tile.store %d, %c[%i, %j] dims [0, 1] extents(%mi, %nj) : tensor<?x?x{R}, #tile.dims<[m, n]>>, !tile.view<2 x {R}>
  }
  tile.return
}
)mlir";
  auto replace = [&](llvm::StringRef from, llvm::StringRef to) {
    for (size_t at; (at = text.find(from.str())) != std::string::npos;)
      text.replace(at, from.size(), to.str());
  };
  replace("{E}", product.element);
  replace("{R}", product.accumulator);
  replace("{Z}", product.accumulator == "i32" ? "0" : "0.0");
  replace("{A}", product.lhsTransposed ? "%c1, %m" : "%k, %c1");
  replace("{B}", product.rhsTransposed ? "%c1, %k" : "%n, %c1");
  return text;
}

class MatrixProduct : public ::testing::TestWithParam<Product> {};

/// Accesses of 16 bytes a lane, in as few cycles as LDS can serve them.
void expectBest(const Layout &registers, const Layout &lds, unsigned bytes,
                llvm::ArrayRef<LdsAccess> accesses) {
  LdsCost cost = ldsCost(LdsPlacement(registers, lds), bytes, accesses);
  EXPECT_EQ(cost.vectorElements * bytes, 16u) << registers.str() << "\n" << lds.str();
  EXPECT_EQ(cost.conflicts(), 0u) << registers.str() << "\n" << lds.str();
}

const Layout &layoutOf(Value value) {
  return tile::getLayout(cast<RankedTensorType>(value.getType())).getLayout();
}

TEST_P(MatrixProduct, HasWideAccessesWithoutConflicts) {
  const Product &product = GetParam();
  MLIRContext context;
  DialectRegistry registry;
  registerDialects(registry, BackendRegistry::builtin());
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  const Backend *backend = llvm::cantFail(BackendRegistry::builtin().find(product.target));
  const TargetInfo &target = *llvm::cantFail(backend->target(product.target));
  auto module = parseSourceString<ModuleOp>(kernelText(product), &context);
  ASSERT_TRUE(module);
  std::string config = "m=128,n=128,k=" + std::to_string(product.depth) +
                       ",matrix=" + std::to_string(product.matrix) +
                       ",waves=" + std::to_string(product.waves);
  Config complete =
      llvm::cantFail(completeConfig(*module, target, llvm::cantFail(Config::parse(config))));
  (*module)->setAttr(tile::configAttrName, complete.toAttribute(&context));
  PassManager passes(&context, ModuleOp::getOperationName());
  addTilePasses(passes, target);
  ASSERT_TRUE(succeeded(passes.run(*module)));

  unsigned stores = 0, loads = 0;
  module->walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StageStoreOp>(op)) {
      tile::StagingType type = store.getStaging().getType();
      unsigned bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
      expectBest(layoutOf(store.getValue()), cast<tile::LayoutAttr>(type.getLayout()).getLayout(),
                 bytes, target.lds().writes);
      ++stores;
    } else if (auto load = dyn_cast<tile::StageLoadOp>(op)) {
      tile::StagingType type = load.getStaging().getType();
      unsigned bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
      expectBest(layoutOf(load.getResult()), cast<tile::LayoutAttr>(type.getLayout()).getLayout(),
                 bytes, target.lds().reads);
      ++loads;
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      auto pointer = cast<BlockArgument>(load.getView().getDefiningOp<tile::ViewOp>().getPointer());
      bool isLhs = pointer.getArgNumber() == 0;
      bool transposed = isLhs ? product.lhsTransposed : product.rhsTransposed;
      unsigned bytes = load.getType().getElementTypeBitWidth() / 8;
      EXPECT_GE(layoutOf(load.getResult()).contiguousElements(transposed ? 0 : 1) * bytes, 16u);
    }
  });
  // Two operands, in the loop of whole steps and in that of the last one.
  EXPECT_EQ(stores, 4u);
  EXPECT_EQ(loads, 4u);
}

std::vector<Product> products() {
  struct Type {
    const char *target, *element, *accumulator;
    int64_t depth;
    int64_t waves;
  };
  const Type types[] = {{"gfx950", "bf16", "f32", 64, 4},        {"gfx950", "f16", "f32", 128, 4},
                        {"gfx950", "f8E4M3FN", "f32", 128, 4},   {"gfx950", "i8", "i32", 128, 4},
                        {"gfx950", "f32", "f32", 32, 4},         {"gfx942", "bf16", "f32", 64, 4},
                        {"gfx942", "f8E5M2FNUZ", "f32", 128, 4}, {"gfx942", "f32", "f32", 32, 4},
                        {"gfx1150", "bf16", "f32", 64, 8},       {"gfx1150", "f16", "f32", 64, 4},
                        {"gfx1150", "i8", "i32", 128, 8}};
  std::vector<Product> result;
  for (const Type &type : types)
    for (bool lhs : {false, true})
      for (bool rhs : {false, true})
        for (int64_t matrix : {16, 32})
          if (matrix == 16 || llvm::StringRef(type.target) != "gfx1150")
            result.push_back({type.target, type.element, type.accumulator, lhs, rhs, type.depth,
                              matrix, type.waves});
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, MatrixProduct, ::testing::ValuesIn(products()));

} // namespace
