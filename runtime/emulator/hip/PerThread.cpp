//===- PerThread.cpp - Functions whose null stream is the thread's own ----===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs compiled with -fgpu-default-stream=per-thread call these instead of
// the functions without the suffix.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/hip/HipTypes.h"

static hipStream_t perThread() { return reinterpret_cast<hipStream_t>(uintptr_t(2)); }

static hipStream_t orPerThread(hipStream_t stream) { return stream ? stream : perThread(); }

/// X(name, (parameters with a stream), (arguments with `orPerThread(stream)`)): functions on a
/// stream.
#define WAVETILE_STREAM_FUNCTIONS(X)                                                               \
  X(hipStreamSynchronize, (hipStream_t stream), (orPerThread(stream)))                             \
  X(hipStreamQuery, (hipStream_t stream), (orPerThread(stream)))                                   \
  X(hipStreamGetFlags, (hipStream_t stream, unsigned *flags), (orPerThread(stream), flags))        \
  X(hipStreamGetPriority, (hipStream_t stream, int *priority), (orPerThread(stream), priority))    \
  X(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned flags),                    \
    (orPerThread(stream), event, flags))                                                           \
  X(hipStreamAddCallback,                                                                          \
    (hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned flags),                \
    (orPerThread(stream), callback, data, flags))                                                  \
  X(hipStreamBeginCapture, (hipStream_t stream, hipStreamCaptureMode mode),                        \
    (orPerThread(stream), mode))                                                                   \
  X(hipStreamEndCapture, (hipStream_t stream, hipGraph_t * graph), (orPerThread(stream), graph))   \
  X(hipStreamIsCapturing, (hipStream_t stream, hipStreamCaptureStatus * status),                   \
    (orPerThread(stream), status))                                                                 \
  X(hipStreamGetCaptureInfo,                                                                       \
    (hipStream_t stream, hipStreamCaptureStatus * status, unsigned long long *identifier),         \
    (orPerThread(stream), status, identifier))                                                     \
  X(hipStreamGetCaptureInfo_v2,                                                                    \
    (hipStream_t stream, hipStreamCaptureStatus * status, unsigned long long *identifier,          \
     hipGraph_t *graph, const hipGraphNode_t **dependencies, size_t *count),                       \
    (orPerThread(stream), status, identifier, graph, dependencies, count))                         \
  X(hipEventRecord, (hipEvent_t event, hipStream_t stream), (event, orPerThread(stream)))          \
  X(hipLaunchHostFunc, (hipStream_t stream, hipHostFn_t function, void *data),                     \
    (orPerThread(stream), function, data))                                                         \
  X(hipGraphLaunch, (hipGraphExec_t instance, hipStream_t stream),                                 \
    (instance, orPerThread(stream)))                                                               \
  X(hipLaunchKernel,                                                                               \
    (const void *function, dim3 grid, dim3 block, void **parameters, size_t bytes,                 \
     hipStream_t stream),                                                                          \
    (function, grid, block, parameters, bytes, orPerThread(stream)))                               \
  X(hipLaunchCooperativeKernel,                                                                    \
    (const void *function, dim3 grid, dim3 block, void **parameters, unsigned bytes,               \
     hipStream_t stream),                                                                          \
    (function, grid, block, parameters, bytes, orPerThread(stream)))                               \
  X(hipMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, hipStream_t stream),      \
    (to, from, bytes, kind, orPerThread(stream)))                                                  \
  X(hipMemcpy2DAsync,                                                                              \
    (void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,    \
     int kind, hipStream_t stream),                                                                \
    (to, toPitch, from, fromPitch, width, height, kind, orPerThread(stream)))                      \
  X(hipMemcpy3DAsync, (const hipMemcpy3DParms *parameters, hipStream_t stream),                    \
    (parameters, orPerThread(stream)))                                                             \
  X(hipMemcpyToSymbolAsync,                                                                        \
    (const void *symbol, const void *from, size_t bytes, size_t offset, int kind,                  \
     hipStream_t stream),                                                                          \
    (symbol, from, bytes, offset, kind, orPerThread(stream)))                                      \
  X(hipMemcpyFromSymbolAsync,                                                                      \
    (void *to, const void *symbol, size_t bytes, size_t offset, int kind, hipStream_t stream),     \
    (to, symbol, bytes, offset, kind, orPerThread(stream)))                                        \
  X(hipMemsetAsync, (void *to, int value, size_t bytes, hipStream_t stream),                       \
    (to, value, bytes, orPerThread(stream)))                                                       \
  X(hipMemset2DAsync,                                                                              \
    (void *to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream),          \
    (to, pitch, value, width, height, orPerThread(stream)))                                        \
  X(hipMemset3DAsync, (hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream),         \
    (to, value, extent, orPerThread(stream)))

#define WAVETILE_FORWARD(name, parameters, arguments)                                              \
  WAVETILE_HIP_API hipError_t name parameters;                                                     \
  WAVETILE_HIP_API hipError_t name##_spt parameters { return name arguments; }
WAVETILE_STREAM_FUNCTIONS(WAVETILE_FORWARD)
#undef WAVETILE_FORWARD

/// X(name, (parameters), (arguments of the asynchronous form)): functions that wait for their work.
#define WAVETILE_WAITING_FUNCTIONS(X)                                                              \
  X(hipMemcpy, (void *to, const void *from, size_t bytes, int kind),                               \
    (to, from, bytes, kind, perThread()))                                                          \
  X(hipMemcpy2D,                                                                                   \
    (void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,    \
     int kind),                                                                                    \
    (to, toPitch, from, fromPitch, width, height, kind, perThread()))                              \
  X(hipMemcpy3D, (const hipMemcpy3DParms *parameters), (parameters, perThread()))                  \
  X(hipMemcpyToSymbol,                                                                             \
    (const void *symbol, const void *from, size_t bytes, size_t offset, int kind),                 \
    (symbol, from, bytes, offset, kind, perThread()))                                              \
  X(hipMemcpyFromSymbol, (void *to, const void *symbol, size_t bytes, size_t offset, int kind),    \
    (to, symbol, bytes, offset, kind, perThread()))                                                \
  X(hipMemset, (void *to, int value, size_t bytes), (to, value, bytes, perThread()))               \
  X(hipMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),                 \
    (to, pitch, value, width, height, perThread()))                                                \
  X(hipMemset3D, (hipPitchedPtr to, int value, hipExtent extent), (to, value, extent, perThread()))

#define WAVETILE_FORWARD(name, parameters, arguments)                                              \
  WAVETILE_HIP_API hipError_t name##_spt parameters {                                              \
    hipError_t error = name##Async arguments;                                                      \
    return error == hipSuccess ? hipStreamSynchronize(perThread()) : error;                        \
  }
WAVETILE_WAITING_FUNCTIONS(WAVETILE_FORWARD)
#undef WAVETILE_FORWARD
