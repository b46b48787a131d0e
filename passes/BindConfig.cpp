//===- BindConfig.cpp - Sizes for names -------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `tile.config = {rows = 4, cols = 1024, waves = 4}`
//
//   tile.parallel (%c0) to (%m) dims ["rows"] {
//   ^bb0(%row: index, %rows: index):
//     %x = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n)
//         : !tile.view<2 x f32> -> tensor<?x?xf32, #tile.dims<[rows, cols]>>
//
// becomes
//
//   tile.parallel (%c0) to (%m) dims ["rows"] block_sizes [4] waves 4 {
//   ^bb0(%row: index, %rows: index):
//     %x = tile.load %v[%row, %c0] dims [0, 1] extents(%rows, %n)
//         : !tile.view<2 x f32> -> tensor<4x1024xf32>
//
//===----------------------------------------------------------------------===//

#include "passes/Backend.h"
#include "passes/Config.h"
#include "passes/Nearest.h"
#include "passes/Passes.h"
#include "passes/RowDims.h"
#include "passes/TargetInfo.h"

#include "ir/Tile.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/MathExtras.h"

namespace wavetile {
#define GEN_PASS_DEF_BINDCONFIG
#include "passes/Passes.h.inc"
} // namespace wavetile

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

/// The sizes that one Config gives to names.
class Binding {
public:
  Binding(const Config &config, const TargetInfo &target) : config(config), target(target) {}

  /// The size of a name that occurs at `op`, or an error there.
  FailureOr<int64_t> size(Operation *op, StringRef name) const;

  /// The type with sizes for names; other types stay. Null after an error.
  Type bind(Operation *op, Type type) const;

  /// Binds the types, loops and sizes in a top-level loop.
  LogicalResult bindLoop(ParallelOp loop) const;

private:
  LogicalResult bindBody(ParallelOp loop) const;
  LogicalResult checkRowSizes(ParallelOp loop) const;
  LogicalResult checkRegisters(ParallelOp loop, int64_t waves, unsigned wavesPerSimd) const;
  LogicalResult bindWaves(ParallelOp loop) const;

  const Config &config;
  const TargetInfo &target;
};

} // namespace

FailureOr<int64_t> Binding::size(Operation *op, StringRef name) const {
  if (name == staticDimName)
    return 1;
  if (std::optional<int64_t> size = config.integer(name))
    return *size;
  op->emitOpError() << "has dimension '" << name << "', for which the Config (" << config.str()
                    << ") has no size";
  return failure();
}

Type Binding::bind(Operation *op, Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa_and_nonnull<DimsAttr>(tensor.getEncoding()))
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(extent))
      continue;
    FailureOr<int64_t> bound = size(op, getDimName(tensor, axis));
    if (failed(bound))
      return {};
    extent = *bound;
  }
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// A size that is a multiple of neither `rowGranule` nor all its lanes would leave the
/// lanes of a wave with copies of one another.
LogicalResult Binding::checkRowSizes(ParallelOp loop) const {
  for (const auto &[name, dim] : getNamedDims(loop)) {
    if (dim.kind != NamedDim::Kind::Row)
      continue;
    FailureOr<int64_t> bound = size(loop, name);
    if (failed(bound))
      return failure();
    if (*bound % rowGranule != 0 && !llvm::isPowerOf2_64(*bound))
      return loop.emitOpError() << "no layout spreads rows of " << *bound << " elements ('"
                                << name.getValue() << "') over lanes; use a multiple of "
                                << rowGranule << ", such as " << llvm::alignTo(*bound, rowGranule);
  }
  return success();
}

