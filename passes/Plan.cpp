//===- Plan.cpp - Programs and launches for top-level loops -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tile.kernel @scale(%x: !tile.pointer<f32> {tile.binding = 0 : i64},
//                      %n: index {tile.binding = 0 : i64}, %unused: index {...}) {
//     %v = tile.view %x sizes(%n) strides(%c1) : ...
//     tile.parallel (%c0) to (%n) dims ["i"] block_sizes [1024] waves 4 {
//     ^bb0(%begin: index, %extent: index):
//       ...
//     }
//     tile.return
//   }
//
// becomes
//
//   tile.program @scale_1f0c2a3b(%x: !tile.pointer<f32>, %n: index) attributes {waves = 4} {
//     %v = tile.view %x sizes(%n) strides(%c1) : ...
//     %id = tile.block_id 0
//     %begin = arith.muli %id, %c1024 : index
//     %left = arith.subi %n, %begin : index
//     %extent = arith.minsi %left, %c1024 : index
//     ...
//     tile.return
//   }
//   tile.kernel @scale(...) {
//     %blocks = arith.ceildivsi %n, %c1024 : index
//     tile.launch @scale_1f0c2a3b grid(%blocks) arguments(%x, %n) : ...
//     tile.return
//   }
//
// The grid is flat: the last dimension varies fastest. This is the only place
// that gives block numbers a meaning; another order of blocks is made here too.
//
//===----------------------------------------------------------------------===//

#include "passes/IndexFacts.h"
#include "passes/Passes.h"
#include "passes/TargetInfo.h"

#include "ir/Tile.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace wavetile {
#define GEN_PASS_DEF_PLAN
#include "passes/Passes.h.inc"
} // namespace wavetile

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

namespace {

/// Number of blocks, begin and extent along the dimensions of one loop.
class BlockGrid {
public:
  explicit BlockGrid(ParallelOp loop) : loop(loop) {}

  /// How many blocks there are, as arithmetic of the kernel.
  Value emitCount(OpBuilder &builder);

  /// Maps the body's arguments to what a block computes from its number. The
  /// bounds are looked up in `mapping`.
  void emitBlock(OpBuilder &builder, IRMapping &mapping);

private:
  bool startsAtZero(unsigned dim) { return facts.constant(loop.getLower()[dim]) == 0; }
  Value emitSpan(OpBuilder &builder, unsigned dim, Value lower, Value upper);

  ParallelOp loop;
  IndexFacts facts;
};

/// Makes the programs and launches of one kernel.
class Outliner {
public:
  Outliner(KernelOp kernel, StringRef context) : kernel(kernel), hashedContext(context) {}

  void outline(ParallelOp loop, std::optional<unsigned> number);

private:
  ProgramOp createProgram(OpBuilder &builder, ParallelOp loop, ArrayRef<Value> arguments);
  std::string symbol(ProgramOp program, std::optional<unsigned> number);

  KernelOp kernel;
  StringRef hashedContext;
};

} // namespace

//===----------------------------------------------------------------------===//
// BlockGrid
//===----------------------------------------------------------------------===//

static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value BlockGrid::emitSpan(OpBuilder &builder, unsigned dim, Value lower, Value upper) {
  Location loc = loop.getLoc();
  if (startsAtZero(dim) && facts.isNonNegative(loop.getUpper()[dim]))
    return upper;
  Value difference =
      startsAtZero(dim) ? upper : arith::SubIOp::create(builder, loc, upper, lower).getResult();
  return arith::MaxSIOp::create(builder, loc, difference, constantIndex(builder, loc, 0));
}

Value BlockGrid::emitCount(OpBuilder &builder) {
  Location loc = loop.getLoc();
  Value product;
  for (unsigned dim = 0; dim < loop.getNumDims(); ++dim) {
    Value count = emitSpan(builder, dim, loop.getLower()[dim], loop.getUpper()[dim]);
    if (int64_t size = (*loop.getBlockSizes())[dim]; size != 1)
      count = arith::CeilDivSIOp::create(builder, loc, count, constantIndex(builder, loc, size));
    product = product ? arith::MulIOp::create(builder, loc, product, count).getResult() : count;
  }
  return product;
}

void BlockGrid::emitBlock(OpBuilder &builder, IRMapping &mapping) {
  Location loc = loop.getLoc();
  Value rest = BlockIdOp::create(builder, loc, builder.getIndexType(), 0);
  for (unsigned dim = loop.getNumDims(); dim-- > 0;) {
    Value lower = mapping.lookup(loop.getLower()[dim]);
    Value upper = mapping.lookup(loop.getUpper()[dim]);
    int64_t size = (*loop.getBlockSizes())[dim];
    Value sizeValue = constantIndex(builder, loc, size);

    Value number = rest;
    if (dim != 0) {
      Value count = emitSpan(builder, dim, lower, upper);
      if (size != 1) {
        // A ceiling division of what is not negative.
        count = arith::AddIOp::create(builder, loc, count, constantIndex(builder, loc, size - 1));
        count = arith::DivUIOp::create(builder, loc, count, sizeValue);
      }
      number = arith::RemUIOp::create(builder, loc, rest, count);
      rest = arith::DivUIOp::create(builder, loc, rest, count);
    }

    Value begin = number;
    if (size != 1)
      begin = arith::MulIOp::create(builder, loc, number, sizeValue);
    if (!startsAtZero(dim))
      begin = arith::AddIOp::create(builder, loc, begin, lower);
    mapping.map(loop.getBegin(dim), begin);

    Value extent = sizeValue;
    if (facts.constant(loop.getExtent(dim)) != size) {
      Value left = arith::SubIOp::create(builder, loc, upper, begin);
      extent = arith::MinSIOp::create(builder, loc, left, sizeValue);
    }
    mapping.map(loop.getExtent(dim), extent);
  }
}

