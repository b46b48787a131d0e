//===- Graph.cpp - Graphs of work -----------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Graph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace wavetile::device;

Graphs &Graphs::get() {
  static auto *graphs = new Graphs;
  return *graphs;
}

hipGraphNodeType wavetile::device::typeOf(const NodeContent &content) {
  static constexpr hipGraphNodeType types[] = {
      hipGraphNodeTypeKernel, hipGraphNodeTypeMemcpy,    hipGraphNodeTypeMemset,
      hipGraphNodeTypeEmpty,  hipGraphNodeTypeWaitEvent, hipGraphNodeTypeEventRecord};
  return types[content.index()];
}

hipGraphNode_t wavetile::device::addNode(const std::shared_ptr<ihipGraph> &graph,
                                         llvm::ArrayRef<hipGraphNode_t> dependencies,
                                         NodeContent content) {
  auto node = std::make_shared<hipGraphNode>();
  node->graph = graph;
  node->content = std::move(content);
  node->dependencies = dependencies.vec();
  hipGraphNode_t handle = Graphs::get().nodes.insert(node);
  std::lock_guard lock(graph->mutex);
  graph->nodes.push_back(std::move(node));
  return handle;
}

void wavetile::device::destroyGraph(ihipGraph &graph) {
  Graphs &graphs = Graphs::get();
  {
    std::lock_guard lock(graph.mutex);
    for (const auto &node : graph.nodes)
      graphs.nodes.remove(node.get());
  }
  graphs.graphs.remove(&graph);
}

//===----------------------------------------------------------------------===//
// Graphs and their edges
//===----------------------------------------------------------------------===//

namespace {
/// The body of a function of a graph.
template <typename Body> hipError_t withGraph(hipGraph_t handle, Body &&body) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    auto graph = Graphs::get().graphs.find(handle);
    return graph ? body(runtime, graph) : hipErrorInvalidValue;
  });
}

/// The body of a function of a node, its graph locked.
template <typename Body> hipError_t withNode(hipGraphNode_t handle, Body &&body) {
  return withDevice([&](Runtime &) {
    clearReport();
    auto node = Graphs::get().nodes.find(handle);
    auto graph = node ? node->graph.lock() : nullptr;
    if (!graph)
      return hipErrorInvalidValue;
    std::lock_guard lock(graph->mutex);
    return body(*node, *graph);
  });
}
} // namespace

