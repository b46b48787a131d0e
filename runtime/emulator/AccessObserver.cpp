//===- AccessObserver.cpp - What memory instructions tell the checks ------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/AccessObserver.h"

using namespace wavetile::device;

bool AccessObservers::report(Wave &wave, const MemoryAccess &access) const {
  for (unsigned i = 0; i < count; ++i)
    if (!list[i].function(list[i].self, wave, access))
      return false;
  return true;
}
