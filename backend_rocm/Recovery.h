//===- Recovery.h - LLVM code that cannot end the process -------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM ends the process by report_fatal_error ("Cannot select ..."), by exit(1)
// or by crashing. Inside `runRecoverably` each of these comes back as text.
//
// What the interrupted code had allocated is lost, and objects that it was
// changing are in no known state: the caller must abandon them (not destroy
// them). Signal handlers and LLVM's fatal error handler are in place only while
// a call runs, and leave other threads' crashes to the handlers that were there
// before. Any number of threads may call this at once, and calls nest.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_RECOVERY_H
#define WAVETILE_BACKEND_ROCM_RECOVERY_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace wavetile::rocm {

/// Runs `work`. Returns nothing if it came to its end, else why it did not: the
/// reason that LLVM gave, or the signal.
std::optional<std::string> runRecoverably(llvm::function_ref<void()> work);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_RECOVERY_H
