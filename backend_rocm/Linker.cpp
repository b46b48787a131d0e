//===- Linker.cpp - Links an AMDGPU object in memory ----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// lld takes names of files. The input's is that of an anonymous file in memory.
// The output's cannot be: lld would create a file beside it and rename that. A
// pipe it simply writes to, and a thread drains it.
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/Linker.h"

#include "backend_rocm/Recovery.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace wavetile::rocm;

namespace {

/// A file descriptor that closes itself.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

  int get() const { return number; }
  void close() {
    if (number >= 0)
      ::close(number);
    number = -1;
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(number); }

private:
  int number;
};

llvm::Error systemError(const char *what) {
  std::error_code code(errno, std::generic_category());
  return llvm::createStringError(code, "cannot link: %s: %s", what, code.message().c_str());
}

llvm::Error writeAll(int descriptor, llvm::ArrayRef<char> bytes) {
  while (!bytes.empty()) {
    ssize_t written =
        llvm::sys::RetryAfterSignal(-1, ::write, descriptor, bytes.data(), bytes.size());
    if (written < 0)
      return systemError("write to memory file");
    bytes = bytes.drop_front(written);
  }
  return llvm::Error::success();
}

/// Reads until every write end is closed, or no byte comes although `stop` is
/// set: an lld that was interrupted may have left its end open. Returns errno,
/// 0 if all went well.
int readAll(int descriptor, const std::atomic<bool> &stop, llvm::SmallVector<char, 0> &bytes) {
  constexpr size_t chunk = 1 << 16;
  constexpr int timeoutMilliseconds = 100;
  while (true) {
    pollfd waiting{descriptor, POLLIN, 0};
    int ready = llvm::sys::RetryAfterSignal(-1, ::poll, &waiting, nfds_t(1), timeoutMilliseconds);
    if (ready < 0)
      return errno;
    if (ready == 0) {
      if (stop)
        return 0;
      continue;
    }
    size_t size = bytes.size();
    bytes.resize_for_overwrite(size + chunk);
    ssize_t count = llvm::sys::RetryAfterSignal(-1, ::read, descriptor, bytes.data() + size, chunk);
    bytes.truncate(size + std::max<ssize_t>(count, 0));
    if (count <= 0)
      return count < 0 ? errno : 0;
  }
}

/// Runs lld and returns its words if it failed.
std::optional<std::string> runLld(const std::string &input, const std::string &output) {
  // Once lld has been interrupted its globals are in no known state.
  static std::mutex lock;
  static bool usable = true;
  std::lock_guard<std::mutex> guard(lock);
  if (!usable)
    return "lld was interrupted by an earlier crash in this process";

  const char *arguments[] = {"ld.lld",      "-shared",         "--no-undefined",
                             "--threads=1", "--build-id=none", input.c_str(),
                             "-o",          output.c_str()};
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  std::string words;
  llvm::raw_string_ostream stream(words);
  lld::Result result{1, false};
  std::optional<std::string> crash =
      runRecoverably([&] { result = lld::lldMain(arguments, stream, stream, drivers); });
  usable = !crash && result.canRunAgain;
  if (crash)
    return crash;
  if (result.retCode != 0)
    return words.empty() ? "lld failed without a word" : words;
  return std::nullopt;
}

} // namespace

llvm::Expected<llvm::SmallVector<char, 0>> wavetile::rocm::linkObject(llvm::ArrayRef<char> object) {
  Descriptor input(::memfd_create("wavetile-object", MFD_CLOEXEC));
  if (input.get() < 0)
    return systemError("memfd_create");
  if (llvm::Error error = writeAll(input.get(), object))
    return error;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return systemError("pipe2");
  Descriptor readEnd(ends[0]), writeEnd(ends[1]);

  llvm::SmallVector<char, 0> bytes;
  int readError = 0;
  std::atomic<bool> stop = false;
  std::thread drain([&] { readError = readAll(readEnd.get(), stop, bytes); });
  std::optional<std::string> failure = runLld(input.path(), writeEnd.path());
  writeEnd.close();
  stop = true;
  drain.join();

  if (failure)
    return llvm::createStringError("cannot link: " + *failure);
  errno = readError;
  if (readError)
    return systemError("read from pipe");
  if (bytes.empty())
    return llvm::createStringError("cannot link: lld wrote nothing");
  return bytes;
}
