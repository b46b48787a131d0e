//===- ProgramLowering.cpp - tile.program to an LLVM function ---*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass `tile-to-rocdl`:
//
//   tile.program @scale_1f0c2a3b(%x: !tile.pointer<f32>, %n: index) attributes {waves = 4} {
//     %b = tile.block_id 0
//     ...
//     %a = tile.load %v[%begin] dims [0] extents(%extent)
//         : !tile.view<1 x f32> -> tensor<1024xf32, #tile.layout<"...">>
//
// becomes
//
//   llvm.func @scale_1f0c2a3b(%x: !llvm.ptr<1>, %n: i32) attributes {rocdl.kernel, ...} {
//     %b = llvm.call_intrinsic "llvm.amdgcn.workgroup.id.x"() : () -> i32
//     ...
//     %a = llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load"(...) : (...) -> vector<4xi32>
//
// The kernel (the launch plan) is removed: it has been read by then.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/AccessOrder.h"
#include "backend_rocm/lowering/Operations.h"
#include "backend_rocm/lowering/Passes.h"
#include "passes/Backend.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace wavetile::rocm {
#define GEN_PASS_DEF_TILETOROCDL
#include "backend_rocm/lowering/Passes.h.inc"
} // namespace wavetile::rocm

namespace {

class ProgramLowering {
public:
  ProgramLowering(tile::ProgramOp program, const Target &target)
      : program(program), builder(program), state(program, target, builder), order(program) {}

  LogicalResult run();

private:
  LLVM::LLVMFuncOp createFunction();
  void emitPrologue(LLVM::LLVMFuncOp function);
  void createLds(LLVM::LLVMFuncOp function, LLVM::AddressOfOp address);
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOperation(Operation *op);
  LogicalResult lowerFor(tile::ForOp op);
  LogicalResult lowerIf(tile::IfOp op);
  LogicalResult lowerWhile(tile::WhileOp op);
  void flatten(ValueRange values, SmallVectorImpl<Value> &flat);
  void bind(ValueRange targets, ValueRange flat);
  void addArguments(Block *block, ValueRange like);
  LogicalResult lowerView(tile::ViewOp op);
  void orderAccess(Operation *access);
  void lowerBlockId(tile::BlockIdOp op);

  tile::ProgramOp program;
  OpBuilder builder;
  Lowering state;
  AccessOrder order;
};

} // namespace

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp ProgramLowering::createFunction() {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  for (Type type : program.getArgumentTypes()) {
    if (isa<tile::PointerType>(type))
      types.push_back(LLVM::LLVMPointerType::get(context, GlobalSpace));
    else
      types.push_back(type.isIndex() ? state.indexType() : type);
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto function = LLVM::LLVMFuncOp::create(builder, program.getLoc(), program.getSymName(), type);
  unsigned threads = program.getWaves() * state.target.waveSize();
  function->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(ROCDL::ROCDLDialect::getReqdWorkGroupSizeAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  function->setAttr(ROCDL::ROCDLDialect::getFlatWorkGroupSizeAttrName(),
                    builder.getStringAttr(std::to_string(threads) + "," + std::to_string(threads)));
  if (auto waves = program->getAttrOfType<IntegerAttr>(wavesPerSimdAttrName))
    function->setAttr("rocdl.waves_per_eu", waves);
  for (auto [index, argument] : llvm::enumerate(program.getArgumentTypes())) {
    if (!isa<tile::PointerType>(argument))
      continue;
    if (auto align = program.getArgAttrOfType<IntegerAttr>(index, tile::alignAttrName))
      function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(align.getInt()));
    if (program.getDisjoint())
      function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  }
  return function;
}

void ProgramLowering::emitPrologue(LLVM::LLVMFuncOp function) {
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  for (auto [from, to] : llvm::zip_equal(program.getBody().getArguments(), entry->getArguments())) {
    state.scalars[from] = to;
  }
  Value thread = state.intrinsic("llvm.amdgcn.workitem.id.x", state.i32(), {});
  unsigned waveSize = state.target.waveSize();
  if (program.getWaves() == 1) {
    state.laneId = thread;
    state.waveId = state.constantI32(0);
  } else {
    state.laneId = state.bitAnd(thread, state.constantI32(waveSize - 1));
    // All lanes of a wave have one wave number; saying so keeps it in scalar registers.
    Value wave = state.shiftRight(thread, llvm::Log2_32(waveSize));
    state.waveId = state.intrinsic("llvm.amdgcn.readfirstlane.i32", state.i32(), wave);
  }
}

/// Gives the function's LDS its size, now that it is known, or removes it.
void ProgramLowering::createLds(LLVM::LLVMFuncOp function, LLVM::AddressOfOp address) {
  if (state.ldsBytes() == 0) {
    address.erase();
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), state.ldsBytes());
  LLVM::GlobalOp::create(builder, program.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::Internal, address.getGlobalName(), Attribute(),
                         /*alignment=*/16, LdsSpace);
}

