//===- Config.cpp - The choices that tuning may make ------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Config.h"

#include "passes/Nearest.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace wavetile;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral positiveInteger = "positive integer";

static constexpr ConfigKey keyTable[] = {
    {"", true, positiveInteger,
     "size of the tiles along the dimension: the block size of a loop, the capacity of a resident "
     "row, the chunk of a looped row or of one that several blocks share"},
    {"strategy", true, "resident | looped | grid",
     "how a row dimension is walked: held in registers, in chunks by one block, or by several "
     "blocks that combine through scratch"},
    {"blocks", true, positiveInteger,
     "how many blocks share a row of a dimension whose strategy is grid"},
    {"waves", false, positiveInteger, "waves that work on a block"},
    {"waves_per_simd", false, positiveInteger,
     "waves that shall fit on a SIMD at once, which bounds the registers of each"},
    {"matrix", false, "16 | 32", "rows and columns of the matrix instructions to prefer"},
};

llvm::ArrayRef<ConfigKey> wavetile::configKeys() { return keyTable; }

/// The row that rules `key`, or null.
static const ConfigKey *findKey(llvm::StringRef key) {
  for (const ConfigKey &row : keyTable)
    if (!row.perDim && row.suffix == key)
      return &row;
  auto [dim, suffix] = key.rsplit('.');
  if (dim.empty())
    return nullptr;
  for (const ConfigKey &row : keyTable)
    if (row.perDim && row.suffix == suffix)
      return &row;
  return nullptr;
}

static std::string text(const ConfigValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  return std::get<std::string>(value);
}

/// The words of "a | b | c".
static llvm::SmallVector<llvm::StringRef> choices(llvm::StringRef values) {
  llvm::SmallVector<llvm::StringRef> words;
  values.split(words, '|');
  for (llvm::StringRef &word : words)
    word = word.trim();
  return words;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static llvm::Error unknownKey(llvm::StringRef key) {
  auto [dim, suffix] = key.rsplit('.');
  llvm::SmallVector<std::string> known;
  for (const ConfigKey &row : keyTable) {
    if (!row.perDim)
      known.push_back(row.suffix.str());
    else if (!row.suffix.empty() && !suffix.empty())
      known.push_back((dim + "." + row.suffix).str());
  }
  return llvm::createStringError("unknown Config key '" + key + "'" + didYouMean(key, known));
}

llvm::Error Config::set(llvm::StringRef key, ConfigValue value) {
  const ConfigKey *row = findKey(key);
  if (!row)
    return unknownKey(key);

  if (row->values == positiveInteger) {
    const int64_t *integer = std::get_if<int64_t>(&value);
    if (!integer || *integer <= 0)
      return llvm::createStringError("Config key '" + key + "' takes a positive integer, not '" +
                                     text(value) + "'");
  } else {
    llvm::SmallVector<std::string> allowed;
    for (llvm::StringRef choice : choices(row->values))
      allowed.push_back(choice.str());
    if (!llvm::is_contained(allowed, text(value)))
      return llvm::createStringError("Config key '" + key + "' takes " + row->values + ", not '" +
                                     text(value) + "'" + didYouMean(text(value), allowed));
  }
  values[key.str()] = std::move(value);
  return llvm::Error::success();
}

std::optional<int64_t> Config::integer(llvm::StringRef key) const {
  auto found = values.find(key.str());
  if (found == values.end())
    return std::nullopt;
  const int64_t *value = std::get_if<int64_t>(&found->second);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::string> Config::string(llvm::StringRef key) const {
  auto found = values.find(key.str());
  if (found == values.end())
    return std::nullopt;
  const std::string *value = std::get_if<std::string>(&found->second);
  return value ? std::optional(*value) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Text and attributes
//===----------------------------------------------------------------------===//

llvm::Expected<Config> Config::parse(llvm::StringRef text) {
  Config config;
  llvm::SmallVector<llvm::StringRef> entries;
  text.split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef entry : entries) {
    if (!entry.contains('='))
      return llvm::createStringError("Config entry '" + entry.trim() + "' is not 'key=value'");
    auto [key, word] = entry.split('=');
    key = key.trim();
    word = word.trim();
    if (config.contains(key))
      return llvm::createStringError("Config key '" + key + "' is given twice");
    int64_t integer;
    ConfigValue value =
        word.getAsInteger(10, integer) ? ConfigValue(word.str()) : ConfigValue(integer);
    if (llvm::Error error = config.set(key, std::move(value)))
      return std::move(error);
  }
  return config;
}

std::string Config::str() const {
  std::string result;
  for (const auto &[key, value] : values) {
    if (!result.empty())
      result += ',';
    result += key + "=" + text(value);
  }
  return result;
}

llvm::Expected<Config> Config::fromAttribute(mlir::DictionaryAttr attribute) {
  Config config;
  for (mlir::NamedAttribute entry : attribute) {
    ConfigValue value;
    if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(entry.getValue()))
      value = integer.getInt();
    else if (auto string = llvm::dyn_cast<mlir::StringAttr>(entry.getValue()))
      value = string.str();
    else
      return llvm::createStringError("Config key '" + entry.getName().strref() +
                                     "' takes an integer or a string");
    if (llvm::Error error = config.set(entry.getName(), std::move(value)))
      return std::move(error);
  }
  return config;
}

mlir::DictionaryAttr Config::toAttribute(mlir::MLIRContext *context) const {
  mlir::Builder builder(context);
  mlir::NamedAttrList entries;
  for (const auto &[key, value] : values) {
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      entries.append(key, builder.getI64IntegerAttr(*integer));
    else
      entries.append(key, builder.getStringAttr(std::get<std::string>(value)));
  }
  return entries.getDictionary(context);
}
