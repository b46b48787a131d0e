//===- CodeObject.cpp - A loaded AMDGPU code object -----------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/CodeObject.h"

#include "runtime/emulator/CodeObjectMetadata.h"
#include "runtime/emulator/MemoryMap.h"
#include "runtime/emulator/Target.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"

#include <sys/mman.h>

#include <algorithm>

using namespace llvm;
using namespace llvm::object;

namespace wavetile::device {

static constexpr uint64_t pageSize = 4096;
/// More than any code object needs; keeps a corrupt header from reserving the machine's memory.
static constexpr uint64_t maxImageBytes = uint64_t(1) << 30;
/// Of arguments, more than any driver accepts; a launch copies them.
static constexpr uint64_t maxKernargBytes = uint64_t(1) << 20;

static Error fault(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

char WrongProcessorError::ID = 0;

/// The memory that the segments are laid out in.
struct CodeObject::Image {
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
  /// Where the ranges begin that `memory` was told of.
  std::vector<uint64_t> ranges;

  ~Image() {
    if (data)
      munmap(data, bytes);
  }
};

struct CodeObject::DebugInfo {
  std::unique_ptr<ObjectFile> object;
  std::unique_ptr<DWARFContext> context;
};

/// Fills a CodeObject, step by step.
class CodeObjectReader {
public:
  CodeObjectReader(CodeObject &object, ELFFile<ELF64LE> elf)
      : object(object), elf(std::move(elf)) {}

  Error read(StringRef processor);

private:
  Error checkHeader(StringRef processor);
  Error loadSegments();
  Error readSymbols();
  Error applyRelocations();
  Error readKernels();
  Expected<KernelInfo> readKernel(KernelMetadata metadata);
  Expected<std::string> metadataNote();
  KernelDescriptor takeApart(const amdhsa::kernel_descriptor_t &raw);

  const SymbolInfo *findSymbol(StringRef name) const {
    for (const SymbolInfo &symbol : object.symbolList)
      if (symbol.name == name)
        return &symbol;
    return nullptr;
  }

  bool isLoaded(uint64_t address, uint64_t bytes) const {
    uint64_t begin = reinterpret_cast<uint64_t>(object.image->data);
    uint64_t end = begin + object.image->bytes;
    return address >= begin && address <= end && bytes <= end - address;
  }

  CodeObject &object;
  ELFFile<ELF64LE> elf;
  bool unifiedRegisterFile = false;
};

Error CodeObjectReader::read(StringRef processor) {
  if (Error error = checkHeader(processor))
    return error;
  if (Error error = loadSegments())
    return error;
  if (Error error = readSymbols())
    return error;
  if (Error error = applyRelocations())
    return error;
  return readKernels();
}

namespace {
/// The processors that code objects name in their header, as far as messages want them.
struct Processor {
  unsigned machine;
  const char *name;
};
} // namespace

static constexpr Processor processors[] = {
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX900, "gfx900"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX906, "gfx906"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX908, "gfx908"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A, "gfx90a"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX942, "gfx942"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX950, "gfx950"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030, "gfx1030"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100, "gfx1100"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1101, "gfx1101"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1102, "gfx1102"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1103, "gfx1103"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1150, "gfx1150"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1151, "gfx1151"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1152, "gfx1152"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1153, "gfx1153"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200, "gfx1200"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1201, "gfx1201"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1250, "gfx1250"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC, "gfx9-4-generic"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX11_GENERIC, "gfx11-generic"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX12_GENERIC, "gfx12-generic"},
};

/// Whether code for `built` runs on `processor`: the same one, or the generic one of its family.
static bool runsOn(StringRef built, StringRef processor) {
  if (built == processor)
    return true;
  if (!built.consume_back("-generic"))
    return false;
  std::string family = built.str();
  family.erase(std::remove(family.begin(), family.end(), '-'), family.end());
  return processor.starts_with(family);
}

Error CodeObjectReader::checkHeader(StringRef processor) {
  const auto &header = elf.getHeader();
  if (header.e_machine != ELF::EM_AMDGPU)
    return fault("not a code object for AMD GPUs: ELF machine " + Twine(header.e_machine));
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    return fault("not a code object for amdhsa: ELF OS/ABI " +
                 Twine(unsigned(header.e_ident[ELF::EI_OSABI])));
  if (header.e_type != ELF::ET_DYN)
    return fault("not a linked code object: ELF type " + Twine(header.e_type) +
                 " (a shared object is 3; was the linker step left out?)");
  unsigned abiVersion = header.e_ident[ELF::EI_ABIVERSION];
  if (abiVersion < ELF::ELFABIVERSION_AMDGPU_HSA_V4)
    return fault("code object version " + Twine(abiVersion + 2) +
                 " is not supported; versions 4 to 6 are");

  unsigned machine = header.e_flags & ELF::EF_AMDGPU_MACH;
  object.processorName = "machine " + utostr(machine);
  for (const Processor &known : processors)
    if (known.machine == machine)
      object.processorName = known.name;
  if (!runsOn(object.processorName, processor))
    return make_error<WrongProcessorError>("built for " + object.processorName +
                                           ", but this device is a " + processor);
  unifiedRegisterFile = machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A ||
                        machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX942 ||
                        machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX950 ||
                        machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC;
  return Error::success();
}

Error CodeObjectReader::loadSegments() {
  auto headers = elf.program_headers();
  if (!headers)
    return headers.takeError();
  uint64_t end = 0;
  bool hasSegment = false;
  for (const auto &segment : *headers) {
    if (segment.p_type != ELF::PT_LOAD || segment.p_memsz == 0)
      continue;
    if (segment.p_filesz > segment.p_memsz || segment.p_offset > object.file.size() ||
        segment.p_filesz > object.file.size() - segment.p_offset)
      return fault("a segment lies outside the file: the code object is truncated or corrupt");
    if (segment.p_vaddr > maxImageBytes || segment.p_memsz > maxImageBytes - segment.p_vaddr)
      return fault("a segment ends beyond " + Twine(maxImageBytes) + " bytes");
    if (hasSegment && segment.p_vaddr < end)
      return fault("segments overlap or are out of order");
    end = segment.p_vaddr + segment.p_memsz;
    hasSegment = true;
  }
  if (!hasSegment)
    return fault("nothing to load: no segments");

  auto image = std::make_unique<CodeObject::Image>();
  image->bytes = alignTo(end + pageSize, pageSize);
  void *data =
      mmap(nullptr, image->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return createStringError(std::errc::not_enough_memory,
                             "no memory for %llu bytes of code object",
                             static_cast<unsigned long long>(image->bytes));
  image->data = static_cast<uint8_t *>(data);
  object.image = std::move(image);
  object.bias = reinterpret_cast<uint64_t>(data);

  uint64_t textBegin = UINT64_MAX, textEnd = 0;
  for (const auto &segment : *headers) {
    if (segment.p_type != ELF::PT_LOAD || segment.p_memsz == 0)
      continue;
    std::copy_n(object.file.data() + segment.p_offset, segment.p_filesz,
                object.image->data + segment.p_vaddr);
    bool isCode = segment.p_flags & ELF::PF_X;
    if (isCode) {
      textBegin = std::min<uint64_t>(textBegin, segment.p_vaddr);
      textEnd = std::max<uint64_t>(textEnd, segment.p_vaddr + segment.p_filesz);
    }
    Allocation range;
    range.begin = object.bias + segment.p_vaddr;
    range.end = range.begin + segment.p_memsz;
    range.source = BoundsSource::Device;
    range.writable = segment.p_flags & ELF::PF_W;
    object.image->ranges.push_back(range.begin);
    object.memory.add(range, object.objectName + (isCode           ? ", code"
                                                  : range.writable ? ", variables"
                                                                   : ", constants"));
  }
  if (textEnd > textBegin)
    object.textBytes = ArrayRef(object.image->data + textBegin, textEnd - textBegin);
  return Error::success();
}

Error CodeObjectReader::readSymbols() {
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  // The dynamic table has what the loader needs; the full one adds functions and variables of
  // internal linkage, for reports.
  for (unsigned wanted : {ELF::SHT_DYNSYM, ELF::SHT_SYMTAB}) {
    for (const auto &section : *sections) {
      if (section.sh_type != wanted)
        continue;
      auto symbols = elf.symbols(&section);
      if (!symbols)
        return symbols.takeError();
      auto strings = elf.getStringTableForSymtab(section, *sections);
      if (!strings)
        return strings.takeError();
      for (const auto &symbol : *symbols) {
        unsigned type = symbol.getType();
        bool isFunction = type == ELF::STT_FUNC;
        if (symbol.st_shndx == ELF::SHN_UNDEF || symbol.st_shndx == ELF::SHN_ABS ||
            (!isFunction && type != ELF::STT_OBJECT))
          continue;
        auto name = symbol.getName(*strings);
        if (!name)
          return name.takeError();
        uint64_t address = object.bias + symbol.st_value;
        if (!isLoaded(address, symbol.st_size))
          return fault("symbol '" + *name + "' lies outside the loaded segments");
        if (!findSymbol(*name))
          object.symbolList.push_back({name->str(), address, symbol.st_size, isFunction});
      }
    }
  }
  return Error::success();
}

Error CodeObjectReader::applyRelocations() {
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_RELA || !(section.sh_flags & ELF::SHF_ALLOC))
      continue;
    auto relocations = elf.relas(section);
    if (!relocations)
      return relocations.takeError();
    auto symbolTable = elf.getSection(section.sh_link);
    if (!symbolTable)
      return symbolTable.takeError();
    for (const auto &relocation : *relocations) {
      unsigned type = relocation.getType(/*isMips64EL=*/false);
      if (type == ELF::R_AMDGPU_NONE)
        continue;
      if (type != ELF::R_AMDGPU_RELATIVE64 && type != ELF::R_AMDGPU_ABS64)
        return fault("relocation of type " + Twine(type) + " is not supported");
      uint64_t value = object.bias;
      if (type == ELF::R_AMDGPU_ABS64) {
        auto symbol = elf.getRelocationSymbol(relocation, *symbolTable);
        if (!symbol)
          return symbol.takeError();
        if (*symbol && (*symbol)->st_shndx == ELF::SHN_UNDEF) {
          auto strings = elf.getStringTableForSymtab(**symbolTable, *sections);
          if (!strings)
            return strings.takeError();
          auto name = (*symbol)->getName(*strings);
          if (!name)
            return name.takeError();
          if ((*symbol)->getBinding() != ELF::STB_WEAK)
            return fault("symbol '" + *name + "' is not defined");
          value = 0;
        } else if (*symbol) {
          value += (*symbol)->st_value;
        }
      }
      value += static_cast<uint64_t>(static_cast<int64_t>(relocation.r_addend));
      uint64_t place = object.bias + relocation.r_offset;
      if (!isLoaded(place, sizeof(value)))
        return fault("a relocation lies outside the loaded segments");
      std::memcpy(reinterpret_cast<void *>(place), &value, sizeof(value));
    }
  }
  return Error::success();
}

