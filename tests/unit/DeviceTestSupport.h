//===- DeviceTestSupport.h - Programs for tests of the emulator -----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles LLVM IR or assembly with clang and runs it on the emulator, without HIP.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_DEVICETESTSUPPORT_H
#define WAVETILE_TESTS_UNIT_DEVICETESTSUPPORT_H

#include "evidence/LoadedCode.h"

#include "runtime/emulator/AlignedArray.h"
#include "runtime/emulator/CodeObject.h"
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Target.h"
#include "runtime/emulator/Wave.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wavetile::device::test {

inline const char *const targetNames[] = {"gfx942", "gfx950", "gfx1150"};

/// Runs clang with these options on \p source; the bytes that it made. Fails the test with clang's
/// words otherwise.
std::vector<uint8_t> compile(const std::string &source, const std::string &extension,
                             const std::string &options);

/// The code of each of several programs, an `s_endpgm` at its end. The assembler runs once.
std::vector<std::vector<uint8_t>> assemble(const std::string &target,
                                           const std::vector<std::string> &programs,
                                           uint32_t waveSize = 0);

/// A linked code object, loaded.
class LoadedObject {
public:
  /// From LLVM IR ("ll"), OpenCL C ("cl") or assembly ("s").
  LoadedObject(const std::string &target, const std::string &source, const std::string &extension,
               const std::string &options = "-O2");

  /// Launches a kernel of this object. \p arguments are the bytes of the explicit arguments.
  LaunchResult run(const std::string &kernel, const std::vector<uint64_t> &arguments,
                   std::array<uint32_t, 3> grid, std::array<uint32_t, 3> workgroup,
                   uint32_t dynamicLds = 0);

  /// Of each launch, so that a test ends.
  uint64_t instructionLimit = 100'000'000;
  unsigned threads = 1;
  CheckOptions checks;
  MemoryMap memory;
  std::unique_ptr<CodeObject> object;
  std::unique_ptr<Program> program;

private:
  evidence::LoadedCode loaded;
};

/// A wave without a program, and its vector registers, all 0.
class BareWave {
public:
  BareWave(uint32_t waveSize, bool clearsHighHalf, uint32_t rows = vectorRows);

  uint32_t *registers() const { return storage.get(); }
  Wave *operator->() const { return wave.get(); }
  Wave &operator*() const { return *wave; }

private:
  std::unique_ptr<Wave> wave;
  AlignedArray<uint32_t> storage;
};

/// One wave with registers that a test fills and reads, for single instructions.
class WaveUnderTest {
public:
  /// \p assembly is a list of instructions; the end of the program is added. Waves of 0 lanes: as
  /// many as those of the target have by themselves.
  WaveUnderTest(const std::string &target, const std::string &assembly, uint32_t waveSize = 0);
  /// \p code is what `assemble` made.
  WaveUnderTest(const std::string &target, std::vector<uint8_t> code, uint32_t waveSize = 0);

  uint32_t &vgpr(unsigned index, unsigned lane) { return wave->vectorRow(index)[lane]; }
  uint32_t &agpr(unsigned index, unsigned lane) {
    return wave->vectorRow(firstAccumulationRow + index)[lane];
  }
  uint32_t &sgpr(unsigned index) { return wave->scalars[index]; }
  /// Runs to the end of the program.
  void run();
  /// Goes back to its beginning; registers stay as they are.
  void restart();
  unsigned size() const { return wave->waveSize; }
  void roundMatricesAs(MatrixRounding rounding) { workgroup.matrixRounding = rounding; }

  std::vector<uint8_t> lds;
  std::vector<uint32_t> scratch; ///< 1024 bytes of each lane, as `Wave::scratchWord` says.
  MemoryMap memory;
  Wave *wave = nullptr;

private:
  std::vector<uint8_t> text;
  std::unique_ptr<Program> program;
  GlobalMemory global;
  Workgroup workgroup;
  uint64_t bytes[2] = {};
  std::unique_ptr<BareWave> bare;
  evidence::LoadedCode loaded;
};

/// A wave with 4096 random bytes of memory of the device's own.
class WaveWithMemory : public WaveUnderTest {
public:
  WaveWithMemory(const std::string &target, const std::string &assembly, uint32_t seed);

  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes.data()); }
  template <typename T> T at(size_t offset) const {
    T value;
    std::copy_n(bytes.data() + offset, sizeof(T), reinterpret_cast<uint8_t *>(&value));
    return value;
  }
  /// Puts the memory's address into a pair of scalar registers.
  void pointScalars(unsigned scalar);
  std::vector<uint8_t> bytes;
};

/// Whether the target's instructions have gfx9's names.
bool isGfx9(const std::string &target);

/// What the device refuses of a piece of assembly when it is loaded.
std::vector<std::string> refusedBy(const std::string &target, const std::string &assembly);

} // namespace wavetile::device::test

#endif // WAVETILE_TESTS_UNIT_DEVICETESTSUPPORT_H
