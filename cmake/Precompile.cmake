# Headers that are slow to read are read once: MLIR's by one target whose result others use, and a folder's own by that folder.
# ccache keeps what is compiled with them (`./dev` sets CCACHE_SLOPPINESS), which needs a header without its time.

# ptl_precompile(TARGET HEADERS...): the slow headers of one target.
function(ptl_precompile target)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# ptl_precompiled_set(NAME HEADERS...): headers that several targets use as `ptl_use_precompiled(TARGET NAME)`.
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
  # Headers that libraries use, too, are compiled as for libraries; so is an executable that takes them.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# MLIR's part of what nearly every file of the passes and of code generation includes; the dialects themselves are read before ours are made.
set(ptl_dialect_headers <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/Matchers.h> <mlir/Pass/PassManager.h>)
ptl_precompiled_set(ptl_dialect_headers ${ptl_dialect_headers})
# With our dialects, whose classes take as long to read as MLIR's; and with what the compiler, its commands and its servers include besides.
set(ptl_pass_headers ${ptl_dialect_headers} ${PROJECT_SOURCE_DIR}/ir/dialect/attributes.h ${PROJECT_SOURCE_DIR}/ir/dialect/instruction_op.h)
ptl_precompiled_set(ptl_pass_headers ${ptl_pass_headers})
ptl_precompiled_set(ptl_native_headers ${ptl_pass_headers} <mlir/Dialect/LLVMIR/LLVMDialect.h> <llvm/Target/TargetMachine.h>
  <nlohmann/json.hpp> ${PROJECT_SOURCE_DIR}/compile/cost/cost.h ${PROJECT_SOURCE_DIR}/compile/call/compiled_handler.h
  ${PROJECT_SOURCE_DIR}/compile/simulate/chip_runner.h ${PROJECT_SOURCE_DIR}/compile/graph/graph_text.h ${PROJECT_SOURCE_DIR}/frontend/sema/check.h)
foreach(name ptl_pass_headers ptl_native_headers)
  add_dependencies(${name} ptl_dialect_inc ptl_instruction_tables ptl_op_table)
endforeach()

# ptl_compile_alone(FILES...): files that no group of sources may hold (`PTL_UNITY`), since they open a namespace (`llvm`, `mlir`) whose names
# others have, too.
function(ptl_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