Expected<std::string> CodeObjectReader::metadataNote() {
  auto headers = elf.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &segment : *headers) {
    if (segment.p_type != ELF::PT_NOTE)
      continue;
    Error error = Error::success();
    std::string found;
    for (const auto &note : elf.notes(segment, error))
      if (note.getName() == "AMDGPU" && note.getType() == ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(segment.p_align == 8 ? 8 : 4).str();
    if (error)
      return std::move(error);
    if (!found.empty())
      return found;
  }
  return fault("no AMDGPU metadata note");
}

Error CodeObjectReader::readKernels() {
  auto note = metadataNote();
  if (!note)
    return note.takeError();
  auto metadata = parseMetadata(*note);
  if (!metadata)
    return metadata.takeError();
  object.printfFormatList = std::move(metadata->printfFormats);
  for (KernelMetadata &kernel : metadata->kernels) {
    auto info = readKernel(std::move(kernel));
    if (!info)
      return info.takeError();
    object.kernelList.push_back(std::move(*info));
  }
  return Error::success();
}

Expected<KernelInfo> CodeObjectReader::readKernel(KernelMetadata metadata) {
  KernelInfo kernel = std::move(metadata.kernel);
  const SymbolInfo *symbol = findSymbol(metadata.descriptorSymbol);
  if (!symbol)
    return fault("kernel '" + kernel.name + "' has no descriptor symbol '" +
                 metadata.descriptorSymbol + "'");
  amdhsa::kernel_descriptor_t raw;
  if (!isLoaded(symbol->address, sizeof(raw)))
    return fault("the descriptor of kernel '" + kernel.name + "' lies outside the segments");
  std::memcpy(&raw, reinterpret_cast<const void *>(symbol->address), sizeof(raw));
  uint32_t metadataKernargSize = kernel.descriptor.kernargSize;
  kernel.descriptor = takeApart(raw);
  kernel.descriptor.name = kernel.name;
  // A descriptor may leave the size 0, "not known".
  if (kernel.descriptor.kernargSize == 0)
    kernel.descriptor.kernargSize = metadataKernargSize;
  if (uint32_t bytes = std::max(kernel.descriptor.kernargSize, metadataKernargSize);
      bytes > maxKernargBytes)
    return fault("kernel '" + kernel.name + "' asks for " + Twine(bytes) + " bytes of arguments");
  if (kernel.descriptor.kernargSize < metadataKernargSize)
    return fault("kernel '" + kernel.name + "' needs " + Twine(metadataKernargSize) +
                 " bytes of arguments by its metadata but " + Twine(kernel.descriptor.kernargSize) +
                 " by its descriptor");

  kernel.codeBegin = symbol->address + raw.kernel_code_entry_byte_offset;
  uint64_t textBegin = reinterpret_cast<uint64_t>(object.textBytes.data());
  uint64_t textEnd = textBegin + object.textBytes.size();
  if (kernel.codeBegin < textBegin || kernel.codeBegin >= textEnd || kernel.codeBegin % 4 != 0)
    return fault("the entry of kernel '" + kernel.name + "' is no code");
  kernel.codeEnd = textEnd;
  for (const SymbolInfo &function : object.symbolList) {
    if (!function.isFunction)
      continue;
    if (function.address == kernel.codeBegin && function.size != 0)
      kernel.codeEnd = std::min(kernel.codeEnd, kernel.codeBegin + function.size);
    else if (function.address > kernel.codeBegin)
      kernel.codeEnd = std::min(kernel.codeEnd, function.address);
  }
  // The first 256 bytes of a kernel with preloaded arguments are for firmware that cannot preload.
  kernel.descriptor.entry =
      kernel.codeBegin + (kernel.descriptor.kernargPreloadLength != 0 ? 256 : 0);
  kernel.descriptor.end = kernel.codeEnd;
  if (kernel.descriptor.entry >= kernel.codeEnd)
    return fault("kernel '" + kernel.name + "' has no code after its preload preamble");
  uint64_t preloadEnd = 4 * (uint64_t(kernel.descriptor.kernargPreloadLength) +
                             kernel.descriptor.kernargPreloadOffset);
  if (preloadEnd > alignTo(kernel.descriptor.kernargSize, 4))
    return fault("kernel '" + kernel.name + "' preloads arguments beyond its argument block");
  return kernel;
}

