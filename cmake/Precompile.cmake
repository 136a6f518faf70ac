# Headers that are slow to read are read once: MLIR's by one target whose result others use, and a folder's own by that folder.
# ccache keeps what is compiled with them (`./dev` sets CCACHE_SLOPPINESS), which needs a header without its time.

# ptl_precompile(TARGET [AFTER NAME] HEADERS...): the slow headers of one target. AFTER names a set that is not read again: the result adds
# to that of the set. Compilers other than Clang cannot add, and read HEADERS alone.
function(ptl_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "AFTER" "")
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    if(arg_AFTER)
      # Sources of the target take its own headers, which the command names later.
      set(base ${PROJECT_BINARY_DIR}/CMakeFiles/${arg_AFTER}.dir/cmake_pch.hxx.pch)
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -include-pch -Xclang ${base}")
      get_target_property(folder ${target} BINARY_DIR)
      set_source_files_properties(${folder}/CMakeFiles/${target}.dir/cmake_pch.hxx.cxx PROPERTIES OBJECT_DEPENDS ${base})
      add_dependencies(${target} ${arg_AFTER})
    endif()
  endif()
  ptl_compile_as_library(${target})
  target_precompile_headers(${target} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

# ptl_precompiled_set(NAME [AFTER NAME] HEADERS...): headers that several targets use as `ptl_use_precompiled(TARGET NAME)`.
function(ptl_precompiled_set name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_include_directories(${name} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  ptl_precompile(${name} ${ARGN})
endfunction()

function(ptl_use_precompiled target name)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  ptl_compile_as_library(${target})
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# Headers that libraries use, too, are compiled as for libraries; so is an executable that takes them.
function(ptl_compile_as_library target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# What files without MLIR include of the standard library.
ptl_precompiled_set(ptl_std_headers <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstdio> <cstring> <filesystem>
  <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <utility> <vector>)
ptl_precompiled_set(ptl_json_headers AFTER ptl_std_headers <nlohmann/json.hpp>)

# MLIR's part of what nearly every file of the passes and of code generation includes; the dialects themselves are read before ours are made.
ptl_precompiled_set(ptl_dialect_headers AFTER ptl_std_headers <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/SCF/IR/SCF.h> <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/Matchers.h> <mlir/Pass/PassManager.h>)
# Our dialects, whose classes take as long to read as MLIR's; those of code for processors; and what the compiler, its commands and its
# servers include besides.
ptl_precompiled_set(ptl_pass_headers AFTER ptl_dialect_headers ${PROJECT_SOURCE_DIR}/ir/dialect/attributes.h
  ${PROJECT_SOURCE_DIR}/ir/dialect/instruction_op.h)
ptl_precompiled_set(ptl_llvm_headers AFTER ptl_pass_headers <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/Vector/IR/VectorOps.h>)
ptl_precompiled_set(ptl_native_headers AFTER ptl_llvm_headers <llvm/Target/TargetMachine.h> <nlohmann/json.hpp>
  ${PROJECT_SOURCE_DIR}/compile/cost/cost.h ${PROJECT_SOURCE_DIR}/compile/call/compiled_handler.h
  ${PROJECT_SOURCE_DIR}/compile/simulate/chip_runner.h ${PROJECT_SOURCE_DIR}/compile/graph/graph_text.h ${PROJECT_SOURCE_DIR}/frontend/sema/check.h)
foreach(name ptl_pass_headers ptl_llvm_headers ptl_native_headers)
  add_dependencies(${name} ptl_dialect_inc ptl_instruction_tables ptl_op_table)
endforeach()

# ptl_compile_alone(FILES...): files that no group of sources may hold (`PTL_UNITY`), since they open a namespace (`llvm`, `mlir`) whose names
# others have, too.
function(ptl_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
