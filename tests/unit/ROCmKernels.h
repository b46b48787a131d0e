//===- ROCmKernels.h - LLVM IR of kernels for tests -------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function returns the text of a module with one kernel of that name.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_ROCMKERNELS_H
#define WAVETILE_TESTS_UNIT_ROCMKERNELS_H

#include "backend_rocm/Targets.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <string>

namespace wavetile::rocm::test {

/// Every lane of 64 stores its number.
inline std::string storeKernel(llvm::StringRef name) {
  return llvm::formatv(R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @{0}(ptr addrspace(1) %out) "amdgpu-flat-work-group-size"="64,64" {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %lane, ptr addrspace(1) %at
  ret void
}
)",
                       name);
}

/// Uses `bytes` of LDS.
inline std::string ldsKernel(llvm::StringRef name, unsigned bytes) {
  return llvm::formatv(R"(
@lds = internal addrspace(3) global [{1} x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @{0}(ptr addrspace(1) %out) "amdgpu-flat-work-group-size"="64,64" {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %in = getelementptr i8, ptr addrspace(3) @lds, i32 %lane
  %other = xor i32 %lane, 1
  %from = getelementptr i8, ptr addrspace(3) @lds, i32 %other
  store volatile i8 1, ptr addrspace(3) %in
  %x = load volatile i8, ptr addrspace(3) %from
  store i8 %x, ptr addrspace(1) %out
  ret void
}
)",
                       name, bytes);
}

/// Holds a matrix instruction that only gfx12 has.
inline std::string gfx12MatrixKernel(llvm::StringRef name) {
  return llvm::formatv(R"(
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32(<2 x i32>, <2 x i32>, <8 x float>)
define amdgpu_kernel void @{0}(ptr addrspace(1) %out) "amdgpu-flat-work-group-size"="64,64" {{
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32(<2 x i32> <i32 1, i32 2>, <2 x i32> <i32 3, i32 4>, <8 x float> zeroinitializer)
  store <8 x float> %d, ptr addrspace(1) %out
  ret void
}
)",
                       name);
}

/// Reads from a constant table of `bytes` bytes.
inline std::string tableKernel(llvm::StringRef name, unsigned bytes) {
  std::string values;
  for (unsigned i = 0; i < bytes / 4; ++i)
    values += (i ? ", i32 " : "i32 ") + std::to_string(i * 2654435761u);
  return llvm::formatv(R"(
@table = internal addrspace(4) constant [{1} x i32] [{2}]
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @{0}(ptr addrspace(1) %out, i32 %base) "amdgpu-flat-work-group-size"="64,64" {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %index = add i32 %lane, %base
  %from = getelementptr i32, ptr addrspace(4) @table, i32 %index
  %x = load i32, ptr addrspace(4) %from
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  store i32 %x, ptr addrspace(1) %to
  ret void
}
)",
                       name, bytes / 4, values);
}

/// Calls the undefined function `callee`.
inline std::string callKernel(llvm::StringRef name, llvm::StringRef callee) {
  return llvm::formatv(R"(
declare void @{1}()
define amdgpu_kernel void @{0}() "amdgpu-flat-work-group-size"="64,64" {{
  call void @{1}()
  ret void
}
)",
                       name, callee);
}

/// Softmax of one row a wave with `perLane` bf16 elements a lane, in vectors of
/// 8, as a lowering would write it: unrolled, by element, reduced over lanes
/// with a butterfly of ds_bpermute.
class SoftmaxKernel {
public:
  SoftmaxKernel(llvm::StringRef name, const Target &target, unsigned perLane)
      : target(target), perLane(perLane) {
    text = llvm::formatv(R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.amdgcn.exp2.f32(float)
declare float @llvm.amdgcn.rcp.f32(float)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare <4 x i32> @llvm.amdgcn.raw.ptr.buffer.load.v4i32(ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.v4i32(<4 x i32>, ptr addrspace(8), i32, i32, i32)
define amdgpu_kernel void @{0}(ptr addrspace(1) noalias %out, ptr addrspace(1) noalias %in, i32 %columns)
    "amdgpu-flat-work-group-size"="{1},{1}" {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %row = call i32 @llvm.amdgcn.workgroup.id.x()
  %bytes = mul nuw nsw i32 %columns, 2
  %wide = sext i32 %bytes to i64
  %row64 = sext i32 %row to i64
  %start = mul i64 %row64, %wide
  %from = getelementptr i8, ptr addrspace(1) %in, i64 %start
  %to = getelementptr i8, ptr addrspace(1) %out, i64 %start
  %source = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %from, i16 0, i64 %wide, i32 {2})
  %sink = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %to, i16 0, i64 %wide, i32 {2})
  %first = mul i32 %lane, 16
)",
                         name, target.waveSize(), target.bufferResource().word3);
    loads();
    std::string maximum = reduce("m", "x", [](const std::string &a, const std::string &b) {
      return "call float @llvm.maxnum.f32(float " + a + ", float " + b + ")";
    });
    exponentials(maximum);
    std::string sum = reduce("s", "e", [](const std::string &a, const std::string &b) {
      return "fadd contract reassoc float " + a + ", " + b;
    });
    line("%reciprocal = call float @llvm.amdgcn.rcp.f32(float " + sum + ")");
    stores();
    text += "  ret void\n}\n";
  }

  std::string text;

