//===- DeviceCheckSupport.h - Kernels with one fault each -----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test of a check is a pair of kernels in assembly: one with exactly one fault, which must be
// found at the right instruction and in the right lane, and a twin in which nothing may be found.
//
// Kernels are written once for all targets, in gfx9's mnemonics and with these words:
//   {vcc}, {exec}   the lane masks         {b}    the width of a lane mask: b64 or b32
//   {s10}           s[10:11] or s10        vmwait(n), lgkmwait(n)   waits of the target
//
// s[4:5] is the address of 256 dwords that count from 0 and are defined, s[6:7] of 256 dwords that
// nothing has written, v0 the lane, v1 the lane times 4. Of the other registers only those named
// here are defined.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_DEVICECHECKSUPPORT_H
#define WAVETILE_TESTS_UNIT_DEVICECHECKSUPPORT_H

#include "DeviceTestSupport.h"

#include <optional>
#include <string>
#include <vector>

namespace wavetile::device::test {

/// A code object's assembly, with one kernel "test" in which \p body stands between the set-up, an
/// s_load_dwordx4, a wait and a v_lshlrev_b32, and the end, an s_endpgm.
std::string kernelText(const std::string &target, const std::string &body);

struct CheckedRun {
  std::optional<Fault> fault;
  std::vector<uint32_t> words; ///< What s[4:5] points to.
};

/// Runs one wave of a kernel in which \p body stands between the set-up and the end.
CheckedRun runChecked(const std::string &target, const std::string &body,
                      const CheckOptions &checks = {});

/// One fault, and where it must be found.
struct ExpectedFault {
  FaultKind kind;
  const char *instruction; ///< A part of the disassembly.
  int lane;
  const char *detail; ///< A part of the report.
};

/// \p faulty has the fault on each target, \p silent has none.
void expectFault(const std::vector<const char *> &targets, const std::string &faulty,
                 const std::string &silent, const ExpectedFault &expected);

} // namespace wavetile::device::test

#endif // WAVETILE_TESTS_UNIT_DEVICECHECKSUPPORT_H
