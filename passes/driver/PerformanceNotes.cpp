//===- PerformanceNotes.cpp - What is legal and slow ------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/driver/PerformanceNotes.h"

#include "passes/IndexFacts.h"
#include "passes/MatrixLayouts.h"
#include "passes/Place.h"
#include "passes/TargetInfo.h"
#include "passes/driver/Diagnostics.h"

#include "ir/Tile.h"

using namespace mlir;
using namespace wavetile;
using namespace wavetile::tile;

/// Arithmetic of f64 is slow if it takes this many times as long as that of f32.
static constexpr unsigned slowDouble = 4;
/// A product is slow if it takes this many times as long as one of 16-bit operands.
static constexpr double slowProduct = 4;

static PerformanceNote noteAt(Operation *op) {
  PerformanceNote note;
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>()) {
    note.file = place.getFilename().str();
    note.line = place.getLine();
    note.column = place.getColumn();
  }
  for (FileLineColLoc place : callersOf(op->getLoc()))
    note.callers.emplace_back(place.getFilename().str(), place.getLine(), place.getColumn());
  return note;
}

void PerformanceNotes::add(Operation *op, std::string message, std::string remedy) {
  PerformanceNote note = noteAt(op);
  // Passes make several operations of one line.
  for (const PerformanceNote &other : notes)
    if (other.line == note.line && other.file == note.file && other.message == message)
      return;
  note.message = std::move(message);
  note.remedy = std::move(remedy);
  notes.push_back(std::move(note));
}

PerformanceNotes::PerformanceNotes(ModuleOp module, const TargetInfo &target) : target(target) {
  for (ProgramOp program : module.getOps<ProgramOp>()) {
    Operation *work = nullptr;
    program.walk([&](Operation *op) {
      if (isa<LoadOp, StoreOp>(op))
        addAccess(op);
      else if (isa<DotOp>(op))
        addProduct(op);
      if (!saidDouble && target.arithmetic().f32PerF64 >= slowDouble)
        addDouble(op);
      if (!work && isa<ReduceOp, DotOp>(op))
        work = op;
    });
    places[program.getSymName().str()] = noteAt(work ? work : program);
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static std::string nameOf(ViewOp view) {
  StringAttr name = getTensorName(view);
  return name ? "`" + name.str() + "`" : "the tensor";
}

/// Whether indices or the mask may differ between neighbours along a dimension of the tile.
static bool variesAlong(const Place &place, unsigned dim) {
  auto varies = [&](Value part) {
    return cast<RankedTensorType>(part.getType()).getDimSize(dim) != 1;
  };
  return llvm::any_of(place.indices, varies) || (place.mask && varies(place.mask));
}

/// Lanes move vectors along dimensions of stride one, as many neighbours as they hold.
void PerformanceNotes::addAccess(Operation *op) {
  std::optional<Place> place = Place::of(op);
  LayoutAttr layout = place ? getLayout(place->tile) : LayoutAttr();
  ViewOp view = place ? place->viewOp() : ViewOp();
  if (!layout || !view || layout.getLayout().registerCount() < 2 || place->tile.getRank() == 0)
    return;
  IndexFacts facts;
  std::string why =
      "no dimension of the tile runs along one of " + nameOf(view) + " whose stride is 1";
  std::string remedy = "make that tensor contiguous along a dimension that is loaded as a whole,"
                       " such as x.contiguous() in host code";
  for (auto [viewDim, dim] : llvm::enumerate(place->dims)) {
    if (dim < 0 || facts.constant(view.getStrides()[viewDim]) != 1)
      continue;
    // How many elements a lane holds there is the compiler's own choice.
    if (!variesAlong(*place, dim) && facts.isNonNegative(place->offsets[viewDim]))
      return;
    if (variesAlong(*place, dim)) {
      why = "indices or a mask may differ from one element to the next";
      remedy = "index by the variable of the loop where the elements are neighbours";
    } else {
      why = "the index along the dimension of " + nameOf(view) +
            " whose stride is 1 may be negative, so that a vector may begin outside";
      remedy = "begin the loop so that no index is negative";
    }
  }
  for (unsigned viewDim : place->indexDims)
    if (facts.constant(view.getStrides()[viewDim]) == 1) {
      why = "its places along the dimension of " + nameOf(view) +
            " whose stride is 1 are given one by one";
      remedy = "index by the variable of the loop where the elements are neighbours";
    }
  std::string what = isa<LoadOp>(op) ? "load" : "store";
  add(op, "this " + what + " moves single elements, not vectors: " + why, remedy);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Products in a cycle of a SIMD by the fastest matrix instruction for a type; 0 if there is none.
static double productsPerCycle(const TargetInfo &target, ElementKind kind) {
  double best = 0;
  for (const MatrixInstruction &instruction : target.matrixInstructions())
    if (instruction.a.element == kind && instruction.cycles > 0)
      best = std::max(best,
                      double(instruction.m) * instruction.n * instruction.k / instruction.cycles);
  return best;
}

void PerformanceNotes::addProduct(Operation *op) {
  Type element = cast<DotOp>(op).getLhs().getType().getElementType();
  if (!element.isF32())
    return;
  double own = productsPerCycle(target, ElementKind::F32);
  double narrow = productsPerCycle(target, ElementKind::BF16);
  std::string name = target.name().str();
  std::string remedy = "convert the operands with .to(torch.bfloat16) or .to(torch.float16) where"
                       " their precision will do";
  if (own == 0 && narrow > 0)
    add(op, "a product of f32 on " + name + ", which has no matrix instruction for it", remedy);
  else if (own > 0 && narrow / own >= slowProduct)
    add(op,
        "a product of f32 on " + name + " takes " + std::to_string(int(narrow / own + 0.5)) +
            " times as long as one of 16-bit floats",
        remedy);
}

void PerformanceNotes::addDouble(Operation *op) {
  bool computes = isa<ReduceOp, ScanOp, DotOp>(op) ||
                  op->getName().getDialectNamespace() == "arith" ||
                  op->getName().getDialectNamespace() == "math";
  auto isDouble = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isF64();
  };
  if (!computes || !llvm::any_of(op->getOperandTypes(), isDouble) ||
      !llvm::any_of(op->getResultTypes(), isDouble))
    return;
  saidDouble = true;
  add(op,
      target.name().str() + " computes f64 at 1/" + std::to_string(target.arithmetic().f32PerF64) +
          " of the rate of f32",
      "compute in f32 where its precision will do");
}

void PerformanceNotes::addSpills(const std::map<std::string, unsigned> &spilledRegisters) {
  for (const auto &[symbol, count] : spilledRegisters) {
    if (count == 0)
      continue;
    auto place = places.find(symbol);
    if (place == places.end())
      continue;
    PerformanceNote note = place->second;
    note.message = std::to_string(count) + " registers of each lane are spilled to memory";
    note.remedy = "give the Config smaller blocks, more waves, or rows that are looped";
    notes.push_back(std::move(note));
  }
}