LogicalResult ProgramLowering::run() {
  LLVM::LLVMFuncOp function = createFunction();
  emitPrologue(function);
  std::string ldsName = (program.getSymName() + "_lds").str();
  auto address = LLVM::AddressOfOp::create(
      builder, program.getLoc(), LLVM::LLVMPointerType::get(builder.getContext(), LdsSpace),
      ldsName);
  state.setLdsBase(address);
  state.prologueEnd = address;
  if (failed(lowerBlock(program.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(builder, program.getLoc(), ValueRange());
  createLds(function, address);
  if (state.ldsBytes() > state.target.lds().bytesPerWorkgroup) {
    InFlightDiagnostic error = program.emitError();
    error << "needs " << state.ldsBytes() << " bytes of LDS";
    StringRef separator = " = ";
    for (auto [line, bytes] : state.ldsBytesOfLines()) {
      error << separator << bytes << " (line " << line << ")";
      separator = " + ";
    }
    return error << "; " << state.target.name() << " has " << state.target.lds().bytesPerWorkgroup
                 << " for a workgroup\n  help: give the Config smaller blocks";
  }
  program.erase();
  return success();
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
  state.loc = block.getTerminator()->getLoc();
  return success();
}

LogicalResult ProgramLowering::lowerView(tile::ViewOp op) {
  MemoryView view;
  view.pointer = state.scalar(op.getPointer());
  for (auto [size, stride] : llvm::zip_equal(op.getSizes(), op.getStrides())) {
    view.sizes.push_back(state.scalar(size));
    view.strides.push_back(state.scalar(stride));
    IntegerAttr constant;
    view.constantStrides.push_back(matchPattern(stride, m_Constant(&constant))
                                       ? std::optional(constant.getInt())
                                       : std::nullopt);
  }
  state.views[op.getResult()] = std::move(view);
  return success();
}

/// A block's accesses of global memory are in order, whichever of its waves make them.
void ProgramLowering::orderAccess(Operation *access) {
  if (order.needsBarrierBefore(access))
    state.workgroupBarrier(/*ordersGlobal=*/true);
}

void ProgramLowering::lowerBlockId(tile::BlockIdOp op) {
  StringRef names[] = {"llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workgroup.id.y",
                       "llvm.amdgcn.workgroup.id.z"};
  Value id = state.intrinsic(names[op.getDim()], state.i32(), {});
  // Ids are below 2^31.
  state.scalars[op.getResult()] = state.castInteger(id, state.indexType());
}

/// Appends scalars, and the chunks of tiles, which become the arguments of blocks.
void ProgramLowering::flatten(ValueRange values, SmallVectorImpl<Value> &flat) {
  for (Value value : values) {
    if (isa<RankedTensorType>(value.getType()))
      llvm::append_range(flat, state.registers(value).chunks);
    else
      flat.push_back(state.scalar(value));
  }
}

/// Gives `targets` the values that `flatten` would make of them.
void ProgramLowering::bind(ValueRange targets, ValueRange flat) {
  for (Value target : targets) {
    if (!isa<RankedTensorType>(target.getType())) {
      state.scalars[target] = flat.front();
      flat = flat.drop_front();
      continue;
    }
    TileRegisters registers;
    unsigned count = Lowering::layoutOf(target).registerCount();
    registers.width = Lowering::chunkWidth(count);
    registers.chunks.append(flat.begin(), flat.begin() + count / registers.width);
    flat = flat.drop_front(count / registers.width);
    state.tiles[target] = std::move(registers);
  }
}

void ProgramLowering::addArguments(Block *block, ValueRange like) {
  for (Value value : like)
    block->addArgument(value.getType(), value.getLoc());
}

LogicalResult ProgramLowering::lowerFor(tile::ForOp op) {
  if (!op.getBlockSize())
    return op.emitOpError("has no block size; run tile-bind-config first");
  Location loc = op.getLoc();
  Operation *outer = state.enclosingLoop;
  state.enclosingLoop = op;

  SmallVector<Value> entry{state.scalar(op.getLower())};
  flatten(op.getInits(), entry);
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  Block *header = builder.createBlock(after);
  Block *body = builder.createBlock(after);
  Type index = state.indexType();
  addArguments(header, entry);

  builder.setInsertionPointToEnd(before);
  LLVM::BrOp::create(builder, loc, entry, header);

  builder.setInsertionPointToEnd(header);
  Value begin = header->getArgument(0), upper = state.scalar(op.getUpper());
  Value size = state.constant(index, *op.getBlockSize());
  // A full loop makes only the steps that fit.
  Value last = op.getFull() ? state.add(begin, size) : state.add(begin, state.constant(index, 1));
  Value goesOn = state.compare(LLVM::ICmpPredicate::sle, last, upper);
  LLVM::CondBrOp::create(builder, loc, goesOn, body, ValueRange(), after, ValueRange());
  ValueRange carried = ValueRange(header->getArguments()).drop_front();
  bind(ValueRange(op.getCarried()), carried);

  builder.setInsertionPointToEnd(body);
  state.scalars[op.getBegin()] = begin;
  Value left = state.sub(upper, begin);
  state.scalars[op.getExtent()] =
      op.getFull() ? size : LLVM::SMinOp::create(builder, loc, size, left).getResult();
  if (failed(lowerBlock(op.getBody().front())))
    return failure();
  SmallVector<Value> next{state.add(begin, size)};
  flatten(op.getYield().getValues(), next);
  LLVM::BrOp::create(builder, loc, next, header);

  builder.setInsertionPointToStart(after);
  bind(op.getResults(), carried);
  state.enclosingLoop = outer;
  return success();
}

LogicalResult ProgramLowering::lowerIf(tile::IfOp op) {
  Location loc = op.getLoc();
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  Block *blocks[] = {builder.createBlock(after), builder.createBlock(after)};
  builder.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(builder, loc, state.scalar(op.getCondition()), blocks[0], ValueRange(),
                         blocks[1], ValueRange());
  for (auto [block, region] : llvm::zip_equal(blocks, MutableArrayRef<Region>(op->getRegions()))) {
    builder.setInsertionPointToEnd(block);
    if (failed(lowerBlock(region.front())))
      return failure();
    SmallVector<Value> values;
    flatten(cast<tile::YieldOp>(region.front().getTerminator()).getValues(), values);
    if (after->getNumArguments() != values.size())
      addArguments(after, values);
    LLVM::BrOp::create(builder, loc, values, after);
  }
  builder.setInsertionPointToStart(after);
  bind(op.getResults(), after->getArguments());
  return success();
}

LogicalResult ProgramLowering::lowerWhile(tile::WhileOp op) {
  Location loc = op.getLoc();
  Operation *outer = state.enclosingLoop;
  state.enclosingLoop = op;
  SmallVector<Value> entry;
  flatten(op.getInits(), entry);
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  Block *header = builder.createBlock(after);
  Block *body = builder.createBlock(after);
  addArguments(header, entry);
  builder.setInsertionPointToEnd(before);
  LLVM::BrOp::create(builder, loc, entry, header);

  builder.setInsertionPointToEnd(header);
  bind(ValueRange(op.getBeforeArguments()), header->getArguments());
  bind(ValueRange(op.getCarried()), header->getArguments());
  if (failed(lowerBlock(op.getBefore().front())))
    return failure();
  LLVM::CondBrOp::create(builder, loc, state.scalar(op.getCondition()), body, ValueRange(), after,
                         ValueRange());

  builder.setInsertionPointToEnd(body);
  if (failed(lowerBlock(op.getBody().front())))
    return failure();
  SmallVector<Value> next;
  flatten(op.getYield().getValues(), next);
  LLVM::BrOp::create(builder, loc, next, header);

  builder.setInsertionPointToStart(after);
  bind(op.getResults(), header->getArguments());
  state.enclosingLoop = outer;
  return success();
}

LogicalResult ProgramLowering::lowerOperation(Operation *op) {
  if (isElementwise(op->getName()))
    return lowerElementwise(state, op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::ViewOp view) { return lowerView(view); })
      .Case([&](tile::BlockIdOp id) {
        lowerBlockId(id);
        return success();
      })
      .Case([&](tile::ForOp loop) { return lowerFor(loop); })
      .Case([&](tile::IfOp choice) { return lowerIf(choice); })
      .Case([&](tile::WhileOp loop) { return lowerWhile(loop); })
      .Case([&](tile::AtomicOp atomic) {
        orderAccess(atomic);
        return lowerAtomic(state, atomic);
      })
      .Case([&](tile::PrintOp print) { return lowerPrint(state, print); })
      .Case([&](tile::AssertOp check) { return lowerAssert(state, check); })
      .Case([&](tile::InlineAsmOp assembly) { return lowerInlineAsm(state, assembly); })
      .Case([&](tile::ScalarOp scalar) { return lowerScalar(state, scalar); })
      .Case([&](tile::LoadOp load) {
        orderAccess(load);
        return lowerLoad(state, load);
      })
      .Case([&](tile::StoreOp store) {
        orderAccess(store);
        return lowerStore(state, store);
      })
      .Case([&](tile::FullOp full) { return lowerFull(state, full); })
      .Case([&](tile::IotaOp iota) { return lowerIota(state, iota); })
      .Case([&](tile::ExpandDimsOp expand) { return lowerExpandDims(state, expand); })
      .Case([&](tile::SqueezeDimsOp squeeze) { return lowerSqueezeDims(state, squeeze); })
      .Case([&](tile::BroadcastOp broadcast) { return lowerBroadcast(state, broadcast); })
      .Case([&](tile::TransposeOp transpose) { return lowerTranspose(state, transpose); })
      .Case([&](tile::FillBeyondOp fill) { return lowerFillBeyond(state, fill); })
      .Case([&](tile::ReduceOp reduce) { return lowerReduce(state, reduce); })
      .Case([&](tile::ArgReduceOp reduce) { return lowerArgReduce(state, reduce); })
      .Case([&](tile::ScanOp scan) { return lowerScan(state, scan); })
      .Case([&](tile::CombineOp combine) { return lowerCombine(state, combine); })
      .Case([&](tile::SortOp sort) { return lowerSort(state, sort); })
      .Case([&](tile::TakeOp take) { return lowerTake(state, take); })
      .Case([&](tile::ConvertLayoutOp convert) { return lowerConvertLayout(state, convert); })
      .Case([&](tile::StageAllocOp alloc) { return lowerStageAlloc(state, alloc); })
      .Case([&](tile::StageStoreOp store) { return lowerStageStore(state, store); })
      .Case([&](tile::StageLoadOp load) { return lowerStageLoad(state, load); })
      .Case([&](tile::BarrierOp) {
        state.workgroupBarrier();
        return success();
      })
      .Case([&](tile::DotOp dot) { return lowerDot(state, dot); })
      .Default([&](Operation *other) {
        return other->emitOpError() << "has no lowering for " << state.target.name();
      });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class TileToROCDLPass : public rocm::impl::TileToROCDLBase<TileToROCDLPass> {
public:
  using TileToROCDLBase::TileToROCDLBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    llvm::Expected<const Target &> target = findTarget(targetName);
    if (!target) {
      module.emitError() << llvm::toString(target.takeError());
      return signalPassFailure();
    }
    for (tile::ProgramOp program : llvm::make_early_inc_range(module.getOps<tile::ProgramOp>()))
      if (failed(ProgramLowering(program, *target).run()))
        return signalPassFailure();
    for (tile::KernelOp kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>()))
      kernel.erase();
  }
};

} // namespace
