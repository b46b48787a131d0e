//===- Image.cpp - The bytes that a client loads a module from ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/Image.h"

#include "runtime/emulator/CodeObject.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace llvm;

namespace wavetile::device {

static constexpr StringLiteral bundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
static constexpr StringLiteral compressedBundleMagic = "CCOB";
/// No image is larger. Keeps a corrupt length from wrapping around.
static constexpr uint64_t maxImageBytes = uint64_t(1) << 32;
/// No bundle decompresses to more.
static constexpr uint64_t maxDecompressedBytes = uint64_t(1) << 30;
/// More code objects than any bundle has.
static constexpr uint64_t maxBundleEntries = 4096;

static Error fault(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {
/// Reads from an image of known or unknown length.
class ImageReader {
public:
  ImageReader(const void *image, std::optional<uint64_t> bytes, const MemoryMap &memory)
      : begin(static_cast<const uint8_t *>(image)), bytes(bytes), memory(memory) {}

  /// The bytes [offset, offset + count), if they are there.
  Expected<ArrayRef<uint8_t>> read(uint64_t offset, uint64_t count) const {
    if (offset > maxImageBytes || count > maxImageBytes)
      return fault("the image claims to be larger than " + Twine(maxImageBytes) + " bytes");
    bool isThere = bytes ? offset <= *bytes && count <= *bytes - offset
                         : memory.isMapped(reinterpret_cast<uint64_t>(begin) + offset, count);
    if (!isThere)
      return fault("the image ends before byte " + Twine(offset + count) +
                   ": it is truncated or corrupt");
    return ArrayRef(begin + offset, count);
  }

  bool startsWith(StringRef magic) const {
    auto start = read(0, magic.size());
    if (!start) {
      consumeError(start.takeError());
      return false;
    }
    return std::memcmp(start->data(), magic.data(), magic.size()) == 0;
  }

  std::optional<uint64_t> length() const { return bytes; }

private:
  const uint8_t *begin;
  std::optional<uint64_t> bytes;
  const MemoryMap &memory;
};
} // namespace

/// Where an ELF file ends, from its headers.
static Expected<uint64_t> elfLength(const ImageReader &image, uint64_t offset) {
  auto bytes = image.read(offset, sizeof(ELF::Elf64_Ehdr));
  if (!bytes)
    return bytes.takeError();
  ELF::Elf64_Ehdr header;
  std::memcpy(&header, bytes->data(), sizeof(header));
  if (header.e_shentsize != sizeof(ELF::Elf64_Shdr) ||
      header.e_phentsize != sizeof(ELF::Elf64_Phdr) || header.e_shoff > maxImageBytes ||
      header.e_phoff > maxImageBytes)
    return fault("the ELF header is corrupt");
  uint64_t end = sizeof(header);
  uint64_t sectionHeaders = uint64_t(header.e_shnum) * sizeof(ELF::Elf64_Shdr);
  uint64_t segmentHeaders = uint64_t(header.e_phnum) * sizeof(ELF::Elf64_Phdr);
  end = std::max({end, header.e_shoff + sectionHeaders, header.e_phoff + segmentHeaders});
  auto include = [&](uint64_t partOffset, uint64_t partBytes) {
    if (partOffset <= maxImageBytes && partBytes <= maxImageBytes)
      end = std::max(end, partOffset + partBytes);
  };
  auto sections = image.read(offset + header.e_shoff, sectionHeaders);
  if (!sections)
    return sections.takeError();
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    ELF::Elf64_Shdr section;
    std::memcpy(&section, sections->data() + i * sizeof(section), sizeof(section));
    if (section.sh_type != ELF::SHT_NOBITS)
      include(section.sh_offset, section.sh_size);
  }
  auto segments = image.read(offset + header.e_phoff, segmentHeaders);
  if (!segments)
    return segments.takeError();
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ELF::Elf64_Phdr segment;
    std::memcpy(&segment, segments->data() + i * sizeof(segment), sizeof(segment));
    include(segment.p_offset, segment.p_filesz);
  }
  return end;
}

