//===- Hip.cpp - The one table of HIP functions ---------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip.h"

#include <dlfcn.h>
#include <link.h>
#include <string_view>

using namespace wavetile;

/// The text of the last failure of dlopen, which is for this thread only.
static std::string loaderError(const std::string &path) {
  const char *text = dlerror();
  return text ? text : path + ": cannot be loaded";
}

/// The file that a function comes from; `fallback` if the loader does not know.
static std::string fileOf(void *address, const std::string &fallback) {
  Dl_info info;
  if (dladdr(address, &info) && info.dli_fname)
    return info.dli_fname;
  return fallback;
}

Status HipLibrary::fill(void *handle, const std::string &path, HipLibrary &library) {
#define WAVETILE_FIND(member, signature, symbol)                                                   \
  library.member = reinterpret_cast<decltype(library.member)>(dlsym(handle, symbol));
  WAVETILE_HIP_FUNCTIONS(WAVETILE_FIND)
  WAVETILE_OPTIONAL_HIP_FUNCTIONS(WAVETILE_FIND)
#undef WAVETILE_FIND
#define WAVETILE_REQUIRE(member, signature, symbol)                                                \
  if (!library.member)                                                                             \
    return Status::error(ErrorKind::Device, path + " has no function " symbol);
  WAVETILE_HIP_FUNCTIONS(WAVETILE_REQUIRE)
#undef WAVETILE_REQUIRE
  library.file = fileOf(reinterpret_cast<void *>(library.getDeviceCount), path);
  return Status::success();
}

Status HipLibrary::open(const std::string &path, HipLibrary &library) {
  // RTLD_LOCAL keeps the software device's names from anyone who asks for HIP's; it binds its own
  // names to itself (-Bsymbolic), so that a HIP loaded globally does not take them over.
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::error(ErrorKind::Device, loaderError(path));
  return fill(handle, path, library);
}

static int visitLoaded(dl_phdr_info *info, size_t, void *data) {
  std::string_view path = info->dlpi_name ? info->dlpi_name : "";
  std::string_view name = path.substr(path.rfind('/') + 1);
  // PyTorch's wheels carry "libamdhip64.so", distributions "libamdhip64.so.7.0.51831".
  if (!name.starts_with("libamdhip64"))
    return 0;
  *static_cast<std::string *>(data) = path;
  return 1;
}

Status HipLibrary::openLoaded(HipLibrary &library, bool &found) {
  std::string path;
  dl_iterate_phdr(visitLoaded, &path);
  found = !path.empty();
  if (!found)
    return Status::success();
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (!handle)
    return Status::error(ErrorKind::Device, loaderError(path));
  return fill(handle, path, library);
}

static ErrorInfo describe(const HipLibrary &hip, HipError error, const std::string &what) {
  (void)hip.getLastError();
  const char *name = hip.getErrorName(error);
  const char *text = hip.getErrorString(error);
  ErrorInfo info{ErrorKind::Device, what, name ? name : "", {}};
  info.message += ": " + (name ? std::string(name) : "HIP error " + std::to_string(error));
  // Some HIPs have no better explanation than the name.
  if (text && info.hipError != text)
    info.message += std::string(": ") + text;
  return info;
}

Status HipLibrary::error(HipError error, const std::string &what) const {
  return Status::error(describe(*this, error, what));
}

Status HipLibrary::errorWithReport(HipError error, const std::string &what) const {
  ErrorInfo info = describe(*this, error, what);
  if (const char *report = lastReport ? lastReport() : nullptr)
    info.report = report;
  if (!info.report.empty())
    info.message += "\n" + info.report;
  return Status::error(std::move(info));
}
