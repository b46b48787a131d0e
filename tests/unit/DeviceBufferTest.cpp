//===- DeviceBufferTest.cpp - Buffer instructions of the emulator ---------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a format means is read from its name, which LLVM's disassembler gives, and computed here.
//
//===----------------------------------------------------------------------===//

#include "DeviceTestSupport.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <sstream>

namespace wavetile::device::test {
namespace {

const char *const families[] = {"gfx950", "gfx1150", "gfx1201"};

/// A wave with 4096 bytes of memory; s[4:7] is a resource for it.
class BufferTest : public WaveWithMemory {
public:
  BufferTest(const std::string &target, const std::string &assembly)
      : WaveWithMemory(target, assembly, 7) {
    pointScalars(4);
    sgpr(6) = 4096;
    sgpr(7) = isGfx9(target) ? 0x27000 : 0x31027000;
  }
  uint32_t word(size_t offset) const { return at<uint32_t>(offset); }
  /// Executes one instruction.
  void step() {
    uint64_t begin = decoded().addressOf(wave->pc);
    wave->pc = wave->pc->execute(*wave, wave->pc);
    ASSERT_TRUE(wave->pc) << name(wave->fault.kind).str() << " " << wave->fault.detail;
    llvm::ArrayRef code(reinterpret_cast<const uint8_t *>(begin),
                        decoded().addressOf(wave->pc) - begin);
    evidence::LoadedCode(decoded().target().name, code)
        .ran(static_cast<unsigned>(std::popcount(wave->exec())));
  }
  std::string text() const { return decoded().disassemble(decoded().addressOf(wave->pc)); }

private:
  const DecodedProgram &decoded() const { return *wave->workgroup->program; }
};

/// A format by its name: component sizes from the highest bits down, and the kind of number.
struct NamedFormat {
  std::vector<unsigned> sizes; ///< x first.
  std::string number;

  explicit NamedFormat(const std::string &text) {
    std::string name = text.substr(text.find("format:["));
    for (const char *prefix : {"BUF_DATA_FORMAT_", "BUF_NUM_FORMAT_", "BUF_FMT_"})
      for (size_t at; (at = name.find(prefix)) != std::string::npos;)
        name.erase(at, std::string(prefix).size());
    std::replace(name.begin(), name.end(), ',', '_');
    std::stringstream parts(name.substr(name.find('[') + 1, name.find(']') - name.find('[') - 1));
    for (std::string part; std::getline(parts, part, '_');) {
      if (std::isdigit(part[0]))
        sizes.insert(sizes.begin(), static_cast<unsigned>(std::stoul(part)));
      else
        number = part;
    }
    // gfx9's defaults are not printed.
    if (sizes.empty())
      sizes.push_back(8);
    if (number.empty())
      number = "UNORM";
  }
  bool isInteger() const { return number == "UINT" || number == "SINT"; }
  unsigned bytes() const {
    unsigned bits = 0;
    for (unsigned size : sizes)
      bits += size;
    return bits / 8;
  }

