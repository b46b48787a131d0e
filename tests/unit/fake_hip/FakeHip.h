//===- FakeHip.h - Drives the fake HIP libraries ----------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_FAKE_HIP_FAKEHIP_H
#define WAVETILE_TESTS_UNIT_FAKE_HIP_FAKEHIP_H

#include <cstddef>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

namespace wavetile {

/// The controls of one fake library (see FakeHip.cpp), by path.
struct FakeHip {
  explicit FakeHip(const char *path) : path(path), handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle)
      ADD_FAILURE() << dlerror();
    reset();
  }
  void reset(int deviceCount = 2) { call<void(int)>("fakeReset")(deviceCount); }
  void failCall(int number) { call<void(int)>("fakeFailCall")(number); }
  void setCapturing(bool capturing) { call<void(bool)>("fakeSetCapturing")(capturing); }
  std::string log() { return call<const char *()>("fakeLog")(); }
  size_t outstanding() { return call<size_t()>("fakeOutstanding")(); }

  std::string path;

private:
  template <typename Signature> Signature *call(const char *name) {
    return reinterpret_cast<Signature *>(dlsym(handle, name));
  }
  void *handle;
};

inline FakeHip &fakeGpu() {
  static FakeHip library(WAVETILE_FAKE_GPU);
  return library;
}
inline FakeHip &fakeSoftwareDevice() {
  static FakeHip library(WAVETILE_FAKE_SOFTWARE_DEVICE);
  return library;
}

} // namespace wavetile

#endif // WAVETILE_TESTS_UNIT_FAKE_HIP_FAKEHIP_H
