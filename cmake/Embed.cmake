# ptl_embed(TARGET NAME PATH FILES...): compiles the text of FILES into TARGET; `#include "PATH.h"` declares
# `k<NAME>s` and `k<NAME>Count` (see embed.py).
# The system's Python is the one that has NumPy for the tests.
if(EXISTS /usr/bin/python3 AND NOT Python3_EXECUTABLE)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
function(ptl_embed target name path)
  set(out ${PROJECT_BINARY_DIR}/${path}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.py)
  get_filename_component(folder ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${out} ${PROJECT_BINARY_DIR}/${path}.h
    COMMAND ${Python3_EXECUTABLE} ${script} ${name} ${out} ${ARGN}
    DEPENDS ${script} ${ARGN} VERBATIM)
  target_sources(${target} PRIVATE ${out} ${PROJECT_BINARY_DIR}/${path}.h)
endfunction()
