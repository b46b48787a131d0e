# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`python -m tests.checks [NAME...]` runs the quick checks of the sources: all, or those named."""

import importlib
import sys

QUICK = (
    "formatting",
    "file_headers",
    "include_directions",
    "doc_links",
    "doc_names",
    "generated_docs",
)


def main(names: list[str]) -> int:
    failed = 0
    for name in names or QUICK:
        complaints = importlib.import_module(f"tests.checks.{name}").check()
        print("\n".join([f"{name}: {len(complaints) or 'no'} complaints", *complaints]))
        failed += bool(complaints)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
