// Prints the host code around kernels as C++: storage, scalars, control flow, launches.
#pragma once

#include "codegen/pto/cpp_code.h"

#include "llvm/ADT/ArrayRef.h"

namespace ptl::pto {

/// The parameters of a kernel's `launch_name`.
struct CppLaunch {
  std::string name;
  bool onGroups = true; ///< `blocks` counts core groups (or their cube cores), else vector cores
  /// For each parameter, the bytes to allocate for each core group; 0 if the caller passes the
  /// argument.
  std::vector<int64_t> groupBytes;
};

/// The name of the entry: `flash_attention_D128`.
std::string hostName(mlir::func::FuncOp host);
/// Whether the host does more than one launch with its arguments unchanged.
bool needsHost(mlir::func::FuncOp host);

/// Adds a namespace with `run_name`, which calls the launches. The lines refer to no operations,
/// because they outlive the host's function.
void emitHost(TextLines &text, mlir::func::FuncOp function, const Machine &machine,
              llvm::ArrayRef<CppLaunch> launches, std::vector<Finding> &findings);

} // namespace ptl::pto