  /// Component \p index of the element at \p element, as a register holds it.
  uint32_t load(const uint8_t *element, unsigned index) const {
    if (index >= sizes.size())
      return 0;
    unsigned first = 0;
    for (unsigned i = 0; i < index; ++i)
      first += sizes[i];
    uint64_t value = 0;
    for (unsigned bit = 0; bit < sizes[index]; ++bit)
      value |= uint64_t(element[(first + bit) / 8] >> ((first + bit) % 8) & 1) << bit;
    unsigned size = sizes[index];
    double top = std::ldexp(1.0, static_cast<int>(size)) - 1;
    double half = std::ldexp(1.0, static_cast<int>(size) - 1) - 1;
    double number64 = static_cast<double>(value);
    double signed64 = value >> (size - 1) & 1 ? number64 - top - 1 : number64;
    if (number == "UNORM")
      return std::bit_cast<uint32_t>(static_cast<float>(number64 / top));
    if (number == "SNORM")
      return std::bit_cast<uint32_t>(static_cast<float>(std::max(signed64 / half, -1.0)));
    if (number == "USCALED")
      return std::bit_cast<uint32_t>(static_cast<float>(number64));
    if (number == "SSCALED")
      return std::bit_cast<uint32_t>(static_cast<float>(signed64));
    if (number == "SINT")
      return static_cast<uint32_t>(static_cast<int64_t>(signed64));
    if (number == "FLOAT" && size < 32) {
      unsigned mantissaBits = size == 16 ? 10 : size - 5;
      uint64_t mantissa = value & ((1u << mantissaBits) - 1);
      uint64_t exponent = value >> mantissaBits & 31;
      bool negative = size == 16 && value >> 15;
      if (exponent == 31 && mantissa != 0)
        return 0x7fc00000 | static_cast<uint32_t>(mantissa << (23 - mantissaBits)) |
               (negative ? 0x80000000 : 0);
      double fraction = std::ldexp(static_cast<double>(mantissa), -static_cast<int>(mantissaBits));
      double magnitude = exponent == 31 ? INFINITY
                         : exponent == 0
                             ? std::ldexp(fraction, -14)
                             : std::ldexp(1 + fraction, static_cast<int>(exponent) - 15);
      return std::bit_cast<uint32_t>(static_cast<float>(negative ? -magnitude : magnitude));
    }
    return static_cast<uint32_t>(value);
  }
};

/// All formats that an instruction of this family can name.
std::vector<std::string> formatOperands(const std::string &target) {
  std::vector<std::string> result;
  if (!isGfx9(target)) {
    for (unsigned code = 2; code < 64; ++code) // The first is not printed.
      result.push_back("format:" + std::to_string(code));
    return result;
  }
  for (unsigned data = 1; data < 15; ++data)
    for (unsigned number : {0u, 1u, 2u, 3u, 4u, 5u, 7u}) {
      bool isFloat = number == 7;
      bool packed = data == 6 || data == 7, small = data == 8 || data == 9 || data == 10;
      bool bytes = data == 1 || data == 3, wide = data == 4 || data == 11 || data >= 13;
      // What no graphics API has is left out: halves of the device follow, but nobody says what.
      if ((packed && !isFloat) || (isFloat && (small || bytes)) || (wide && number < 4) ||
          (data == 1 && number == 0)) // The default is not printed.
        continue;
      result.push_back("dfmt:" + std::to_string(data) + ", nfmt:" + std::to_string(number) + ",");
    }
  return result;
}
std::string typedText(const std::string &target, const std::string &what, const std::string &data,
                      const std::string &format) {
  std::string name = "tbuffer_" + what + " " + data + ", v0, s[4:7], ";
  return isGfx9(target) ? name + format + " 0 offen\n"
                        : name + (target == "gfx1201" ? "null " : "0 ") + format + " offen\n";
}

const char *const allTargets[] = {"gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1151", "gfx1201"};

TEST(DeviceBufferFormats, LoadsOfEveryFormat) {
  for (const std::string target : allTargets) {
    std::string text;
    for (const std::string &format : formatOperands(target))
      text += typedText(target, "load_format_xyzw", "v[4:7]", format);
    BufferTest test(target, text);
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(0, lane) = 16 * lane;
    for (size_t i = 0; i < formatOperands(target).size(); ++i) {
      NamedFormat format(test.text());
      std::string shown = target + ": " + test.text();
      test.step();
      for (unsigned lane = 0; lane < test.size(); ++lane)
        for (unsigned c = 0; c < 4; ++c)
          EXPECT_EQ(test.vgpr(4 + c, lane), format.load(test.bytes.data() + 16 * lane, c))
              << shown << " lane " << lane << " component " << c;
    }
  }
}

TEST(DeviceBufferFormats, WhatWasLoadedIsStoredAgain) {
  for (const std::string target : allTargets) {
    std::string text;
    for (const std::string &format : formatOperands(target))
      text += typedText(target, "load_format_xyzw", "v[4:7]", format) +
              typedText(target, "store_format_xyzw", "v[4:7]", format);
    BufferTest test(target, text);
    std::vector<uint8_t> before = test.bytes;
    for (unsigned lane = 0; lane < test.size(); ++lane)
      test.vgpr(0, lane) = 16 * lane;
    for (size_t i = 0; i < formatOperands(target).size(); ++i) {
      std::string shown = target + ": " + test.text();
      NamedFormat format(test.text());
      test.step();
      std::fill(test.bytes.begin(), test.bytes.end(), 0xcc);
      test.step();
      for (unsigned lane = 0; lane < test.size(); ++lane) {
        std::vector<uint8_t> expected(16, 0xcc);
        std::copy_n(before.data() + 16 * lane, format.bytes(), expected.data());
        const uint8_t *stored = test.bytes.data() + 16 * lane;
        for (unsigned c = 0; c < format.sizes.size(); ++c) {
          // -1 has two encodings, of a NaN only that it is one is kept.
          uint32_t was = format.load(expected.data(), c), is = format.load(stored, c);
          if (format.number == "FLOAT" && std::isnan(std::bit_cast<float>(was)))
            EXPECT_TRUE(std::isnan(std::bit_cast<float>(is))) << shown;
          else
            EXPECT_EQ(is, was) << shown << " lane " << lane << " component " << c;
        }
        EXPECT_TRUE(
            std::equal(stored + format.bytes(), stored + 16, expected.data() + format.bytes()))
            << shown;
      }
      test.bytes = before;
      test.sgpr(4) = static_cast<uint32_t>(test.address());
    }
  }
}

// --- One to four components, whole registers and halves, formats of the resource ---

/// One form of an instruction with a format.
struct FormatForm {
  unsigned components; ///< Registers or halves of them.
  bool typed, halves, high;

