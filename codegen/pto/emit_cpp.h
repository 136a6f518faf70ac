// C++ on the PTO-ISA library.
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

/// The kernels of an entry as one text, and with them what runs on the host: `run_name(stream,
/// groups, ...)` with the arguments that the source names, which takes the storage of
/// intermediates, starts the kernels in order and returns 0 when all is done. It is there where one
/// call of `launch_name` does not do: where there are several kernels, and where a kernel wants
/// what the source does not name. `host`: the host's function with scalars lowered to `arith` and
/// `math`; may be null.
Emitted emitCpp(llvm::ArrayRef<mlir::ModuleOp> kernels, mlir::func::FuncOp host,
                const Machine &machine, const CppOptions &options = {});

} // namespace ptl::pto
