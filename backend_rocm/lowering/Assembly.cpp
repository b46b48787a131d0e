//===- Assembly.cpp - tile.inline_asm ---------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers that come one after the other are taken `pack` at a time. Narrow
// elements share words, from the lowest bits up; what a word has to spare is
// zero. Elements of 64 bits are pairs of registers to the assembler.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/lowering/Operations.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::rocm;

namespace {

/// How `pack` elements of one type lie in the assembler's registers.
struct Packing {
  Packing(Lowering &state, Type element, unsigned pack)
      : element(state.registerType(element)), pack(pack) {
    bits = this->element.getIntOrFloatBitWidth();
    perWord = bits >= 32 ? 1 : 32 / bits;
    if (bits == 1)
      perWord = 1;
    wordBits = bits == 64 ? 64 : 32;
  }

  unsigned words() const { return llvm::divideCeil(pack, perWord); }

  Type element;
  unsigned pack, bits, perWord, wordBits;
};

} // namespace

/// The words that hold `elements`.
static SmallVector<Value> packWords(Lowering &state, const Packing &packing,
                                    ArrayRef<Value> elements) {
  OpBuilder &builder = state.builder;
  Type word = builder.getIntegerType(packing.wordBits);
  SmallVector<Value> words;
  for (unsigned first = 0; first < packing.pack; first += packing.perWord) {
    Value combined;
    for (unsigned i = first; i < std::min(packing.pack, first + packing.perWord); ++i) {
      Value part = state.bitcast(elements[i], builder.getIntegerType(packing.bits));
      if (packing.bits < packing.wordBits)
        part = LLVM::ZExtOp::create(builder, state.loc, word, part);
      part = state.shiftLeft(part, (i - first) * packing.bits);
      combined = combined ? state.bitOr(combined, part) : part;
    }
    words.push_back(combined);
  }
  return words;
}

static void unpackWords(Lowering &state, const Packing &packing, ValueRange words,
                        SmallVectorImpl<Value> &elements) {
  OpBuilder &builder = state.builder;
  for (unsigned i = 0; i < packing.pack; ++i) {
    Value part = state.shiftRight(words[i / packing.perWord], i % packing.perWord * packing.bits);
    if (packing.bits < packing.wordBits)
      part = LLVM::TruncOp::create(builder, state.loc, builder.getIntegerType(packing.bits), part);
    elements.push_back(state.bitcast(part, packing.element));
  }
}

/// Checks that the constraints are for these registers.
static LogicalResult checkConstraints(tile::InlineAsmOp op, ArrayRef<Packing> results,
                                      ArrayRef<Packing> operands) {
  llvm::LLVMContext context;
  auto typesOf = [&](ArrayRef<Packing> packings) {
    SmallVector<llvm::Type *> types;
    for (const Packing &packing : packings)
      types.append(packing.words(), llvm::Type::getIntNTy(context, packing.wordBits));
    return types;
  };
  SmallVector<llvm::Type *> outputs = typesOf(results), inputs = typesOf(operands);
  llvm::Type *output =
      outputs.size() == 1 ? outputs.front() : llvm::StructType::get(context, outputs);
  llvm::Error error =
      llvm::InlineAsm::verify(llvm::FunctionType::get(output, inputs, false), op.getConstraints());
  if (!error)
    return success();
  return op.emitError() << "the constraints '" << op.getConstraints() << "' do not fit "
                        << outputs.size() << " registers of results and " << inputs.size()
                        << " of operands: " << llvm::toString(std::move(error));
}

LogicalResult rocm::lowerInlineAsm(Lowering &state, tile::InlineAsmOp op) {
  OpBuilder &builder = state.builder;
  unsigned count = Lowering::layoutOf(op.getResult(0)).registerCount(), pack = op.getPack();
  if (count % pack != 0)
    return op.emitError() << "each lane has " << count << " elements, which cannot be taken "
                          << pack << " at a time; use larger block sizes";
  auto packingOf = [&](Value value) {
    return Packing(state, cast<RankedTensorType>(value.getType()).getElementType(), pack);
  };
  SmallVector<Packing> results = llvm::map_to_vector(op.getResults(), packingOf);
  SmallVector<Packing> operands = llvm::map_to_vector(op.getOperands(), packingOf);
  if (failed(checkConstraints(op, results, operands)))
    return failure();
  SmallVector<Type> types;
  for (const Packing &packing : results)
    types.append(packing.words(), builder.getIntegerType(packing.wordBits));
  Type output = types.size() == 1
                    ? types.front()
                    : Type(LLVM::LLVMStructType::getLiteral(builder.getContext(), types));

  std::vector<SmallVector<Value>> inputs;
  for (Value operand : op.getOperands())
    inputs.push_back(state.unpack(state.registers(operand)));
  std::vector<SmallVector<Value>> outputs(results.size());
  for (unsigned first = 0; first < count; first += pack) {
    SmallVector<Value> words;
    for (auto [packing, registers] : llvm::zip_equal(operands, inputs))
      llvm::append_range(words, packWords(state, packing, ArrayRef(registers).slice(first, pack)));
    Value called = LLVM::InlineAsmOp::create(
                       builder, state.loc, output, words, op.getAssembly(), op.getConstraints(),
                       /*has_side_effects=*/op.getSideEffects(), /*is_align_stack=*/false,
                       LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
                       .getRes();
    SmallVector<Value> made{called};
    if (types.size() > 1) {
      made.clear();
      for (int64_t i = 0; i < int64_t(types.size()); ++i)
        made.push_back(LLVM::ExtractValueOp::create(builder, state.loc, called, i));
    }
    ValueRange rest = made;
    for (auto [packing, registers] : llvm::zip_equal(results, outputs)) {
      unpackWords(state, packing, rest.take_front(packing.words()), registers);
      rest = rest.drop_front(packing.words());
    }
  }
  for (auto [result, registers] : llvm::zip_equal(op.getResults(), outputs))
    state.tiles[result] = state.pack(registers);
  return success();
}
