//===- Alias.cpp - The device under HIP's other names ---------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An installed libamdhip64.so and libamdhip64.so.6 hold nothing: they need
// libamdhip64.so.7 beside them, so that a process has one device whatever name it
// asks for. (A Python wheel cannot hold links, and copies would be devices each.)
//
//===----------------------------------------------------------------------===//
