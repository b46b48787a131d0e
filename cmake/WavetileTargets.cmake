# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# How a folder declares what it builds. Headers are included from the repository root
# (`#include "ir/Layout.h"`), generated ones too (`#include "ir/TileOps.h.inc"`).
#
#   # A library without MLIR. LINK is public: users of the library get it too.
#   wavetile_add_library(WavetileLayout Layout.cpp LINK LLVM)
#   wavetile_add_library(WavetileRuntime LaunchPlan.cpp Hip.cpp LINK ${CMAKE_DL_LIBS})
#
#   # TableGen: creates the target WavetileTileOpsGen and the files in this build folder.
#   wavetile_tablegen(WavetileTileOpsGen TileOps.td
#     TileOps.h.inc   "-gen-op-decls"
#     TileOps.cpp.inc "-gen-op-defs"
#     TileOpsDialect.h.inc "-gen-dialect-decls -dialect=tile")
#
#   # A library on MLIR, with the precompiled header. DEPENDS names tablegen targets; whoever
#   # links the library waits for them too.
#   wavetile_add_mlir_library(WavetileIR TileDialect.cpp TileOps.cpp
#     LINK WavetileLayout MLIR
#     DEPENDS WavetileTileOpsGen)
#
#   # A tool, put in build/bin.
#   wavetile_add_tool(wavetile-opt WavetileOpt.cpp LINK WavetileDriver MLIR)
#
#   # The software device: static LLVM, nothing exported but what its sources mark
#   # __attribute__((visibility("default"))). Makes build/lib/libamdhip64.so.7.
#   wavetile_add_device_library(wavetile_device Hip.cpp Decode.cpp
#     OUTPUT_NAME amdhip64 SOVERSION 7
#     LLVM_COMPONENTS amdgpudisassembler amdgpudesc amdgpuinfo amdgpuutils
#                     mc mcdisassembler object support binaryformat debuginfodwarf)
#
#   # Its parts as a library for unit tests and for the device itself: same flags, no exports.
#   wavetile_add_device_objects(WavetileEmulator Execute.cpp LLVM_COMPONENTS mc support)
#   wavetile_add_device_library(wavetile_device Hip.cpp LINK WavetileEmulator ...)
#
#   # A GoogleTest program, run by ctest. MLIR makes it use the precompiled header.
#   wavetile_add_unittest(LayoutTest LayoutTest.cpp LINK WavetileLayout)
#   wavetile_add_unittest(PassesTest StrategyTest.cpp LINK WavetilePasses MLIR)
#
#   # The Python extension (pybind11), only built with WAVETILE_BUILD_PYTHON. NAME is the module;
#   # the target is wavetile_python. Lands in build/python/wavetile and is installed as the package.
#   wavetile_add_python_module(_C Module.cpp Bind.cpp LINK WavetileDriver WavetileRuntime MLIR)
#
# An MLIR library, tool or test whose LINK names MLIR directly or through another library may
# include MLIR; one that links neither cannot.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# The headers that nearly every file on MLIR includes. Built once; every user must have the flags
# with which it was built, which holds because flags are set for all targets in WavetileOptions.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/WavetilePCH.cpp
     CONTENT "// Only carries the precompiled header.\n")