private:
  void line(const std::string &content) { text += "  " + content + "\n"; }
  static std::string name(const char *stem, unsigned i) { return "%" + (stem + std::to_string(i)); }
  std::string offset(unsigned vector) {
    std::string value = name("offset", next++);
    line(value + " = add i32 %first, " + std::to_string(vector * 16 * target.waveSize()));
    return value;
  }

  void loads() {
    for (unsigned v = 0; v < perLane / 8; ++v) {
      std::string words = name("words", v), halves = name("halves", v);
      std::string at = offset(v);
      line(words +
           " = call <4 x i32> @llvm.amdgcn.raw.ptr.buffer.load.v4i32(ptr addrspace(8) "
           "%source, i32 " +
           at + ", i32 0, i32 0)");
      line(halves + " = bitcast <4 x i32> " + words + " to <8 x bfloat>");
      for (unsigned i = 0; i < 8; ++i) {
        std::string element = name("h", v * 8 + i);
        line(element + " = extractelement <8 x bfloat> " + halves + ", i32 " + std::to_string(i));
        line(name("x", v * 8 + i) + " = fpext bfloat " + element + " to float");
      }
    }
  }

  template <typename Combine>
  std::string reduce(const char *stem, const char *elements, Combine combine) {
    std::string value = name(elements, 0);
    auto step = [&](const std::string &other) {
      std::string result = "%" + (stem + std::to_string(next++));
      line(result + " = " + combine(value, other));
      value = result;
    };
    for (unsigned i = 1; i < perLane; ++i)
      step(name(elements, i));
    for (unsigned distance = 1; distance < target.waveSize(); distance *= 2) {
      std::string n = std::to_string(next++);
      line("%peer" + n + " = xor i32 %lane, " + std::to_string(distance));
      line("%address" + n + " = shl i32 %peer" + n + ", 2");
      line("%bits" + n + " = bitcast float " + value + " to i32");
      line("%moved" + n + " = call i32 @llvm.amdgcn.ds.bpermute(i32 %address" + n + ", i32 %bits" +
           n + ")");
      line("%other" + n + " = bitcast i32 %moved" + n + " to float");
      step("%other" + n);
    }
    return value;
  }

  void exponentials(const std::string &maximum) {
    for (unsigned i = 0; i < perLane; ++i) {
      line(name("d", i) + " = fsub contract float " + name("x", i) + ", " + maximum);
      line(name("t", i) + " = fmul contract float " + name("d", i) + ", 0x3FF7154760000000");
      line(name("e", i) + " = call float @llvm.amdgcn.exp2.f32(float " + name("t", i) + ")");
    }
  }

  void stores() {
    for (unsigned v = 0; v < perLane / 8; ++v) {
      std::string halves = "poison";
      for (unsigned i = 0; i < 8; ++i) {
        unsigned n = v * 8 + i;
        line(name("q", n) + " = fmul contract float " + name("e", n) + ", %reciprocal");
        line(name("b", n) + " = fptrunc float " + name("q", n) + " to bfloat");
        line(name("pack", n) + " = insertelement <8 x bfloat> " + halves + ", bfloat " +
             name("b", n) + ", i32 " + std::to_string(i));
        halves = name("pack", n);
      }
      line(name("result", v) + " = bitcast <8 x bfloat> " + halves + " to <4 x i32>");
      std::string at = offset(v);
      line("call void @llvm.amdgcn.raw.ptr.buffer.store.v4i32(<4 x i32> " + name("result", v) +
           ", ptr addrspace(8) %sink, i32 " + at + ", i32 0, i32 0)");
    }
  }

  const Target &target;
  unsigned perLane;
  unsigned next = 0;
};

