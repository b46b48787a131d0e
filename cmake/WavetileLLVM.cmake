# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Finds LLVM, MLIR and lld. `LLVM` and `MLIR` (the shared libraries) and `lldELF`, `lldCommon`
# then carry their include folders and definitions: a target that links them needs nothing else,
# and one that does not link them cannot include their headers.
find_package(MLIR REQUIRED CONFIG PATHS ${WAVETILE_LLVM_ROOT} NO_DEFAULT_PATH)
find_package(LLD REQUIRED CONFIG PATHS ${WAVETILE_LLVM_ROOT} NO_DEFAULT_PATH)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Wavetile needs LLVM 22, and found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

target_include_directories(LLVM INTERFACE ${LLVM_INCLUDE_DIRS})
target_include_directories(MLIR INTERFACE ${MLIR_INCLUDE_DIRS})
target_link_libraries(MLIR INTERFACE LLVM)

find_program(WAVETILE_MLIR_TBLGEN mlir-tblgen PATHS ${WAVETILE_LLVM_ROOT}/bin NO_DEFAULT_PATH
             REQUIRED)
