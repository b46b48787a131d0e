//===- ProgramLowering.cpp - tile.program to a function ----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles that a loop carries have an address of their own, into which each step copies
// what it yields.
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

namespace {

class ProgramLowering {
public:
  explicit ProgramLowering(tile::ProgramOp program)
      : program(program), builder(program), state(builder, program.getLoc()) {}

  LogicalResult run();

private:
  void readArguments(LLVM::LLVMFuncOp function);
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOperation(Operation *op);
  LogicalResult lowerFor(tile::ForOp op);
  LogicalResult lowerIf(tile::IfOp op);
  LogicalResult lowerWhile(tile::WhileOp op);

  /// Gives each tile of `values` an address, and fills it if there are values to begin with.
  SmallVector<Value> allocateCarried(ValueRange values);
  void assign(ArrayRef<Value> carried, ValueRange values);
  SmallVector<Value> scalarsOf(ValueRange values);
  /// Lets `targets` stand for carried tiles and for these scalars.
  void bind(ValueRange targets, ArrayRef<Value> carried, ValueRange scalars);

  tile::ProgramOp program;
  OpBuilder builder;
  Lowering state;
};

class TileToLoops : public PassWrapper<TileToLoops, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileToLoops)
  StringRef getArgument() const override { return "tile-to-host-loops"; }
  StringRef getDescription() const override {
    return "lower planned tile programs to loops over memory";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>()))
      kernel.erase();
    for (auto program : llvm::make_early_inc_range(module.getOps<tile::ProgramOp>()))
      if (failed(ProgramLowering(program).run()))
        return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> host::createTileToLoops() { return std::make_unique<TileToLoops>(); }

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::run() {
  MLIRContext *context = builder.getContext();
  if (program.getWaves() != 1)
    return program.emitError("the host has one wave to a workgroup");
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = state.i64();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, i64, i64, i64, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, program.getLoc(), program.getSymName(), type);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  state.arena = entry->getArgument(4);
  for (unsigned dim = 0; dim < 3; ++dim)
    state.blockIds.push_back(entry->getArgument(1 + dim));
  readArguments(function);
  if (failed(lowerBlock(program.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(builder, program.getLoc(), ValueRange());

  builder.setInsertionPointAfter(function);
  LLVM::GlobalOp::create(builder, program.getLoc(), i64, /*isConstant=*/true,
                         LLVM::Linkage::External, (program.getSymName() + ".arena").str(),
                         builder.getI64IntegerAttr(state.arenaBytes));
  program.erase();
  return success();
}

/// As `buildLaunchPlan` packs them: each at the next multiple of its size.
void ProgramLowering::readArguments(LLVM::LLVMFuncOp function) {
  Value base = function.getArgument(0);
  unsigned offset = 0;
  for (BlockArgument argument : program.getBody().getArguments()) {
    Type type = argument.getType(), held = type;
    if (isa<tile::PointerType>(type))
      held = base.getType();
    else if (type.isIndex())
      held = program.getWideOffsets() ? builder.getI64Type() : builder.getI32Type();
    unsigned bytes = isa<LLVM::LLVMPointerType>(held) ? 8 : held.getIntOrFloatBitWidth() / 8;
    offset = llvm::alignTo(offset, bytes);
    Value place = LLVM::GEPOp::create(builder, state.loc, base.getType(), builder.getI8Type(), base,
                                      ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    Value value = LLVM::LoadOp::create(builder, state.loc, held, place, /*alignment=*/1);
    state.scalars[argument] = type.isIndex() ? state.wide(value) : value;
    offset += bytes;
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    state.loc = op.getLoc();
    if (failed(lowerOperation(&op)))
      return failure();
  }
  return success();
}

LogicalResult ProgramLowering::lowerOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::ForOp loop) { return lowerFor(loop); })
      .Case([&](tile::IfOp choice) { return lowerIf(choice); })
      .Case([&](tile::WhileOp loop) { return lowerWhile(loop); })
      .Case([&](tile::BlockIdOp id) {
        state.scalars[id.getResult()] = state.blockIds[id.getDim()];
        return success();
      })
      .Case([&](tile::ViewOp view) {
        MemoryView made{state.scalar(view.getPointer()), scalarsOf(view.getSizes()),
                        scalarsOf(view.getStrides())};
        state.views[view.getResult()] = std::move(made);
        return success();
      })
      .Case([&](tile::LoadOp load) { return lowerLoad(state, load); })
      .Case([&](tile::StoreOp store) { return lowerStore(state, store); })
      .Case([&](tile::AtomicOp atomic) { return lowerAtomic(state, atomic); })
      .Case([&](tile::ReduceOp reduce) { return lowerReduce(state, reduce); })
      .Case([&](tile::ArgReduceOp reduce) { return lowerArgReduce(state, reduce); })
      .Case([&](tile::CombineOp combine) { return lowerCombine(state, combine); })
      .Case([&](tile::ScanOp scan) { return lowerScan(state, scan); })
      .Case([&](tile::SortOp sort) { return lowerSort(state, sort); })
      .Case([&](tile::DotOp dot) { return lowerDot(state, dot); })
      .Case([&](tile::PrintOp print) { return lowerPrint(state, print); })
      .Case([&](tile::AssertOp assertion) { return lowerAssert(state, assertion); })
      .Case([&](tile::InlineAsmOp assembly) { return lowerInlineAsm(state, assembly); })
      .Default([&](Operation *other) {
        if (succeeded(lowerShape(state, other)))
          return success();
        return lowerElementwise(state, other);
      });
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> ProgramLowering::scalarsOf(ValueRange values) {
  SmallVector<Value> scalars;
  for (Value value : values)
    if (!isa<RankedTensorType>(value.getType()))
      scalars.push_back(state.scalar(value));
  return scalars;
}

SmallVector<Value> ProgramLowering::allocateCarried(ValueRange values) {
  SmallVector<Value> carried;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      carried.push_back(state.allocate(type.getNumElements(), type.getElementType()));
  return carried;
}

/// A yielded tile may lie where another one is carried: all are read before any is written.
void ProgramLowering::assign(ArrayRef<Value> carried, ValueRange values) {
  SmallVector<std::pair<Value, RankedTensorType>> held;
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    Value from = state.tile(value);
    if (carried.size() > 1) {
      Value between = state.allocate(type.getNumElements(), type.getElementType());
      state.copy(between, from, type);
      from = between;
    }
    held.emplace_back(from, type);
  }
  for (auto [to, from] : llvm::zip_equal(carried, held))
    state.copy(to, from.first, from.second);
}

