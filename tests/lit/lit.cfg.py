# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""lit tests: one folder per area, one file per pass or lowering, checked by FileCheck.

Run them with `lit -v build/tests/lit`, or one with
`lit -v build/tests/lit --filter peel-tails`. Tools: everything in build/bin by its name, and
LLVM's FileCheck, not, split-file, llvm-mc, llvm-objdump, llvm-readelf, llvm-dwarfdump.
"""

import os

import lit.formats

config.name = "Wavetile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.join(config.wavetile_source, "tests", "lit")
config.test_exec_root = os.path.join(config.wavetile_build, "tests", "lit")

# tests/mutants/run.py names tools that leave something out.
tools = lit_config.params.get("tools", os.path.join(config.wavetile_build, "bin"))
config.environment["WAVETILE_MUTANT"] = lit_config.params.get("mutant", "")
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools, os.environ["PATH"]])
config.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
# As for the unit tests: Debian's LLVM is not instrumented and poisons memory that it then uses.
config.environment["ASAN_OPTIONS"] = os.environ.get(
    "ASAN_OPTIONS", "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0"
)
if "UBSAN_OPTIONS" in os.environ:
    config.environment["UBSAN_OPTIONS"] = os.environ["UBSAN_OPTIONS"]

config.substitutions.append(("%source", config.wavetile_source))
