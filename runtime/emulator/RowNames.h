//===- RowNames.h - Finds rows of a table by mnemonic ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of a table names all its mnemonics in one string, separated by blanks. Of two rows with the
// same mnemonic the first one counts.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_ROWNAMES_H
#define WAVETILE_RUNTIME_EMULATOR_ROWNAMES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace wavetile::device {

inline llvm::SmallVector<llvm::StringRef, 8> splitNames(const char *names) {
  llvm::SmallVector<llvm::StringRef, 8> result;
  llvm::StringRef(names).split(result, ' ', -1, false);
  return result;
}

template <typename T> class RowsByName {
public:
  void add(const char *names, T row) {
    for (llvm::StringRef name : splitNames(names))
      map.try_emplace(name, row);
  }
  /// Null if there is none.
  T find(llvm::StringRef name) const { return map.lookup(name); }

private:
  llvm::StringMap<T> map;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_ROWNAMES_H