void ProgramLowering::bind(ValueRange targets, ArrayRef<Value> carried, ValueRange scalars) {
  for (Value target : targets) {
    if (isa<RankedTensorType>(target.getType())) {
      state.tiles[target] = carried.front();
      carried = carried.drop_front();
    } else {
      state.scalars[target] = scalars.front();
      scalars = scalars.drop_front();
    }
  }
}

LogicalResult ProgramLowering::lowerFor(tile::ForOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> carried = allocateCarried(op.getInits());
  assign(carried, op.getInits());
  Value upper = state.scalar(op.getUpper()), size = state.number(*op.getBlockSize());
  auto loop = scf::ForOp::create(builder, loc, state.scalar(op.getLower()), upper, size,
                                 scalarsOf(op.getInits()));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = loop.getBody();
  if (!body->empty())
    body->back().erase();
  builder.setInsertionPointToEnd(body);
  Value begin = loop.getInductionVar();
  state.scalars[op.getBegin()] = begin;
  state.scalars[op.getExtent()] =
      arith::MinSIOp::create(builder, loc, size, state.sub(upper, begin));
  bind(ValueRange(op.getCarried()), carried, loop.getRegionIterArgs());
  if (failed(lowerBlock(op.getBody().front())))
    return failure();
  state.loc = loc;
  assign(carried, op.getYield().getValues());
  scf::YieldOp::create(builder, loc, scalarsOf(op.getYield().getValues()));
  bind(op.getResults(), carried, loop.getResults());
  return success();
}

LogicalResult ProgramLowering::lowerIf(tile::IfOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> carried = allocateCarried(op.getResults());
  SmallVector<Type> types;
  for (Value result : op.getResults())
    if (!isa<RankedTensorType>(result.getType()))
      types.push_back(state.scalarType(result.getType()));
  auto made = scf::IfOp::create(builder, loc, types, state.scalar(op.getCondition()),
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto lowerBranch = [&](Block *to, Region &from, tile::YieldOp yield) -> LogicalResult {
    builder.setInsertionPointToEnd(to);
    if (failed(lowerBlock(from.front())))
      return failure();
    state.loc = loc;
    assign(carried, yield.getValues());
    scf::YieldOp::create(builder, loc, scalarsOf(yield.getValues()));
    return success();
  };
  if (failed(lowerBranch(made.thenBlock(), op.getThenBody(), op.getThenYield())) ||
      failed(lowerBranch(made.elseBlock(), op.getElseBody(), op.getElseYield())))
    return failure();
  bind(op.getResults(), carried, made.getResults());
  return success();
}

LogicalResult ProgramLowering::lowerWhile(tile::WhileOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> carried = allocateCarried(op.getInits());
  assign(carried, op.getInits());
  SmallVector<Value> inits = scalarsOf(op.getInits());
  SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto loop = scf::WhileOp::create(builder, loc, types, inits);
  OpBuilder::InsertionGuard guard(builder);

  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locations);
  bind(ValueRange(op.getBeforeArguments()), carried, before->getArguments());
  if (failed(lowerBlock(op.getBefore().front())))
    return failure();
  scf::ConditionOp::create(builder, loc, state.scalar(op.getCondition()), before->getArguments());

  Block *body = builder.createBlock(&loop.getAfter(), {}, types, locations);
  bind(ValueRange(op.getCarried()), carried, body->getArguments());
  if (failed(lowerBlock(op.getBody().front())))
    return failure();
  state.loc = loc;
  assign(carried, op.getYield().getValues());
  scf::YieldOp::create(builder, loc, scalarsOf(op.getYield().getValues()));
  bind(op.getResults(), carried, loop.getResults());
  return success();
}
