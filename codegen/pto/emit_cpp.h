// C++ on the PTO-ISA library.
#pragma once

#include "codegen/machines/machine.h"
#include "codegen/pto/line_map.h"

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

} // namespace ptl::pto