add_library(WavetilePCH OBJECT ${PROJECT_BINARY_DIR}/WavetilePCH.cpp)
target_link_libraries(WavetilePCH PUBLIC MLIR LLVM)
target_include_directories(WavetilePCH PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_precompile_headers(WavetilePCH PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MLIRPrecompiled.h)

# The include root, and what a target links.
function(_wavetile_common name)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  if(ARG_LINK)
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

function(_wavetile_precompiled name)
  target_precompile_headers(${name} REUSE_FROM WavetilePCH)
endfunction()

function(wavetile_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _wavetile_common(${name})
endfunction()

function(wavetile_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  list(APPEND ARG_LINK MLIR LLVM)
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _wavetile_common(${name})
  _wavetile_precompiled(${name})
endfunction()

function(wavetile_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _wavetile_common(${name})
  if("MLIR" IN_LIST ARG_LINK)
    _wavetile_precompiled(${name})
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${WAVETILE_INSTALL_BIN} COMPONENT wavetile)
endfunction()

function(wavetile_add_unittest name)
  if(NOT WAVETILE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  list(APPEND ARG_LINK GTest::gtest GTest::gtest_main)
  _wavetile_common(${name})
  if("MLIR" IN_LIST ARG_LINK)
    _wavetile_precompiled(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0")
endfunction()

# Runs mlir-tblgen once per pair of an output name and its arguments.
function(wavetile_tablegen target source)
  set(definitions ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  set(outputs "")
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs output arguments)
    separate_arguments(arguments)
    set(path ${CMAKE_CURRENT_BINARY_DIR}/${output})
    add_custom_command(OUTPUT ${path}
      COMMAND ${WAVETILE_MLIR_TBLGEN} ${arguments} ${definitions} -o ${path} -d ${path}.d
              --write-if-changed -I ${PROJECT_SOURCE_DIR} -I ${CMAKE_CURRENT_SOURCE_DIR}
              -I ${MLIR_INCLUDE_DIRS}
      DEPENDS ${definitions} ${WAVETILE_MLIR_TBLGEN}
      DEPFILE ${path}.d
      COMMENT "TableGen ${output}"
      VERBATIM)
    list(APPEND outputs ${path})
  endwhile()
  add_custom_target(${target} DEPENDS ${outputs})
endfunction()

# Flags with which the software device can be loaded beside any other copy of LLVM.
function(_wavetile_device name)
  set_target_properties(${name} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  if(ARG_LLVM_COMPONENTS)
    llvm_map_components_to_libnames(libraries ${ARG_LLVM_COMPONENTS})
    target_link_libraries(${name} PRIVATE ${libraries})
  endif()
endfunction()

function(wavetile_add_device_objects name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS;LLVM_COMPONENTS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _wavetile_common(${name})
  _wavetile_device(${name})
endfunction()

function(wavetile_add_device_library name)
  cmake_parse_arguments(ARG "" "OUTPUT_NAME;SOVERSION" "LINK;DEPENDS;LLVM_COMPONENTS" ${ARGN})
  add_library(${name} SHARED ${ARG_UNPARSED_ARGUMENTS})
  _wavetile_common(${name})
  _wavetile_device(${name})
  # A library that other programs preload must not bring a sanitizer of its own.
  set_target_properties(${name} PROPERTIES
    OUTPUT_NAME ${ARG_OUTPUT_NAME} SOVERSION ${ARG_SOVERSION} VERSION ${ARG_SOVERSION})
  target_link_options(${name} PRIVATE
    -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--gc-sections -Wl,-z,nodelete)
  install(TARGETS ${name} LIBRARY DESTINATION ${WAVETILE_INSTALL_LIB} COMPONENT wavetile
          NAMELINK_SKIP)
endfunction()

# Where an installed package keeps its tools and the software device.
set(WAVETILE_INSTALL_PACKAGE wavetile)
set(WAVETILE_INSTALL_BIN ${WAVETILE_INSTALL_PACKAGE}/bin)
set(WAVETILE_INSTALL_LIB ${WAVETILE_INSTALL_PACKAGE}/lib)

function(wavetile_add_python_module name)
  if(NOT WAVETILE_BUILD_PYTHON)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(PYBIND11_FINDPYTHON ON)
  find_package(pybind11 CONFIG REQUIRED)

  pybind11_add_module(wavetile_python MODULE NO_EXTRAS ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(wavetile_python PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(wavetile_python PRIVATE ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(wavetile_python ${ARG_DEPENDS})
  endif()
  if("MLIR" IN_LIST ARG_LINK)
    _wavetile_precompiled(wavetile_python)
  endif()
  # Only PyInit__C is visible: our copies of LLVM's templates do not meet another library's.
  target_link_options(wavetile_python PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  set_target_properties(wavetile_python PROPERTIES
    OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/wavetile)
  install(TARGETS wavetile_python LIBRARY DESTINATION ${WAVETILE_INSTALL_PACKAGE}
          COMPONENT wavetile)
endfunction()
