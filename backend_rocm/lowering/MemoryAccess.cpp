//===- MemoryAccess.cpp - Addresses and masks of a tile access --*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/MemoryAccess.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

/// An offset that no descriptor of ours has in range, and to which a group's constant part can
/// still be added without wrapping around. All 2^31 bytes below it are in range, so that no dword
/// of the largest tensor is lost.
constexpr int64_t outOfRangeOffset = 0x80000000;
constexpr int64_t rangeCheckedBytes = outOfRangeOffset;

TileAccess::TileAccess(Lowering &state, const AccessDescription &access)
    : state(state), access(access), memory(state.memoryType(access.element)),
      bytes(Lowering::bytesOf(memory)) {
  viewDimOf.resize(access.layout.rank(), -1);
  for (auto [viewDim, dim] : llvm::enumerate(access.place.dims))
    if (dim >= 0)
      viewDimOf[dim] = viewDim;
  readParts();
  chooseGroups();
  buildBase();
  if (access.isStore)
    canonical = state.canonicalCopy(access.layout);
  if (Value inside = fixedPlacesInside())
    canonical = conjunction(canonical, inside);
  Replication copies = access.layout.replication();
  unsigned groupDim = fastDim.value_or(0);
  if (access.layout.rank() == 0) {
    buildGroup({0});
    return;
  }
  for (const auto &registers : access.layout.vectors(groupDim, groupWidth))
    if (!access.isStore || (registers.front() & copies.registerMask) == 0)
      buildGroup(registers);
}

Value TileAccess::conjunction(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return state.bitAnd(a, b);
}

std::optional<int64_t> TileAccess::constantStrideBytes(unsigned viewDim) const {
  if (auto stride = access.view.constantStrides[viewDim])
    return *stride * int64_t(bytes);
  return std::nullopt;
}

Value TileAccess::strideBytes(unsigned viewDim) {
  if (auto constant = constantStrideBytes(viewDim))
    return state.constant(state.indexType(), *constant);
  return state.mul(access.view.strides[viewDim], state.constant(state.indexType(), bytes));
}

/// The registers of a tile, some of whose dimensions may have size one, for those of the access.
static SmallVector<Value> registersFor(Lowering &state, Value part, const Layout &layout) {
  auto sources = broadcastRegisters(Lowering::layoutOf(part), layout);
  assert(sources && "tile-assign-layouts gives indices and masks a slice of the tile's layout");
  SmallVector<Value> from = state.unpack(state.registers(part));
  return llvm::map_to_vector(*sources, [&](unsigned reg) { return from[reg]; });
}

void TileAccess::readParts() {
  for (Value tile : access.place.indices)
    indexRegisters.push_back(registersFor(state, tile, access.layout));
  if (access.place.mask)
    maskRegisters = registersFor(state, access.place.mask, access.layout);
}

/// Whether indices or the mask may differ between neighbours along a dimension of the tile.
bool TileAccess::variesAlong(unsigned dim) const {
  auto varies = [&](Value part) {
    return cast<RankedTensorType>(part.getType()).getDimSize(dim) != 1;
  };
  return llvm::any_of(access.place.indices, varies) ||
         (access.place.mask && varies(access.place.mask));
}

/// Groups run along the dimension with stride one in which a lane holds most neighbours.
void TileAccess::chooseGroups() {
  if (access.isAtomic)
    return;
  unsigned widest = state.target.globalMemory().widestAccessBits / (8 * bytes);
  for (unsigned dim = 0; dim < access.layout.rank(); ++dim) {
    if (viewDimOf[dim] < 0 || access.view.constantStrides[viewDimOf[dim]] != 1 || variesAlong(dim))
      continue;
    // A group would have to begin in its middle as well as end there.
    if (mayBeNegative(viewDimOf[dim]))
      continue;
    unsigned contiguous = std::min(access.layout.contiguousElements(dim), widest);
    if (fastDim && contiguous <= groupWidth)
      continue;
    fastDim = dim;
    groupWidth = contiguous;
  }
  bool fastInBounds = fastDim && access.inBounds && (*access.inBounds)[*fastDim];
  if (!fastDim)
    return;
  // The claim is of the innermost dimension, along which groups need not run.
  bool isInnermost = *fastDim + 1 == access.layout.rank();
  int64_t divisor = isInnermost ? access.divisor : divisorOfEnd(*fastDim);
  mayEndInGroup = groupWidth > 1 && !fastInBounds && divisor % groupWidth != 0;
}

