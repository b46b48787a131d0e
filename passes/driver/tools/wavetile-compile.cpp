//===- wavetile-compile.cpp - A tile module to machine code -----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/driver/Driver.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace wavetile;
namespace cl = llvm::cl;

namespace {
enum class Form { Tile, Bound, Final, LLVM, ISA, Object, Plan, Config, Times };
}

static cl::opt<std::string> inputName(cl::Positional, cl::desc("<tile module>"), cl::init("-"));
static cl::opt<std::string> outputName("o", cl::desc("Output file (default: stdout)"),
                                       cl::init("-"));
static cl::opt<std::string>
    targetName("target", cl::desc("The GPU to compile for"),
               cl::init(BackendRegistry::builtin().defaultTargetName().str()));
static cl::opt<std::string> configText("config",
                                       cl::desc("Config entries, such as rows=4,waves=4; what is "
                                                "missing is chosen"));
static cl::opt<Form>
    form("emit", cl::desc("What to write"), cl::init(Form::ISA),
         cl::values(clEnumValN(Form::Tile, "tile", "the module as it was read"),
                    clEnumValN(Form::Bound, "bound", "with the Config bound"),
                    clEnumValN(Form::Final, "final", "after the target-independent passes"),
                    clEnumValN(Form::LLVM, "llvm", "optimised LLVM IR"),
                    clEnumValN(Form::ISA, "isa", "an assembly listing"),
                    clEnumValN(Form::Object, "object", "the code object"),
                    clEnumValN(Form::Plan, "plan", "the launch plan"),
                    clEnumValN(Form::Config, "config", "the complete Config"),
                    clEnumValN(Form::Times, "times", "milliseconds of each step")));

namespace {
/// The command line, copied before anything is compiled: lld sets every option of the process back
/// to its default when it runs.
struct Request {
  std::string input = inputName, output = outputName, target = targetName, config = configText;
  Form form = ::form;
};
} // namespace

static llvm::Error write(const Request &request, const CompileResult &result,
                         llvm::raw_ostream &os) {
  switch (request.form) {
  case Form::Tile:
    os << result.stages.at("tile");
    break;
  case Form::Bound:
    os << result.stages.at("bound");
    break;
  case Form::Final:
    os << result.stages.at("final");
    break;
  case Form::LLVM:
    os << result.stages.at("llvm");
    break;
  case Form::ISA: {
    llvm::Expected<const Backend *> backend = BackendRegistry::builtin().find(request.target);
    if (!backend)
      return backend.takeError();
    llvm::Expected<const TargetInfo *> target = (*backend)->target(request.target);
    if (!target)
      return target.takeError();
    llvm::Expected<std::string> listing =
        (*backend)->disassemble(result.codeObject, **target, SourceLine());
    if (!listing)
      return listing.takeError();
    os << *listing;
    break;
  }
  case Form::Object:
    os.write(reinterpret_cast<const char *>(result.codeObject.data()), result.codeObject.size());
    break;
  case Form::Plan:
    os << result.plan.str();
    break;
  case Form::Config:
    os << result.config.str() << "\n";
    break;
  case Form::Times:
    for (const auto &[step, milliseconds] : result.times)
      os << llvm::formatv("{0,9:f2} ms  {1}\n", milliseconds, step);
    break;
  }
  return llvm::Error::success();
}

static llvm::Error run() {
  Request request;
  CompileOptions options;
  options.target = request.target;
  llvm::Expected<Config> config = Config::parse(request.config);
  if (!config)
    return config.takeError();
  options.config = std::move(*config);
  if (request.form == Form::Tile)
    options.keepStages = {"tile"};
  else if (request.form == Form::Bound)
    options.keepStages = {"bound"};
  else if (request.form == Form::Final)
    options.keepStages = {"final"};
  else if (request.form == Form::LLVM)
    options.keepStages = {"llvm"};

  mlir::DialectRegistry registry;
  registerDialects(registry, BackendRegistry::builtin());
  mlir::MLIRContext context(registry);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(request.input, &message);
  if (!input)
    return llvm::createStringError(message);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(*sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return llvm::createStringError("cannot read " + request.input);

  llvm::Expected<CompileResult> result = compile(*module, options);
  if (!result)
    return result.takeError();
  std::unique_ptr<llvm::ToolOutputFile> output = mlir::openOutputFile(request.output, &message);
  if (!output)
    return llvm::createStringError(message);
  if (llvm::Error error = write(request, *result, output->os()))
    return error;
  output->keep();
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Compiles a tile module for a GPU\n");
  if (llvm::Error error = run()) {
    llvm::logAllUnhandledErrors(std::move(error), llvm::errs(), "wavetile-compile: ");
    return 1;
  }
  return 0;
}
