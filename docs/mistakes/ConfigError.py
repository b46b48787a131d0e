# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import wavetile

wavetile.Config({"rows": 4, "columns.strategy": "fastest"})
