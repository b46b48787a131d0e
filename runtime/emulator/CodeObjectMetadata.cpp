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
    {"hidden_printf_buffer", ArgumentKind::PrintfBuffer, 8},
    {"hidden_hostcall_buffer", ArgumentKind::HostcallBuffer, 8},
    {"hidden_default_queue", ArgumentKind::Null, 8},
    {"hidden_completion_action", ArgumentKind::Null, 8},
    {"hidden_multigrid_sync_arg", ArgumentKind::MultigridSync, 8},
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

namespace {
/// Checks MessagePack before LLVM's reader sees it, which ends the process on what it does not
/// expect: bytes that begin no value, and map keys that are no scalars.
class MessagePackCheck {
public:
  explicit MessagePackCheck(StringRef bytes) : rest(bytes) {}

  /// Whether the bytes are one value, of scalars, strings, arrays, and maps with strings for keys.
  bool isWellFormed() { return value(/*depth=*/0) && rest.empty(); }

private:
  static constexpr unsigned maxDepth = 32;

  bool skip(uint64_t bytes) {
    if (bytes > rest.size())
      return false;
    rest = rest.drop_front(bytes);
    return true;
  }

  /// A big-endian number of 1, 2, 4 or 8 bytes.
  bool number(unsigned bytes, uint64_t &result) {
    if (bytes > rest.size())
      return false;
    result = 0;
    for (unsigned char byte : rest.take_front(bytes))
      result = result << 8 | byte;
    return skip(bytes);
  }

  bool skipCounted(unsigned lengthBytes) {
    uint64_t length;
    return number(lengthBytes, length) && skip(length);
  }

  bool elements(uint64_t count, bool isMap, unsigned depth) {
    // Each has a byte at the least, so a count beyond the end fails soon.
    for (uint64_t i = 0; i < count; ++i)
      if ((isMap && !key()) || !value(depth + 1))
        return false;
    return true;
  }

  bool countedElements(unsigned countBytes, bool isMap, unsigned depth) {
    uint64_t count;
    return number(countBytes, count) && elements(count, isMap, depth);
  }

  bool key() {
    if (rest.empty())
      return false;
    unsigned char first = rest.front();
    bool isString = (first >= 0xa0 && first <= 0xbf) || (first >= 0xd9 && first <= 0xdb);
    return isString && value(/*depth=*/0);
  }

  bool value(unsigned depth) {
    if (rest.empty() || depth > maxDepth)
      return false;
    unsigned char first = rest.front();
    rest = rest.drop_front();
    if (first <= 0x7f || first >= 0xe0) // small integers
      return true;
    if (first <= 0x8f)
      return elements(first & 0x0f, /*isMap=*/true, depth);
    if (first <= 0x9f)
      return elements(first & 0x0f, /*isMap=*/false, depth);
    if (first <= 0xbf)
      return skip(first & 0x1f);
    switch (first) {
    case 0xc0: // nil
    case 0xc2: // false
    case 0xc3: // true
      return true;
    case 0xcc: // integers and floats by their size
    case 0xd0:
      return skip(1);
    case 0xcd:
    case 0xd1:
      return skip(2);
    case 0xca:
    case 0xce:
    case 0xd2:
      return skip(4);
    case 0xcb:
    case 0xcf:
    case 0xd3:
      return skip(8);
    case 0xd9: // strings
      return skipCounted(1);
    case 0xda:
      return skipCounted(2);
    case 0xdb:
      return skipCounted(4);
    case 0xdc: // arrays
      return countedElements(2, /*isMap=*/false, depth);
    case 0xdd:
      return countedElements(4, /*isMap=*/false, depth);
    case 0xde: // maps
      return countedElements(2, /*isMap=*/true, depth);
    case 0xdf:
      return countedElements(4, /*isMap=*/true, depth);
    }
    return false;
  }

  StringRef rest;
};
} // namespace

Expected<ObjectMetadata> parseMetadata(StringRef note) {
  msgpack::Document document;
  if (!MessagePackCheck(note).isWellFormed() || !document.readFromBlob(note, /*Multi=*/false) ||
      !document.getRoot().isMap())
    return fault("not readable");
  msgpack::MapDocNode &root = document.getRoot().getMap();
  ObjectMetadata metadata;
  if (auto formats = root.find("amdhsa.printf"); formats != root.end()) {
    if (!formats->second.isArray())
      return fault("'amdhsa.printf' is no list");
    for (msgpack::DocNode &format : formats->second.getArray())
      metadata.printfFormats.push_back(stringOf(&format).str());
  }
  auto entry = root.find("amdhsa.kernels");
  if (entry == root.end())
    return metadata;
  if (!entry->second.isArray())
    return fault("'amdhsa.kernels' is no list");
  for (msgpack::DocNode &node : entry->second.getArray()) {
    auto kernel = parseKernel(node);
    if (!kernel)
      return kernel.takeError();
    metadata.kernels.push_back(std::move(*kernel));
  }
  return metadata;
}

} // namespace wavetile::device
