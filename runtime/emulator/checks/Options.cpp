//===- Options.cpp - Which checks a launch makes --------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/checks/Options.h"

#include "llvm/ADT/SmallVector.h"

namespace wavetile::device {

llvm::Expected<CheckOptions> CheckOptions::parse(llvm::StringRef list) {
  CheckOptions options{false, false, false, false, false};
  llvm::SmallVector<llvm::StringRef, 4> names;
  list.split(names, ',', -1, false);
  for (llvm::StringRef name : names) {
    name = name.trim();
    if (name == "all")
      options = CheckOptions();
    else if (name == "undefined")
      options.undefined = true;
    else if (name == "waits")
      options.waits = true;
    else if (name == "barriers")
      options.barriers = true;
    else if (name == "lds-races")
      options.ldsRaces = true;
    else if (name == "global-races")
      options.globalRaces = true;
    else if (name != "none")
      return llvm::createStringError(
          "unknown check '" + name +
          "'; there are: undefined, waits, barriers, lds-races, global-races, all, none");
  }
  return options;
}

} // namespace wavetile::device
