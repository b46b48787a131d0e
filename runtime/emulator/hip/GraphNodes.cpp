//===- GraphNodes.cpp - Nodes of graphs, made and changed by hand ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Graph.h"
#include "runtime/emulator/hip/Registration.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace wavetile::device;
using llvm::ArrayRef;

/// Adds what `make` makes, or gives its error.
template <typename Make>
static hipError_t add(hipGraphNode_t *node, hipGraph_t handle, const hipGraphNode_t *dependencies,
                      size_t count, Make make) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    auto graph = Graphs::get().graphs.find(handle);
    if (!node || !graph || (count != 0 && !dependencies))
      return hipErrorInvalidValue;
    for (hipGraphNode_t dependency : ArrayRef(dependencies, count)) {
      auto found = Graphs::get().nodes.find(dependency);
      if (!found || found->graph.lock() != graph)
        return hipErrorInvalidValue;
    }
    NodeContent content;
    if (hipError_t error = make(runtime, content))
      return error;
    *node = addNode(graph, ArrayRef(dependencies, count), std::move(content));
    return hipSuccess;
  });
}

/// Replaces a node's content by what `make` makes of the same type.
template <typename Content, typename Make>
static hipError_t change(hipGraphNode_t handle, Make make) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    auto node = Graphs::get().nodes.find(handle);
    auto graph = node ? node->graph.lock() : nullptr;
    if (!graph)
      return hipErrorInvalidValue;
    NodeContent content;
    if (hipError_t error = make(runtime, content))
      return error;
    std::lock_guard lock(graph->mutex);
    if (!std::holds_alternative<Content>(node->content))
      return hipErrorInvalidValue;
    node->content = std::move(content);
    return hipSuccess;
  });
}

/// The same in an instance, for the step that was made from the node.
template <typename Content, typename Make>
static hipError_t change(hipGraphExec_t handle, hipGraphNode_t node, Make make) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    auto instance = Graphs::get().instances.find(handle);
    if (!instance)
      return hipErrorInvalidValue;
    NodeContent content;
    if (hipError_t error = make(runtime, content))
      return error;
    std::lock_guard lock(instance->mutex);
    auto step = llvm::find_if(instance->steps, [&](auto &s) { return s.origin == node; });
    if (step == instance->steps.end() || !std::holds_alternative<Content>(step->content))
      return hipErrorInvalidValue;
    step->content = std::move(content);
    return hipSuccess;
  });
}

/// Looks at a node's content of one type.
template <typename Content, typename Look>
static hipError_t look(hipGraphNode_t handle, Look look) {
  return withDevice([&](Runtime &) {
    auto node = Graphs::get().nodes.find(handle);
    auto graph = node ? node->graph.lock() : nullptr;
    if (!graph)
      return hipErrorInvalidValue;
    std::lock_guard lock(graph->mutex);
    const auto *content = std::get_if<Content>(&node->content);
    if (!content)
      return hipErrorInvalidValue;
    look(*node, *content);
    return hipSuccess;
  });
}

/// Gives the parameters of a node, as they were last set.
template <typename Content, typename Parameters>
static hipError_t giveParameters(hipGraphNode_t handle, Parameters *parameters) {
  if (!parameters)
    return recorded(hipErrorInvalidValue);
  return look<Content>(
      handle, [&](hipGraphNode &, const Content &content) { *parameters = content.parameters; });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static auto kernelMaker(const hipKernelNodeParams *p) {
  return [p](Runtime &runtime, NodeContent &content) {
    if (!p || !p->func)
      return hipErrorInvalidValue;
    KernelNode node;
    node.function = p->func;
    LoadedKernel loaded;
    if (hipError_t error = findRegisteredKernel(runtime, p->func, loaded))
      return error;
    LaunchShape shape = {{p->gridDim.x, p->gridDim.y, p->gridDim.z},
                         {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                         {},
                         p->sharedMemBytes};
    if (hipError_t error = makeKernelWork(std::move(loaded), shape, p->kernelParams, p->extra,
                                          /*isCooperative=*/false, node.work))
      return error;
    content = std::move(node);
    return hipSuccess;
  };
}

WAVETILE_HIP_API hipError_t hipGraphAddKernelNode(hipGraphNode_t *node, hipGraph_t graph,
                                                  const hipGraphNode_t *dependencies, size_t count,
                                                  const hipKernelNodeParams *parameters) {
  return add(node, graph, dependencies, count, kernelMaker(parameters));
}

WAVETILE_HIP_API hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node,
                                                        const hipKernelNodeParams *parameters) {
  return change<KernelNode>(node, kernelMaker(parameters));
}

WAVETILE_HIP_API hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t instance,
                                                            hipGraphNode_t node,
                                                            const hipKernelNodeParams *parameters) {
  return change<KernelNode>(instance, node, kernelMaker(parameters));
}

