//===- Serialization.cpp - Launch plans as bytes and as JSON --------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each structure is described once, by a `visit` function over its members; the
// writer and the reader are two archives that walk the same description.
//
//===----------------------------------------------------------------------===//

#include "runtime/Serialization.h"

#include <bit>
#include <cstdio>
#include <type_traits>

using namespace wavetile;

static_assert(std::endian::native == std::endian::little, "bytes are copied as they are");

/// Raise the number whenever a member changes.
static constexpr std::string_view header = "wavetile-plan-2\n";

namespace {

class Writer {
public:
  std::string bytes;

  template <typename T> void number(const T &value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
  template <typename T> void enumeration(const T &value, T) {
    number(static_cast<std::underlying_type_t<T>>(value));
  }
  void flag(bool value) { number(uint8_t(value)); }
  void text(const std::string &value) {
    number(static_cast<uint64_t>(value.size()));
    bytes += value;
  }
  template <typename T> void list(const std::vector<T> &values) {
    number(static_cast<uint64_t>(values.size()));
    for (const T &value : values)
      visit(*this, value);
  }
};

/// After the first failure everything reads as nothing.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}
  bool failed = false;
  std::string_view bytes;

  template <typename T> void number(T &value) {
    static_assert(std::is_arithmetic_v<T>);
    if (bytes.size() < sizeof(T))
      return fail();
    bytes.copy(reinterpret_cast<char *>(&value), sizeof(T));
    bytes.remove_prefix(sizeof(T));
  }
  template <typename T> void enumeration(T &value, T last) {
    std::underlying_type_t<T> raw = 0;
    number(raw);
    if (raw > static_cast<std::underlying_type_t<T>>(last))
      return fail();
    value = static_cast<T>(raw);
  }
  void flag(bool &value) {
    uint8_t raw = 0;
    number(raw);
    if (raw > 1)
      return fail();
    value = raw != 0;
  }
  void text(std::string &value) {
    uint64_t size = length();
    value = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  template <typename T> void list(std::vector<T> &values) {
    values.clear();
    for (uint64_t count = length(); count > 0 && !failed; --count)
      visit(*this, values.emplace_back());
  }

private:
  void fail() {
    failed = true;
    bytes = {};
  }
  /// A length that what is left can hold: each element takes at least a byte.
  uint64_t length() {
    uint64_t size = 0;
    number(size);
    if (size > bytes.size()) {
      fail();
      return 0;
    }
    return size;
  }
};

/// `T`, const when it is written.
template <typename Archive, typename T>
using Member = std::conditional_t<std::is_same_v<Archive, Writer>, const T, T>;

template <typename Archive> void visit(Archive &archive, Member<Archive, ExpressionNode> &node) {
  archive.enumeration(node.kind, ExpressionNode::Kind::Maximum);
  archive.number(node.value);
}

template <typename Archive> void visit(Archive &archive, Member<Archive, Expression> &expression) {
  archive.list(expression.nodes);
}

template <typename Archive>
void visit(Archive &archive, Member<Archive, KernelArgument> &argument) {
  archive.enumeration(argument.kind, KernelArgument::Kind::Float64);
  archive.number(argument.index);
  visit(archive, argument.expression);
  archive.number(argument.offset);
  archive.flag(argument.wholeWords);
}

template <typename Archive> void visit(Archive &archive, Member<Archive, KernelLaunch> &launch) {
  archive.text(launch.symbol);
  for (auto &extent : launch.grid)
    visit(archive, extent);
  for (auto &extent : launch.workgroup)
    archive.number(extent);
  archive.number(launch.ldsBytes);
  archive.list(launch.arguments);
  archive.number(launch.kernargBytes);
}

template <typename Archive> void visit(Archive &archive, Member<Archive, ScratchFill> &fill) {
  archive.number(fill.scratch);
  archive.number(fill.value);
}

template <typename Archive> void visit(Archive &archive, Member<Archive, ScratchBuffer> &buffer) {
  visit(archive, buffer.bytes);
}

template <typename Archive> void visit(Archive &archive, Member<Archive, Guard> &guard) {
  visit(archive, guard.left);
  visit(archive, guard.right);
  archive.text(guard.reason);
}

using Step = std::variant<KernelLaunch, ScratchFill>;

void visit(Writer &archive, const Step &step) {
  archive.number(static_cast<uint8_t>(step.index()));
  std::visit([&](const auto &value) { visit(archive, value); }, step);
}

void visit(Reader &archive, Step &step) {
  uint8_t index = 0;
  archive.number(index);
  if (index == 0)
    visit(archive, step.emplace<KernelLaunch>());
  else if (index == 1)
    visit(archive, step.emplace<ScratchFill>());
  else
    archive.failed = true;
}

template <typename Archive> void visit(Archive &archive, Member<Archive, LaunchPlan> &plan) {
  archive.text(plan.target);
  archive.list(plan.guards);
  archive.list(plan.scratch);
  archive.list(plan.steps);
}

} // namespace

std::string wavetile::serialize(const LaunchPlan &plan) {
  Writer writer;
  writer.bytes = header;
  visit(writer, plan);
  return std::move(writer.bytes);
}

std::optional<LaunchPlan> wavetile::deserializeLaunchPlan(std::string_view bytes) {
  if (!bytes.starts_with(header))
    return std::nullopt;
  Reader reader(bytes.substr(header.size()));
  LaunchPlan plan;
  visit(reader, plan);
  if (reader.failed || !reader.bytes.empty())
    return std::nullopt;
  return plan;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static std::string quote(std::string_view text) {
  std::string result = "\"";
  for (char character : text) {
    if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", character);
      result += escape;
    } else {
      result += character;
    }
  }
  return result + "\"";
}

/// `[a, b]` with one element to a line.
static std::string jsonList(const std::vector<std::string> &elements, const char *indent) {
  if (elements.empty())
    return "[]";
  std::string result = "[";
  for (size_t index = 0; index < elements.size(); ++index)
    result += std::string(index ? "," : "") + "\n" + indent + "  " + elements[index];
  return result + "\n" + indent + "]";
}

static std::string jsonOf(const KernelArgument &argument) {
  static constexpr const char *names[] = {"pointer", "scratch", "i32", "i64", "f32", "f64"};
  std::string result = "{\"kind\": ";
  result += quote(names[static_cast<size_t>(argument.kind)]);
  if (argument.kind == KernelArgument::Kind::Int32 || argument.kind == KernelArgument::Kind::Int64)
    result += ", \"value\": " + quote(argument.expression.str());
  else
    result += ", \"index\": " + std::to_string(argument.index);
  if (argument.wholeWords)
    result += ", \"whole_words\": true";
  return result + ", \"offset\": " + std::to_string(argument.offset) + "}";
}

static std::string jsonOf(const Step &step) {
  if (const auto *fill = std::get_if<ScratchFill>(&step))
    return "{\"fill\": " + std::to_string(fill->scratch) +
           ", \"value\": " + std::to_string(fill->value) + "}";
  const auto &launch = std::get<KernelLaunch>(step);
  std::vector<std::string> arguments;
  for (const KernelArgument &argument : launch.arguments)
    arguments.push_back(jsonOf(argument));
  std::string grid, workgroup;
  for (size_t dimension = 0; dimension < 3; ++dimension) {
    const char *separator = dimension ? ", " : "";
    grid += separator + quote(launch.grid[dimension].str());
    workgroup += separator + std::to_string(launch.workgroup[dimension]);
  }
  return "{\"kernel\": " + quote(launch.symbol) + ", \"grid\": [" + grid + "], \"workgroup\": [" +
         workgroup + "], \"lds_bytes\": " + std::to_string(launch.ldsBytes) +
         ", \"kernarg_bytes\": " + std::to_string(launch.kernargBytes) +
         ", \"arguments\": " + jsonList(arguments, "    ") + "}";
}

std::string wavetile::toJson(const LaunchPlan &plan) {
  std::vector<std::string> guards, scratch, steps;
  for (const Guard &guard : plan.guards)
    guards.push_back("{\"left\": " + quote(guard.left.str()) + ", \"right\": " +
                     quote(guard.right.str()) + ", \"reason\": " + quote(guard.reason) + "}");
  for (const ScratchBuffer &buffer : plan.scratch)
    scratch.push_back("{\"bytes\": " + quote(buffer.bytes.str()) + "}");
  for (const Step &step : plan.steps)
    steps.push_back(jsonOf(step));
  return "{\n  \"target\": " + quote(plan.target) + ",\n  \"guards\": " + jsonList(guards, "  ") +
         ",\n  \"scratch\": " + jsonList(scratch, "  ") +
         ",\n  \"steps\": " + jsonList(steps, "  ") + "\n}\n";
}
