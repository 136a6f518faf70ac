# ptl_add_library(NAME SOURCE.ptl [ENTRY NAME] [DEFINES NAME=VALUE...] [IMPORTS FOLDERS...] [OPTIONS ...]) compiles a file of
# kernels and programs when something that uses NAME is built, again when the file or what it imports has changed.
#
# NAME is a library to link: it brings NAME.h, which declares a function for each entry, the runtime, and the macro
# NAME_LIBRARY (in capitals, with `_` for what no name in C has), the path of the compiled library, for ptl_open. The property PTL_LIBRARY of NAME is the same
# path, to install the file. ENTRY compiles one entry alone, DEFINES sets constants, dimensions and tunables as `-D` does,
# IMPORTS are folders to look for imports in, OPTIONS go to `ptlc build` as they are.
function(ptl_add_library name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ENTRY" "DEFINES;IMPORTS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ptl_add_library(${name}): what is `${arg_UNPARSED_ARGUMENTS}`?")
  endif()
  get_filename_component(source ${source} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptl-build)
  file(MAKE_DIRECTORY ${folder})
  set(library ${folder}/lib${name}.so)
  set(options ${arg_OPTIONS})
  foreach(define ${arg_DEFINES})
    list(APPEND options -D ${define})
  endforeach()
  foreach(import ${arg_IMPORTS})
    get_filename_component(import ${import} ABSOLUTE)
    list(APPEND options -I ${import})
  endforeach()
  if(arg_ENTRY)
    list(APPEND options --entry ${arg_ENTRY})
  endif()
  add_custom_command(OUTPUT ${library} ${folder}/${name}.h
    COMMAND ptl::ptlc build ${source} ${options} -o ${library} -MD -MF ${library}.d
    COMMAND ptl::ptlc build ${source} ${options} --emit=header -o ${folder}/${name}.h
    DEPENDS ${source} ptl::ptlc DEPFILE ${library}.d
    COMMENT "Compiling ${name} with ptlc" VERBATIM)
  add_custom_target(${name}-compiled DEPENDS ${library} ${folder}/${name}.h)
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}-compiled)
  string(MAKE_C_IDENTIFIER ${name} macro)
  string(TOUPPER ${macro} macro)
  target_compile_definitions(${name} INTERFACE "${macro}_LIBRARY=\"${library}\"")
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE ptl::runtime)
  set_target_properties(${name} PROPERTIES PTL_LIBRARY ${library})
endfunction()
