# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Lays out build/python/wavetile as an installed package is laid out, with links to the sources
# and to what was built: `PYTHONPATH=build/python` is the package, always current. In it
# `kernels` is the op library, `bin` the tools and `lib` the software device.
set(package ${PROJECT_BINARY_DIR}/python/wavetile)
file(MAKE_DIRECTORY ${package})

file(GLOB entries CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/*.py
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/*.pyi
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/py.typed
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/*/__init__.py)
list(TRANSFORM entries REPLACE "/__init__.py$" "" REGEX "frontend/wavetile/[^/]+/__init__.py$")
list(APPEND entries ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_BINARY_DIR}/bin
     ${PROJECT_BINARY_DIR}/lib)

# A link to a file that has gone would still import.
file(GLOB links LIST_DIRECTORIES true ${package}/*)
foreach(link IN LISTS links)
  if(IS_SYMLINK ${link})
    file(REMOVE ${link})
  endif()
endforeach()
foreach(entry IN LISTS entries)
  get_filename_component(base ${entry} NAME)
  file(CREATE_LINK ${entry} ${package}/${base} SYMBOLIC)
endforeach()