WAVETILE_HIP_API hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
  return withDevice([&](Runtime &) {
    if (!graph || flags != 0)
      return hipErrorInvalidValue;
    *graph = Graphs::get().graphs.insert(std::make_shared<ihipGraph>());
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGraphDestroy(hipGraph_t handle) {
  return withGraph(handle, [](Runtime &, const std::shared_ptr<ihipGraph> &graph) {
    destroyGraph(*graph);
    return hipSuccess;
  });
}

/// Gives a list back in HIP's way: without room only its length; what room is left is nulled.
static hipError_t giveList(llvm::ArrayRef<hipGraphNode_t> list, hipGraphNode_t *room,
                           size_t *count) {
  if (!count)
    return hipErrorInvalidValue;
  if (room)
    for (size_t i = 0; i < *count; ++i)
      room[i] = i < list.size() ? list[i] : nullptr;
  *count = room ? std::min(*count, list.size()) : list.size();
  return hipSuccess;
}

WAVETILE_HIP_API hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t *nodes,
                                             size_t *count) {
  return withGraph(handle, [&](Runtime &, const std::shared_ptr<ihipGraph> &graph) {
    std::lock_guard lock(graph->mutex);
    std::vector<hipGraphNode_t> all;
    for (const auto &node : graph->nodes)
      all.push_back(node.get());
    return giveList(all, nodes, count);
  });
}

WAVETILE_HIP_API hipError_t hipGraphGetRootNodes(hipGraph_t handle, hipGraphNode_t *nodes,
                                                 size_t *count) {
  return withGraph(handle, [&](Runtime &, const std::shared_ptr<ihipGraph> &graph) {
    std::lock_guard lock(graph->mutex);
    std::vector<hipGraphNode_t> roots;
    for (const auto &node : graph->nodes)
      if (node->dependencies.empty())
        roots.push_back(node.get());
    return giveList(roots, nodes, count);
  });
}

WAVETILE_HIP_API hipError_t hipGraphGetEdges(hipGraph_t handle, hipGraphNode_t *from,
                                             hipGraphNode_t *to, size_t *count) {
  return withGraph(handle, [&](Runtime &, const std::shared_ptr<ihipGraph> &graph) {
    if (!count || !from != !to)
      return hipErrorInvalidValue;
    std::lock_guard lock(graph->mutex);
    std::vector<hipGraphNode_t> begins, ends;
    for (const auto &node : graph->nodes)
      for (hipGraphNode_t dependency : node->dependencies) {
        begins.push_back(dependency);
        ends.push_back(node.get());
      }
    size_t endCount = *count;
    giveList(ends, to, &endCount);
    return giveList(begins, from, count);
  });
}

WAVETILE_HIP_API hipError_t hipGraphNodeGetDependencies(hipGraphNode_t handle,
                                                        hipGraphNode_t *nodes, size_t *count) {
  return withNode(handle, [&](hipGraphNode &node, ihipGraph &) {
    return giveList(node.dependencies, nodes, count);
  });
}

WAVETILE_HIP_API hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t handle,
                                                          hipGraphNode_t *nodes, size_t *count) {
  return withNode(handle, [&](hipGraphNode &, ihipGraph &graph) {
    std::vector<hipGraphNode_t> dependents;
    for (const auto &other : graph.nodes)
      if (llvm::is_contained(other->dependencies, handle))
        dependents.push_back(other.get());
    return giveList(dependents, nodes, count);
  });
}

WAVETILE_HIP_API hipError_t hipGraphNodeGetType(hipGraphNode_t handle, hipGraphNodeType *type) {
  return withNode(handle, [&](hipGraphNode &node, ihipGraph &) {
    if (!type)
      return hipErrorInvalidValue;
    *type = typeOf(node.content);
    return hipSuccess;
  });
}

static bool isNodeOf(const ihipGraph &graph, hipGraphNode_t handle) {
  return llvm::any_of(graph.nodes, [&](const auto &node) { return node.get() == handle; });
}

