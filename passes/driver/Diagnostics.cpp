//===- Diagnostics.cpp - MLIR diagnostics as an error -----------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Diagnostics.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace wavetile;

static void print(llvm::raw_ostream &os, const Diagnostic &diagnostic) {
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn()
       << ": ";
  os << diagnostic.str() << "\n";
}

std::vector<FileLineColLoc> wavetile::callersOf(Location location) {
  std::vector<FileLineColLoc> callers;
  LocationAttr rest = location;
  while (auto call = rest.findInstanceOf<CallSiteLoc>()) {
    rest = call.getCaller();
    if (auto place = rest.findInstanceOf<FileLineColLoc>())
      callers.push_back(place);
  }
  return callers;
}

CollectedDiagnostics::CollectedDiagnostics(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        llvm::raw_string_ostream os(text);
        print(os, diagnostic);
        for (FileLineColLoc place : callersOf(diagnostic.getLocation()))
          os << "  called from " << place.getFilename().getValue() << ":" << place.getLine() << ":"
             << place.getColumn() << "\n";
        for (Diagnostic &note : diagnostic.getNotes()) {
          // MLIR appends the operation; the place says enough.
          if (StringRef(note.str()).starts_with("see current operation"))
            continue;
          os << "  note: ";
          print(os, note);
        }
        return success();
      }) {}

llvm::Error CollectedDiagnostics::takeError(llvm::StringRef otherwise) {
  std::string message = text.empty() ? otherwise.str() : llvm::StringRef(text).rtrim().str();
  text.clear();
  return llvm::createStringError(message);
}
