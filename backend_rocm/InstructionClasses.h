//===- InstructionClasses.h - Kinds of instructions to count ----*- C++ -*-===//
//
// Part of Wavetile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The classes in which listings and resource reports count instructions:
//
//   mem_{load,store,atomic,load_to_lds}_{bits a lane}   buffer, global and flat
//   scratch_{load,store}_{bits}                         private memory: spills
//   ds_{read,write,read2,write2,read_tr,other}_{bits}   LDS; a read2 moves two
//   ds_crosslane                                        swizzle and permute
//   matrix, acc_move                                    MFMA and WMMA; AGPR moves
//   valu                                                vector, none of these:
//   valu_pk, valu_dual         packed f32; two operations in one (VOPD)
//   valu_trans, valu_div       exp, log, rcp ...; a part of an IEEE division
//   valu_crosslane             DPP and permlane
//   valu_readlane              between lanes and scalars
//   smem, salu                 scalar memory; scalar arithmetic and jumps
//   wait, barrier, nop, other
//
//===----------------------------------------------------------------------===//

#ifndef WAVETILE_BACKEND_ROCM_INSTRUCTIONCLASSES_H
#define WAVETILE_BACKEND_ROCM_INSTRUCTIONCLASSES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace wavetile::rocm {

/// The class of an instruction, from its mnemonic and operands as LLVM prints
/// them.
std::string instructionClass(llvm::StringRef mnemonic, llvm::StringRef operands);

} // namespace wavetile::rocm

#endif // WAVETILE_BACKEND_ROCM_INSTRUCTIONCLASSES_H
