// Emits C++ on the PTO-ISA library.
#pragma once

#include "codegen/pto/line_map.h"
#include "machines/machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace ptl::pto {

struct CppOptions {
  bool lineDirectives = false;         ///< `#line` where the line of the source changes
  std::string fileName = "kernel.cpp"; ///< what `#line` calls the text itself
  bool formatted = true;
};

/// The text of a kernel whose buffers are placed: `extern "C"` one function per kind of core
/// (`name`, or `name_aic` and `name_aiv` with a kernel `name` that calls the half of the core it
/// runs on), and `launch_name(stream, blocks, ...)` for the host. One text for CPU simulation
/// (`__CPU_SIM`) and for devices.
Emitted emitCpp(mlir::ModuleOp kernel, const Machine &machine, const CppOptions &options = {});

/// The kernels of an entry as one text together with the code that runs on the host:
/// `run_name(stream, groups, ...)` with the arguments that the source names. It takes the storage
/// of intermediates, starts the kernels in order and returns 0 when all is done. It is emitted
/// where one call of `launch_name` is not enough: where there are several kernels, and where a
/// kernel needs arguments that the source does not name. `host` is the host's function with scalars
/// lowered to `arith` and `math`; it may be null.
Emitted emitCpp(llvm::ArrayRef<mlir::ModuleOp> kernels, mlir::func::FuncOp host,
                const Machine &machine, const CppOptions &options = {});

} // namespace ptl::pto
