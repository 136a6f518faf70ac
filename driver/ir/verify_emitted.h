// `.pto` and C++ as files, and `--verify`: outside tools as judges of them.
#pragma once

#include "codegen/pto/line_map.h"
#include "compile/chip/chip_program.h"
#include "driver/session.h"
#include "machines/machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace ptl {

/// The kernels as one `.pto` for the PTOAS of `--ptoas-version`. What has no spelling is reported;
/// nothing if the version is none (reported, too).
std::optional<pto::Emitted> emitPtoText(Session &session, llvm::ArrayRef<mlir::ModuleOp> kernels,
                                        const Machine &machine);

/// An entry as C++, with `#line` if `-g` was given; what has no spelling is reported.
pto::Emitted emitCppText(Session &session, const ChipProgram &program, const Machine &machine,
                         const std::string &fileName);

/// `--verify`: what PTOAS (of `--ptoas`) and Clang (with the headers of `--pto-isa`) refuse is
/// reported at the source. Does nothing without the flag. False: a tool is missing.
bool verifyPtoText(Session &session, const pto::Emitted &text, const Machine &machine);
bool verifyCppText(Session &session, const ChipProgram &program, const Machine &machine);

} // namespace ptl