KernelDescriptor CodeObjectReader::takeApart(const amdhsa::kernel_descriptor_t &raw) {
  using namespace amdhsa;
  KernelDescriptor d;
  d.groupSegmentSize = raw.group_segment_fixed_size;
  d.privateSegmentSize = raw.private_segment_fixed_size;
  d.kernargSize = raw.kernarg_size;

  uint32_t properties = raw.kernel_code_properties;
  auto hasProperty = [&](uint32_t mask) { return (properties & mask) != 0; };
  d.enablePrivateSegmentBuffer =
      hasProperty(KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER);
  d.enableDispatchPtr = hasProperty(KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR);
  d.enableQueuePtr = hasProperty(KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR);
  d.enableKernargSegmentPtr = hasProperty(KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR);
  d.enableDispatchId = hasProperty(KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID);
  d.enableFlatScratchInit = hasProperty(KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT);
  d.enablePrivateSegmentSize = hasProperty(KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE);
  d.wave32 = hasProperty(KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32);
  d.kernargPreloadLength = AMDHSA_BITS_GET(raw.kernarg_preload, KERNARG_PRELOAD_SPEC_LENGTH);
  d.kernargPreloadOffset = AMDHSA_BITS_GET(raw.kernarg_preload, KERNARG_PRELOAD_SPEC_OFFSET);

  uint32_t rsrc1 = raw.compute_pgm_rsrc1;
  d.floatRoundMode32 = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_32);
  d.floatRoundMode16_64 = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_16_64);
  d.floatDenormMode32 = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_32);
  d.float16Overflow = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_GFX9_PLUS_FP16_OVFL);
  d.floatDenormMode16_64 = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_16_64);
  // On gfx12 these bits mean something else: NaNs are always clamped to 0, and a minimum or maximum
  // of a number and a signalling NaN is the number.
  const TargetDescription *target = findTarget(object.processorName);
  if (target && target->isRdna())
    d.workgroupProcessorMode = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_GFX10_PLUS_WGP_MODE);
  if (target && target->encoding == Encoding::Gfx12) {
    d.dx10Clamp = true;
    d.ieeeMode = false;
  } else {
    d.dx10Clamp = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_GFX6_GFX11_ENABLE_DX10_CLAMP);
    d.ieeeMode = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_GFX6_GFX11_ENABLE_IEEE_MODE);
  }

  uint32_t rsrc2 = raw.compute_pgm_rsrc2;
  d.userSgprCount = AMDHSA_BITS_GET(rsrc2, COMPUTE_PGM_RSRC2_GFX6_GFX120_USER_SGPR_COUNT);
  d.enableWorkgroupIdX = AMDHSA_BITS_GET(rsrc2, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_X);
  d.enableWorkgroupIdY = AMDHSA_BITS_GET(rsrc2, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_Y);
  d.enableWorkgroupIdZ = AMDHSA_BITS_GET(rsrc2, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_Z);
  d.enableWorkgroupInfo = AMDHSA_BITS_GET(rsrc2, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_INFO);
  d.enablePrivateSegment = AMDHSA_BITS_GET(rsrc2, COMPUTE_PGM_RSRC2_ENABLE_PRIVATE_SEGMENT);
  d.workItemIdMode = AMDHSA_BITS_GET(rsrc2, COMPUTE_PGM_RSRC2_ENABLE_VGPR_WORKITEM_ID);

  // Register counts are in granules of 8 on all our targets: unified files, and wave32.
  uint32_t granules = AMDHSA_BITS_GET(rsrc1, COMPUTE_PGM_RSRC1_GRANULATED_WORKITEM_VGPR_COUNT);
  uint32_t granule = unifiedRegisterFile || d.wave32 ? 8 : 4;
  d.vgprCount = (granules + 1) * granule;
  if (unifiedRegisterFile)
    d.accumOffset =
        4 * (1 + AMDHSA_BITS_GET(raw.compute_pgm_rsrc3, COMPUTE_PGM_RSRC3_GFX90A_ACCUM_OFFSET));
  return d;
}

