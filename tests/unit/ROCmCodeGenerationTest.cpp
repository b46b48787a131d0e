//===- ROCmCodeGenerationTest.cpp - LLVM IR to code objects ---------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/CodeGeneration.h"
#include "backend_rocm/Linker.h"
#include "backend_rocm/Targets.h"

#include "tests/unit/ROCmKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace wavetile::rocm;
using namespace wavetile::rocm::test;

namespace {

const Target &target(llvm::StringRef name) { return llvm::cantFail(findTarget(name)); }

llvm::Expected<CodeObject> compileText(llvm::StringRef text, const Target &target) {
  auto program = parseLLVMIR(text, target);
  if (!program)
    return program.takeError();
  return compile(std::move(*program), target);
}

/// The error's text, having checked its class.
std::string words(llvm::Error error) {
  std::string text;
  llvm::handleAllErrors(std::move(error),
                        [&](const CodeGenerationError &e) { text = e.message(); });
  return text;
}

class EveryTarget : public testing::TestWithParam<const Target *> {};

TEST_P(EveryTarget, GivesASharedObjectWithTheKernelsDescriptor) {
  auto object = compileText(storeKernel("store"), *GetParam());
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  auto elf =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object->str(), "object"));
  ASSERT_TRUE(bool(elf));
  EXPECT_EQ(llvm::cast<llvm::object::ELFObjectFileBase>(**elf).getEType(), llvm::ELF::ET_DYN);
  EXPECT_EQ((*elf)->tryGetCPUName(), GetParam()->name());
  std::vector<std::string> names;
  for (const llvm::object::ELFSymbolRef &symbol :
       llvm::cast<llvm::object::ELFObjectFileBase>(**elf).getDynamicSymbolIterators())
    names.push_back(llvm::cantFail(symbol.getName()).str());
  EXPECT_TRUE(llvm::is_contained(names, "store.kd"));
}

TEST_P(EveryTarget, SurvivesWhatEndsLLVM) {
  // LDS over the limit ends LLVM by exit(1), an unknown instruction by abort.
  auto tooMuch = compileText(ldsKernel("greedy", 163844), *GetParam());
  ASSERT_FALSE(bool(tooMuch));
  std::string text = words(tooMuch.takeError());
  EXPECT_NE(text.find("cannot generate kernel greedy for " + GetParam()->name().str()),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("local memory"), std::string::npos) << text;
  EXPECT_NE(text.find("163844"), std::string::npos) << text;

  // A matrix instruction of gfx12: no row has it.
  auto missing = compileText(gfx12MatrixKernel("future"), *GetParam());
  ASSERT_FALSE(bool(missing));
  text = words(missing.takeError());
  EXPECT_NE(text.find("kernel future"), std::string::npos) << text;
  EXPECT_NE(text.find("wmma.f32.16x16x16.fp8.fp8"), std::string::npos) << text;

  auto good = compileText(storeKernel("good"), *GetParam());
  EXPECT_TRUE(bool(good)) << llvm::toString(good.takeError());
}

TEST_P(EveryTarget, LdsUpToTheLimitIsFine) {
  auto object = compileText(ldsKernel("full", GetParam()->lds().bytesPerWorkgroup), *GetParam());
  EXPECT_TRUE(bool(object)) << llvm::toString(object.takeError());
}

TEST_P(EveryTarget, IsTheSameEveryTime) {
  auto first = compileText(softmaxKernel("softmax", *GetParam(), 64), *GetParam());
  auto second = compileText(softmaxKernel("softmax", *GetParam(), 64), *GetParam());
  ASSERT_TRUE(bool(first)) << llvm::toString(first.takeError());
  ASSERT_TRUE(bool(second)) << llvm::toString(second.takeError());
  EXPECT_EQ(first->str(), second->str());
}

TEST_P(EveryTarget, TimesOfSoftmax) {
  wavetile::StageTimes best;
  auto total = [](const wavetile::StageTimes &times) {
    double sum = 0;
    for (const auto &[stage, milliseconds] : times)
      sum += milliseconds;
    return sum;
  };
  for (int round = 0; round < 5; ++round) {
    auto object = compileText(softmaxKernel("softmax", *GetParam(), 64), *GetParam());
    ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
    ASSERT_EQ(object->times.size(), 3u);
    for (const auto &[stage, milliseconds] : object->times)
      EXPECT_GT(milliseconds, 0) << stage;
    if (best.empty() || total(object->times) < total(best))
      best = object->times;
  }
  std::printf("  %s softmax, 64 elements a lane:", GetParam()->name().str().c_str());
  for (const auto &[stage, milliseconds] : best)
    std::printf(" %s %.1f ms", stage.c_str(), milliseconds);
  std::printf("\n");
}