inline std::string softmaxKernel(llvm::StringRef name, const Target &target, unsigned perLane) {
  return SoftmaxKernel(name, target, perLane).text;
}

/// The (row, column) of one element of a lane, by its bases.
inline MatrixOperand::Basis indexOf(const MatrixOperand &operand, unsigned element, unsigned lane) {
  MatrixOperand::Basis index{0, 0};
  auto add = [&](llvm::ArrayRef<MatrixOperand::Basis> bases, unsigned bits) {
    for (unsigned i = 0; i < bases.size(); ++i) {
      if (bits >> i & 1) {
        index[0] ^= bases[i][0];
        index[1] ^= bases[i][1];
      }
    }
  };
  add(operand.registerBases, element);
  add(operand.laneBases, lane);
  return index;
}

/// "<4 x half>", or "half" for one.
inline std::string llvmType(ElementKind element, unsigned count) {
  static const std::map<ElementKind, const char *> names = {
      {ElementKind::I16, "i16"},   {ElementKind::I32, "i32"},     {ElementKind::I64, "i64"},
      {ElementKind::F16, "half"},  {ElementKind::BF16, "bfloat"}, {ElementKind::F32, "float"},
      {ElementKind::F64, "double"}};
  std::string name = names.at(element);
  return count == 1 ? name : llvm::formatv("<{0} x {1}>", count, name);
}

/// One wave loads A, B and C by lane, executes the instruction and stores D over
/// C: matrix(A, B, C).
inline std::string matrixKernel(llvm::StringRef kernel, const Target &target,
                                const MatrixInstruction &instruction) {
  auto type = [](const MatrixOperand &operand) {
    return llvmType(operand.intrinsicElement, operand.intrinsicCount);
  };
  std::string a = type(instruction.a), b = type(instruction.b), c = type(instruction.accumulator);
  std::string types, values;
  switch (instruction.callForm) {
  case MatrixInstruction::CallForm::ThreeImmediates:
    types = llvm::formatv("{0}, {1}, {2}, i32, i32, i32", a, b, c);
    values = llvm::formatv("{0} %a, {1} %b, {2} %c, i32 0, i32 0, i32 0", a, b, c);
    break;
  case MatrixInstruction::CallForm::Plain:
    types = llvm::formatv("{0}, {1}, {2}", a, b, c);
    values = llvm::formatv("{0} %a, {1} %b, {2} %c", a, b, c);
    break;
  case MatrixInstruction::CallForm::SignFlags:
    types = llvm::formatv("i1, {0}, i1, {1}, {2}, i1", a, b, c);
    values = llvm::formatv("i1 1, {0} %a, i1 1, {1} %b, {2} %c, i1 0", a, b, c);
    break;
  }
  std::string name = instruction.intrinsic;
  if (!instruction.intrinsicOverload.empty())
    name += "." + instruction.intrinsicOverload;
  return llvm::formatv(R"(
declare {3} @{0}({1})
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @{6}(ptr addrspace(1) %pa, ptr addrspace(1) %pb, ptr addrspace(1) %pc)
    "amdgpu-flat-work-group-size"="{7},{7}" {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %qa = getelementptr {4}, ptr addrspace(1) %pa, i32 %lane
  %qb = getelementptr {5}, ptr addrspace(1) %pb, i32 %lane
  %qc = getelementptr {3}, ptr addrspace(1) %pc, i32 %lane
  %a = load {4}, ptr addrspace(1) %qa
  %b = load {5}, ptr addrspace(1) %qb
  %c = load {3}, ptr addrspace(1) %qc
  %d = call {3} @{0}({2})
  store {3} %d, ptr addrspace(1) %qc
  ret void
}
)",
                       name, types, values, c, a, b, kernel, target.waveSize());
}

} // namespace wavetile::rocm::test

#endif // WAVETILE_TESTS_UNIT_ROCMKERNELS_H
