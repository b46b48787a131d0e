# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Chooses the compiler before project() looks for one: LLVM's own clang. -DCMAKE_CXX_COMPILER names
# another; CC and CXX of the environment do not, for Python's build tools set them to the compiler
# that built Python.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
list(APPEND CMAKE_PREFIX_PATH ${WAVETILE_LLVM_ROOT})

if(NOT CMAKE_C_COMPILER AND EXISTS ${WAVETILE_LLVM_ROOT}/bin/clang)
  set(CMAKE_C_COMPILER ${WAVETILE_LLVM_ROOT}/bin/clang)
endif()
if(NOT CMAKE_CXX_COMPILER AND EXISTS ${WAVETILE_LLVM_ROOT}/bin/clang++)
  set(CMAKE_CXX_COMPILER ${WAVETILE_LLVM_ROOT}/bin/clang++)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
