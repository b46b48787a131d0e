//===- Graph.h - Graphs of work -------------------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph's nodes are launches, copies, fills, records of events and waits for
// them, and empty ones. Instantiating puts them into an order that respects every
// dependency; a launch performs them in that order, as one piece of a stream's
// work. Other kinds of nodes are refused where they would be made.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_GRAPH_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_GRAPH_H

#include "runtime/emulator/hip/Stream.h"
#include "runtime/emulator/hip/Work.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace wavetile::device {

struct EmptyNode {};

struct KernelNode {
  KernelWork work;
  /// What the client gave: a host function or a module's.
  void *function = nullptr;
};

struct CopyNode {
  CopyWork work;
  hipMemcpy3DParms parameters = {};
};

struct FillNode {
  FillWork work;
  hipMemsetParams parameters = {};
};

struct EventRecordNode {
  std::shared_ptr<ihipEvent_t> event;
};

struct EventWaitNode {
  std::shared_ptr<ihipEvent_t> event;
};

using NodeContent =
    std::variant<KernelNode, CopyNode, FillNode, EmptyNode, EventWaitNode, EventRecordNode>;

/// HIP's number for a node's type.
hipGraphNodeType typeOf(const NodeContent &content);

} // namespace wavetile::device

/// What hipGraphNode_t points to.
struct hipGraphNode {
  std::weak_ptr<ihipGraph> graph;
  wavetile::device::NodeContent content;
  /// Nodes of the same graph that come before.
  std::vector<hipGraphNode_t> dependencies;
  /// The kernel's arguments as hipGraphKernelNodeGetParams tells them.
  std::vector<void *> parameterPointers;
};

/// What hipGraph_t points to.
struct ihipGraph {
  std::mutex mutex;
  /// In the order in which they were made.
  std::vector<std::shared_ptr<hipGraphNode>> nodes;
};

/// What hipGraphExec_t points to.
struct hipGraphExec {
  struct Step {
    hipGraphNode_t origin; ///< The node that it was made from; only compared.
    wavetile::device::NodeContent content;
    std::vector<size_t> dependencies; ///< Places in the order of making.
  };
  std::mutex mutex;
  unsigned long long flags = 0;
  std::vector<Step> steps;   ///< In the order in which nodes were made.
  std::vector<size_t> order; ///< In which they are performed.
};

namespace wavetile::device {

/// The living graphs, nodes and instances.
struct Graphs {
  static Graphs &get();
  Handles<ihipGraph> graphs;
  Handles<hipGraphNode> nodes;
  Handles<hipGraphExec> instances;
};

/// Adds a node after `dependencies`, which are of the same graph.
hipGraphNode_t addNode(const std::shared_ptr<ihipGraph> &graph,
                       llvm::ArrayRef<hipGraphNode_t> dependencies, NodeContent content);

/// Takes the graph and its nodes away.
void destroyGraph(ihipGraph &graph);

/// Copies and fills as nodes, with the parameters that HIP tells of them.
CopyNode copyNodeOf(const CopyWork &work);
FillNode fillNodeOf(const FillWork &work);

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_GRAPH_H