std::vector<const Target *> everyTarget() {
  std::vector<const Target *> all;
  for (const Target &target : targets())
    all.push_back(&target);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryTarget, testing::ValuesIn(everyTarget()),
                         [](const auto &info) { return info.param->name().str(); });

TEST(ROCmCodeGeneration, TwoThreadsCompileAtOnce) {
  std::vector<std::string> problems(2);
  auto work = [&](int which) {
    const Target &gpu = target(which ? "gfx950" : "gfx1150");
    for (int round = 0; round < 8; ++round) {
      // Failures on one thread must not reach the other.
      if (round % 3 == which)
        llvm::consumeError(compileText(gfx12MatrixKernel("future"), gpu).takeError());
      auto object = compileText(softmaxKernel("softmax", gpu, 16), gpu);
      if (!object)
        problems[which] += llvm::toString(object.takeError());
    }
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(problems[0], "");
  EXPECT_EQ(problems[1], "");
}

TEST(ROCmCodeGeneration, NeedsNoWritableFolder) {
  auto compileNowhere = [] {
    // A current folder that is gone refuses new files even to root.
    std::string folder = testing::TempDir() + "wavetile-gone-" + std::to_string(getpid());
    bool gone = mkdir(folder.c_str(), 0700) == 0 && chdir(folder.c_str()) == 0 &&
                rmdir(folder.c_str()) == 0;
    for (const char *variable : {"TMPDIR", "TMP", "TEMP", "HOME", "XDG_CACHE_HOME"})
      setenv(variable, "/nonexistent/wavetile", 1);
    auto object = compileText(storeKernel("store"), target("gfx942"));
    if (!object)
      llvm::errs() << llvm::toString(object.takeError());
    std::exit(gone && object ? 0 : 1);
  };
  EXPECT_EXIT(compileNowhere(), testing::ExitedWithCode(0), "");
}

TEST(ROCmCodeGeneration, LinksAnObjectLargerThanAPipe) {
  const Target &gpu = target("gfx950");
  // 1 MiB of initialised global data; a pipe holds 64 KiB.
  auto object = compileText(tableKernel("look_up", 1 << 20), gpu);
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  EXPECT_GT(object->bytes.size(), size_t(1) << 20);
}

TEST(ROCmCodeGeneration, LinkerSaysWhatIsWrong) {
  auto linked = linkObject(llvm::ArrayRef<char>("not an object", 13));
  ASSERT_FALSE(bool(linked));
  std::string reason = llvm::toString(linked.takeError());
  EXPECT_NE(reason.find("unknown directive: not"), std::string::npos) << reason;
  auto undefined = compileText(callKernel("caller", "nowhere"), target("gfx942"));
  ASSERT_FALSE(bool(undefined));
  std::string text = words(undefined.takeError());
  EXPECT_NE(text.find("nowhere"), std::string::npos) << text;
  auto good = compileText(storeKernel("good"), target("gfx942"));
  EXPECT_TRUE(bool(good)) << llvm::toString(good.takeError());
}

TEST(ROCmCodeGeneration, InvalidModulesAreErrors) {
  const Target &gpu = target("gfx942");
  EXPECT_NE(words(compileText("define void @f( {", gpu).takeError()).find("cannot translate"),
            std::string::npos);
  std::string text =
      words(compileText("define amdgpu_kernel void @bare() { ret void }", gpu).takeError());
  EXPECT_NE(text.find("kernel bare does not state \"amdgpu-flat-work-group-size\""),
            std::string::npos)
      << text;
}

TEST(ROCmCodeGeneration, CompilesTheLLVMDialect) {
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  registry.insert<mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    llvm.func @twice(%p: !llvm.ptr<1>) attributes {rocdl.kernel, rocdl.flat_work_group_size = "64,64"} {
      %x = llvm.load %p : !llvm.ptr<1> -> f32 loc("kernel.py":7:3)
      %y = llvm.fadd %x, %x : f32 loc("kernel.py":8:3)
      llvm.store %y, %p : f32, !llvm.ptr<1> loc("kernel.py":9:3)
      llvm.return loc("kernel.py":9:3)
    } loc("kernel.py":5:1)
  )",
                                                        &context);
  ASSERT_TRUE(module);
  auto object = compile(*module, target("gfx950"));
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  ASSERT_EQ(object->times.size(), 4u);
  EXPECT_EQ(object->times[0].first, "translate");
}

TEST(ROCmCodeGeneration, UntranslatableDialectIsAnError) {
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  registry.insert<mlir::LLVM::LLVMDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    llvm.func @f() { "unknown.op"() : () -> () llvm.return }
  )",
                                                        &context);
  ASSERT_TRUE(module);
  std::string text = words(compile(*module, target("gfx950")).takeError());
  EXPECT_NE(text.find("unknown.op"), std::string::npos) << text;
}

} // namespace
