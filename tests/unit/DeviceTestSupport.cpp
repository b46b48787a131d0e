//===- DeviceTestSupport.cpp - Programs for tests of the emulator ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "llvm/Object/ELFObjectFile.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

namespace wavetile::device::test {

static std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<uint8_t> compile(const std::string &source, const std::string &extension,
                             const std::string &options) {
  char folder[] = "/tmp/wavetile-emulator-test-XXXXXX";
  if (!mkdtemp(folder)) {
    ADD_FAILURE() << "no temporary folder";
    return {};
  }
  std::string base = folder, input = base + "/input." + extension, output = base + "/output";
  std::ofstream(input) << source;
  std::string command = std::string(WAVETILE_CLANG) + " " + options + " " + input + " -o " +
                        output + " 2> " + base + "/messages";
  int status = std::system(command.c_str());
  EXPECT_EQ(status, 0) << readText(base + "/messages") << source;
  std::string bytes = readText(output);
  for (const char *name : {"/messages", "/output"})
    unlink((base + name).c_str());
  unlink(input.c_str());
  rmdir(folder);
  return {bytes.begin(), bytes.end()};
}

LoadedObject::LoadedObject(const std::string &target, const std::string &source,
                           const std::string &extension, const std::string &options) {
  std::vector<uint8_t> bytes = compile(
      source, extension,
      "-target amdgcn-amd-amdhsa -nogpulib -Wno-override-module -mcpu=" + target + " " + options);
  auto loaded = CodeObject::load(bytes, target, "test", memory);
  if (!loaded) {
    ADD_FAILURE() << llvm::toString(loaded.takeError());
    return;
  }
  object = std::move(*loaded);
  llvm::ArrayRef<uint8_t> text = object->text();
  uint32_t waveSize =
      object->kernels().empty() ? 0 : object->kernels().front().descriptor.waveSize();
  auto decoded = Program::decode(text, reinterpret_cast<uint64_t>(text.data()), target, waveSize);
  if (!decoded) {
    ADD_FAILURE() << llvm::toString(decoded.takeError());
    return;
  }
  program = std::move(*decoded);
  this->loaded = evidence::LoadedCode(target, text);
}

LaunchResult LoadedObject::run(const std::string &name, const std::vector<uint64_t> &arguments,
                               std::array<uint32_t, 3> grid, std::array<uint32_t, 3> workgroup,
                               uint32_t dynamicLds) {
  const KernelInfo *kernel = object ? object->findKernel(name) : nullptr;
  if (!kernel || !program) {
    ADD_FAILURE() << "no kernel " << name;
    return {};
  }
  for (const auto &refusal : program->refusals(kernel->descriptor.entry, kernel->descriptor.end))
    ADD_FAILURE() << name << " needs " << refusal.mnemonic;
  Launch launch;
  launch.program = program.get();
  launch.kernel = &kernel->descriptor;
  launch.kernarg = {reinterpret_cast<const uint8_t *>(arguments.data()), arguments.size() * 8};
  launch.grid = grid;
  launch.workgroupSize = workgroup;
  launch.dynamicLdsBytes = dynamicLds;
  launch.instructionLimit = instructionLimit;
  launch.threads = threads;
  launch.checks = checks;
  uint64_t lanes = 1;
  for (unsigned i = 0; i < 3; ++i)
    lanes *= uint64_t(grid[i]) * workgroup[i];
  loaded.ran(lanes);
  // As HIP does between launches: the host may have mapped more since.
  memory.expireMappings();
  return device::run(launch, memory);
}

std::vector<std::vector<uint8_t>>
assemble(const std::string &target, const std::vector<std::string> &programs, uint32_t waveSize) {
  // A section for each, in order.
  std::string source;
  for (size_t i = 0; i < programs.size(); ++i)
    source += ".section .text." + std::to_string(i) + ",\"ax\",@progbits\n" + programs[i] +
              "\ns_endpgm\n";
  std::vector<uint8_t> object = compile(source, "s",
                                        "-target amdgcn-amd-amdhsa -c -mcpu=" + target +
                                            (waveSize == 64 ? " -mwavefrontsize64" : ""));
  llvm::StringRef contents(reinterpret_cast<const char *>(object.data()), object.size());
  auto elf = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(contents, "test"));
  if (!elf) {
    ADD_FAILURE() << llvm::toString(elf.takeError());
    return std::vector<std::vector<uint8_t>>(programs.size());
  }
  std::vector<std::vector<uint8_t>> codes;
  for (const llvm::object::SectionRef &section : (*elf)->sections())
    if (section.isText() && section.getSize() > 0) {
      llvm::StringRef code = llvm::cantFail(section.getContents());
      codes.emplace_back(code.begin(), code.end());
    }
  EXPECT_EQ(codes.size(), programs.size());
  codes.resize(programs.size());
  return codes;
}

