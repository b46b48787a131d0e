//===- SelectReductionStrategy.cpp - How each row is walked -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `tile.config = {rows = 4, cols = 4096, "cols.strategy" = "resident", waves = 4}`
//
//   tile.parallel (%c0) to (%m) dims ["rows"] {
//     %x = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : ... [rows, cols]
//
// becomes
//
//   tile.guard %n at_most 4096 "cols <= capacity"
//   tile.parallel (%c0) to (%m) dims ["rows"]
//       attributes {tile.row_lanes = 64 : i64, tile.row_waves = 1 : i64} {
//     %x = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n) : ... [rows, cols]
//
// What `looped` and `grid` do is shown in RowEmitter.cpp and SharedRow.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/Config.h"
#include "passes/Passes.h"
#include "passes/RowDims.h"
#include "passes/RowEmitter.h"
#include "passes/TargetInfo.h"

#include "ir/Tile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/bit.h"

namespace wavetile {
#define GEN_PASS_DEF_SELECTREDUCTIONSTRATEGY
#include "passes/Passes.h.inc"
} // namespace wavetile

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

class StrategySelector {
public:
  StrategySelector(const Config &config, const TargetInfo &target)
      : config(config), target(target) {}

  LogicalResult run(ParallelOp loop);

private:
  FailureOr<RowStrategy> strategy(ParallelOp loop, StringAttr row);
  LogicalResult makeResident(ParallelOp loop, StringAttr row, const NamedDim &dim);
  LogicalResult makeLooped(ParallelOp loop, StringAttr row);
  LogicalResult makeShared(ParallelOp loop, StringAttr row);
  FailureOr<int64_t> size(ParallelOp loop, StringAttr name);
  LogicalResult spreadRow(ParallelOp loop, StringAttr row, bool wholeBlock);

  const Config &config;
  const TargetInfo &target;
};

} // namespace

FailureOr<int64_t> StrategySelector::size(ParallelOp loop, StringAttr name) {
  if (name.getValue() == staticDimName)
    return 1;
  if (std::optional<int64_t> size = config.integer(name))
    return *size;
  return loop.emitError() << "the Config (" << config.str() << ") has no size for '"
                          << name.getValue() << "'";
}

FailureOr<RowStrategy> StrategySelector::strategy(ParallelOp loop, StringAttr row) {
  std::string key = (row.getValue() + ".strategy").str();
  std::optional<RowStrategy> strategy =
      symbolizeRowStrategy(config.string(key).value_or("resident"));
  if (!strategy)
    return loop.emitError() << "unknown value of '" << key << "'";
  return *strategy;
}

//===----------------------------------------------------------------------===//
// Lanes and waves along the row
//===----------------------------------------------------------------------===//

