# `ptl_mlir`: MLIR and LLVM, linked statically. Their shared libraries hold all of both, and loading them takes longer
# than compiling a kernel. The linker takes from archives only what is needed, and lld does so in any order.
file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
# What LLVM itself uses, so that what is built here needs the C library alone and runs where no LLVM is.
foreach(name z zstd tinfo)
  find_library(PTL_STATIC_${name} lib${name}.a REQUIRED)
  list(APPEND archives ${PTL_STATIC_${name}})
endforeach()
add_library(ptl_mlir INTERFACE)
target_include_directories(ptl_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_link_libraries(ptl_mlir INTERFACE ${archives})
# Most of the addresses that the loader fills in are those of instruction tables: packed they are a fiftieth of the bytes.
target_link_options(ptl_mlir INTERFACE -Wl,--gc-sections -Wl,-z,pack-relative-relocs)
