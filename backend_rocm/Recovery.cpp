//===- Recovery.cpp - LLVM code that cannot end the process ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/Recovery.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <mutex>

using namespace wavetile::rocm;

namespace {

/// Where the call that runs on this thread wants LLVM's last words.
thread_local std::string *lastWords = nullptr;

void handleFatalError(void *, const char *reason, bool) {
  llvm::CrashRecoveryContext *context = llvm::CrashRecoveryContext::GetCurrent();
  if (lastWords && context) {
    *lastWords = reason;
    context->HandleExit(1);
  }
  // Some other user of LLVM on another thread: what LLVM does with no handler.
  llvm::errs() << "LLVM ERROR: " << reason << "\n";
}

/// LLVM's handlers are the process's: installed by the first call that runs,
/// removed by the last.
class InstalledHandlers {
public:
  InstalledHandlers() {
    std::lock_guard<std::mutex> guard(lock);
    if (users++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      llvm::install_fatal_error_handler(handleFatalError);
    }
  }
  ~InstalledHandlers() {
    std::lock_guard<std::mutex> guard(lock);
    if (--users == 0) {
      llvm::remove_fatal_error_handler();
      llvm::CrashRecoveryContext::Disable();
    }
  }
  InstalledHandlers(const InstalledHandlers &) = delete;
  InstalledHandlers &operator=(const InstalledHandlers &) = delete;

private:
  static std::mutex lock;
  static unsigned users;
};

std::mutex InstalledHandlers::lock;
unsigned InstalledHandlers::users = 0;

} // namespace

std::optional<std::string> wavetile::rocm::runRecoverably(llvm::function_ref<void()> work) {
  InstalledHandlers handlers;
  std::string words;
  std::string *outer = lastWords;
  lastWords = &words;
  llvm::CrashRecoveryContext context;
  bool finished = context.RunSafely(work);
  lastWords = outer;
  if (finished)
    return std::nullopt;
  if (!words.empty())
    return words;
  // RunSafely reports a signal as a shell would.
  if (context.RetCode > 128)
    return std::string("LLVM crashed: ") + strsignal(context.RetCode - 128);
  return "LLVM ended with exit code " + std::to_string(context.RetCode);
}
