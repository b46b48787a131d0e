//===- TypedBuffer.cpp - Buffer loads and stores with a format ------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tbuffer_* have the format in the instruction, buffer_*_format_* in the resource, which then also
// says which component goes to which register (dst_sel). A lane's whole element is loaded or
// stored; components that a format lacks load as 0, w as 1. A store of fewer components than the
// format has repeats the first.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/instructions/Atomics.h"
#include "runtime/emulator/instructions/Buffer.h"
#include "runtime/emulator/instructions/BufferFormat.h"
#include "runtime/emulator/instructions/Tables.h"

namespace wavetile::device {
inline namespace WAVETILE_HOST_ISA {
namespace {

/// The format of an instruction and where its components go.
struct Typed {
  BufferFormat format;
  /// For each register: 0 and 1 are constants, 4 to 7 components.
  uint8_t selects[4] = {4, 5, 6, 7};

  Typed(const Wave &wave, const Record *record) {
    const uint32_t word = wave.scalars[record->sources[2].index() + 3];
    bool rdna = record->variant & buffervariant::rdnaResource;
    if (record->variant & buffervariant::typed) {
      uint32_t code = record->maskDestination.bits;
      format = rdna ? bufferformats::ofGfx11(code) : bufferformats::ofGfx9(code & 15, code >> 4);
      // Components that the format lacks are 0, also w.
      for (unsigned i = 0; i < 4; ++i)
        if (format.bits[i] == 0)
          selects[i] = 0;
      return;
    }
    format = rdna ? bufferformats::ofGfx11(word >> 12 & 63)
                  : bufferformats::ofGfx9(word >> 15 & 15, word >> 12 & 7);
    for (unsigned i = 0; i < 4; ++i)
      selects[i] = word >> (3 * i) & 7;
  }
};

/// How the registers hold components: one each, two in each of which the low one is first, or one
/// in the high half.
enum class Packing : uint8_t { Dwords, Halves, HighHalf };

constexpr unsigned registersOf(unsigned components, Packing packing) {
  return packing == Packing::Halves ? (components + 1) / 2 : components;
}
AccessForm formOf(AccessKind kind, const BufferFormat &format, unsigned components,
                  Packing packing) {
  AccessForm form = {kind, DataPlacement::Converted, format.bytes()};
  form.registers = static_cast<uint8_t>(registersOf(components, packing));
  return form;
}

struct Element {
  uint32_t words[4] = {};

  uint32_t field(unsigned first, unsigned bits) const {
    uint64_t value = words[first / 32];
    if (first / 32 < 3)
      value |= static_cast<uint64_t>(words[first / 32 + 1]) << 32;
    return static_cast<uint32_t>(value >> (first % 32) & ((uint64_t(1) << bits) - 1));
  }
  void setField(unsigned first, unsigned bits, uint32_t value) {
    uint64_t mask = (uint64_t(1) << bits) - 1;
    words[first / 32] |= static_cast<uint32_t>((value & mask) << (first % 32));
    if (first % 32 + bits > 32)
      words[first / 32 + 1] |= static_cast<uint32_t>((value & mask) >> (32 - first % 32));
  }
};

/// The register's value for component select \p select.
uint32_t selected(const Typed &typed, const Element &element, unsigned select) {
  const BufferFormat &format = typed.format;
  const uint32_t one = format.isInteger() ? 1 : bitsOf(1.0f);
  if (select < 4)
    return select == 1 ? one : 0;
  unsigned component = select - 4, first = 0;
  for (unsigned i = 0; i < component; ++i)
    first += format.bits[i];
  unsigned bits = format.bits[component];
  if (bits == 0)
    return component == 3 ? one : 0;
  return loadedComponent(format, element.field(first, bits), bits);
}

/// A loaded value of 16 bits: what was f32 in memory is cut, everything else rounded to nearest.
uint32_t toHalf(const BufferFormat &format, uint32_t value) {
  if (format.isInteger())
    return value & 0xffff;
  bool wide = format.number == NumberFormat::Float && format.bits[0] == 32;
  return wide ? halfTowardZero(floatOf(value)) : halfFrom(floatOf(value));
}
uint32_t fromHalfOf(const BufferFormat &format, uint32_t half) {
  if (format.number == NumberFormat::Sint)
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(half)));
  return format.number == NumberFormat::Uint ? half & 0xffff : bitsOf(fromHalf(half & 0xffff));
}

template <unsigned components, Packing packing>
const Record *load(Wave &wave, const Record *record) {
  const Typed typed(wave, record);
  LaneAddresses lanes;
  const bool toLds = record->modifiers & modifier::toLds;
  const LdsTarget target(wave, record, 4);
  if (toLds && !toLdsInBounds(wave, record, target))
    return nullptr;
  if (!typed.format.isValid())
    lanes.outside = wave.exec(); // An unbound resource.
  else if (!bufferAddresses(wave, record,
                            formOf(toLds ? AccessKind::LoadToLds : AccessKind::Load, typed.format,
                                   components, packing),
                            RangeUnit::Whole, true, lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  uint32_t *row = toLds ? nullptr : wave.row(record->destination);
  forActive(lanes.active | lanes.outside, [&](unsigned lane) {
    Element element;
    bool inRange = isActive(lanes.active, lane);
    if (inRange)
      __builtin_memcpy(element.words, reinterpret_cast<const void *>(lanes.address[lane]),
                       typed.format.bytes());
    for (unsigned i = 0; i < components; ++i) {
      // Out of range, only the constant 1 is not 0.
      unsigned select = inRange || typed.selects[i] == 1 ? typed.selects[i] : 0;
      uint32_t value = selected(typed, element, select);
      if (toLds)
        storeTo<uint32_t>(reinterpret_cast<uint64_t>(wave.workgroup->lds) + target.offset(lane),
                          value);
      else if constexpr (packing == Packing::Dwords)
        row[i * stride + lane] = value;
      else if constexpr (packing == Packing::HighHalf)
        placeHalf(row[lane], toHalf(typed.format, value), Half::High);
      else if (i % 2 == 0 && i + 1 == components)
        // The other half of an odd one's register is kept where 16-bit results are.
        row[i / 2 * stride + lane] =
            toHalf(typed.format, value) | (row[i / 2 * stride + lane] & wave.keptByHalfResult);
      else
        placeHalf(row[i / 2 * stride + lane], toHalf(typed.format, value),
                  i % 2 ? Half::High : Half::Low);
    }
  });
  countBytes(wave, lanes, typed.format.bytes(), false);
  return record + 1;
}

template <unsigned components, Packing packing>
const Record *store(Wave &wave, const Record *record) {
  const Typed typed(wave, record);
  const BufferFormat &format = typed.format;
  if (!format.isValid())
    return record + 1;
  LaneAddresses lanes;
  if (!bufferAddresses(wave, record, formOf(AccessKind::Store, format, components, packing),
                       RangeUnit::Whole, true, lanes))
    return nullptr;
  const unsigned stride = wave.waveSize;
  const uint32_t *row = wave.row(record->sources[1]);
  forActive(lanes.active, [&](unsigned lane) {
    auto valueOf = [&](unsigned i) {
      if constexpr (packing == Packing::Dwords)
        return row[i * stride + lane];
      else if constexpr (packing == Packing::HighHalf)
        return fromHalfOf(format, row[lane] >> 16);
      else
        return fromHalfOf(format, row[i / 2 * stride + lane] >> (16 * (i % 2)));
    };
    Element element;
    for (unsigned component = 0, first = 0; component < 4; first += format.bits[component++]) {
      unsigned bits = format.bits[component];
      if (bits == 0)
        continue;
      // The register whose select is this component; the first one's beyond those given.
      unsigned from = 0;
      bool isSelected = false;
      for (unsigned i = 4; i-- > 0;)
        if (typed.selects[i] == 4 + component)
          from = i < components ? i : 0, isSelected = true;
      if (isSelected)
        element.setField(first, bits, storedComponent(format, valueOf(from), bits));
    }
    __builtin_memcpy(reinterpret_cast<void *>(lanes.address[lane]), element.words, format.bytes());
  });
  countBytes(wave, lanes, format.bytes(), true);
  return record + 1;
}

constexpr auto loads = InstructionClass::GlobalLoad;
constexpr auto stores = InstructionClass::GlobalStore;

/// Both kinds' names, gfx9's and gfx11's, of what handles `COMPONENTS`.
// Template arguments cannot be in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TYPED(WHAT, COMPONENTS, NUMBER)                                                            \
  memory("tbuffer_" #WHAT "_format_" COMPONENTS " buffer_" #WHAT "_format_" COMPONENTS,            \
         Shape::Buffer, WHAT##s, WHAT<NUMBER, Packing::Dwords>),                                   \
      memory("tbuffer_" #WHAT "_format_d16_" COMPONENTS " buffer_" #WHAT "_format_d16_" COMPONENTS \
             " tbuffer_" #WHAT "_d16_format_" COMPONENTS " buffer_" #WHAT                          \
             "_d16_format_" COMPONENTS,                                                            \
             Shape::Buffer, WHAT##s, WHAT<NUMBER, Packing::Halves>)
// NOLINTEND(bugprone-macro-parentheses)

constexpr Instruction table[] = {
    TYPED(load, "x", 1),
    TYPED(load, "xy", 2),
    TYPED(load, "xyz", 3),
    TYPED(load, "xyzw", 4),
    TYPED(store, "x", 1),
    TYPED(store, "xy", 2),
    TYPED(store, "xyz", 3),
    TYPED(store, "xyzw", 4),
    memory("buffer_load_format_d16_hi_x buffer_load_d16_hi_format_x", Shape::Buffer, loads,
           load<1, Packing::HighHalf>),
    memory("buffer_store_format_d16_hi_x buffer_store_d16_hi_format_x", Shape::Buffer, stores,
           store<1, Packing::HighHalf>),
};

} // namespace

InstructionRows typedBuffer() { return rows(table); }

} // namespace WAVETILE_HOST_ISA
} // namespace wavetile::device
