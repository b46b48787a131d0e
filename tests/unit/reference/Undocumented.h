//===- Undocumented.h - Encodings that no document gives a meaning ----------===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_TESTS_UNIT_REFERENCE_UNDOCUMENTED_H
#define WAVETILE_TESTS_UNIT_REFERENCE_UNDOCUMENTED_H

#include "reference/Statement.h"

#include <cstdint>

namespace wavetile::reference {

/// Whether bits are set that mean nothing for this instruction, though LLVM decodes them: device
/// and reference may differ in what they make of them.
bool isUndocumented(const uint32_t *words, const Statement &statement);

} // namespace wavetile::reference

#endif // WAVETILE_TESTS_UNIT_REFERENCE_UNDOCUMENTED_H
