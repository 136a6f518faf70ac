// Decides whether kernels and programs can be compiled for a chip, for `ptlc check --target` and,
// while the user types, for the language server.
#pragma once

#include "compile/chip/lower_to_chip.h"
#include "compile/entry/binding.h"

namespace ptl {

/// Whether a declaration is checked for chips by itself: kernels and programs that can be entries
/// are.
bool isForChips(const CallableDecl &decl);

/// The name from which the names of a chip's kernels are derived; `ptlc build` uses the same.
std::string chipSymbol(const BoundEntry &entry);

/// One entry at the block level of the context's chip, built and lowered.
ChipResult lowerEntry(const CompileContext &context, const BoundEntry &entry,
                      const OnPhase &onPhase = {});

/// The part of the wanted values that code is made for, once for each combination: `C=512,1024` are
/// two. Lengths of dimensions that are not static are left out, since code is made for all of them.
std::vector<Wanted> wantedVariants(const CallableDecl &decl, const Wanted &wanted);

/// Reports what keeps the kernels and programs of the root file from running on the chip, each with
/// the values that `wanted`, the calls in the file and the defaults give it. Declarations with
/// errors are left out. False after an error of the compiler itself. `onLowered` gets those that
/// can run there.
using OnLowered = std::function<void(const BoundEntry &entry, const ChipProgram &program)>;
bool checkForChip(const CheckedProgram &program, const SourceManager &sources,
                  const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                  const OnLowered &onLowered = {});

/// Does the same for this processor; `onLowered` gets entries as loops and vectors.
using OnBlocks = std::function<void(const BoundEntry &entry, mlir::ModuleOp blocks)>;
bool checkForCpu(const CheckedProgram &program, const SourceManager &sources,
                 const CompilerOptions &options, const Wanted &wanted, DiagnosticSink &sink,
                 const OnBlocks &onLowered);

} // namespace ptl
