# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the syntax tree of a region to a module of the `tile` dialect.

values      what a name in device code may stand for
dtypes      element types, and PyTorch's promotion of them
arithmetic  operations on values of one type
emitter     the module under construction; broadcasting, conversion
operations  the table from torch functions, methods and operators to what emits them
visitor     statements and expressions
region      a region and a specialisation to a module
"""