/// The arguments are pointers into the node, valid until it is changed or destroyed.
WAVETILE_HIP_API hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node,
                                                        hipKernelNodeParams *parameters) {
  if (!parameters)
    return recorded(hipErrorInvalidValue);
  return look<KernelNode>(node, [&](hipGraphNode &owner, const KernelNode &kernel) {
    const LaunchShape &shape = kernel.work.shape;
    owner.parameterPointers.clear();
    for (const ArgumentInfo &argument : kernel.work.loaded.kernel->arguments)
      if (!argument.isHidden())
        owner.parameterPointers.push_back(
            const_cast<uint8_t *>(kernel.work.kernarg.data() + argument.offset));
    *parameters = {{shape.workgroupSize[0], shape.workgroupSize[1], shape.workgroupSize[2]},
                   nullptr,
                   kernel.function,
                   {shape.grid[0], shape.grid[1], shape.grid[2]},
                   owner.parameterPointers.data(),
                   shape.dynamicLdsBytes};
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CopyNode wavetile::device::copyNodeOf(const CopyWork &work) {
  auto side = [&](const Rows &rows) {
    size_t pitch = rows.pitch ? rows.pitch : work.extent.width;
    return hipPitchedPtr{rows.pointer, pitch, work.extent.width,
                         rows.planePitch ? rows.planePitch / pitch : work.extent.height};
  };
  CopyNode node = {work, {}};
  node.parameters.dstPtr = side(work.to);
  node.parameters.srcPtr = side(work.from);
  node.parameters.extent = {work.extent.width, work.extent.height, work.extent.depth};
  node.parameters.kind = hipMemcpyDefault;
  return node;
}

static auto copyMaker(const hipMemcpy3DParms *p) {
  return [p](Runtime &runtime, NodeContent &content) {
    if (!p)
      return hipErrorInvalidValue;
    if (p->srcArray || p->dstArray)
      return fail(hipErrorNotSupported, "copies of arrays are not supported");
    CopyNode node = {copyWorkOf(*p), *p};
    if (hipError_t error = check(runtime, node.work))
      return error;
    content = node;
    return hipSuccess;
  };
}

static auto flatCopyMaker(void *to, const void *from, size_t bytes, int kind) {
  return [=](Runtime &runtime, NodeContent &content) {
    CopyNode node = copyNodeOf({{to}, {const_cast<void *>(from)}, {bytes}});
    node.parameters.kind = kind;
    if (hipError_t error = check(runtime, node.work))
      return error;
    content = node;
    return hipSuccess;
  };
}

WAVETILE_HIP_API hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *node, hipGraph_t graph,
                                                  const hipGraphNode_t *dependencies, size_t count,
                                                  const hipMemcpy3DParms *parameters) {
  return add(node, graph, dependencies, count, copyMaker(parameters));
}

WAVETILE_HIP_API hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node,
                                                        hipMemcpy3DParms *parameters) {
  return giveParameters<CopyNode>(node, parameters);
}

WAVETILE_HIP_API hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node,
                                                        const hipMemcpy3DParms *parameters) {
  return change<CopyNode>(node, copyMaker(parameters));
}

WAVETILE_HIP_API hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t instance,
                                                            hipGraphNode_t node,
                                                            hipMemcpy3DParms *parameters) {
  return change<CopyNode>(instance, node, copyMaker(parameters));
}

WAVETILE_HIP_API hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph,
                                                    const hipGraphNode_t *dependencies,
                                                    size_t count, void *to, const void *from,
                                                    size_t bytes, int kind) {
  return add(node, graph, dependencies, count, flatCopyMaker(to, from, bytes, kind));
}