/// A tile that needs more registers than a wave can have is refused here, with
/// the sum, and not by a compiler that spills.
LogicalResult Binding::checkRegisters(ParallelOp loop, int64_t waves, unsigned wavesPerSimd) const {
  int64_t lanes = waves * target.waveSize();
  unsigned limit = target.registersAtWavesPerSimd(wavesPerSimd);

  WalkResult result = loop.walk([&](Operation *op) {
    // These need no registers of their own: their elements are few, or computed
    // where they are used.
    if (isa<IotaOp, FullOp, BroadcastOp>(op))
      return WalkResult::advance();
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape())
        continue;
      Type element = tensor.getElementType();
      int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
      // A predicate takes one bit of a scalar register.
      if (bits == 1)
        continue;
      int64_t perLane = llvm::divideCeil(tensor.getNumElements(), lanes);
      int64_t registers = llvm::divideCeil(perLane * bits, 32);
      if (registers > limit) {
        std::string shape;
        llvm::raw_string_ostream os(shape);
        llvm::interleave(tensor.getShape(), os, "*");
        op->emitOpError() << "tile of " << tensor << " does not fit in registers: " << shape
                          << " elements / (" << waves << " waves * " << target.waveSize()
                          << " lanes) * " << bits << " bits = " << registers
                          << " registers a lane, and " << target.name() << " has " << limit
                          << "\n  help: give the Config smaller blocks, or more waves";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Binding::bindBody(ParallelOp loop) const {
  WalkResult result = loop.walk([&](Operation *op) {
    for (OpResult result : op->getResults()) {
      Type type = bind(op, result.getType());
      if (!type)
        return WalkResult::interrupt();
      result.setType(type);
    }
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments()) {
        Type type = bind(op, argument.getType());
        if (!type)
          return WalkResult::interrupt();
        argument.setType(type);
      }
    if (auto inner = dyn_cast<ForOp>(op)) {
      FailureOr<int64_t> bound = size(op, inner.getDim());
      if (failed(bound))
        return WalkResult::interrupt();
      inner.setBlockSize(*bound);
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Binding::bindLoop(ParallelOp loop) const {
  if (failed(checkRowSizes(loop)) || failed(bindBody(loop)))
    return failure();

  SmallVector<int64_t> sizes;
  for (Attribute name : loop.getDims()) {
    FailureOr<int64_t> bound = size(loop, cast<StringAttr>(name));
    if (failed(bound))
      return failure();
    sizes.push_back(*bound);
  }
  loop.setBlockSizes(sizes);

  return bindWaves(loop);
}

LogicalResult Binding::bindWaves(ParallelOp loop) const {
  std::optional<int64_t> waves = config.integer("waves");
  if (!waves)
    return loop.emitOpError() << "needs a number of waves, and the Config (" << config.str()
                              << ") has no 'waves'";
  if (!llvm::isPowerOf2_64(*waves) || *waves > target.maxWavesPerWorkgroup())
    return loop.emitOpError() << "cannot have " << *waves << " waves: a workgroup of "
                              << target.name() << " has a power of two of them, at most "
                              << target.maxWavesPerWorkgroup()
                              << "\n  help: leave waves out of the Config, or give one of these";
  loop.setWaves(*waves);

  // A workgroup runs on one compute unit, so its waves share the SIMDs there.
  unsigned simds = std::max(1u, target.device().simdsPerComputeUnit);
  unsigned wavesPerSimd = llvm::divideCeil(uint64_t(*waves), uint64_t(simds));
  if (std::optional<int64_t> wanted = config.integer("waves_per_simd")) {
    if (*wanted > target.registers().maxWavesPerSimd)
      return loop.emitOpError() << "cannot have " << *wanted
                                << " waves on a SIMD: " << target.name() << " holds at most "
                                << target.registers().maxWavesPerSimd;
    loop->setAttr(wavesPerSimdAttrName, Builder(loop.getContext()).getI32IntegerAttr(*wanted));
    wavesPerSimd = std::max<unsigned>(wavesPerSimd, *wanted);
  }
  return checkRegisters(loop, *waves, wavesPerSimd);
}

/// An entry for a name that no loop or tile has is a mistake of whoever wrote it.
static LogicalResult checkNamesOccur(KernelOp kernel, const Config &config) {
  std::vector<std::string> known;
  auto add = [&](StringRef name) {
    if (!llvm::is_contained(known, name))
      known.push_back(name.str());
  };
  kernel.walk([&](ParallelOp loop) {
    for (const auto &[name, dim] : getNamedDims(loop))
      add(name);
  });
  kernel.walk([&](BlockSizeOp op) { add(op.getDim()); });
  std::vector<std::string> spellings = known;
  for (const ConfigKey &key : configKeys())
    if (!key.perDim)
      spellings.push_back(key.suffix.str());

  for (const auto &[key, value] : config.entries()) {
    if (llvm::any_of(configKeys(),
                     [&](const ConfigKey &row) { return !row.perDim && row.suffix == key; }))
      continue;
    StringRef name = key;
    if (!llvm::is_contained(known, name))
      name = name.rsplit('.').first;
    if (!llvm::is_contained(known, name))
      return kernel.emitOpError() << "has no dimension '" << name << "', which the Config names"
                                  << didYouMean(name, spellings);
  }
  return success();
}

namespace {
struct BindConfig : wavetile::impl::BindConfigBase<BindConfig> {
  explicit BindConfig(const TargetInfo &target) : target(target) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto attribute = module->getAttrOfType<DictionaryAttr>(configAttrName);
    if (!attribute) {
      module.emitError() << "has no '" << configAttrName << "' to bind";
      return signalPassFailure();
    }
    llvm::Expected<Config> config = Config::fromAttribute(attribute);
    if (!config) {
      module.emitError(llvm::toString(config.takeError()));
      return signalPassFailure();
    }

    Binding binding(*config, target);
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      if (failed(checkNamesOccur(kernel, *config)))
        return signalPassFailure();
      for (ParallelOp loop : kernel.getOps<ParallelOp>())
        if (failed(binding.bindLoop(loop)))
          return signalPassFailure();
      if (failed(replaceBlockSizes(kernel, binding)))
        return signalPassFailure();
    }
  }

private:
  static LogicalResult replaceBlockSizes(KernelOp kernel, const Binding &binding) {
    SmallVector<BlockSizeOp> ops;
    kernel.walk([&](BlockSizeOp op) { ops.push_back(op); });
    for (BlockSizeOp op : ops) {
      FailureOr<int64_t> size = binding.size(op, op.getDim());
      if (failed(size))
        return failure();
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          arith::ConstantIndexOp::create(builder, op.getLoc(), *size).getResult());
      op.erase();
    }
    return success();
  }

  const TargetInfo &target;
};
} // namespace

std::unique_ptr<Pass> wavetile::createBindConfigPass(const TargetInfo &target) {
  return std::make_unique<BindConfig>(target);
}
