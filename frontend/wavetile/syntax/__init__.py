# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as Python syntax: their source, their regions, and who assigns which name."""
