//===- Handles.h - The objects that a client holds handles of -------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Promises: a handle that was not given out, or was given back, is never looked
// into; an object lives as long as someone uses it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_RUNTIME_EMULATOR_HIP_HANDLES_H
#define WAVETILE_RUNTIME_EMULATOR_HIP_HANDLES_H

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace wavetile::device {

/// The living objects of one type; the handle is the object's address.
template <typename T> class Handles {
public:
  T *insert(std::shared_ptr<T> object) {
    std::lock_guard lock(mutex);
    T *handle = object.get();
    objects.emplace(handle, std::move(object));
    return handle;
  }

  /// Null if `handle` is none of ours.
  std::shared_ptr<T> find(T *handle) const {
    std::shared_lock lock(mutex);
    auto entry = objects.find(handle);
    return entry == objects.end() ? nullptr : entry->second;
  }

  /// All that live now.
  std::vector<std::shared_ptr<T>> all() const {
    std::shared_lock lock(mutex);
    std::vector<std::shared_ptr<T>> list;
    for (const auto &[handle, object] : objects)
      list.push_back(object);
    return list;
  }

  /// Takes the handle back. Null if it is none of ours.
  std::shared_ptr<T> remove(T *handle) {
    std::lock_guard lock(mutex);
    auto entry = objects.find(handle);
    if (entry == objects.end())
      return nullptr;
    std::shared_ptr<T> object = std::move(entry->second);
    objects.erase(entry);
    return object;
  }

private:
  mutable std::shared_mutex mutex;
  std::unordered_map<T *, std::shared_ptr<T>> objects;
};

} // namespace wavetile::device

#endif // WAVETILE_RUNTIME_EMULATOR_HIP_HANDLES_H