/// Decides how many lanes and waves lie along the row. A lane takes a vector of
/// the widest access, so that many lanes fit into the power of two of the size;
/// rows that are shorter share a wave, and waves that the block's rows leave over
/// share rows.
LogicalResult StrategySelector::spreadRow(ParallelOp loop, StringAttr row, bool wholeBlock) {
  FailureOr<int64_t> rowSize = size(loop, row);
  if (failed(rowSize))
    return failure();
  int64_t rows = 1;
  for (Attribute name : loop.getDims()) {
    FailureOr<int64_t> blockSize = size(loop, cast<StringAttr>(name));
    if (failed(blockSize))
      return failure();
    rows *= *blockSize;
  }
  int64_t waves = config.integer("waves").value_or(1), waveSize = target.waveSize();
  int64_t vector = target.globalMemory().widestAccessBits / narrowestAccessBits(loop, row);

  int64_t places = std::max<int64_t>(1, (*rowSize & -*rowSize) / vector);
  int64_t lanes = std::min(waveSize, places);
  int64_t rowGroups = waves * (waveSize / lanes);
  int64_t spare = rowGroups / int64_t(llvm::bit_floor(uint64_t(rows)));
  if (wholeBlock)
    spare = waves;
  int64_t rowWaves = std::max<int64_t>(1, std::min({waves, spare, places / lanes}));

  Builder builder(loop.getContext());
  loop->setAttr(rowLanesAttrName, builder.getI64IntegerAttr(lanes));
  loop->setAttr(rowWavesAttrName, builder.getI64IntegerAttr(rowWaves));
  return success();
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

LogicalResult StrategySelector::makeResident(ParallelOp loop, StringAttr row, const NamedDim &dim) {
  FailureOr<int64_t> capacity = size(loop, row);
  if (failed(capacity))
    return failure();
  OpBuilder builder(loop);
  for (Value extent : dim.extents) {
    if (auto constant = extent.getDefiningOp<arith::ConstantIndexOp>()) {
      if (constant.value() > *capacity)
        return loop.emitError() << "row '" << row.getValue() << "' has " << constant.value()
                                << " elements, more than its capacity of " << *capacity;
      continue;
    }
    if (loop.getBody().isAncestor(extent.getParentRegion()))
      return loop.emitError() << "row '" << row.getValue()
                              << "' cannot be resident: its length is not known before the launch";
    bool guarded = llvm::any_of(extent.getUsers(), [&](Operation *user) {
      auto guard = dyn_cast<GuardOp>(user);
      return guard && int64_t(guard.getBound()) <= *capacity;
    });
    if (!guarded)
      GuardOp::create(builder, loop.getLoc(), extent, *capacity,
                      (row.getValue() + " <= capacity").str());
  }
  return spreadRow(loop, row, /*wholeBlock=*/false);
}

LogicalResult StrategySelector::makeLooped(ParallelOp loop, StringAttr row) {
  FailureOr<RowPhases> phases = RowPhases::analyse(loop, row, /*shared=*/false);
  if (failed(phases) || failed(spreadRow(loop, row, /*wholeBlock=*/false)))
    return failure();
  rollRow(*phases);
  return success();
}

LogicalResult StrategySelector::makeShared(ParallelOp loop, StringAttr row) {
  FailureOr<RowPhases> phases = RowPhases::analyse(loop, row, /*shared=*/true);
  if (failed(phases) || failed(spreadRow(loop, row, /*wholeBlock=*/true)))
    return failure();
  std::string key = (row.getValue() + ".blocks").str();
  std::optional<int64_t> blocks = config.integer(key);
  if (!blocks)
    return loop.emitError() << "strategy grid needs '" << key << "'";
  return shareRow(*phases, *blocks);
}

LogicalResult StrategySelector::run(ParallelOp loop) {
  SmallVector<std::pair<StringAttr, NamedDim>> rows;
  for (const auto &[name, dim] : getNamedDims(loop))
    if (dim.kind == NamedDim::Kind::Row)
      rows.push_back({name, dim});
  // Resident rows first: walking another row in chunks repeats what they need.
  for (const auto &[row, dim] : rows) {
    FailureOr<RowStrategy> chosen = strategy(loop, row);
    if (failed(chosen) ||
        (*chosen == RowStrategy::Resident && failed(makeResident(loop, row, dim))))
      return failure();
  }
  bool rolled = false;
  for (const auto &[row, dim] : rows) {
    RowStrategy chosen = *strategy(loop, row);
    if (chosen == RowStrategy::Resident)
      continue;
    if (rolled)
      return loop.emitError() << "only one row of a loop can be walked in chunks; '"
                              << row.getValue() << "' is the second";
    rolled = true;
    if (failed(chosen == RowStrategy::Looped ? makeLooped(loop, row) : makeShared(loop, row)))
      return failure();
  }
  return success();
}

/// Every '<dim>.strategy' and '<dim>.blocks' of the Config says something of this kernel. Names
/// that are no dimension at all are left to tile-bind-config.
static LogicalResult checkKeysApply(KernelOp kernel, const Config &config) {
  llvm::StringMap<bool> isRow;
  for (ParallelOp loop : kernel.getOps<ParallelOp>())
    for (const auto &[name, dim] : getNamedDims(loop))
      isRow[name] |= dim.kind == NamedDim::Kind::Row;

  for (const auto &[key, value] : config.entries()) {
    auto [dim, suffix] = StringRef(key).rsplit('.');
    auto found = isRow.find(dim);
    if (found == isRow.end() || (suffix != "strategy" && suffix != "blocks"))
      continue;
    if (!found->second)
      return kernel.emitOpError()
             << "has a loop over '" << dim << "', so that the Config's '" << key
             << "' does not apply; only rows, such as x[i, :], have strategies";
    std::string strategy = config.string((dim + ".strategy").str()).value_or("resident");
    if (suffix == "blocks" && strategy != "grid")
      return kernel.emitOpError() << "does not share rows of '" << dim
                                  << "' between blocks, so that the Config's '" << key
                                  << "' does not apply; remove it or set " << dim
                                  << ".strategy=grid";
  }
  return success();
}

namespace {
struct SelectReductionStrategy
    : wavetile::impl::SelectReductionStrategyBase<SelectReductionStrategy> {
  explicit SelectReductionStrategy(const TargetInfo &target) : target(target) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto attribute = module->getAttrOfType<DictionaryAttr>(configAttrName);
    if (!attribute) {
      module.emitError() << "has no '" << configAttrName << "' to choose strategies by";
      return signalPassFailure();
    }
    llvm::Expected<Config> config = Config::fromAttribute(attribute);
    if (!config) {
      module.emitError(llvm::toString(config.takeError()));
      return signalPassFailure();
    }
    StrategySelector selector(*config, target);
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      if (failed(checkKeysApply(kernel, *config)))
        return signalPassFailure();
      for (ParallelOp loop : llvm::make_early_inc_range(kernel.getOps<ParallelOp>()))
        if (failed(selector.run(loop)))
          return signalPassFailure();
    }
  }

private:
  const TargetInfo &target;
};
} // namespace

std::unique_ptr<Pass> wavetile::createSelectReductionStrategyPass(const TargetInfo &target) {
  return std::make_unique<SelectReductionStrategy>(target);
}
