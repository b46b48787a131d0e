//===- Assembly.cpp - tile.inline_asm ----------------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU's own instructions, in AT&T's syntax. Elements that lie one after the other are taken
// `pack` at a time; what of them shares a register is read from memory as one integer.
//
//===----------------------------------------------------------------------===//

#include "tests/backend_host/Lowering.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::host;

namespace {

/// The registers for `pack` elements of a tile.
class Registers {
public:
  Registers(Lowering &state, Value tile, unsigned pack)
      : state(state), base(state.tile(tile)), element(tileType(tile).getElementType()), pack(pack) {
    bits = element.isInteger(1) ? registerBits : state.bytesOf(element) * 8;
    each = std::max(1u, registerBits / bits);
  }

  unsigned count() const { return llvm::divideCeil(pack, each); }
  unsigned width() const { return std::max(bits, registerBits); }
  Type type() const { return state.builder.getIntegerType(width()); }

  /// Register `number` of those of the elements from `first` on.
  Value read(Value first, unsigned number) const;
  void write(Value first, unsigned number, Value value) const;

private:
  static constexpr unsigned registerBits = 32;

  /// The integer in memory that is a register's lowest bits.
  Type part(unsigned number) const {
    if (element.isInteger(1))
      return element;
    unsigned elements = std::min(each, pack - number * each);
    return state.builder.getIntegerType(elements * bits);
  }
  Value placeOf(Value first, unsigned number) const {
    return state.address(base, element, state.add(first, state.number(number * each)));
  }

  Lowering &state;
  Value base;
  Type element;
  unsigned pack, bits, each;
};

} // namespace

Value Registers::read(Value first, unsigned number) const {
  Value value = state.load(placeOf(first, number), part(number), state.number(0));
  if (value.getType() == type())
    return value;
  return arith::ExtUIOp::create(state.builder, state.loc, type(), value);
}

void Registers::write(Value first, unsigned number, Value value) const {
  if (Type narrow = part(number); narrow != type())
    value = arith::TruncIOp::create(state.builder, state.loc, narrow, value);
  state.store(placeOf(first, number), part(number), state.number(0), value);
}

/// What is wrong with the constraints; LLVM itself takes them for right.
static llvm::Error checkConstraints(StringRef constraints, ArrayRef<Registers> results,
                                    ArrayRef<Registers> operands) {
  llvm::LLVMContext context;
  auto typesOf = [&](ArrayRef<Registers> all) {
    SmallVector<llvm::Type *> types;
    for (const Registers &registers : all)
      types.append(registers.count(), llvm::Type::getIntNTy(context, registers.width()));
    return types;
  };
  SmallVector<llvm::Type *> made = typesOf(results);
  llvm::Type *result = made.size() == 1 ? made.front() : llvm::StructType::get(context, made);
  return llvm::InlineAsm::verify(llvm::FunctionType::get(result, typesOf(operands), false),
                                 constraints);
}

LogicalResult host::lowerInlineAsm(Lowering &state, tile::InlineAsmOp op) {
  OpBuilder &builder = state.builder;
  int64_t elements = tileType(op.getResult(0)).getNumElements(), pack = op.getPack();
  if (elements % pack != 0)
    return op.emitError() << "a tile of " << elements << " elements cannot be taken " << pack
                          << " at a time; use larger block sizes";
  auto registersOf = [&](Value tile) { return Registers(state, tile, pack); };
  for (Value result : op.getResults())
    state.allocateTile(result);
  SmallVector<Registers> results = llvm::map_to_vector(op.getResults(), registersOf);
  SmallVector<Registers> operands = llvm::map_to_vector(op.getOperands(), registersOf);
  if (llvm::Error error = checkConstraints(op.getConstraints(), results, operands))
    return op.emitError() << "the constraints '" << op.getConstraints()
                          << "' do not fit the registers of results and operands: "
                          << llvm::toString(std::move(error));
  SmallVector<Type> types;
  for (const Registers &registers : results)
    types.append(registers.count(), registers.type());
  Type made = types.size() == 1
                  ? types.front()
                  : Type(LLVM::LLVMStructType::getLiteral(builder.getContext(), types));

  state.forEach({elements / pack}, [&](ValueRange step) {
    Value first = state.mul(step[0], state.number(pack));
    SmallVector<Value> inputs;
    for (const Registers &registers : operands)
      for (unsigned number = 0; number < registers.count(); ++number)
        inputs.push_back(registers.read(first, number));
    Value outputs = LLVM::InlineAsmOp::create(builder, state.loc, made, inputs, op.getAssembly(),
                                              op.getConstraints(), op.getSideEffects(),
                                              /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                              LLVM::AsmDialectAttr(), ArrayAttr())
                        .getRes();
    int64_t at = 0;
    for (const Registers &registers : results)
      for (unsigned number = 0; number < registers.count(); ++number, ++at)
        registers.write(
            first, number,
            types.size() == 1
                ? outputs
                : LLVM::ExtractValueOp::create(builder, state.loc, outputs, at).getResult());
  });
  return success();
}