//===----------------------------------------------------------------------===//
// Outliner
//===----------------------------------------------------------------------===//

/// The operations of the kernel that `loop` needs, in order, without scratch
/// buffers; and the values that its program takes: arguments of the kernel in
/// their order, then scratch buffers in theirs.
static void collectNeeds(KernelOp kernel, ParallelOp loop, SmallVectorImpl<Operation *> &ops,
                         SmallVectorImpl<Value> &arguments) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(loop.getBody(), values);
  values.insert_range(loop.getOperands());

  DenseSet<Operation *> needed;
  DenseSet<Value> taken;
  SmallVector<Value> worklist(values.begin(), values.end());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isa<ScratchOp>(op)) {
      taken.insert(value);
      continue;
    }
    if (needed.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }

  for (BlockArgument argument : kernel.getBody().getArguments())
    if (taken.contains(argument))
      arguments.push_back(argument);
  for (Operation &op : kernel.getBody().front()) {
    if (needed.contains(&op))
      ops.push_back(&op);
    else if (isa<ScratchOp>(op) && taken.contains(op.getResult(0)))
      arguments.push_back(op.getResult(0));
  }
}

ProgramOp Outliner::createProgram(OpBuilder &builder, ParallelOp loop, ArrayRef<Value> arguments) {
  SmallVector<Attribute> attributes;
  for (Value value : arguments) {
    NamedAttrList list;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      list = NamedAttrList(function_interface_impl::getArgAttrs(kernel, argument.getArgNumber()));
      list.erase(bindingAttrName);
      list.erase(hintAttrName);
    } else {
      // Buffers of a launch plan are as aligned as allocations are.
      list.set(alignAttrName, builder.getI64IntegerAttr(IndexFacts::scratchAlignment));
    }
    attributes.push_back(list.getDictionary(builder.getContext()));
  }

  auto type = builder.getFunctionType(ValueRange(arguments).getTypes(), {});
  auto program =
      ProgramOp::create(builder, loop.getLoc(), builder.getStringAttr(kernel.getSymName()),
                        TypeAttr::get(type), builder.getArrayAttr(attributes),
                        /*res_attrs=*/ArrayAttr(), builder.getI64IntegerAttr(*loop.getWaves()),
                        kernel.getWideOffsetsAttr(), kernel.getDisjointAttr());
  program->setDiscardableAttrs(loop->getDiscardableAttrDictionary());

  Block &body = program.getBody().emplaceBlock();
  for (Value value : arguments)
    body.addArgument(value.getType(), value.getLoc());
  return program;
}

std::string Outliner::symbol(ProgramOp program, std::optional<unsigned> number) {
  std::string text;
  llvm::raw_string_ostream os(text);
  program.print(os, OpPrintingFlags().useLocalScope());
  os << hashedContext;

  std::string name = kernel.getSymName().str();
  llvm::replace(name, '.', '_');
  if (number)
    name += "_" + std::to_string(*number);
  return llvm::formatv("{0}_{1:x-8}", name, uint32_t(llvm::xxh3_64bits(text)));
}

void Outliner::outline(ParallelOp loop, std::optional<unsigned> number) {
  SmallVector<Operation *> ops;
  SmallVector<Value> arguments;
  collectNeeds(kernel, loop, ops, arguments);

  OpBuilder builder(kernel);
  ProgramOp program = createProgram(builder, loop, arguments);
  Block &body = program.getBody().front();
  builder.setInsertionPointToEnd(&body);
  IRMapping mapping;
  mapping.map(arguments, body.getArguments());
  for (Operation *op : ops)
    builder.clone(*op, mapping);

  BlockGrid grid(loop);
  grid.emitBlock(builder, mapping);
  for (Operation &op : loop.getBody().front().without_terminator())
    builder.clone(op, mapping);
  ReturnOp::create(builder, loop.getLoc());
  program.setSymName(symbol(program, number));

  builder.setInsertionPoint(loop);
  Value count = grid.emitCount(builder);
  LaunchOp::create(builder, loop.getLoc(), program.getSymName(), count, arguments);
  loop.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Views and index arithmetic that only the loops used.
static void eraseUnused(KernelOp kernel) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op) || (isa<ScratchOp>(op) && op.use_empty()))
      op.erase();
}

namespace {
struct Plan : wavetile::impl::PlanBase<Plan> {
  explicit Plan(const TargetInfo &target) : target(target) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string context = target.name().str();
    if (Attribute config = module->getAttr(configAttrName)) {
      llvm::raw_string_ostream os(context);
      os << config;
    }

    for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>())) {
      SmallVector<ParallelOp> loops(kernel.getOps<ParallelOp>());
      for (ParallelOp loop : loops) {
        if (!loop.getBlockSizes() || !loop.getWaves()) {
          loop.emitOpError("has no block sizes or waves; run tile-bind-config first");
          return signalPassFailure();
        }
      }
      Outliner outliner(kernel, context);
      for (auto [index, loop] : llvm::enumerate(loops))
        outliner.outline(loop, loops.size() > 1 ? std::optional<unsigned>(index) : std::nullopt);
      eraseUnused(kernel);
    }
  }

private:
  const TargetInfo &target;
};
} // namespace

std::unique_ptr<Pass> wavetile::createPlanPass(const TargetInfo &target) {
  return std::make_unique<Plan>(target);
}
