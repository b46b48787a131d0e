//===- Nearest.h - The name that a misspelt one stands for ------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tail of an error message that says what a user may have meant.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_NEAREST_H
#define WAVETILE_PASSES_NEAREST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace wavetile {

/// "; did you mean 'x'?" with the nearest of `known`; empty if there is none.
inline std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<std::string> known) {
  llvm::StringRef nearest;
  unsigned shortest = ~0u;
  for (const std::string &candidate : known) {
    unsigned distance = name.edit_distance(candidate);
    if (distance < shortest) {
      shortest = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? std::string() : "; did you mean '" + nearest.str() + "'?";
}

} // namespace wavetile

#endif // WAVETILE_PASSES_NEAREST_H
