//===- CodeObjectMetadata.cpp - The metadata note of a code object --------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/CodeObjectMetadata.h"

#include "llvm/BinaryFormat/MsgPackDocument.h"

#include <algorithm>

using namespace llvm;

namespace wavetile::device {

/// More than any driver accepts.
static constexpr uint64_t maxKernargBytes = uint64_t(1) << 20;

static Error fault(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "metadata: " + message);
}

namespace {
struct ValueKind {
  const char *name;
  ArgumentKind kind;
  /// Bytes that the runtime writes; 0 if the caller gives the value.
  uint32_t bytes;
};
} // namespace

static constexpr ValueKind valueKinds[] = {
    {"by_value", ArgumentKind::ByValue, 0},
    {"global_buffer", ArgumentKind::GlobalBuffer, 0},
    {"dynamic_shared_pointer", ArgumentKind::DynamicSharedPointer, 0},
    {"hidden_block_count_x", ArgumentKind::BlockCountX, 4},
    {"hidden_block_count_y", ArgumentKind::BlockCountY, 4},
    {"hidden_block_count_z", ArgumentKind::BlockCountZ, 4},
    {"hidden_group_size_x", ArgumentKind::GroupSizeX, 2},
    {"hidden_group_size_y", ArgumentKind::GroupSizeY, 2},
    {"hidden_group_size_z", ArgumentKind::GroupSizeZ, 2},
    {"hidden_remainder_x", ArgumentKind::RemainderX, 2},
    {"hidden_remainder_y", ArgumentKind::RemainderY, 2},
    {"hidden_remainder_z", ArgumentKind::RemainderZ, 2},
    {"hidden_global_offset_x", ArgumentKind::GlobalOffsetX, 8},
    {"hidden_global_offset_y", ArgumentKind::GlobalOffsetY, 8},
    {"hidden_global_offset_z", ArgumentKind::GlobalOffsetZ, 8},
    {"hidden_grid_dims", ArgumentKind::GridDimensions, 2},
    {"hidden_dynamic_lds_size", ArgumentKind::DynamicLdsSize, 4},
    {"hidden_private_base", ArgumentKind::PrivateBase, 4},
    {"hidden_shared_base", ArgumentKind::SharedBase, 4},
    {"hidden_none", ArgumentKind::Null, 8},
    {"hidden_printf_buffer", ArgumentKind::Null, 8},
    {"hidden_hostcall_buffer", ArgumentKind::Null, 8},
    {"hidden_default_queue", ArgumentKind::Null, 8},
    {"hidden_completion_action", ArgumentKind::Null, 8},
    {"hidden_multigrid_sync_arg", ArgumentKind::Null, 8},
    {"hidden_heap_v1", ArgumentKind::Null, 8},
    {"hidden_queue_ptr", ArgumentKind::Null, 8},
};

/// A member of a map, or a null pointer.
static const msgpack::DocNode *member(msgpack::MapDocNode &map, StringRef key) {
  auto entry = map.find(key);
  return entry == map.end() ? nullptr : &entry->second;
}

static StringRef stringOf(const msgpack::DocNode *node) {
  return node && node->isString() ? node->getString() : StringRef();
}

/// A whole number of at most 32 bits. Absent counts as 0, anything else as an error.
static Expected<uint32_t> numberOf(const msgpack::DocNode *node, StringRef key) {
  if (!node)
    return 0u;
  if (node->getKind() == msgpack::Type::UInt && node->getUInt() <= UINT32_MAX)
    return static_cast<uint32_t>(node->getUInt());
  if (node->getKind() == msgpack::Type::Int && node->getInt() >= 0 &&
      node->getInt() <= int64_t(UINT32_MAX))
    return static_cast<uint32_t>(node->getInt());
  return fault("'" + key + "' is no number of 32 bits");
}

