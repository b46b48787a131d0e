# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors on the software device: their bounds, and tensors in its own memory."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch

from wavetile.device.library import Library, MemoryRange


def storages(argument: Any, name: str) -> Iterator[MemoryRange]:
    """The memory behind a kernel's argument: a tensor's whole storage; nothing for a number.

    Args:
        argument: a tensor, something with a `base` tensor (a descriptor, a reinterpreted tensor),
            or a tuple of these
        name: what reports call it

    Yields:
        a range for each tensor that has memory. Raises nothing.

    Example:
        ranges = list(storages(x, "x"))
    """
    if isinstance(argument, torch.Tensor):
        storage = argument.untyped_storage()
        if storage.nbytes():
            yield MemoryRange(storage.data_ptr(), storage.nbytes(), name)
    elif isinstance(argument, tuple):
        fields = getattr(argument, "_fields", range(len(argument)))
        for field, part in zip(fields, argument):
            yield from storages(part, f"{name}.{field}")
    elif isinstance(getattr(argument, "base", None), torch.Tensor):
        yield from storages(argument.base, name)


def announced(library: Library, **tensors: torch.Tensor) -> AbstractContextManager[None]:
    """Within this, kernels may touch the storages of these tensors and no other host memory.

    Reports use the keywords' names. The device's own allocations may be touched too. Raises
    nothing.

    Args:
        library: the software device
        tensors: CPU tensors

    Returns:
        what `with` takes

    Example:
        with announced(Library(), x=x, out=out):
            ...
    """
    return library.announced(
        memory for name, tensor in tensors.items() for memory in storages(tensor, name)
    )


def empty(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A CPU tensor in the device's own memory (hipMalloc), between redzones.

    Its bits are undefined until a kernel or a copy of HIP writes them; the device does not see what
    the host stores. The memory is freed with the tensor's storage.

    Args:
        size: the extents
        dtype: the elements' type

    Returns:
        a contiguous tensor

    Raises:
        DeviceError: no memory is left

    Example:
        out = empty(64, 128, dtype=torch.bfloat16)
    """
    library = Library()
    elements = math.prod(size)
    bytes = max(elements * dtype.itemsize, dtype.itemsize)
    pointer = ctypes.c_void_p()
    library.call("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(bytes))
    assert pointer.value is not None
    memory = (ctypes.c_byte * bytes).from_address(pointer.value)
    weakref.finalize(memory, library.call, "hipFree", pointer)
    return torch.frombuffer(memory, dtype=dtype)[:elements].view(size)


def to_device(tensor: torch.Tensor) -> torch.Tensor:
    """A contiguous copy of a CPU tensor in the device's own memory, see `empty`.

    Args:
        tensor: a CPU tensor

    Returns:
        a tensor of its shape and dtype

    Raises:
        DeviceError: no memory is left

    Example:
        x = to_device(torch.randn(64, 128))
    """
    host = tensor.contiguous()
    result = empty(*host.shape, dtype=host.dtype)
    if host.numel():
        pointers = (ctypes.c_void_p(x.data_ptr()) for x in (result, host))
        host_to_device = 1
        Library().call(
            "hipMemcpy", *pointers, ctypes.c_size_t(host.nbytes), ctypes.c_int(host_to_device)
        )
    return result
