# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Language standard, warnings, linker and sanitizers of every Wavetile target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "Flags of a Release build" FORCE)

# Everything may end up in the extension module. One flag for all, rather than CMake's -fPIE for
# executables, also lets tools and tests use the precompiled header of the libraries.
add_compile_options(-fPIC)
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
if(WAVETILE_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-fcolor-diagnostics)
  # So that ccache can serve what uses the precompiled header: its content counts, not its time.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

if(EXISTS ${WAVETILE_LLVM_ROOT}/bin/ld.lld)
  add_link_options(--ld-path=${WAVETILE_LLVM_ROOT}/bin/ld.lld)
else()
  add_link_options(-fuse-ld=lld)
endif()

add_link_options(-Wl,--as-needed)
# Installed tools find libMLIR, which is not on the loader's path.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Debian's LLVM is not instrumented, so checks that follow an object into LLVM stay off: `vptr`
# (needs type information on both sides) and container overflow across the boundary.
set(WAVETILE_SANITIZE_FLAGS "")
if(WAVETILE_FUZZ)
  set(WAVETILE_SANITIZE ON)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(WAVETILE_SANITIZE)
  set(WAVETILE_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize=vptr,function
      -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_compile_options(${WAVETILE_SANITIZE_FLAGS})
  add_link_options(-fsanitize=address,undefined)
endif()
if(WAVETILE_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=thread)
endif()
