//===- CrossLane.cpp - Values of other lanes without LDS --------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading lane ^ mask with the cheapest instruction that the target has: DPP
// within rows of 16, permlane between rows, ds_bpermute as the last resort.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// Values of DPP_CTRL, from the instruction set manuals.
enum DppControl : unsigned {
  QuadPermute = 0x000, // plus four 2-bit selectors
  RowRotateRight = 0x120,
  RowMirror = 0x140,
  RowHalfMirror = 0x141,
  RowBroadcast15 = 0x142,
  RowBroadcast31 = 0x143,
  RowXorMask = 0x160,
};

} // namespace

static Value dpp(Lowering &state, Value word, unsigned control) {
  Value all = state.constantI32(0xf);
  return state.intrinsic("llvm.amdgcn.update.dpp.i32", state.i32(),
                         {state.undef(state.i32()), word, state.constantI32(control), all, all,
                          state.constant(state.i1(), 1)});
}

/// quad_perm that reads lane ^ mask, mask below 4.
static unsigned quadControl(unsigned mask) {
  unsigned control = QuadPermute;
  for (unsigned lane = 0; lane < 4; ++lane)
    control |= (lane ^ mask) << (2 * lane);
  return control;
}

/// v_permlane16_swap or v_permlane32_swap: swaps the upper row (half) of each pair of `a` with the
/// lower one of `b`. With a == b the first result holds the value of the lower row of each pair in
/// both places, the second that of the upper.
static std::pair<Value, Value> swapRows(Lowering &state, Value a, Value b, unsigned mask) {
  Type pair =
      LLVM::LLVMStructType::getLiteral(state.builder.getContext(), {state.i32(), state.i32()});
  Value no = state.constant(state.i1(), 0);
  Value result =
      state.intrinsic(mask == 16 ? "llvm.amdgcn.permlane16.swap" : "llvm.amdgcn.permlane32.swap",
                      pair, {a, b, no, no});
  return {LLVM::ExtractValueOp::create(state.builder, state.loc, result, 0),
          LLVM::ExtractValueOp::create(state.builder, state.loc, result, 1)};
}

static bool canSwap(const CrossLaneInfo &can, unsigned mask) {
  return (mask == 16 && can.swapRows16) || (mask == 32 && can.swapHalves32);
}

/// Whether the lane has the bit `mask`.
static Value hasLaneBit(Lowering &state, unsigned mask) {
  return state.compare(LLVM::ICmpPredicate::ne, state.bitAnd(state.laneId, state.constantI32(mask)),
                       state.constantI32(0));
}

/// The other one of a swapped pair than the lane's own.
static Value swapped(Lowering &state, Value word, unsigned mask) {
  auto [lower, upper] = swapRows(state, word, word, mask);
  return state.select(hasLaneBit(state, mask), lower, upper);
}

static Value backwardPermute(Lowering &state, Value word, unsigned mask) {
  Value source = state.bitXor(state.laneId, state.constantI32(mask));
  return state.intrinsic("llvm.amdgcn.ds.bpermute", state.i32(),
                         {state.shiftLeft(source, 2), word});
}

static Value readWordXor(Lowering &state, Value word, unsigned mask, bool uniformBelow) {
  const CrossLaneInfo &can = state.target.crossLane();
  if (mask < 4 && can.quadPermute)
    return dpp(state, word, quadControl(mask));
  if (mask < 16 && can.rowXorMask)
    return dpp(state, word, RowXorMask + mask);
  if (mask == 8 && can.rowRotate)
    return dpp(state, word, RowRotateRight + 8);
  if (mask == 4 && uniformBelow && can.rowMirror)
    return dpp(state, word, RowHalfMirror);
  if (mask == 16 && can.permuteRows) {
    Value no = state.constant(state.i1(), 0);
    return state.intrinsic("llvm.amdgcn.permlanex16.i32", state.i32(),
                           {word, word, state.constantI32(0x76543210),
                            state.constantI32(int32_t(0xfedcba98)), no, no});
  }
  if (canSwap(can, mask))
    return swapped(state, word, mask);
  return backwardPermute(state, word, mask);
}