/// Divides where a dimension of the tile ends.
int64_t TileAccess::divisorOfEnd(unsigned dim) {
  tile::ViewOp view = access.place.viewOp();
  if (!view)
    return 1;
  unsigned viewDim = viewDimOf[dim];
  return facts.divisorOfEnd(access.place.offsets[viewDim], access.place.extents[dim],
                            view.getSizes()[viewDim]);
}

bool TileAccess::mayBeNegative(unsigned viewDim) {
  return !facts.isNonNegative(access.place.offsets[viewDim]);
}

/// Whether the places in dimensions of the view along which no dimension of the tile runs lie in
/// the view; null if they do for certain.
Value TileAccess::fixedPlacesInside() {
  Value inside;
  for (auto [viewDim, dim] : llvm::enumerate(access.place.dims)) {
    if (dim >= 0 || access.place.isIndexed(viewDim))
      continue;
    Value size = access.view.sizes[viewDim];
    std::optional<int64_t> place = facts.constant(access.place.offsets[viewDim]);
    llvm::APInt number;
    if (place && *place >= 0 && matchPattern(size, m_ConstantInt(&number)) && number.sgt(*place))
      continue;
    // Unsigned, so that no negative place is below.
    inside = conjunction(inside, state.compare(LLVM::ICmpPredicate::ult,
                                               state.scalar(access.place.offsets[viewDim]), size));
  }
  return inside;
}

/// The first coordinate of the tile in dimension `dim` that is not below the view, less the wave's
/// part; null if all are not.
Value TileAccess::firstInside(unsigned dim, Value wave) {
  if (viewDimOf[dim] < 0 || !mayBeNegative(viewDimOf[dim]))
    return {};
  Type index = state.indexType();
  Value offset = state.scalar(access.place.offsets[viewDimOf[dim]]);
  constexpr int64_t beyondAnyTile = int64_t(1) << 30;
  Value first = state.sub(state.constant(index, 0), offset);
  first = LLVM::SMaxOp::create(state.builder, state.loc, first, state.constant(index, 0));
  first =
      LLVM::SMinOp::create(state.builder, state.loc, first, state.constant(index, beyondAnyTile));
  first = state.castInteger(first, state.i32());
  return wave ? state.sub(first, wave) : first;
}

/// The pointer to element (offsets) plus the wave's part, and what each dimension may not reach.
void TileAccess::buildBase() {
  Type index = state.indexType();
  Value uniform;
  auto addProduct = [&](Value number, unsigned viewDim) {
    Value product = state.mul(state.castInteger(number, index), strideBytes(viewDim));
    uniform = uniform ? state.add(uniform, product) : product;
  };
  for (auto [viewDim, offset] : llvm::enumerate(access.place.offsets))
    if (!access.place.isIndexed(viewDim))
      addProduct(state.scalar(offset), viewDim);
  for (unsigned dim = 0; dim < access.layout.rank(); ++dim) {
    Lowering::Stand stand = state.stand(access.layout, dim);
    bool isUniformPart = access.layout.addsRegisters() && access.layout.hasDisjointFields();
    if (stand.wave && isUniformPart && viewDimOf[dim] >= 0)
      addProduct(stand.wave, viewDimOf[dim]);
    if (access.inBounds && (*access.inBounds)[dim]) {
      limits.push_back(Value());
      firsts.push_back(Value());
      continue;
    }
    Value limit = state.scalar(access.place.extents[dim]);
    if (int viewDim = viewDimOf[dim]; viewDim >= 0) {
      Value left =
          state.sub(access.view.sizes[viewDim], state.scalar(access.place.offsets[viewDim]));
      limit = LLVM::SMinOp::create(state.builder, state.loc, limit, left);
    }
    // What is left may be less than any i32.
    if (state.wide)
      limit =
          LLVM::SMaxOp::create(state.builder, state.loc, limit, state.constant(limit.getType(), 0));
    limit = state.castInteger(limit, state.i32());
    Value wave = isUniformPart ? stand.wave : Value();
    if (wave)
      limit = state.sub(limit, wave);
    limits.push_back(limit);
    firsts.push_back(firstInside(dim, wave));
  }
  base = access.view.pointer;
  if (uniform)
    base =
        LLVM::GEPOp::create(state.builder, state.loc, base.getType(), state.builder.getI8Type(),
                            base, ArrayRef<LLVM::GEPArg>{state.castInteger(uniform, state.i64())});
}

