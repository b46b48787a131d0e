# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The compiler with a part left out, by Mutants.cpp; `run` looks for tests that see it."""
