// Whether kernels and programs can be compiled for a chip: what `ptlc check --target` says, and the
// language server while one types.
#pragma once

#include "compile/chip/lower_to_chip.h"
#include "compile/entry/binding.h"

namespace ptl {

/// Whether a chip is asked about a declaration by itself: kernels and programs that can be entries.
bool isForChips(const CallableDecl &decl);

/// The name of the function that a chip's kernels of an entry are named after: that of `ptlc
/// build`.
std::string chipSymbol(const BoundEntry &entry);

/// One entry at the block level of the context's chip, built and lowered.
ChipResult lowerEntry(const CompileContext &context, const BoundEntry &entry,
                      const OnPhase &onPhase = {});

/// Reports what keeps the kernels and programs of the root file from running on the chip, each with
/// the values that `wanted`, the calls in the file and the defaults give it. What has errors is
/// left out. False after an error of the compiler itself. `onLowered` sees what can run there.
using OnLowered = std::function<void(const BoundEntry &entry, const ChipProgram &program)>;
bool checkForChip(const CheckedProgram &program, const SourceManager &sources,
                  const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                  const OnLowered &onLowered = {});

/// The same for this processor; `onLowered` sees entries as loops and vectors.
using OnBlocks = std::function<void(const BoundEntry &entry, mlir::ModuleOp blocks)>;
bool checkForCpu(const CheckedProgram &program, const SourceManager &sources,
                 const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                 const OnBlocks &onLowered);

} // namespace ptl
