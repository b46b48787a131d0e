//===- Launcher.h - The variants of one region ------------------*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Launcher finds the code that serves a call: first the specialisation by the
// call's key, then the first of its variants whose guards hold. Compiling what is
// missing is the caller's part. Not safe for concurrent use; Python's lock is
// held by whoever calls. A chosen kernel may then be launched without it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_LAUNCHER_H
#define WAVETILE_RUNTIME_LAUNCHER_H

#include "runtime/CompiledKernel.h"
#include "runtime/Specialisation.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace wavetile {

class Launcher {
public:
  using Variants = std::vector<std::shared_ptr<CompiledKernel>>;

  /// Prepares the first variant that serves the call and puts it in `chosen`, which stays empty
  /// if none does.
  Status select(const CallArguments &arguments, const Device &device, PreparedLaunch &prepared,
                std::shared_ptr<CompiledKernel> &chosen);

  /// Why none of the variants of this key serves the call, a line for each.
  std::string explain(const CallArguments &arguments, const Device &device) const;

  /// Appends a variant for all calls with this key. Refuses plans that name what such a call
  /// does not have, or that are for another target.
  Status add(std::string_view key, std::shared_ptr<CompiledKernel> kernel);

  /// The variants of a key in the order in which they are tried.
  const Variants &variants(std::string_view key) const;

  /// All keys that have a variant, in no order.
  std::vector<std::string_view> keys() const;

private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  using Table = std::unordered_map<std::string, Variants, Hash, std::equal_to<>>;
  using Entry = Table::value_type;
  const Entry *find(std::string_view key) const;

  Table table;
  mutable const Entry *last = nullptr; // of the table, whose entries do not move
};

} // namespace wavetile

#endif // WAVETILE_RUNTIME_LAUNCHER_H