/// Applies a function on words to a value of at most 64 bits.
static Value onWords(Lowering &state, Value value, llvm::function_ref<Value(Value)> function) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  OpBuilder &builder = state.builder;
  if (bits < 32) {
    Value narrow = state.bitcast(value, builder.getIntegerType(bits));
    Value word = function(LLVM::ZExtOp::create(builder, state.loc, state.i32(), narrow));
    return state.bitcast(
        LLVM::TruncOp::create(builder, state.loc, builder.getIntegerType(bits), word), type);
  }
  if (bits == 32)
    return state.bitcast(function(state.bitcast(value, state.i32())), type);
  assert(bits == 64 && "elements have at most 64 bits");
  Value words = state.bitcast(value, VectorType::get(2, state.i32()));
  Value low = function(state.extract(words, 0)), high = function(state.extract(words, 1));
  return state.bitcast(state.buildVector({low, high}), type);
}

Value rocm::readLaneXor(Lowering &state, Value value, unsigned mask, bool uniformBelow) {
  return onWords(state, value,
                 [&](Value word) { return readWordXor(state, word, mask, uniformBelow); });
}

std::pair<Value, Value> rocm::exchangeHalves(Lowering &state, Value a, Value b, unsigned mask) {
  if (canSwap(state.target.crossLane(), mask))
    return swapRows(state, a, b, mask);
  Value hasBit = hasLaneBit(state, mask);
  Value given = state.select(hasBit, a, b);
  Value taken = readLaneXor(state, given, mask, /*uniformBelow=*/false);
  return {state.select(hasBit, taken, a), state.select(hasBit, b, taken)};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static Value readLane(Lowering &state, Value value, unsigned lane) {
  return onWords(state, value, [&](Value word) {
    return state.intrinsic("llvm.amdgcn.readlane.i32", state.i32(),
                           {word, state.constantI32(lane)});
  });
}

/// Combines rows of 16, each uniform, of a wave64 (`both` masks) or of each half of it, where rows
/// can only be broadcast upwards: the last row of the wave (half) then has the result, which is
/// read into scalar registers.
static Value combineRowsByBroadcast(Lowering &state, Value value, bool both, Combine combine) {
  auto broadcast = [&](Value from, unsigned control) {
    return onWords(state, from, [&](Value word) { return dpp(state, word, control); });
  };
  value = combine(value, broadcast(value, RowBroadcast15));
  if (both)
    return readLane(state, combine(value, broadcast(value, RowBroadcast31)), 63);
  Value isUpper = state.compare(LLVM::ICmpPredicate::uge, state.laneId, state.constantI32(32));
  return state.select(isUpper, readLane(state, value, 63), readLane(state, value, 31));
}

Value rocm::combineAcrossLanes(Lowering &state, Value value, ArrayRef<unsigned> masks,
                               Combine combine) {
  const CrossLaneInfo &can = state.target.crossLane();
  unsigned done = 0;
  for (auto [index, mask] : llvm::enumerate(masks)) {
    bool uniformBelow = (done & (mask - 1)) == mask - 1;
    bool swaps = canSwap(can, mask) && value.getType().getIntOrFloatBitWidth() == 32;
    if (swaps) {
      Value word = state.bitcast(value, state.i32());
      auto [lower, upper] = swapRows(state, word, word, mask);
      value = combine(state.bitcast(lower, value.getType()), state.bitcast(upper, value.getType()));
    } else if (mask == 16 && uniformBelow && can.rowBroadcast && state.target.waveSize() == 64) {
      bool both = index + 1 < masks.size() && masks[index + 1] == 32;
      value = combineRowsByBroadcast(state, value, both, combine);
      if (both)
        return value;
    } else {
      value = combine(value, readLaneXor(state, value, mask, uniformBelow));
    }
    done |= mask;
  }
  return value;
}