  std::string name(const std::string &target, const char *kind) const {
    std::string suffix = std::string("xyzw").substr(0, components);
    std::string half = halves ? high ? "d16_hi_" : "d16_" : "";
    return std::string(typed ? "tbuffer_" : "buffer_") + kind + "_" +
           (isGfx9(target) ? "format_" + half : half + "format_") + suffix;
  }
  std::string data() const {
    unsigned registers = halves ? (components + 1) / 2 : components;
    return registers == 1 ? "v4" : "v[4:" + std::to_string(3 + registers) + "]";
  }
  std::string text(const std::string &target, const char *kind, const std::string &format) const {
    std::string zero = target == "gfx1201" ? " null" : " 0";
    std::string where = isGfx9(target) ? format + zero : zero + " " + format;
    return name(target, kind) + " " + data() + ", v0, s[4:7], " + (typed ? where : zero) +
           " offen\n";
  }
  /// A component as a register holds it.
  uint32_t held(BufferTest &test, unsigned component, unsigned lane) const {
    if (!halves)
      return test.vgpr(4 + component, lane);
    unsigned half = component + (high ? 1 : 0);
    return test.vgpr(4 + half / 2, lane) >> 16 * (half % 2) & 0xffff;
  }
  /// Whether halves hold every value of the format.
  bool isWide(const NamedFormat &format) const {
    bool isExact = format.isInteger() || format.number == "FLOAT";
    return !halves || llvm::all_of(format.sizes, [&](unsigned size) {
      return isExact ? size <= 16 && (format.number != "FLOAT" || size == 16) : size <= 8;
    });
  }
};
std::vector<FormatForm> formatForms() {
  std::vector<FormatForm> result;
  for (bool typed : {true, false})
    for (unsigned components = 1; components <= 4; ++components)
      for (bool halves : {false, true})
        result.push_back({components, typed, halves, false});
  result.push_back({1, false, true, true});
  return result;
}

/// The last word of a resource with a format by name, whose components are not exchanged.
uint32_t resourceWord(const std::string &target, const std::string &format) {
  constexpr uint32_t inOrder = 4 | 5 << 3 | 6 << 6 | 7 << 9;
  unsigned first = 0, second = 0;
  if (std::sscanf(format.c_str(), "dfmt:%u, nfmt:%u,", &first, &second) == 2)
    return inOrder | second << 12 | first << 15;
  std::sscanf(format.c_str(), "format:%u", &first);
  return inOrder | first << 12 | 0x31000000;
}

/// What a load of a component gives, in a register or half of one; nothing: it depends on rounding.
std::optional<uint32_t> loadedAs(const FormatForm &form, const NamedFormat &format,
                                 const uint8_t *element, unsigned component) {
  if (component >= format.sizes.size()) { // Only a resource fills up with (0, 0, 1).
    bool isOne = !form.typed && component == 3;
    return !isOne ? 0 : format.isInteger() ? 1 : form.halves ? 0x3c00 : 0x3f800000;
  }
  uint32_t value = format.load(element, component);
  if (!form.halves)
    return value;
  if (!form.isWide(format))
    return std::nullopt;
  if (format.isInteger())
    return value & 0xffff;
  float number = std::bit_cast<float>(value);
  if (format.number == "FLOAT" && std::isnan(number))
    return std::nullopt; // Only that it is one is known.
  llvm::APFloat half(number);
  bool lost = false;
  half.convert(llvm::APFloat::IEEEhalf(), llvm::RoundingMode::NearestTiesToEven, &lost);
  return static_cast<uint32_t>(half.bitcastToAPInt().getZExtValue());
}

TEST(DeviceBufferFormats, EveryNumberOfComponentsInRegistersAndHalves) {
  for (const std::string target : allTargets) {
    std::vector<std::string> formats = formatOperands(target);
    std::string names, text;
    for (const std::string &format : formats)
      names += typedText(target, "load_format_x", "v4", format);
    for (const FormatForm &form : formatForms())
      for (const std::string &format : formats)
        text += form.text(target, "load", format) + form.text(target, "store", format);
    BufferTest named(target, names), test(target, text);
    const std::vector<uint8_t> before = test.bytes;
    for (unsigned lane = 0; lane < test.size(); ++lane)
      named.vgpr(0, lane) = test.vgpr(0, lane) = 16 * lane;
    std::vector<NamedFormat> meanings;
    for (size_t i = 0; i < formats.size(); ++i, named.step())
      meanings.push_back(NamedFormat(named.text()));
    for (const FormatForm &form : formatForms())
      for (size_t i = 0; i < formats.size(); ++i) {
        const NamedFormat &format = meanings[i];
        std::string shown = target + ": " + test.text() + ", " + formats[i];
        test.sgpr(7) = form.typed ? test.sgpr(7) : resourceWord(target, formats[i]);
        for (unsigned r = 4; r < 8; ++r)
          for (unsigned lane = 0; lane < test.size(); ++lane)
            test.vgpr(r, lane) = 0xabcdabcd;
        std::copy(before.begin(), before.end(), test.bytes.begin());
        test.step();
        unsigned wrong = 0;
        for (unsigned lane = 0; lane < test.size(); ++lane)
          for (unsigned c = 0; c < form.components; ++c) {
            auto expected = loadedAs(form, format, before.data() + 16 * lane, c);
            wrong += expected && form.held(test, c, lane) != *expected;
          }
        EXPECT_EQ(wrong, 0u) << shown;
        // What it has loaded it stores again.
        std::fill(test.bytes.begin(), test.bytes.end(), uint8_t(0xcc));
        test.step();
        if (form.components < format.sizes.size() || !form.isWide(format))
          continue;
        for (unsigned lane = 0; lane < test.size(); ++lane) {
          const uint8_t *stored = test.bytes.data() + 16 * lane;
          for (unsigned c = 0; c < format.sizes.size(); ++c) {
            uint32_t was = format.load(before.data() + 16 * lane, c), is = format.load(stored, c);
            bool isNaN = format.number == "FLOAT" && std::isnan(std::bit_cast<float>(was));
            wrong += isNaN ? !std::isnan(std::bit_cast<float>(is)) : is != was;
          }
          wrong += std::count(stored + format.bytes(), stored + 16, 0xcc) !=
                   static_cast<std::ptrdiff_t>(16 - format.bytes());
        }
        EXPECT_EQ(wrong, 0u) << shown << ", stored again";
      }
  }
}

TEST(DeviceBuffer, StoresClampAndRound) {
  struct Case {
    const char *gfx9, *gfx11;
    uint32_t value, stored;
  } const cases[] = {
      {"dfmt:1, nfmt:0,", "format:1", std::bit_cast<uint32_t>(0.5f), 128}, // 127.5 to even.
      {"dfmt:1, nfmt:0,", "format:1", std::bit_cast<uint32_t>(7.0f), 255},
      {"dfmt:1, nfmt:0,", "format:1", std::bit_cast<uint32_t>(-1.0f), 0},
      {"dfmt:1, nfmt:0,", "format:1", 0x7fc00000, 0},
      {"dfmt:1, nfmt:1,", "format:2", std::bit_cast<uint32_t>(-9.0f), 0x81},
      {"dfmt:1, nfmt:2,", "format:3", std::bit_cast<uint32_t>(300.0f), 255},
      {"dfmt:1, nfmt:3,", "format:4", std::bit_cast<uint32_t>(-2.5f), 0xfe},
      {"dfmt:1, nfmt:4,", "format:5", 256, 255},
      {"dfmt:1, nfmt:5,", "format:6", 0xfffffff0, 0xf0},
      {"dfmt:1, nfmt:5,", "format:6", 0xfffff000, 0x80},
  };
  for (const std::string target : families) {
    std::string text;
    for (const Case &c : cases)
      text += typedText(target, "store_format_x", "v4", isGfx9(target) ? c.gfx9 : c.gfx11);
    BufferTest test(target, text);
    test.wave->setLaneMask(scalar::Exec, 1);
    for (const Case &c : cases) {
      test.vgpr(4, 0) = c.value;
      std::string shown = test.text();
      test.step();
      EXPECT_EQ(test.bytes[0], c.stored) << shown << " of " << c.value;
    }
  }
}

TEST(DeviceBuffer, FormatsOfTheResourceAndItsSelects) {
  for (const std::string target : families) {
    bool gfx9 = isGfx9(target);
    std::string offset = target == "gfx1201" ? "null" : "0";
    BufferTest test(target, "buffer_load_format_xyzw v[4:7], v0, s[4:7], " + offset +
                                " offen\nbuffer_store_format_xy v[8:9], v0, s[4:7], " + offset +
                                " offen offset:64\nbuffer_load_" +
                                (gfx9 ? "format_d16_xyz" : "d16_format_xyz") +
                                " v[10:11], v0, s[4:7], " + offset + " offen");
    // 8_8 UINT: x from A (which is not there: 1), y from R, z the constant 1, w from G.
    uint32_t selects = 7 | 4 << 3 | 1 << 6 | 5 << 9;
    test.sgpr(7) = gfx9 ? selects | 4 << 12 | 3 << 15 : selects | 18 << 12 | 0x30000000;
    test.wave->setLaneMask(scalar::Exec, 3);
    test.vgpr(0, 1) = 4095; // A byte is missing: all or nothing.
    test.bytes[0] = 0x11, test.bytes[1] = 0x22;
    test.vgpr(8, 0) = 0x77, test.vgpr(9, 0) = 0x88;
    test.step();
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(test.vgpr(4 + i, 0), (std::array<uint32_t, 4>{1, 0x11, 1, 0x22}[i]));
      EXPECT_EQ(test.vgpr(4 + i, 1), i == 2 ? 1u : 0u);
    }
    test.step(); // R is y's; G is w's, which is not given: x's.
    EXPECT_EQ(test.bytes[64], 0x88);
    EXPECT_EQ(test.bytes[65], 0x77);
    test.vgpr(11, 0) = 0xabcd0000;
    test.step();
    EXPECT_EQ(test.vgpr(10, 0), 0x00110001u);
    EXPECT_EQ(test.vgpr(11, 0) & 0xffff, 1u);
  }
}

// --- Addresses ---

/// A load of one dword by each lane, `text` being what follows the data register.
void expectLoads(const std::string &target, const std::string &text,
                 const std::function<void(BufferTest &)> &setUp,
                 const std::function<int64_t(unsigned lane)> &byteOf) {
  BufferTest test(target,
                  (isGfx9(target) ? "buffer_load_dword v9, " : "buffer_load_b32 v9, ") + text);
  setUp(test);
  test.step();
  for (unsigned lane = 0; lane < test.size(); ++lane) {
    int64_t at = byteOf(lane);
    EXPECT_EQ(test.vgpr(9, lane), at < 0 ? 0 : test.word(static_cast<size_t>(at)))
        << target << " " << text << " lane " << lane;
  }
}

TEST(DeviceBuffer, StructuredAndRawRangesOfGfx9) {
  auto resource = [](BufferTest &test, uint32_t stride, uint32_t records, uint32_t extra = 0) {
    test.sgpr(5) |= stride << 16;
    test.sgpr(6) = records;
    test.sgpr(7) |= extra;
    for (unsigned lane = 0; lane < 64; ++lane)
      test.vgpr(0, lane) = lane, test.vgpr(1, lane) = 4 * (lane % 4);
  };
  // An index and a stride: only the index counts, also where the offset leaves the record.
  expectLoads(
      "gfx950", "v[0:1], s[4:7], 0 idxen offen offset:8",
      [&](BufferTest &test) { resource(test, 12, 20); },
      [](unsigned lane) -> int64_t {
        return lane < 20 ? int64_t(12 * lane + 4 * (lane % 4) + 8) : -1;
      });
  // No index: bytes, whatever the stride. The scalar offset is not part of it.
  expectLoads(
      "gfx950", "v0, s[4:7], s8 offen offset:4",
      [&](BufferTest &test) {
        resource(test, 12, 20);
        for (unsigned lane = 0; lane < 64; ++lane)
          test.vgpr(0, lane) = 4 * lane;
        test.sgpr(8) = 100;
      },
      [](unsigned lane) -> int64_t {
        return 4 * lane + 8 <= 20 ? int64_t(4 * lane + 4 + 100) : -1;
      });
  // Lane numbers without an index: no range at all, and the stride has 18 bits.
  expectLoads(
      "gfx942", "v1, s[4:7], 0 offen",
      [&](BufferTest &test) {
        test.sgpr(7) = 0;
        resource(test, 40, 0, 1 << 23);
      },
      [](unsigned lane) -> int64_t { return 40 * lane + 4 * (lane % 4); });
}

TEST(DeviceBuffer, SwizzledRecords) {
  // Records of 16 bytes, 8 or 16 of them side by side in steps of 4 bytes.
  for (const std::string target : families)
    for (unsigned log = 0; log < 2; ++log) {
      unsigned side = 8u << log;
      expectLoads(
          target,
          std::string("v[2:3], s[4:7], ") + (target == "gfx1201" ? "null" : "0") +
              " idxen offen offset:4",
          [&](BufferTest &test) {
            test.sgpr(5) |= 16 << 16 | (isGfx9(target) ? 1u << 31 : 1u << 30);
            test.sgpr(6) = 29;
            test.sgpr(7) = log << 21 | (isGfx9(target) ? 0x27000 : 0x27000); // OOB_SELECT 0.
            for (unsigned lane = 0; lane < test.size(); ++lane)
              test.vgpr(2, lane) = lane, test.vgpr(3, lane) = 4 * (lane % 4);
          },
          [&](unsigned lane) -> int64_t {
            unsigned offset = 4 * (lane % 4) + 4;
            if (lane >= 29 || (!isGfx9(target) && offset + 4 > 16))
              return -1;
            return (lane / side * 16 + offset / 4 * 4) * side + lane % side * 4 + offset % 4;
          });
    }
}

TEST(DeviceBuffer, OobSelectsOfRdna) {
  for (const std::string target : {"gfx1150", "gfx1201"})
    for (unsigned select = 0; select < 4; ++select)
      expectLoads(
          target, "v[0:1], s[4:7], s8 idxen offen",
          [&](BufferTest &test) {
            test.sgpr(5) |= 12 << 16;
            test.sgpr(6) = select == 3 ? 200 : 20;
            test.sgpr(7) = 0x27000 | select << 28;
            test.sgpr(8) = 16;
            for (unsigned lane = 0; lane < test.size(); ++lane)
              test.vgpr(0, lane) = lane, test.vgpr(1, lane) = 4 * (lane % 4);
          },
          [&](unsigned lane) -> int64_t {
            int64_t offset = 4 * (lane % 4), at = 12 * lane + offset + 16;
            switch (select) {
            case 0:
              return lane < 20 && offset + 4 <= 12 ? at : -1;
            case 1:
              return lane < 20 ? at : -1;
            case 2:
              return at;
            default:
              return at + 4 <= 200 ? at : -1;
            }
          });
}

TEST(DeviceBuffer, Gfx12CutsVectorsByDwordAndScalesStrides) {
  BufferTest test("gfx1201", "buffer_load_b128 v[4:7], v0, s[4:7], null offen\n"
                             "buffer_load_b32 v8, v1, s[4:7], null idxen");
  test.sgpr(6) = 42;
  for (unsigned lane = 0; lane < 32; ++lane)
    test.vgpr(0, lane) = 4 * lane, test.vgpr(1, lane) = lane;
  test.step();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(test.vgpr(4 + i, lane), 4 * (lane + i) + 4 <= 42 ? test.word(4 * (lane + i)) : 0u);
  test.sgpr(5) |= 3 << 16;
  test.sgpr(7) = 0x27000 | 2 << 18 | 1 << 28; // Stride 3 * 8; by index.
  test.step();
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(test.vgpr(8, lane), test.word(24 * lane));
}

// --- Atomics ---

TEST(DeviceBuffer, AtomicsReturnOldValuesAndDropLanesOutOfRange) {
  for (const std::string target : families) {
    bool gfx9 = isGfx9(target);
    std::string returning = gfx9 ? " sc0" : target == "gfx1201" ? " th:TH_ATOMIC_RETURN" : " glc";
    std::string where =
        std::string(", v0, s[4:7], ") + (target == "gfx1201" ? "null" : "0") + " offen";
    BufferTest test(target, "buffer_atomic_" + std::string(gfx9 ? "smax" : "max_i32") + " v4" +
                                where + returning + "\nbuffer_atomic_" +
                                (gfx9 ? "inc_x2" : "inc_u64") + " v[6:7]" + where + " offset:64" +
                                returning + "\nbuffer_atomic_" +
                                (gfx9 ? "cmpswap_x2" : "cmpswap_b64") + " v[8:11]" + where +
                                " offset:64\nbuffer_atomic_add_f32 v12" + where + " offset:128");
    test.sgpr(6) = 160;
    test.wave->setLaneMask(scalar::Exec, 7);
    test.vgpr(0, 0) = 0, test.vgpr(0, 1) = 0, test.vgpr(0, 2) = 2048;
    auto set = [&](size_t at, uint64_t value) {
      std::copy_n(reinterpret_cast<const uint8_t *>(&value), 8, test.bytes.data() + at);
    };
    set(0, 5), set(64, 0xffffffff), set(128, 0x00000001);
    for (unsigned lane = 0; lane < 3; ++lane) {
      test.vgpr(4, lane) = lane ? 9 : 0xffffffff;
      test.vgpr(6, lane) = 0, test.vgpr(7, lane) = 4;
      test.vgpr(8, lane) = 77 + lane, test.vgpr(9, lane) = 0;
      test.vgpr(10, lane) = lane ? 77 : 1, test.vgpr(11, lane) = lane ? 0 : 1;
      test.vgpr(12, lane) = 0x00000003; // Denormals add exactly.
    }
    for (unsigned i = 0; i < 4; ++i)
      test.step();
    EXPECT_EQ(test.vgpr(4, 0), 5u);
    EXPECT_EQ(test.vgpr(4, 1), 5u);
    EXPECT_EQ(test.vgpr(4, 2), 0u);
    EXPECT_EQ(test.word(0), 9u);
    EXPECT_EQ(test.vgpr(6, 1), 0u); // The carry went up.
    EXPECT_EQ(test.vgpr(7, 1), 1u);
    EXPECT_EQ(test.word(64), 78u); // Lane 0: 1 + 2^32 was there; lane 1 found its 77.
    EXPECT_EQ(test.word(68), 0u);
    EXPECT_EQ(test.word(128), 7u);
  }
}

TEST(DeviceBuffer, LoadsToLdsOfThreeDwordsLieSixteenBytesApart) {
  BufferTest test("gfx950", "s_mov_b32 m0, 0xffc00040\nbuffer_load_dwordx3 v0, s[4:7], 0 offen "
                            "offset:4 lds\nbuffer_load_sbyte v0, s[4:7], 0 offen lds");
  test.sgpr(6) = 400;
  for (unsigned lane = 0; lane < 64; ++lane)
    test.vgpr(0, lane) = 12 * lane;
  test.wave->setLaneMask(scalar::Exec, ~uint64_t(2));
  std::fill(test.lds.begin(), test.lds.end(), 0xcc);
  test.step();
  test.step();
  auto at = [&](size_t offset) {
    uint32_t value;
    std::copy_n(test.lds.data() + offset, 4, reinterpret_cast<uint8_t *>(&value));
    return value;
  };
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned from = 12 * lane + 4 + 4 * i;
      uint32_t loaded = from + 4 <= 400 ? test.word(from) : 0;
      EXPECT_EQ(at(0x44 + 16 * lane + 4 * i), lane == 1 || i == 3 ? 0xcccccccc : loaded) << lane;
    }
  test.step();
  for (unsigned lane = 2; lane < 33; ++lane)
    EXPECT_EQ(at(0x40 + 4 * lane), static_cast<uint32_t>(static_cast<int32_t>(
                                       static_cast<int8_t>(test.bytes[12 * lane]))));
}

} // namespace
} // namespace wavetile::device::test
