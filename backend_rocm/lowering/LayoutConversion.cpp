//===- LayoutConversion.cpp - tile.convert_layout ---------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By the cheapest means that fits, as `Conversion` classifies: nothing, other
// registers, a butterfly between lanes, an exchange of registers between lanes,
// or LDS with a swizzle that keeps both sides free of bank conflicts where one
// exists.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/LdsAccess.h"
#include "backend_rocm/lowering/Operations.h"
#include "ir/LdsBanks.h"

#include <numeric>
#include <tuple>

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// Whether every destination register is one register of lane ^ mask.
static bool isButterfly(const Conversion &conversion, unsigned registers) {
  if (conversion.registerSelectLanes())
    return false;
  for (unsigned reg = 0; reg < registers; ++reg)
    if (!conversion.laneXorMask(reg))
      return false;
  return true;
}

static SmallVector<Value> convertByLanes(Lowering &state, const Conversion &conversion,
                                         ArrayRef<Value> source, unsigned registers) {
  SmallVector<Value> result;
  for (unsigned reg = 0; reg < registers; ++reg) {
    unsigned mask = *conversion.laneXorMask(reg);
    Value from = source[conversion.source({reg, 0, 0}).reg];
    result.push_back(mask ? readLaneXor(state, from, mask, /*uniformBelow=*/false) : from);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

namespace {

/// A conversion that swaps bits of the register number with bits of the lane number (and permutes
/// registers): lanes that differ in the bit trade half of their registers.
struct Exchange {
  struct Swap {
    unsigned registerBit; // of the source
    unsigned laneBit;
  };
  SmallVector<Swap, 4> swaps;

  /// None if `conversion` does something else as well, or would tear words of `perWord` registers.
  static std::optional<Exchange> find(const Conversion &conversion, const Layout &to,
                                      unsigned perWord);
};

} // namespace

std::optional<Exchange> Exchange::find(const Conversion &conversion, const Layout &to,
                                       unsigned perWord) {
  const LinearMap &map = conversion.atom();
  Exchange exchange;
  unsigned swappedRegisters = 0, swappedLanes = 0;
  for (unsigned bit = 0; (1u << bit) < to.laneCount(); ++bit) {
    Coordinates source = map.basis(1, bit); // register, lane, wave
    if (source[0] == 0 && source[1] == int64_t(1) << bit && source[2] == 0)
      continue;
    unsigned reg = source[0];
    if (source[1] != 0 || source[2] != 0 || !llvm::isPowerOf2_32(reg) || reg < perWord ||
        (swappedRegisters & reg))
      return std::nullopt;
    exchange.swaps.push_back({llvm::Log2_32(reg), bit});
    swappedRegisters |= reg;
    swappedLanes |= 1u << bit;
  }
  for (unsigned bit = 0; (1u << bit) < to.atomRegisterCount(); ++bit) {
    Coordinates source = map.basis(0, bit);
    if (source[2] != 0 || (source[0] & swappedRegisters) || (source[1] & ~int64_t(swappedLanes)))
      return std::nullopt;
  }
  for (unsigned bit = 0; (1u << bit) < to.waveCount(); ++bit) {
    Coordinates source = map.basis(2, bit);
    if (source[0] != 0 || source[1] != 0 || source[2] != int64_t(1) << bit)
      return std::nullopt;
  }
  return exchange;
}

static SmallVector<Value> convertByExchange(Lowering &state, const Conversion &conversion,
                                            const Exchange &exchange, ArrayRef<Value> source,
                                            unsigned registers) {
  Type element = source.front().getType();
  unsigned perWord = std::max(1u, 4 / Lowering::bytesOf(element));
  Type word = perWord == 1 ? element : Type(VectorType::get(perWord, element));
  SmallVector<Value> words;
  for (unsigned reg = 0; reg < source.size(); reg += perWord)
    words.push_back(state.bitcast(state.buildVector(source.slice(reg, perWord)), state.i32()));
  for (const Exchange::Swap &swap : exchange.swaps) {
    unsigned step = (1u << swap.registerBit) / perWord;
    for (unsigned low = 0; low < words.size(); ++low)
      if ((low & step) == 0)
        std::tie(words[low], words[low + step]) =
            exchangeHalves(state, words[low], words[low + step], 1u << swap.laneBit);
  }
  SmallVector<Value> exchanged;
  for (Value value : words) {
    Value elements = state.bitcast(value, word);
    for (unsigned i = 0; i < perWord; ++i)
      exchanged.push_back(perWord == 1 ? elements : state.extract(elements, i));
  }
  SmallVector<Value> result;
  for (unsigned reg = 0; reg < registers; ++reg) {
    Position from = conversion.source({reg, 0, 0});
    unsigned place = from.reg;
    for (const Exchange::Swap &swap : exchange.swaps)
      if (from.lane >> swap.laneBit & 1)
        place |= 1u << swap.registerBit;
    result.push_back(exchanged[place]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Through LDS
//===----------------------------------------------------------------------===//

static SmallVector<Value> convertThroughLds(Lowering &state, const Layout &from, const Layout &to,
                                            ArrayRef<Value> source) {
  Type element = source.front().getType();
  bool isFlag = element.isInteger(1);
  SmallVector<Value> values(source);
  if (isFlag) {
    element = state.builder.getI8Type();
    for (Value &value : values)
      value = LLVM::ZExtOp::create(state.builder, state.loc, element, value);
  }
  // Elements lie along the dimension in which a lane reads most neighbours.
  SmallVector<unsigned> order(from.rank());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    auto run = [&](unsigned dim) {
      return std::pair(to.contiguousElements(dim), from.contiguousElements(dim));
    };
    return std::pair(run(a), a) > std::pair(run(b), b);
  });
  LdsUse uses[] = {{from, state.target.lds().writes}, {to, state.target.lds().reads}};
  Layout lds = chooseSwizzle(from.shape(), order, Lowering::bytesOf(element), uses).layout;
  unsigned base = state.allocateLds(lds.allocatedElements() * Lowering::bytesOf(element));
  if (state.enclosingLoop)
    state.workgroupBarrier();
  writeLds(state, {base, {}, lds}, from, values);
  state.workgroupBarrier();
  SmallVector<Value> result = readLds(state, {base, {}, lds}, to, element);
  if (isFlag)
    for (Value &value : result)
      value = LLVM::TruncOp::create(state.builder, state.loc, state.i1(), value);
  return result;
}

LogicalResult rocm::lowerConvertLayout(Lowering &state, tile::ConvertLayoutOp op) {
  const Layout &from = Lowering::layoutOf(op.getSource());
  const Layout &to = Lowering::layoutOf(op.getResult());
  Conversion conversion(from, to);
  if (conversion.kind() == Conversion::Kind::None) {
    state.tiles[op.getResult()] = state.registers(op.getSource());
    return success();
  }
  SmallVector<Value> source = state.unpack(state.registers(op.getSource()));
  unsigned registers = to.registerCount();
  SmallVector<Value> result;
  if (conversion.kind() == Conversion::Kind::Registers) {
    for (unsigned reg = 0; reg < registers; ++reg)
      result.push_back(source[conversion.sourceRegister(reg)]);
  } else if (conversion.kind() == Conversion::Kind::Wave && isButterfly(conversion, registers)) {
    result = convertByLanes(state, conversion, source, registers);
  } else {
    Type element = source.front().getType();
    unsigned bits = element.getIntOrFloatBitWidth();
    std::optional<Exchange> exchange;
    if (conversion.kind() == Conversion::Kind::Wave && bits >= 8 && bits <= 32)
      exchange = Exchange::find(conversion, to, 32 / bits);
    result = exchange ? convertByExchange(state, conversion, *exchange, source, registers)
                      : convertThroughLds(state, from, to, source);
  }
  state.tiles[op.getResult()] = state.pack(result);
  return success();
}