CodeObject::CodeObject(std::string name, MemoryMap &memory)
    : objectName(std::move(name)), memory(memory) {}

CodeObject::~CodeObject() {
  if (image)
    for (uint64_t begin : image->ranges)
      memory.forget(begin);
}

Expected<std::unique_ptr<CodeObject>> CodeObject::load(ArrayRef<uint8_t> bytes, StringRef processor,
                                                       std::string name, MemoryMap &memory) {
  std::unique_ptr<CodeObject> object(new CodeObject(std::move(name), memory));
  object->file.assign(bytes.begin(), bytes.end());
  StringRef contents(reinterpret_cast<const char *>(object->file.data()), object->file.size());
  if (!contents.starts_with(StringRef(ELF::ElfMagic, 4)) || contents.size() < ELF::EI_NIDENT)
    return fault("not a code object: no ELF header");
  if (contents[ELF::EI_CLASS] != ELF::ELFCLASS64 || contents[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return fault("not a 64-bit little-endian ELF file");
  auto elf = ELFFile<ELF64LE>::create(contents);
  if (!elf)
    return elf.takeError();
  if (Error error = CodeObjectReader(*object, std::move(*elf)).read(processor))
    return std::move(error);
  return object;
}

const KernelInfo *CodeObject::findKernel(StringRef name) const {
  for (const KernelInfo &kernel : kernelList)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

const SymbolInfo *CodeObject::findVariable(StringRef name) const {
  for (const SymbolInfo &symbol : symbolList)
    if (!symbol.isFunction && symbol.name == name)
      return &symbol;
  return nullptr;
}

std::vector<SourceLocation> CodeObject::sourceLocations(uint64_t address) const {
  std::lock_guard lock(debugInfoMutex);
  if (!debugInfo) {
    debugInfo = std::make_unique<DebugInfo>();
    StringRef contents(reinterpret_cast<const char *>(file.data()), file.size());
    auto parsed = ObjectFile::createELFObjectFile(MemoryBufferRef(contents, objectName));
    if (!parsed) {
      consumeError(parsed.takeError());
    } else {
      debugInfo->object = std::move(*parsed);
      // Broken debug information costs the source line, nothing else.
      auto ignore = [](Error error) { consumeError(std::move(error)); };
      debugInfo->context =
          DWARFContext::create(*debugInfo->object, DWARFContext::ProcessDebugRelocations::Process,
                               nullptr, "", ignore, ignore);
    }
  }
  std::vector<SourceLocation> locations;
  if (!debugInfo->context)
    return locations;
  DILineInfoSpecifier wanted(DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                             DINameKind::ShortName);
  DIInliningInfo frames = debugInfo->context->getInliningInfoForAddress(
      {address - bias, SectionedAddress::UndefSection}, wanted);
  for (uint32_t i = 0; i < frames.getNumberOfFrames(); ++i) {
    const DILineInfo &frame = frames.getFrame(i);
    // Code with line tables alone, such as Wavetile's, names no functions.
    bool named = frame.FunctionName != DILineInfo::BadString;
    if (frame.Line != 0)
      locations.push_back(
          {frame.FileName, named ? frame.FunctionName : "", frame.Line, frame.Column});
  }
  return locations;
}

} // namespace wavetile::device
