# ptl_precompile(TARGET HEADERS...): the slow headers that most files of a target include, read once. ccache keeps what is
# compiled with them (`./dev` sets CCACHE_SLOPPINESS), which needs a header without its time.
function(ptl_precompile target)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# ptl_compile_alone(FILES...): files that no group of sources may hold (`PTL_UNITY`), since they open a namespace (`llvm`, `mlir`) whose names
# others have, too.
function(ptl_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