/// Adds what the indices of the group's elements give to its offset, and what they and the mask
/// leave out to its mask.
void TileAccess::addIndices(Group &group) {
  unsigned first = group.registers.front();
  if (!maskRegisters.empty())
    group.mask = conjunction(group.mask, maskRegisters[first]);
  for (auto [viewDim, registers] : llvm::zip_equal(access.place.indexDims, indexRegisters)) {
    Value number = registers[first];
    // Compared in full: an index that is far too large must not wrap around to one that is not.
    Type type = number.getType().getIntOrFloatBitWidth() < 64 ? state.indexType() : state.i64();
    number = state.castInteger(number, type);
    if (facts.constant(access.place.offsets[viewDim]) != 0)
      number =
          state.add(number, state.castInteger(state.scalar(access.place.offsets[viewDim]), type));
    // Unsigned, so that no negative index is below.
    Value inside = state.compare(LLVM::ICmpPredicate::ult, number,
                                 state.castInteger(access.view.sizes[viewDim], type));
    group.mask = conjunction(group.mask, inside);
    Value product = state.mul(state.castInteger(number, state.indexType()), strideBytes(viewDim));
    group.offset = group.offset ? state.add(group.offset, product) : product;
  }
}

void TileAccess::buildGroup(ArrayRef<unsigned> registers) {
  const Layout &layout = access.layout;
  Group group;
  group.registers.assign(registers.begin(), registers.end());
  Coordinates constants = layout.coordinates(registers.front());
  bool splits = layout.addsRegisters() && layout.hasDisjointFields();
  Type index = state.indexType();
  int64_t constantOffset = 0;
  group.mask = canonical;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    Lowering::Stand stand = state.stand(layout, dim);
    Value place = stand.lane;
    int64_t constant = constants[dim];
    if (!splits) {
      // Registers, lanes and waves mix: the coordinate is one XOR of all three.
      if (stand.wave)
        place = place ? state.bitXor(place, stand.wave) : stand.wave;
      if (constant)
        place =
            place ? state.bitXor(place, state.constantI32(constant)) : state.constantI32(constant);
      constant = 0;
    }
    int viewDim = viewDimOf[dim];
    if (place && viewDim >= 0) {
      Value product = state.mul(state.castInteger(place, index), strideBytes(viewDim));
      group.offset = group.offset ? state.add(group.offset, product) : product;
    }
    if (constant && viewDim >= 0) {
      if (auto stride = constantStrideBytes(viewDim)) {
        constantOffset += constant * *stride;
      } else {
        Value product = state.mul(state.constant(index, constant), strideBytes(viewDim));
        // Where no lane of the group is inside, the product may be anything; hardware subtracts it
        // from num_records in 32 bits, so that the range check could let lanes through.
        if (limits[dim] && !state.wide)
          product = state.select(
              state.compare(LLVM::ICmpPredicate::sgt, limits[dim], state.constantI32(constant)),
              product, state.constant(index, 0));
        group.uniformOffset =
            group.uniformOffset ? state.add(group.uniformOffset, product) : product;
      }
    }
    if (!limits[dim])
      continue;
    Value lanePlace = place ? place : state.constantI32(0);
    if (Value first = firsts[dim]) {
      if (constant)
        first = state.sub(first, state.constantI32(constant));
      group.mask =
          conjunction(group.mask, state.compare(LLVM::ICmpPredicate::sge, lanePlace, first));
    }
    Value limit = constant ? state.sub(limits[dim], state.constantI32(constant)) : limits[dim];
    auto below = [&](Value bound) {
      return state.compare(LLVM::ICmpPredicate::slt, lanePlace, bound);
    };
    if (dim != fastDim || !mayEndInGroup) {
      Value inside = below(limit);
      group.mask = conjunction(group.mask, inside);
      continue;
    }
    group.rest = state.sub(limit, lanePlace);
  }
  addIndices(group);
  if (constantOffset) {
    Value constant = state.constant(index, constantOffset);
    group.offset = group.offset ? state.add(group.offset, constant) : constant;
  }
  if (!group.offset)
    group.offset = state.constant(index, 0);
  if (group.rest) {
    Value width = state.constantI32(groupWidth), zero = state.constantI32(0);
    Value some = state.compare(LLVM::ICmpPredicate::sgt, group.rest, zero);
    Value whole = state.compare(LLVM::ICmpPredicate::sge, group.rest, width);
    Value part = state.bitAnd(some, state.bitXor(whole, state.constant(state.i1(), 1)));
    group.hasRest = conjunction(group.mask, part);
    group.mask = conjunction(group.mask, whole);
  }
  accessGroups.push_back(std::move(group));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

