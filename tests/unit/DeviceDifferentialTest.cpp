//===- DeviceDifferentialTest.cpp - Random functions on the host and on the device ===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function is compiled by LLVM for the host and for each target from the same text; both must
// give the same bits. WAVETILE_TEST_SEED and WAVETILE_TEST_FUNCTIONS choose other functions and
// more.
//
//===----------------------------------------------------------------------===//

#include "DeviceRandomFunction.h"
#include "DeviceTestSupport.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

namespace wavetile::device::test {
namespace {

uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

constexpr unsigned elements = 192;

/// Words that matter: special values of every format among random ones.
std::vector<uint32_t> inputs(uint64_t seed) {
  static constexpr uint32_t special[] = {
      0,          1,          0x80000000, 0x7fffffff, 0xffffffff, 0x3f800000, 0xbf800000,
      0x7f800000, 0xff800000, 0x7fc00000, 0x00800000, 0x007fffff, 0x80000001, 0x7f7fffff,
      0x4b000000, 0xcf000000, 0x4f800000, 0x3c003c00, 0x7c00fc00, 0x04000001, 0x7bff8400,
      0x3ff00000, 0x7ff00000, 0x41e00000, 0x0000ffff, 0x00008000, 0x7fff8000, 31};
  std::mt19937_64 random(seed);
  std::vector<uint32_t> words(elements * randomInputs);
  for (uint32_t &word : words) {
    uint64_t r = random();
    word = static_cast<uint32_t>(r >> 32);
    if (r % 4 == 0)
      word = special[r / 4 % std::size(special)];
    else if (r % 4 == 1) // A float of moderate size.
      word = (word & 0x807fffff) | (110 + r / 4 % 36) << 23;
    else if (r % 16 == 2)
      word &= 0xff;
  }
  return words;
}

/// A kernel that calls function \p i for each work-item. The memory that is the work-item's own is
/// global, LDS and scratch in turn.
std::string deviceKernel(unsigned i) {
  auto number = [](unsigned n) { return std::to_string(n); };
  std::string text = "define amdgpu_kernel void @kernel" + number(i) +
                     "(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(1) %all) #0 {\n"
                     "  %id = call i32 @llvm.amdgcn.workitem.id.x()\n"
                     "  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n"
                     "  %base = mul i32 %group, 64\n  %item = add i32 %base, %id\n"
                     "  %i = mul i32 %item, " +
                     number(randomInputs) + "\n  %o = mul i32 %item, " + number(randomOutputs) +
                     "\n"
                     "  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %i\n"
                     "  %po = getelementptr i32, ptr addrspace(1) %out, i32 %o\n"
                     "  %gi = addrspacecast ptr addrspace(1) %pi to ptr\n"
                     "  %go = addrspacecast ptr addrspace(1) %po to ptr\n";
  std::string bytes = "[" + number(randomMemoryBytes) + " x i8]";
  std::string space = i % 3 == 0 ? "1" : i % 3 == 1 ? "3" : "5";
  if (space == "5")
    text += "  %own = alloca " + bytes + ", align 16, addrspace(5)\n";
  else
    text += "  %own = getelementptr " + bytes + ", ptr addrspace(" + space + ") " +
            (space == "1" ? "%all, i32 %item\n" : "@lds, i32 %id\n");
  return text + "  %memory = addrspacecast ptr addrspace(" + space +
         ") %own to ptr\n"
         "  call void @f" +
         number(i) + "(ptr %gi, ptr %go, ptr %memory)\n  ret void\n}\n";
}

struct Functions {
  uint64_t seed = setting("WAVETILE_TEST_SEED", 20261129);
  unsigned count = static_cast<unsigned>(setting("WAVETILE_TEST_FUNCTIONS", 500));
  std::string bodies;
  std::string hostText, deviceText;