/// The code object of a bundle whose triple ends in `processor`, without or with features.
static Expected<ArrayRef<uint8_t>> findInBundle(const ImageReader &image, StringRef processor) {
  uint64_t offset = bundleMagic.size();
  auto readNumber = [&]() -> Expected<uint64_t> {
    auto bytes = image.read(offset, sizeof(uint64_t));
    if (!bytes)
      return bytes.takeError();
    offset += sizeof(uint64_t);
    return support::endian::read64le(bytes->data());
  };
  auto count = readNumber();
  if (!count)
    return count.takeError();
  if (*count > maxBundleEntries)
    return fault("the offload bundle is corrupt: it has " + Twine(*count) + " entries");
  std::string others;
  for (uint64_t i = 0; i < *count; ++i) {
    uint64_t fields[3];
    for (uint64_t &field : fields) {
      auto number = readNumber();
      if (!number)
        return number.takeError();
      field = *number;
    }
    auto id = image.read(offset, fields[2]);
    if (!id)
      return id.takeError();
    offset += fields[2];
    StringRef triple(reinterpret_cast<const char *>(id->data()), id->size());
    // "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-"
    StringRef target = triple.split(':').first.rsplit('-').second;
    if (triple.contains("amdgcn") && target == processor)
      return image.read(fields[0], fields[1]);
    others += (others.empty() ? "" : ", ") + triple.str();
  }
  return make_error<WrongProcessorError>("the offload bundle has no code object for " + processor +
                                         ", only for " + others);
}

/// The bundle in a compressed one: a header, then one frame of zstd or zlib.
static Expected<SmallVector<uint8_t, 0>> decompressBundle(const ImageReader &image) {
  // magic, version (2 bytes), method (2 bytes); from version 2 on the size of the file; the size of
  // what is compressed; a hash (8 bytes). Sizes have 4 bytes, from version 3 on 8.
  constexpr unsigned methodZlib = 0, methodZstd = 1;
  uint64_t offset = compressedBundleMagic.size();
  auto readNumber = [&](unsigned bytes) -> Expected<uint64_t> {
    auto field = image.read(offset, bytes);
    if (!field)
      return field.takeError();
    offset += bytes;
    uint64_t value = 0;
    std::memcpy(&value, field->data(), bytes);
    return value;
  };
  auto version = readNumber(2);
  if (!version)
    return version.takeError();
  auto method = readNumber(2);
  if (!method)
    return method.takeError();
  if (*version < 1 || *version > 3)
    return fault("version " + Twine(*version) + " of compressed offload bundles is not supported");
  unsigned sizeBytes = *version >= 3 ? 8 : 4;
  std::optional<uint64_t> fileBytes = image.length();
  if (*version >= 2) {
    auto size = readNumber(sizeBytes);
    if (!size)
      return size.takeError();
    fileBytes = *size;
  }
  auto uncompressedBytes = readNumber(sizeBytes);
  if (!uncompressedBytes)
    return uncompressedBytes.takeError();
  offset += sizeof(uint64_t);
  if (!fileBytes)
    return fault("a compressed offload bundle of version 1 in memory does not say where it ends");
  if (*fileBytes < offset || *uncompressedBytes > maxDecompressedBytes)
    return fault("the compressed offload bundle is corrupt");
  auto compressed = image.read(offset, *fileBytes - offset);
  if (!compressed)
    return compressed.takeError();

  SmallVector<uint8_t, 0> bundle;
  if (*method == methodZstd) {
    if (!compression::zstd::isAvailable())
      return fault("this build cannot decompress zstd");
    if (Error error = compression::zstd::decompress(*compressed, bundle, *uncompressedBytes))
      return std::move(error);
  } else if (*method == methodZlib) {
    if (!compression::zlib::isAvailable())
      return fault("this build cannot decompress zlib");
    if (Error error = compression::zlib::decompress(*compressed, bundle, *uncompressedBytes))
      return std::move(error);
  } else {
    return fault("the bundle is compressed by an unknown method " + Twine(*method));
  }
  return bundle;
}

Expected<CodeObjectBytes> findCodeObject(const void *start, std::optional<uint64_t> bytes,
                                         StringRef processor, const MemoryMap &memory) {
  auto found = [](Expected<ArrayRef<uint8_t>> codeObject) -> Expected<CodeObjectBytes> {
    if (!codeObject)
      return codeObject.takeError();
    return CodeObjectBytes{*codeObject, nullptr};
  };
  ImageReader image(start, bytes, memory);
  if (image.startsWith(bundleMagic))
    return found(findInBundle(image, processor));
  if (image.startsWith(compressedBundleMagic)) {
    auto bundle = decompressBundle(image);
    if (!bundle)
      return bundle.takeError();
    auto owned = std::make_unique<SmallVector<uint8_t, 0>>(std::move(*bundle));
    ImageReader inner(owned->data(), owned->size(), memory);
    if (!inner.startsWith(bundleMagic))
      return fault("the compressed image is no offload bundle");
    auto codeObject = findInBundle(inner, processor);
    if (!codeObject)
      return codeObject.takeError();
    return CodeObjectBytes{*codeObject, std::move(owned)};
  }
  if (!image.startsWith(StringRef(ELF::ElfMagic, 4)))
    return fault("neither a code object nor an offload bundle");
  if (bytes)
    return found(image.read(0, *bytes));
  auto length = elfLength(image, 0);
  if (!length)
    return length.takeError();
  return found(image.read(0, *length));
}

} // namespace wavetile::device
