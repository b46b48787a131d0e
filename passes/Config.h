//===- Config.h - The choices that tuning may make --------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Config is an ordered set of (key, value) pairs. Keys are named by the loop
// or dimension that they belong to; `configKeys()` is the one table of them,
// which the tuner, the command line, the error messages and the docs read. A
// key that the table does not know, or a value it does not allow, is an error.
//
// Text form: `rows=4,cols=4096,cols.strategy=looped,waves=4`.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_PASSES_CONFIG_H
#define WAVETILE_PASSES_CONFIG_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace wavetile {

using ConfigValue = std::variant<int64_t, std::string>;

/// One row of the table of Config keys. A key with `perDim` is written
/// `<dimension>` (empty suffix) or `<dimension>.<suffix>`.
struct ConfigKey {
  llvm::StringLiteral suffix;
  bool perDim;
  llvm::StringLiteral values; // "positive integer", "resident | looped | grid"
  llvm::StringLiteral description;
};

llvm::ArrayRef<ConfigKey> configKeys();

class Config {
public:
  static llvm::Expected<Config> parse(llvm::StringRef text);
  static llvm::Expected<Config> fromAttribute(mlir::DictionaryAttr attribute);

  std::string str() const;
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;

  /// Fails if the table does not know the key or allow the value.
  llvm::Error set(llvm::StringRef key, ConfigValue value);
  std::optional<int64_t> integer(llvm::StringRef key) const;
  std::optional<std::string> string(llvm::StringRef key) const;
  bool contains(llvm::StringRef key) const { return values.count(key.str()); }
  const std::map<std::string, ConfigValue> &entries() const { return values; }

  bool operator==(const Config &) const = default;

private:
  std::map<std::string, ConfigValue> values;
};

} // namespace wavetile

#endif // WAVETILE_PASSES_CONFIG_H
