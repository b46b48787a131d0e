//===- Options.h - Which checks a launch makes ----------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_CHECKS_OPTIONS_H
#define WAVETILE_RUNTIME_EMULATOR_CHECKS_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace wavetile::device {

/// With all of these off, a launch pays nothing for them.
struct CheckOptions {
  /// Undefined values that decide something.
  bool undefined = true;
  /// Registers and LDS used before the wait that covers their load.
  bool waits = true;
  /// Barriers that a wave which had met earlier ones never meets.
  bool barriers = true;
  /// Races between the waves of a workgroup in LDS.
  bool ldsRaces = true;
  /// Races in global memory. A launch in which they are looked for runs on one thread.
  bool globalRaces = true;

  bool any() const { return undefined || waits || races(); }
  bool races() const { return ldsRaces || globalRaces; }

  /// From a list such as "undefined,waits"; "all" and "none" are known too. Fails for an unknown
  /// name, and says which there are.
  static llvm::Expected<CheckOptions> parse(llvm::StringRef list);
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_CHECKS_OPTIONS_H