WAVETILE_HIP_API hipError_t hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t *from,
                                                    const hipGraphNode_t *to, size_t count) {
  return withGraph(handle, [&](Runtime &, const std::shared_ptr<ihipGraph> &graph) {
    if (count != 0 && (!from || !to))
      return hipErrorInvalidValue;
    std::lock_guard lock(graph->mutex);
    for (size_t i = 0; i < count; ++i)
      if (from[i] == to[i] || !isNodeOf(*graph, from[i]) || !isNodeOf(*graph, to[i]) ||
          llvm::is_contained(to[i]->dependencies, from[i]))
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      to[i]->dependencies.push_back(from[i]);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGraphRemoveDependencies(hipGraph_t handle,
                                                       const hipGraphNode_t *from,
                                                       const hipGraphNode_t *to, size_t count) {
  return withGraph(handle, [&](Runtime &, const std::shared_ptr<ihipGraph> &graph) {
    if (count != 0 && (!from || !to))
      return hipErrorInvalidValue;
    std::lock_guard lock(graph->mutex);
    for (size_t i = 0; i < count; ++i)
      if (!isNodeOf(*graph, to[i]) || !llvm::is_contained(to[i]->dependencies, from[i]))
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      llvm::erase(to[i]->dependencies, from[i]);
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGraphDestroyNode(hipGraphNode_t handle) {
  return withNode(handle, [&](hipGraphNode &, ihipGraph &graph) {
    for (const auto &other : graph.nodes)
      llvm::erase(other->dependencies, handle);
    Graphs::get().nodes.remove(handle);
    llvm::erase_if(graph.nodes, [&](const auto &node) { return node.get() == handle; });
    return hipSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// The nodes as steps; dependencies are places in the list. The graph is locked.
static std::vector<hipGraphExec::Step> stepsOf(const ihipGraph &graph) {
  llvm::DenseMap<hipGraphNode_t, size_t> places;
  for (const auto &node : graph.nodes)
    places.insert({node.get(), places.size()});
  std::vector<hipGraphExec::Step> steps;
  for (const auto &node : graph.nodes) {
    hipGraphExec::Step step = {node.get(), node->content, {}};
    for (hipGraphNode_t dependency : node->dependencies)
      step.dependencies.push_back(places.lookup(dependency));
    steps.push_back(std::move(step));
  }
  return steps;
}

/// An order that respects all dependencies, the earliest made first; too short if there is a
/// circle.
static std::vector<size_t> orderOf(const std::vector<hipGraphExec::Step> &steps) {
  std::vector<size_t> order;
  std::vector<bool> done(steps.size());
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (done[i] || !llvm::all_of(steps[i].dependencies, [&](size_t d) { return done[d]; }))
        continue;
      done[i] = progress = true;
      order.push_back(i);
    }
  }
  return order;
}

WAVETILE_HIP_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *instance,
                                                         hipGraph_t handle,
                                                         unsigned long long flags) {
  return withGraph(handle, [&](Runtime &, const std::shared_ptr<ihipGraph> &graph) {
    constexpr unsigned long long deviceLaunch = 4;
    if (!instance)
      return hipErrorInvalidValue;
    if (flags & deviceLaunch)
      return fail(hipErrorNotSupported, "graphs that kernels launch are not supported");
    auto made = std::make_shared<hipGraphExec>();
    made->flags = flags;
    {
      std::lock_guard lock(graph->mutex);
      made->steps = stepsOf(*graph);
    }
    made->order = orderOf(made->steps);
    if (made->order.size() != made->steps.size())
      return fail(hipErrorInvalidValue, "the graph's dependencies form a circle");
    *instance = Graphs::get().instances.insert(std::move(made));
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGraphInstantiate(hipGraphExec_t *instance, hipGraph_t graph,
                                                hipGraphNode_t *, char *log, size_t logBytes) {
  if (log && logBytes != 0)
    *log = '\0';
  return hipGraphInstantiateWithFlags(instance, graph, 0);
}

namespace {
/// The body of a function of an instance.
template <typename Body> hipError_t withInstance(hipGraphExec_t handle, Body &&body) {
  return withDevice([&](Runtime &runtime) {
    clearReport();
    auto instance = Graphs::get().instances.find(handle);
    return instance ? body(runtime, *instance) : hipErrorInvalidValue;
  });
}

/// What one launch of an instance does; made when it is launched, for instances may change after.
class GraphRun {
public:
  explicit GraphRun(const hipGraphExec &instance) {
    for (size_t place : instance.order) {
      const NodeContent &content = instance.steps[place].content;
      actions.push_back({content, nullptr});
      // What a host sees of events begins with the launch.
      if (const auto *record = std::get_if<EventRecordNode>(&content)) {
        actions.back().completion = std::make_shared<Completion>();
        std::lock_guard lock(record->event->mutex);
        record->event->recorded = actions.back().completion;
      } else if (const auto *wait = std::get_if<EventWaitNode>(&content)) {
        std::lock_guard lock(wait->event->mutex);
        actions.back().completion = wait->event->recorded;
      }
    }
  }

  /// Performs all in order; stops at the first error, but finishes the events.
  hipError_t perform(Runtime &runtime) {
    hipError_t result = hipSuccess;
    for (Action &action : actions)
      if (hipError_t error = perform(runtime, action, result != hipSuccess))
        result = error;
    return result;
  }

private:
  struct Action {
    NodeContent content;
    CompletionPointer completion; ///< To finish, or to wait for; may be null.
  };

  static hipError_t perform(Runtime &runtime, Action &action, bool failed) {
    if (std::holds_alternative<EventRecordNode>(action.content))
      action.completion->finish();
    if (failed)
      return hipSuccess;
    if (std::holds_alternative<EventWaitNode>(action.content) && action.completion)
      action.completion->wait();
    if (const auto *kernel = std::get_if<KernelNode>(&action.content))
      return wavetile::device::perform(runtime, kernel->work);
    if (const auto *copy = std::get_if<CopyNode>(&action.content))
      return wavetile::device::perform(runtime, copy->work);
    if (const auto *fill = std::get_if<FillNode>(&action.content))
      return wavetile::device::perform(runtime, fill->work);
    return hipSuccess;
  }

  std::vector<Action> actions;
};
} // namespace

WAVETILE_HIP_API hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream) {
  return withInstance(handle, [&](Runtime &runtime, hipGraphExec &instance) {
    std::shared_ptr<GraphRun> run;
    {
      std::lock_guard lock(instance.mutex);
      run = std::make_shared<GraphRun>(instance);
    }
    return submit(runtime, stream, HostWork{"hipGraphLaunch", [run](Runtime &runtime) {
                                              return run->perform(runtime);
                                            }});
  });
}

/// Instances are ready to run from the start.
WAVETILE_HIP_API hipError_t hipGraphUpload(hipGraphExec_t handle, hipStream_t stream) {
  return withInstance(handle, [&](Runtime &runtime, hipGraphExec &) {
    return findStream(runtime, stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

WAVETILE_HIP_API hipError_t hipGraphExecDestroy(hipGraphExec_t handle) {
  return withDevice([&](Runtime &) {
    return Graphs::get().instances.remove(handle) ? hipSuccess : hipErrorInvalidValue;
  });
}

WAVETILE_HIP_API hipError_t hipGraphExecGetFlags(hipGraphExec_t handle, unsigned long long *flags) {
  return withInstance(handle, [&](Runtime &, hipGraphExec &instance) {
    if (!flags)
      return hipErrorInvalidValue;
    *flags = instance.flags;
    return hipSuccess;
  });
}

WAVETILE_HIP_API hipError_t hipGraphExecUpdate(hipGraphExec_t handle, hipGraph_t graphHandle,
                                               hipGraphNode_t *errorNode,
                                               hipGraphExecUpdateResult *result) {
  return withInstance(handle, [&](Runtime &, hipGraphExec &instance) {
    auto graph = Graphs::get().graphs.find(graphHandle);
    if (!graph || !errorNode || !result)
      return hipErrorInvalidValue;
    *errorNode = nullptr;
    std::scoped_lock lock(instance.mutex, graph->mutex);
    std::vector<hipGraphExec::Step> steps = stepsOf(*graph);
    auto refuse = [&](hipGraphExecUpdateResult why, hipGraphNode_t node) {
      *result = why;
      *errorNode = node;
      return hipErrorGraphExecUpdateFailure;
    };
    if (steps.size() != instance.steps.size())
      return refuse(hipGraphExecUpdateErrorTopologyChanged, nullptr);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (typeOf(steps[i].content) != typeOf(instance.steps[i].content))
        return refuse(hipGraphExecUpdateErrorNodeTypeChanged, steps[i].origin);
      if (steps[i].dependencies != instance.steps[i].dependencies)
        return refuse(hipGraphExecUpdateErrorTopologyChanged, steps[i].origin);
    }
    // The instance goes on to answer to the nodes that it was made from.
    for (size_t i = 0; i < steps.size(); ++i)
      instance.steps[i].content = std::move(steps[i].content);
    *result = hipGraphExecUpdateSuccess;
    return hipSuccess;
  });
}