Value TileAccess::bufferResource() {
  if (resource)
    return resource;
  Type type = LLVM::LLVMPointerType::get(state.builder.getContext(), BufferResourceSpace);
  Value stride = state.constant(state.builder.getI16Type(), 0);
  Value records = state.constant(state.i64(), rangeCheckedBytes);
  Value flags = state.constantI32(int32_t(state.target.bufferResource().word3));
  resource = state.intrinsic("llvm.amdgcn.make.buffer.rsrc", type, {base, stride, records, flags});
  return resource;
}

Value TileAccess::bufferOffset(const Group &group, Value extraBytes, Value mask) {
  Value offset = group.offset;
  if (extraBytes)
    offset = state.add(offset, extraBytes);
  if (mask)
    offset = state.select(mask, offset, state.constantI32(int32_t(outOfRangeOffset)));
  return offset;
}

Value TileAccess::wideAddress(const Group &group, Value extraBytes) {
  Value offset = group.offset;
  if (group.uniformOffset)
    offset = state.add(offset, group.uniformOffset);
  if (extraBytes)
    offset = state.add(offset, state.castInteger(extraBytes, state.i64()));
  return LLVM::GEPOp::create(state.builder, state.loc, base.getType(), state.builder.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{offset});
}

Value TileAccess::address(const Group &group) {
  Value offset = group.offset;
  if (group.uniformOffset)
    offset = state.add(offset, group.uniformOffset);
  return LLVM::GEPOp::create(state.builder, state.loc, base.getType(), state.builder.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{offset});
}

/// Memory instructions move whole words; narrower pieces move as one integer.
static Type wordType(OpBuilder &builder, unsigned bytes) {
  if (bytes <= 4)
    return builder.getIntegerType(8 * bytes);
  return VectorType::get(bytes / 4, builder.getI32Type());
}

Value TileAccess::load(const Group &group, unsigned count, Value extraBytes, Value mask) {
  OpBuilder &builder = state.builder;
  Type words = wordType(builder, count * bytes);
  Type type = count == 1 ? memory : Type(VectorType::get(count, memory));
  if (!state.wide) {
    Value zero = state.constantI32(0);
    Value uniform = group.uniformOffset ? group.uniformOffset : zero;
    Value loaded =
        state.intrinsic("llvm.amdgcn.raw.ptr.buffer.load", words,
                        {bufferResource(), bufferOffset(group, extraBytes, mask), uniform, zero});
    return state.bitcast(loaded, type);
  }
  auto access = [&]() -> SmallVector<Value> {
    return {LLVM::LoadOp::create(builder, state.loc, words, wideAddress(group, extraBytes), bytes)};
  };
  Value loaded =
      mask ? state.conditional(mask, state.constant(words, 0), access).front() : access().front();
  return state.bitcast(loaded, type);
}

void TileAccess::store(const Group &group, Value value, Value extraBytes, Value mask) {
  OpBuilder &builder = state.builder;
  auto vector = dyn_cast<VectorType>(value.getType());
  unsigned count = vector ? vector.getNumElements() : 1;
  Value words = state.bitcast(value, wordType(builder, count * bytes));
  if (!state.wide) {
    Value zero = state.constantI32(0);
    Value uniform = group.uniformOffset ? group.uniformOffset : zero;
    state.intrinsicVoid(
        "llvm.amdgcn.raw.ptr.buffer.store",
        {words, bufferResource(), bufferOffset(group, extraBytes, mask), uniform, zero});
    return;
  }
  auto access = [&]() -> SmallVector<Value> {
    LLVM::StoreOp::create(builder, state.loc, words, wideAddress(group, extraBytes), bytes);
    return {};
  };
  if (mask)
    state.conditional(mask, {}, access);
  else
    access();
}