BareWave::BareWave(uint32_t waveSize, bool clearsHighHalf, uint32_t rows)
    : wave(std::make_unique<Wave>()), storage(allocateAligned<uint32_t>(size_t(rows) * waveSize)) {
  std::fill_n(storage.get(), size_t(rows) * waveSize, 0u);
  wave->bases[0] = storage.get();
  wave->shift = waveSize == 64 ? 6 : 5;
  wave->waveSize = waveSize;
  wave->keptByHalfResult = clearsHighHalf ? 0 : 0xffff0000;
}

WaveUnderTest::WaveUnderTest(const std::string &target, const std::string &assembly,
                             uint32_t waveSize)
    : WaveUnderTest(target, assemble(target, {assembly}, waveSize)[0], waveSize) {}

WaveUnderTest::WaveUnderTest(const std::string &target, std::vector<uint8_t> code,
                             uint32_t waveSize)
    : lds(64 << 10), text(std::move(code)), global(memory, 0, 0) {
  uint64_t address = reinterpret_cast<uint64_t>(text.data());
  program = llvm::cantFail(Program::decode(text, address, target, waveSize));
  for (const auto &refusal : program->refusals(address, address + text.size()))
    ADD_FAILURE() << target << " refuses " << refusal.mnemonic;
  loaded = evidence::LoadedCode(target, text);
  const auto &decoded = static_cast<const DecodedProgram &>(*program);
  const TargetDescription &row = program->target();
  bare = std::make_unique<BareWave>(program->waveSize(), row.clearsHighHalf);
  wave = &**bare;
  wave->bases[1] = decoded.constantRows();
  workgroup.waves = wave;
  workgroup.waveCount = workgroup.barrier.members = 1;
  workgroup.lds = lds.data();
  workgroup.ldsBytes = static_cast<uint32_t>(lds.size());
  workgroup.memory = &global;
  workgroup.program = &decoded;
  workgroup.bytesLoaded = &bytes[0];
  workgroup.bytesStored = &bytes[1];
  wave->workgroup = &workgroup;
  wave->scratchBytes = 1024;
  scratch.assign(size_t(wave->scratchBytes / 4) * row.waveSize, 0);
  wave->scratch = reinterpret_cast<uint8_t *>(scratch.data());
  wave->setLaneMask(scalar::Exec, wave->allLanes());
  wave->pc = decoded.recordAt(address);
}

void WaveUnderTest::restart() {
  wave->status = WaveStatus::Ready;
  wave->pc = static_cast<const DecodedProgram &>(*program).recordAt(
      reinterpret_cast<uint64_t>(text.data()));
}

void WaveUnderTest::run() {
  loaded.ran(static_cast<unsigned>(std::popcount(wave->exec())));
  const Record *record = wave->pc;
  while (record)
    record = record->execute(*wave, record);
  EXPECT_EQ(wave->status, WaveStatus::Ended)
      << name(wave->fault.kind).str() << " at lane " << wave->fault.lane;
}

WaveWithMemory::WaveWithMemory(const std::string &target, const std::string &assembly,
                               uint32_t seed)
    : WaveUnderTest(target, assembly), bytes(4096) {
  Allocation allocation;
  allocation.begin = address();
  allocation.end = allocation.begin + bytes.size();
  allocation.source = BoundsSource::Device;
  memory.add(allocation, "bytes");
  std::mt19937 random(seed);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random());
}

void WaveWithMemory::pointScalars(unsigned scalar) {
  sgpr(scalar) = static_cast<uint32_t>(address());
  sgpr(scalar + 1) = static_cast<uint32_t>(address() >> 32);
}

bool isGfx9(const std::string &target) { return findTarget(target)->encoding == Encoding::Gfx9; }

std::vector<std::string> refusedBy(const std::string &target, const std::string &assembly) {
  std::vector<uint8_t> object =
      compile(assembly, "s", "-target amdgcn-amd-amdhsa -c -mcpu=" + target);
  llvm::StringRef contents(reinterpret_cast<const char *>(object.data()), object.size());
  auto elf = llvm::cantFail(
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(contents, "test")));
  std::vector<std::string> result;
  for (const llvm::object::SectionRef &section : elf->sections()) {
    if (!section.isText() || section.getSize() == 0)
      continue;
    llvm::StringRef code = llvm::cantFail(section.getContents());
    std::vector<uint8_t> text(code.begin(), code.end());
    auto program = llvm::cantFail(Program::decode(text, 0x1000, target));
    for (const auto &refusal : program->refusals(0x1000, 0x1000 + text.size()))
      result.push_back(refusal.mnemonic);
  }
  return result;
}

} // namespace wavetile::device::test
