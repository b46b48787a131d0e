//===- ElfKernels.cpp - The kernels that a code object holds --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backend_rocm/ElfKernels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"

#include <cstring>
#include <optional>

using namespace wavetile::rocm;
using llvm::object::ELF64LEFile;
using llvm::object::ELF64LEObjectFile;

namespace {

using Metadata = llvm::StringMap<std::map<std::string, uint64_t>>;

llvm::Error malformed(const llvm::Twine &what) {
  return llvm::createStringError("not an AMDGPU code object: " + what);
}

/// Reads one metadata note into `all`, by the kernel symbol without ".kd".
llvm::Error readNote(llvm::StringRef blob, Metadata &all) {
  llvm::msgpack::Document document;
  if (!document.readFromBlob(blob, /*Multi=*/false) || !document.getRoot().isMap())
    return malformed("unreadable metadata");
  llvm::msgpack::DocNode kernels = document.getRoot().getMap()["amdhsa.kernels"];
  if (!kernels.isArray())
    return malformed("metadata without kernels");
  for (llvm::msgpack::DocNode &kernel : kernels.getArray()) {
    if (!kernel.isMap() || !kernel.getMap()[".symbol"].isString())
      return malformed("a kernel without .symbol");
    llvm::StringRef symbol = kernel.getMap()[".symbol"].getString();
    symbol.consume_back(".kd");
    for (auto &[key, value] : kernel.getMap())
      if (key.isString() && value.getKind() == llvm::msgpack::Type::UInt)
        all[symbol][key.getString().str()] = value.getUInt();
  }
  return llvm::Error::success();
}

llvm::Expected<Metadata> readMetadata(const ELF64LEFile &file) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  Metadata all;
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file.notes(section, error)) {
      if (note.getName() != "AMDGPU" || note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      if (llvm::Error inner = readNote(note.getDescAsStringRef(section.sh_addralign), all))
        return llvm::joinErrors(std::move(error), std::move(inner));
    }
    if (error)
      return std::move(error);
  }
  return all;
}

/// The bytes at a virtual address: `size` of them.
llvm::Expected<llvm::ArrayRef<uint8_t>> bytesAt(const ELF64LEFile &file, uint64_t address,
                                                uint64_t size) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (!(section.sh_flags & llvm::ELF::SHF_ALLOC) || section.sh_type == llvm::ELF::SHT_NOBITS ||
        address < section.sh_addr || address + size > section.sh_addr + section.sh_size)
      continue;
    auto contents = file.getSectionContents(section);
    if (!contents)
      return contents.takeError();
    return contents->slice(address - section.sh_addr, size);
  }
  return malformed("address outside its sections");
}

/// The entry of a kernel whose arguments are preloaded lies behind code for
/// firmware that cannot do that.
constexpr uint64_t preloadStubBytes = 256;

struct Symbol {
  uint64_t address, size;
};

} // namespace

llvm::Expected<ElfKernels> ElfKernels::parse(llvm::ArrayRef<uint8_t> codeObject,
                                             const Target &target) {
  llvm::StringRef text(reinterpret_cast<const char *>(codeObject.data()), codeObject.size());
  auto object = ELF64LEObjectFile::create(llvm::MemoryBufferRef(text, "code object"));
  if (!object)
    return malformed(llvm::toString(object.takeError()));
  ElfKernels result;
  result.file = std::make_unique<ELF64LEObjectFile>(std::move(*object));
  const ELF64LEFile &file = result.file->getELFFile();
  if (file.getHeader().e_machine != llvm::ELF::EM_AMDGPU)
    return malformed("another machine's");
  std::optional<llvm::StringRef> builtFor = result.file->tryGetCPUName();
  if (builtFor != target.name())
    return llvm::createStringError("a code object for " + builtFor.value_or("no known GPU") +
                                   ", not for " + target.name());
  auto metadata = readMetadata(file);
  if (!metadata)
    return metadata.takeError();

  llvm::StringMap<Symbol> symbols;
  for (const llvm::object::ELFSymbolRef &symbol : result.file->getDynamicSymbolIterators()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!name || !address)
      return llvm::joinErrors(name.takeError(), address.takeError());
    symbols[*name] = {*address, symbol.getSize()};
  }
  for (const auto &[name, descriptorSymbol] : symbols) {
    llvm::StringRef symbol = name;
    if (!symbol.consume_back(".kd") || !symbols.contains(symbol))
      continue;
    auto bytes = bytesAt(file, descriptorSymbol.address, sizeof(llvm::amdhsa::kernel_descriptor_t));
    if (!bytes)
      return bytes.takeError();
    llvm::amdhsa::kernel_descriptor_t descriptor;
    std::memcpy(&descriptor, bytes->data(), sizeof(descriptor));
    Symbol code = symbols[symbol];
    auto codeBytes = bytesAt(file, code.address, code.size);
    if (!codeBytes)
      return codeBytes.takeError();
    bool preloads =
        AMDHSA_BITS_GET(descriptor.kernarg_preload, llvm::amdhsa::KERNARG_PRELOAD_SPEC_LENGTH) != 0;
    ElfKernel kernel{symbol.str(),
                     code.address,
                     code.address + (preloads ? preloadStubBytes : 0),
                     *codeBytes,
                     {}};
    if (kernel.entry - kernel.address > codeBytes->size())
      return malformed("a kernel shorter than its preload code");
    kernel.metadata = metadata->lookup(symbol);
    result.found.push_back(std::move(kernel));
  }
  llvm::sort(result.found,
             [](const ElfKernel &a, const ElfKernel &b) { return a.address < b.address; });
  return result;
}
