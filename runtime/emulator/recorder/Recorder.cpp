//===- Recorder.cpp - Remembers what the process allocates ----------------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A treap of live allocations by address, whose nodes come from memory mapped for them: nothing
// here may allocate by the functions that it stands before.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/recorder/Recorder.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using wavetile::device::RecordedBounds;

// The C library's allocator under its own names.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);
}

namespace {

struct Node {
  uint64_t begin, end;
  Node *left, *right;
  uint32_t priority;
  bool isHeap;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Node *root, *freeNodes;
uint32_t randomState = 2463534242u;

class Lock {
public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;
};

/// A child process starts with the lock free.
__attribute__((constructor)) void prepareForForks() {
  pthread_atfork([] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); },
                 [] { pthread_mutex_unlock(&mutex); });
}

void *mapPages(size_t bytes) {
  long result =
      syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return result == -1 ? nullptr : reinterpret_cast<void *>(result);
}

Node *newNode() {
  if (!freeNodes) {
    constexpr size_t bytes = size_t(1) << 20;
    auto *nodes = static_cast<Node *>(mapPages(bytes));
    if (!nodes)
      return nullptr;
    for (size_t i = 0; i < bytes / sizeof(Node); ++i) {
      nodes[i].left = freeNodes;
      freeNodes = &nodes[i];
    }
  }
  Node *node = freeNodes;
  freeNodes = node->left;
  randomState ^= randomState << 13;
  randomState ^= randomState >> 17;
  randomState ^= randomState << 5;
  node->left = node->right = nullptr;
  node->priority = randomState;
  return node;
}

/// Nodes below \p at and those from it on.
void split(Node *node, uint64_t at, Node *&below, Node *&rest) {
  Node **lowEnd = &below, **highEnd = &rest;
  while (node) {
    if (node->begin < at) {
      *lowEnd = node;
      lowEnd = &node->right;
      node = node->right;
    } else {
      *highEnd = node;
      highEnd = &node->left;
      node = node->left;
    }
  }
  *lowEnd = *highEnd = nullptr;
}

Node *join(Node *low, Node *high) {
  Node *result = nullptr, **end = &result;
  while (low && high) {
    if (low->priority > high->priority) {
      *end = low;
      end = &low->right;
      low = low->right;
    } else {
      *end = high;
      end = &high->left;
      high = high->left;
    }
  }
  *end = low ? low : high;
  return result;
}

void release(Node *node) {
  while (node) { // Depth does not matter: rotate left children away.
    if (Node *left = node->left) {
      node->left = left->right;
      left->right = node;
      node = left;
      continue;
    }
    Node *next = node->right;
    node->left = freeNodes;
    freeNodes = node;
    node = next;
  }
}

void insert(uint64_t begin, uint64_t end, bool isHeap) {
  Node *node = newNode();
  if (!node)
    return;
  node->begin = begin;
  node->end = end;
  node->isHeap = isHeap;
  Node *below, *rest, *same;
  split(root, begin, below, rest);
  split(rest, begin + 1, same, rest);
  release(same);
  root = join(join(below, node), rest);
}

/// Forgets [begin, end) of what was mapped; what sticks out stays. Heap allocations begin there or
/// are not touched.
void erase(uint64_t begin, uint64_t end) {
  Node *below, *within, *rest;
  split(root, begin, below, rest);
  split(rest, end, within, rest);
  uint64_t tailEnd = 0;
  bool tailIsHeap = false;
  for (Node *node = within; node; node = node->right)
    if (node->end > end)
      tailEnd = node->end, tailIsHeap = node->isHeap;
  release(within);
  Node *last = below;
  while (last && last->right)
    last = last->right;
  if (last && last->end > begin && !last->isHeap) {
    if (last->end > end)
      tailEnd = last->end, tailIsHeap = false;
    last->end = begin;
  }
  root = join(below, rest);
  if (tailEnd > end)
    insert(end, tailEnd, tailIsHeap);
}

void *recorded(void *pointer, size_t bytes) {
  if (pointer) {
    auto begin = reinterpret_cast<uint64_t>(pointer);
    Lock lock;
    insert(begin, begin + bytes, true);
  }
  return pointer;
}

void forget(void *pointer) {
  if (!pointer)
    return;
  auto begin = reinterpret_cast<uint64_t>(pointer);
  Lock lock;
  Node *below, *same, *rest;
  split(root, begin, below, rest);
  split(rest, begin + 1, same, rest);
  release(same);
  root = join(below, rest);
}

} // namespace

#define WAVETILE_EXPORT extern "C" __attribute__((visibility("default")))

WAVETILE_EXPORT void wavetileRecorderFind(uint64_t address, RecordedBounds *bounds) {
  *bounds = {};
  Lock lock;
  for (Node *node = root; node;) {
    if (node->begin <= address) {
      bounds->begin = node->begin;
      bounds->end = node->end;
      bounds->isHeap = node->isHeap;
      node = node->right;
    } else {
      bounds->nextBegin = node->begin;
      bounds->nextEnd = node->end;
      bounds->nextIsHeap = node->isHeap;
      node = node->left;
    }
  }
}

WAVETILE_EXPORT void *malloc(size_t bytes) { return recorded(__libc_malloc(bytes), bytes); }

WAVETILE_EXPORT void *calloc(size_t count, size_t bytes) {
  return recorded(__libc_calloc(count, bytes), count * bytes);
}

WAVETILE_EXPORT void free(void *pointer) {
  // First, for another thread may be given the memory at once.
  forget(pointer);
  __libc_free(pointer);
}

WAVETILE_EXPORT void *realloc(void *pointer, size_t bytes) {
  forget(pointer);
  void *result = __libc_realloc(pointer, bytes);
  // Out of memory: the old one lives on, of unknown size, which only an access could want to know.
  return recorded(result, bytes);
}

WAVETILE_EXPORT void *memalign(size_t alignment, size_t bytes) {
  return recorded(__libc_memalign(alignment, bytes), bytes);
}
WAVETILE_EXPORT void *aligned_alloc(size_t alignment, size_t bytes) {
  return recorded(__libc_memalign(alignment, bytes), bytes);
}
WAVETILE_EXPORT int posix_memalign(void **result, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
    return EINVAL;
  int before = errno;
  void *pointer = recorded(__libc_memalign(alignment, bytes), bytes);
  errno = before;
  if (!pointer)
    return ENOMEM;
  *result = pointer;
  return 0;
}

WAVETILE_EXPORT void *mmap(void *hint, size_t bytes, int protection, int flags, int file,
                           off_t offset) {
  long result = syscall(SYS_mmap, hint, bytes, protection, flags, file, offset);
  if (result == -1)
    return MAP_FAILED;
  auto begin = static_cast<uint64_t>(result);
  Lock lock;
  erase(begin, begin + bytes); // MAP_FIXED replaces what was there.
  if (protection & PROT_READ)
    insert(begin, begin + bytes, false);
  return reinterpret_cast<void *>(result);
}
WAVETILE_EXPORT void *mmap64(void *hint, size_t bytes, int protection, int flags, int file,
                             off_t offset) {
  return mmap(hint, bytes, protection, flags, file, offset);
}
WAVETILE_EXPORT int munmap(void *pointer, size_t bytes) {
  auto begin = reinterpret_cast<uint64_t>(pointer);
  {
    Lock lock;
    erase(begin, begin + bytes);
  }
  return static_cast<int>(syscall(SYS_munmap, pointer, bytes));
}
