//===- Launcher.cpp - The variants of one region --------------------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Launcher.h"
#include "runtime/PlanVerifier.h"

using namespace wavetile;

const Launcher::Entry *Launcher::find(std::string_view key) const {
  // Most regions are called with one key over and over: comparing is cheaper than hashing.
  if (last && last->first == key)
    return last;
  auto found = table.find(key);
  if (found == table.end())
    return nullptr;
  return last = &*found;
}

Status Launcher::select(const CallArguments &arguments, const Device &device,
                        PreparedLaunch &prepared, std::shared_ptr<CompiledKernel> &chosen) {
  chosen.reset();
  const Entry *entry = find(arguments.key());
  if (!entry)
    return Status::success();
  for (const std::shared_ptr<CompiledKernel> &variant : entry->second) {
    bool serves = false;
    if (Status status = prepared.prepare(variant->plan(), arguments, device, serves, nullptr))
      return status;
    if (serves) {
      chosen = variant;
      return Status::success();
    }
  }
  return Status::success();
}

std::string Launcher::explain(const CallArguments &arguments, const Device &device) const {
  std::string text;
  for (const std::shared_ptr<CompiledKernel> &variant : variants(arguments.key())) {
    PreparedLaunch prepared;
    bool serves = false;
    std::string whyNot;
    Status status = prepared.prepare(variant->plan(), arguments, device, serves, &whyNot);
    if (!text.empty())
      text += "\n";
    for (const std::string &name : kernelNames(variant->plan()))
      text += name + " ";
    text += "does not serve: " + (status ? status.get().message : whyNot);
  }
  return text;
}

Status Launcher::add(std::string_view key, std::shared_ptr<CompiledKernel> kernel) {
  Specialisation specialisation = Specialisation::decode(key);
  if (kernel->plan().target != specialisation.target)
    return Status::error(ErrorKind::Launch, "code for " + kernel->plan().target +
                                                " cannot serve a call on " + specialisation.target);
  BindingCounts counts;
  counts.pointers = specialisation.tensors.size();
  counts.integers = specialisation.integers.size();
  for (const ParameterFacts &parameter : specialisation.parameters)
    counts.floats += parameter.kind == ParameterKind::Float;
  if (Status status = verify(kernel->plan(), counts))
    return status;
  table.try_emplace(std::string(key)).first->second.push_back(std::move(kernel));
  return Status::success();
}

const Launcher::Variants &Launcher::variants(std::string_view key) const {
  static const Variants none;
  const Entry *entry = find(key);
  return entry ? entry->second : none;
}

std::vector<std::string_view> Launcher::keys() const {
  std::vector<std::string_view> result;
  for (const Entry &entry : table)
    result.push_back(entry.first);
  return result;
}
