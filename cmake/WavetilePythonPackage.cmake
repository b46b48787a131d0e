# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Lays out build/python/wavetile as an installed package is laid out, with links to the sources
# and to what was built: `PYTHONPATH=build/python` is the package, always current. In it
# `kernels` is the op library, `bin` the tools and `lib` the software device.
#
# build/python_tests/wavetile is the same with the module and the device that tests/ builds into
# it.
file(GLOB entries CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/*.py
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/*.pyi
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/py.typed
  ${PROJECT_SOURCE_DIR}/frontend/wavetile/*/__init__.py)
list(TRANSFORM entries REPLACE "/__init__.py$" "" REGEX "frontend/wavetile/[^/]+/__init__.py$")
list(APPEND entries ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_BINARY_DIR}/bin)

# Links the entries and what else is named into a folder.
function(wavetile_link_package package)
  file(MAKE_DIRECTORY ${package})
  # A link to a file that has gone would still import.
  file(GLOB links LIST_DIRECTORIES true ${package}/*)
  foreach(link IN LISTS links)
    if(IS_SYMLINK ${link})
      file(REMOVE ${link})
    endif()
  endforeach()
  foreach(entry IN LISTS entries ARGN)
    get_filename_component(base ${entry} NAME)
    file(CREATE_LINK ${entry} ${package}/${base} SYMBOLIC)
  endforeach()
endfunction()

wavetile_link_package(${PROJECT_BINARY_DIR}/python/wavetile ${PROJECT_BINARY_DIR}/lib)
if(WAVETILE_BUILD_TESTS)
  wavetile_link_package(${PROJECT_BINARY_DIR}/python_tests/wavetile)
endif()