WAVETILE_HIP_API hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to,
                                                          const void *from, size_t bytes,
                                                          int kind) {
  return change<CopyNode>(node, flatCopyMaker(to, from, bytes, kind));
}

WAVETILE_HIP_API hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t instance,
                                                              hipGraphNode_t node, void *to,
                                                              const void *from, size_t bytes,
                                                              int kind) {
  return change<CopyNode>(instance, node, flatCopyMaker(to, from, bytes, kind));
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

FillNode wavetile::device::fillNodeOf(const FillWork &work) {
  FillNode node = {work, {}};
  node.parameters = {work.to.pointer, work.elementBytes, work.extent.height,
                     work.to.pitch,   work.value,        work.extent.width / work.elementBytes};
  return node;
}

static auto fillMaker(const hipMemsetParams *p) {
  return [p](Runtime &runtime, NodeContent &content) {
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
        p->width > SIZE_MAX / p->elementSize)
      return hipErrorInvalidValue;
    FillNode node = {
        {{p->dst, p->pitch}, p->value, p->elementSize, {p->width * p->elementSize, p->height}}, *p};
    if (hipError_t error = check(runtime, node.work))
      return error;
    content = node;
    return hipSuccess;
  };
}

WAVETILE_HIP_API hipError_t hipGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph,
                                                  const hipGraphNode_t *dependencies, size_t count,
                                                  const hipMemsetParams *parameters) {
  return add(node, graph, dependencies, count, fillMaker(parameters));
}

WAVETILE_HIP_API hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node,
                                                        hipMemsetParams *parameters) {
  return giveParameters<FillNode>(node, parameters);
}

WAVETILE_HIP_API hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node,
                                                        const hipMemsetParams *parameters) {
  return change<FillNode>(node, fillMaker(parameters));
}

WAVETILE_HIP_API hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t instance,
                                                            hipGraphNode_t node,
                                                            const hipMemsetParams *parameters) {
  return change<FillNode>(instance, node, fillMaker(parameters));
}

//===----------------------------------------------------------------------===//
// Events, and nothing
//===----------------------------------------------------------------------===//

template <typename Content> static auto eventMaker(hipEvent_t handle) {
  return [handle](Runtime &runtime, NodeContent &content) {
    auto event = runtime.events.find(handle);
    if (!event)
      return hipErrorInvalidValue;
    content = Content{std::move(event)};
    return hipSuccess;
  };
}

WAVETILE_HIP_API hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph,
                                                 const hipGraphNode_t *dependencies, size_t count) {
  return add(node, graph, dependencies, count, [](Runtime &, NodeContent &content) {
    content = EmptyNode();
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *node, hipGraph_t graph,
                                                       const hipGraphNode_t *dependencies,
                                                       size_t count, hipEvent_t event) {
  return add(node, graph, dependencies, count, eventMaker<EventRecordNode>(event));
}

WAVETILE_HIP_API hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return change<EventRecordNode>(node, eventMaker<EventRecordNode>(event));
}

WAVETILE_HIP_API hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t instance,
                                                                hipGraphNode_t node,
                                                                hipEvent_t event) {
  return change<EventRecordNode>(instance, node, eventMaker<EventRecordNode>(event));
}

WAVETILE_HIP_API hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node,
                                                            hipEvent_t *event) {
  if (!event)
    return recorded(hipErrorInvalidValue);
  return look<EventRecordNode>(
      node, [&](hipGraphNode &, const EventRecordNode &record) { *event = record.event.get(); });
}

WAVETILE_HIP_API hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *node, hipGraph_t graph,
                                                     const hipGraphNode_t *dependencies,
                                                     size_t count, hipEvent_t event) {
  return add(node, graph, dependencies, count, eventMaker<EventWaitNode>(event));
}

WAVETILE_HIP_API hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return change<EventWaitNode>(node, eventMaker<EventWaitNode>(event));
}

WAVETILE_HIP_API hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t instance,
                                                              hipGraphNode_t node,
                                                              hipEvent_t event) {
  return change<EventWaitNode>(instance, node, eventMaker<EventWaitNode>(event));
}

WAVETILE_HIP_API hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event) {
  if (!event)
    return recorded(hipErrorInvalidValue);
  return look<EventWaitNode>(
      node, [&](hipGraphNode &, const EventWaitNode &wait) { *event = wait.event.get(); });
}
