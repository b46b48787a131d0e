//===- StagingCosts.cpp - What accesses of staging buffers cost -*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/StagingCosts.h"

#include "ir/Tile.h"

using namespace mlir;
using namespace wavetile;

llvm::SmallVector<StagingCost> wavetile::stagingCosts(ModuleOp module, const TargetInfo &target) {
  llvm::SmallVector<StagingCost> costs;
  auto add = [&](Type value, tile::StagingType staging, bool isStore) {
    tile::LayoutAttr registers = tile::getLayout(cast<RankedTensorType>(value));
    auto lds = dyn_cast_or_null<tile::LayoutAttr>(staging.getLayout());
    if (!registers || !lds)
      return;
    unsigned bytes = std::max(1u, staging.getElementType().getIntOrFloatBitWidth() / 8);
    LdsPlacement placement(registers.getLayout(), lds.getLayout());
    LdsCost cost = ldsCost(placement, bytes, isStore ? target.lds().writes : target.lds().reads);
    costs.push_back({isStore, cost.vectorElements * bytes * 8, cost});
  };
  module.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StageStoreOp>(op))
      add(store.getValue().getType(), store.getStaging().getType(), /*isStore=*/true);
    else if (auto load = dyn_cast<tile::StageLoadOp>(op))
      add(load.getResult().getType(), load.getStaging().getType(), /*isStore=*/false);
  });
  return costs;
}