static Expected<ArgumentInfo> parseArgument(msgpack::DocNode &node, uint32_t kernargSize) {
  if (!node.isMap())
    return fault("an argument is no map");
  msgpack::MapDocNode &map = node.getMap();
  StringRef kindName = stringOf(member(map, ".value_kind"));
  const auto *kind = std::find_if(std::begin(valueKinds), std::end(valueKinds),
                                  [&](const ValueKind &known) { return kindName == known.name; });
  if (kind == std::end(valueKinds))
    return fault("arguments of kind '" + kindName + "' are not supported");
  auto offset = numberOf(member(map, ".offset"), ".offset");
  if (!offset)
    return offset.takeError();
  auto size = numberOf(member(map, ".size"), ".size");
  if (!size)
    return size.takeError();
  if (*offset > kernargSize || *size > kernargSize - *offset)
    return fault("an argument at " + Twine(*offset) + " of " + Twine(*size) +
                 " bytes lies outside the argument block of " + Twine(kernargSize));
  if (kind->bytes > *size)
    return fault("'" + kindName + "' has " + Twine(*size) + " bytes, not " + Twine(kind->bytes));
  return ArgumentInfo{kind->kind, *offset, *size};
}

static Error parseLimits(msgpack::MapDocNode &map, KernelInfo &kernel) {
  struct Field {
    const char *key;
    uint32_t *value;
  };
  const Field fields[] = {
      {".kernarg_segment_size", &kernel.descriptor.kernargSize},
      {".kernarg_segment_align", &kernel.kernargAlignment},
      {".max_flat_workgroup_size", &kernel.maxFlatWorkgroupSize},
      {".sgpr_count", &kernel.sgprCount},
      {".vgpr_count", &kernel.vgprCount},
      {".agpr_count", &kernel.agprCount},
  };
  for (const Field &field : fields) {
    auto value = numberOf(member(map, field.key), field.key);
    if (!value)
      return value.takeError();
    *field.value = *value;
  }
  if (kernel.descriptor.kernargSize > maxKernargBytes)
    return fault("kernel '" + kernel.name + "' asks for " + Twine(kernel.descriptor.kernargSize) +
                 " bytes of arguments");
  if (const msgpack::DocNode *node = member(map, ".uses_dynamic_stack"))
    kernel.usesDynamicStack = node->getKind() == msgpack::Type::Boolean && node->getBool();
  if (auto entry = map.find(".reqd_workgroup_size"); entry != map.end()) {
    if (!entry->second.isArray() || entry->second.getArray().size() != 3)
      return fault("'.reqd_workgroup_size' is no list of three");
    kernel.requiredWorkgroupSize.emplace();
    for (unsigned i = 0; i < 3; ++i) {
      auto size = numberOf(&entry->second.getArray()[i], ".reqd_workgroup_size");
      if (!size)
        return size.takeError();
      (*kernel.requiredWorkgroupSize)[i] = *size;
    }
  }
  return Error::success();
}

static Expected<KernelMetadata> parseKernel(msgpack::DocNode &node) {
  if (!node.isMap())
    return fault("a kernel is no map");
  msgpack::MapDocNode &map = node.getMap();
  KernelMetadata metadata;
  KernelInfo &kernel = metadata.kernel;
  kernel.name = stringOf(member(map, ".name")).str();
  metadata.descriptorSymbol = stringOf(member(map, ".symbol")).str();
  if (kernel.name.empty() || metadata.descriptorSymbol.empty())
    return fault("a kernel has no name or no symbol");
  if (Error error = parseLimits(map, kernel))
    return std::move(error);
  if (auto entry = map.find(".args"); entry != map.end()) {
    if (!entry->second.isArray())
      return fault("'.args' is no list");
    for (msgpack::DocNode &argument : entry->second.getArray()) {
      auto info = parseArgument(argument, kernel.descriptor.kernargSize);
      if (!info)
        return info.takeError();
      kernel.arguments.push_back(*info);
      if (!info->isHidden())
        kernel.explicitKernargSize =
            std::max(kernel.explicitKernargSize, info->offset + info->size);
    }
  }
  return metadata;
}

Expected<std::vector<KernelMetadata>> parseKernelMetadata(StringRef note) {
  msgpack::Document document;
  if (!document.readFromBlob(note, /*Multi=*/false) || !document.getRoot().isMap())
    return fault("not readable");
  msgpack::MapDocNode &root = document.getRoot().getMap();
  std::vector<KernelMetadata> kernels;
  auto entry = root.find("amdhsa.kernels");
  if (entry == root.end())
    return kernels;
  if (!entry->second.isArray())
    return fault("'amdhsa.kernels' is no list");
  for (msgpack::DocNode &node : entry->second.getArray()) {
    auto kernel = parseKernel(node);
    if (!kernel)
      return kernel.takeError();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

} // namespace wavetile::device
