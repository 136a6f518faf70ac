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
  std::string fileName = "kernel.cpp"; ///< the name of the text itself in `#line`
  bool formatted = true;
};

/// The text of a kernel whose buffers have addresses: an `extern "C"` function per kind of core
/// (`name`, or `name_aic` and `name_aiv` with a kernel `name` that calls the one for the core it
/// runs on), and `launch_name(stream, blocks, ...)` for the host. The same text serves CPU
/// simulation (`__CPU_SIM`) and devices.
Emitted emitCpp(mlir::ModuleOp kernel, const Machine &machine, const CppOptions &options = {});

/// The kernels of an entry as one text, together with the code that runs on the host:
/// `run_name(stream, groups, ...)` with the arguments that the source names. It allocates the
/// intermediates, launches the kernels in order and returns 0 when all have finished. It is emitted
/// where one call of `launch_name` does not suffice: where there are several kernels, or a kernel
/// needs arguments that the source does not name. `host` is the host's function with scalars
/// lowered to `arith` and `math`; it may be null.
Emitted emitCpp(llvm::ArrayRef<mlir::ModuleOp> kernels, mlir::func::FuncOp host,
                const Machine &machine, const CppOptions &options = {});

} // namespace ptl::pto
