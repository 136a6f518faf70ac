// Decides whether kernels and programs can be compiled for a chip, for `ptlc check --target` and,
// while the user types, for the language server.
#pragma once

#include "compile/chip/lower_to_chip.h"
#include "compile/entry/binding.h"

namespace ptl {

/// Whether a declaration is checked for chips on its own: kernels and programs that can be entries
/// are.
bool isForChips(const CallableDecl &decl);

/// The name from which the names of a chip's kernels are derived; `ptlc build` uses the same.
std::string chipSymbol(const BoundEntry &entry);

/// One entry at the block level of the context's chip, built and lowered.
ChipResult lowerEntry(const CompileContext &context, const BoundEntry &entry,
                      const OnPhase &onPhase = {});

/// The combinations of the wanted values for which separate code is made: `C=512,1024` are two.
/// Lengths of dimensions that are not static are left out, since code is the same for all of them.
std::vector<Wanted> wantedVariants(const CallableDecl &decl, const Wanted &wanted);

/// Reports what prevents the kernels and programs of the root file from running on the chip, for
/// the values that `wanted`, the calls in the file and the defaults give. Declarations with errors
/// are skipped. Returns false after an internal error of the compiler. `onLowered` is called for
/// those that can run there.
using OnLowered = std::function<void(const BoundEntry &entry, const ChipProgram &program)>;
bool checkForChip(const CheckedProgram &program, const SourceManager &sources,
                  const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                  const OnLowered &onLowered = {});

/// Like `checkForChip`, for this processor; `onLowered` gets entries as loops and vectors.
using OnBlocks = std::function<void(const BoundEntry &entry, mlir::ModuleOp blocks)>;
bool checkForCpu(const CheckedProgram &program, const SourceManager &sources,
                 const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                 const OnBlocks &onLowered);

} // namespace ptl
