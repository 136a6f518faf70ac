// Writes `.pto` and C++ as files, and checks them with external tools for `--verify`.
#pragma once

#include "codegen/pto/line_map.h"
#include "compile/chip/chip_program.h"
#include "driver/session.h"
#include "machines/machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace ptl {

/// The kernels as one `.pto` for the PTOAS of `--ptoas-version`. Operations that cannot be
/// expressed are reported. Returns nothing after reporting that there is no such version.
std::optional<pto::Emitted> emitPtoText(Session &session, llvm::ArrayRef<mlir::ModuleOp> kernels,
                                        const Machine &machine);

/// An entry as C++, with `#line` if `-g` was given. Operations that cannot be expressed are
/// reported.
pto::Emitted emitCppText(Session &session, const ChipProgram &program, const Machine &machine,
                         const std::string &fileName);

/// For `--verify`: reports, at the source, errors that PTOAS (of `--ptoas`) and Clang (with the
/// headers of `--pto-isa`) find. Does nothing without the option. Returns false if a tool is
/// missing.
bool verifyPtoText(Session &session, const pto::Emitted &text, const Machine &machine);
bool verifyCppText(Session &session, const ChipProgram &program, const Machine &machine);

} // namespace ptl
