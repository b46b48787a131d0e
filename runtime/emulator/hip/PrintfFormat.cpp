//===- PrintfFormat.cpp - printf of kernels -------------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/PrintfFormat.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace llvm;

namespace wavetile::device {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::optional<uint64_t> MessageArguments::integer() {
  if (words.empty())
    return std::nullopt;
  uint64_t word = words.front();
  words = words.drop_front();
  return word;
}

std::optional<double> MessageArguments::floatingPoint() {
  std::optional<uint64_t> word = integer();
  if (!word)
    return std::nullopt;
  double value;
  std::memcpy(&value, &*word, sizeof(value));
  return value;
}

std::optional<std::string> MessageArguments::string() {
  if (words.empty())
    return std::nullopt;
  const char *begin = reinterpret_cast<const char *>(words.data());
  size_t length = strnlen(begin, words.size() * sizeof(uint64_t));
  std::string text(begin, length);
  size_t used = std::min(words.size(), length / sizeof(uint64_t) + 1);
  words = words.drop_front(used);
  return text;
}

std::optional<ArrayRef<uint8_t>> SizedArguments::next() {
  if (elementBytes != 0 && vector.size() >= elementBytes) {
    ArrayRef<uint8_t> element = vector.take_front(elementBytes);
    vector = vector.drop_front(elementBytes);
    return element;
  }
  if (sizes.empty() || sizes.front() > bytes.size())
    return std::nullopt;
  ArrayRef<uint8_t> piece = bytes.take_front(sizes.front());
  bytes = bytes.drop_front(sizes.front());
  sizes = sizes.drop_front();
  return piece;
}

void SizedArguments::beginVector(unsigned elements) {
  elementBytes = 0;
  std::optional<ArrayRef<uint8_t>> piece = next();
  vector = piece.value_or(ArrayRef<uint8_t>());
  // A vector of three takes the room of four.
  elementBytes = vector.size() / (elements == 3 ? 4 : elements);
  vector = vector.take_front(size_t(elements) * elementBytes);
}

std::optional<uint64_t> SizedArguments::integer() {
  std::optional<ArrayRef<uint8_t>> piece = next();
  if (!piece)
    return std::nullopt;
  uint64_t value = 0;
  size_t count = std::min(piece->size(), sizeof(value));
  std::memcpy(&value, piece->data(), count);
  // Extended by its sign: a conversion that wants it unsigned cuts it back.
  unsigned unused = 64 - 8 * count;
  return count == 0 ? 0 : static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

std::optional<double> SizedArguments::floatingPoint() {
  std::optional<ArrayRef<uint8_t>> piece = next();
  if (!piece)
    return std::nullopt;
  if (piece->size() == sizeof(float)) {
    float value;
    std::memcpy(&value, piece->data(), sizeof(value));
    return value;
  }
  double value = 0;
  if (piece->size() >= sizeof(value))
    std::memcpy(&value, piece->data(), sizeof(value));
  return value;
}

std::optional<std::string> SizedArguments::string() {
  std::optional<ArrayRef<uint8_t>> piece = next();
  if (!piece)
    return std::nullopt;
  // A constant that stands for the empty string begins with a zero byte.
  const char *begin = reinterpret_cast<const char *>(piece->data());
  return std::string(begin, strnlen(begin, piece->size()));
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {
/// One conversion, such as "%-8.3f" or OpenCL's "%v4hlf".
struct Conversion {
  std::string flags;
  std::optional<int> width;
  std::optional<int> precision;
  unsigned vectorLength = 0;
  /// Bits of an integer argument.
  unsigned bits = 32;
  char letter = 0;
};

/// Wider fields than this are cut: a kernel may ask for what it likes.
constexpr int maxFieldWidth = 4096;

class Formatter {
public:
  Formatter(StringRef format, PrintfArguments &arguments) : rest(format), arguments(arguments) {}

  std::string run() {
    while (!rest.empty()) {
      size_t literal = rest.find('%');
      text += rest.take_front(literal);
      rest = rest.drop_front(std::min(literal, rest.size()));
      if (rest.empty())
        break;
      rest = rest.drop_front();
      if (rest.consume_front("%"))
        text += '%';
      else if (!convert())
        break;
    }
    return std::move(text);
  }

private:
  /// A number or a star; nothing if there is neither.
  std::optional<int> readField() {
    if (rest.consume_front("*")) {
      auto value = static_cast<int32_t>(arguments.integer().value_or(0));
      return std::clamp(value, -maxFieldWidth, maxFieldWidth);
    }
    size_t digits = rest.find_first_not_of("0123456789");
    StringRef number = rest.take_front(digits);
    rest = rest.drop_front(number.size());
    int value = 0;
    if (number.empty())
      return std::nullopt;
    return number.getAsInteger(10, value) ? maxFieldWidth : std::min(value, maxFieldWidth);
  }

  Conversion read() {
    Conversion conversion;
    size_t flags = rest.find_first_not_of("-+ #0");
    conversion.flags = rest.take_front(flags).str();
    rest = rest.drop_front(conversion.flags.size());
    conversion.width = readField();
    if (rest.consume_front(".")) {
      conversion.precision = readField().value_or(0);
      if (*conversion.precision < 0)
        conversion.precision.reset();
    }
    if (rest.consume_front("v"))
      conversion.vectorLength = readField().value_or(0);
    if (rest.consume_front("hh"))
      conversion.bits = 8;
    else if (rest.consume_front("hl")) // OpenCL: 32-bit elements
      conversion.bits = 32;
    else if (rest.consume_front("h"))
      conversion.bits = 16;
    else if (rest.consume_front("ll") || rest.consume_front("l") || rest.consume_front("j") ||
             rest.consume_front("z") || rest.consume_front("t"))
      conversion.bits = 64;
    else
      rest.consume_front("L");
    if (!rest.empty()) {
      conversion.letter = rest.front();
      rest = rest.drop_front();
    }
    return conversion;
  }

  /// False: the conversion is unknown or has no argument.
  bool convert() {
    Conversion conversion = read();
    if (conversion.vectorLength == 0)
      return printOne(conversion);
    constexpr unsigned maxVectorLength = 16;
    unsigned length = std::min(conversion.vectorLength, maxVectorLength);
    arguments.beginVector(length);
    for (unsigned i = 0; i < length; ++i) {
      if (i != 0)
        text += ',';
      if (!printOne(conversion))
        return false;
    }
    return true;
  }

  bool printOne(const Conversion &conversion) {
    switch (conversion.letter) {
    case 'd':
    case 'i':
      return printInteger(conversion, /*isSigned=*/true);
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return printInteger(conversion, /*isSigned=*/false);
    case 'c':
      if (auto value = arguments.integer())
        return print(conversion, "", "c", static_cast<int>(static_cast<unsigned char>(*value)));
      return false;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      if (auto value = arguments.floatingPoint())
        return print(conversion, "", StringRef(&conversion.letter, 1), *value);
      return false;
    case 's':
      if (auto value = arguments.string())
        return print(conversion, "", "s", value->c_str());
      return false;
    case 'p':
      if (auto value = arguments.integer())
        return print(conversion, "", "p", reinterpret_cast<void *>(*value));
      return false;
    case 'n': // Nothing is written to the kernel's memory.
      return arguments.integer().has_value();
    }
    return false;
  }

  bool printInteger(const Conversion &conversion, bool isSigned) {
    std::optional<uint64_t> value = arguments.integer();
    if (!value)
      return false;
    unsigned unused = 64 - conversion.bits;
    uint64_t cut = *value << unused;
    StringRef letter(&conversion.letter, 1);
    return isSigned
               ? print(conversion, "ll", letter, static_cast<long long>(cut) >> unused)
               : print(conversion, "ll", letter, static_cast<unsigned long long>(cut >> unused));
  }

  template <typename T>
  bool print(const Conversion &conversion, StringRef length, StringRef letter, T value) {
    std::string spec = "%" + conversion.flags;
    if (conversion.width)
      spec += std::to_string(*conversion.width);
    if (conversion.precision)
      spec += "." + std::to_string(*conversion.precision);
    spec += length.str() + letter.str();
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
    int count = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (count < 0)
      return false;
    std::vector<char> buffer(size_t(count) + 1);
    std::snprintf(buffer.data(), buffer.size(), spec.c_str(), value);
#pragma clang diagnostic pop
    text.append(buffer.data(), count);
    return true;
  }

  StringRef rest;
  PrintfArguments &arguments;
  std::string text;
};
} // namespace

std::string formatPrintf(StringRef format, PrintfArguments &arguments) {
  return Formatter(format, arguments).run();
}

} // namespace wavetile::device