  Functions() {
    for (unsigned i = 0; i < count; ++i) {
      std::string name = "f" + std::to_string(i);
      bodies += randomFunction(name, seed + i);
      hostText += "define void @host" + std::to_string(i) +
                  "(ptr %in, ptr %out) {\n"
                  "  %memory = alloca [" +
                  std::to_string(randomMemoryBytes) + " x i8], align 16\n  call void @" + name +
                  "(ptr %in, ptr %out, ptr %memory)\n  ret void\n}\n";
      deviceText += deviceKernel(i);
    }
    deviceText += "@lds = internal addrspace(3) global [64 x [" +
                  std::to_string(randomMemoryBytes) + " x i8]] poison, align 16\n";
    deviceText += "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"64,64\" "
                  "\"denormal-fp-math\"=\"ieee,ieee\" }\n";
  }
};

/// What the host computes, function after function.
std::vector<std::vector<uint32_t>> hostResults(const Functions &functions,
                                               const std::vector<uint32_t> &words) {
  std::vector<uint8_t> bytes =
      compile(functions.bodies + functions.hostText, "ll",
              "-O1 -march=x86-64-v3 -ffp-contract=off -shared -fPIC -Wno-override-module");
  char path[] = "/tmp/wavetile-host-XXXXXX";
  int file = mkstemp(path);
  EXPECT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  close(file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (!library) {
    ADD_FAILURE() << dlerror();
    return {};
  }
  std::vector<std::vector<uint32_t>> results;
  for (unsigned i = 0; i < functions.count; ++i) {
    auto function = reinterpret_cast<void (*)(const uint32_t *, uint32_t *)>(
        dlsym(library, ("host" + std::to_string(i)).c_str()));
    results.emplace_back(elements * randomOutputs);
    for (unsigned e = 0; e < elements; ++e)
      function(words.data() + e * randomInputs, results.back().data() + e * randomOutputs);
  }
  dlclose(library);
  return results;
}

struct Waves {
  const char *target;
  unsigned size;
};
void PrintTo(const Waves &waves, std::ostream *out) {
  *out << waves.target << ", waves of " << waves.size;
}
class DeviceDifferential : public testing::TestWithParam<Waves> {};

TEST_P(DeviceDifferential, AgreesWithTheHostBitForBit) {
  static const Functions functions;
  static const std::vector<uint32_t> words = inputs(functions.seed);
  static const auto expected = hostResults(functions, words);
  ASSERT_EQ(expected.size(), functions.count);
  std::string text = functions.bodies + functions.deviceText;
  LoadedObject object(GetParam().target, text, "ll",
                      std::string("-O2 -ffp-contract=off") +
                          (GetParam().size == 64 ? " -mwavefrontsize64" : ""));
  ASSERT_TRUE(object.program);
  ASSERT_EQ(object.program->waveSize(), GetParam().size);
  unsigned wrong = 0;
  for (unsigned i = 0; i < functions.count; ++i) {
    std::vector<uint32_t> out(elements * randomOutputs, 0xabababab);
    std::vector<uint64_t> own(elements * randomMemoryBytes / 8);
    LaunchResult result =
        object.run("kernel" + std::to_string(i),
                   {reinterpret_cast<uint64_t>(words.data()),
                    reinterpret_cast<uint64_t>(out.data()), reinterpret_cast<uint64_t>(own.data())},
                   {elements / 64, 1, 1}, {64, 1, 1});
    ASSERT_FALSE(result.fault) << "seed " << functions.seed + i << ": "
                               << name(result.fault->kind).str() << " " << result.fault->instruction
                               << " " << result.fault->detail;
    for (unsigned o = 0; o < out.size(); ++o)
      if (out[o] != expected[i][o]) {
        ADD_FAILURE() << GetParam().target << ", waves of " << GetParam().size << ", seed "
                      << functions.seed + i << ", element " << o / randomOutputs << ", output "
                      << o % randomOutputs << std::hex << ": host 0x" << expected[i][o]
                      << ", device 0x" << out[o];
        ++wrong;
        break;
      }
    if (wrong > 10)
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, DeviceDifferential,
                         testing::Values(Waves{"gfx942", 64}, Waves{"gfx950", 64},
                                         Waves{"gfx1100", 32}, Waves{"gfx1100", 64},
                                         Waves{"gfx1150", 32}, Waves{"gfx1150", 64},
                                         Waves{"gfx1151", 32}, Waves{"gfx1151", 64},
                                         Waves{"gfx1201", 32}, Waves{"gfx1201", 64}),
                         [](const auto &info) {
                           return std::string(info.param.target) + "_wave" +
                                  std::to_string(info.param.size);
                         });

} // namespace
} // namespace wavetile::device::test
