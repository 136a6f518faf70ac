// What a chip gets of an entry.
#pragma once

#include "compile/compiler.h"
#include "passes/analysis/buffer_ledger.h"
#include "passes/analysis/statement_parts.h"
#include "passes/prover/prover.h"
#include "passes/transform/sync/derive_sync.h"

#include <vector>

namespace ptl {

/// A program with another text, and the entry in it.
struct TrialSource {
  SourceManager sources;
  std::unique_ptr<CheckedProgram> program;
  const CallableDecl *decl = nullptr;
};

/// A number that was tried where a memory is too small, and helps.
struct RoomHelp {
  const Tunable *tunable; ///< whose value it is; null: it stands in the text
  int64_t value;
  std::string text;                   ///< `ROWS = 8`, `tiles(M, 8)`
  std::vector<TextEdit> edits;        ///< empty: the text alone does not say it
  std::shared_ptr<TrialSource> trial; ///< with a number in the text: the program that has it
};

struct ChipProgram {
  block::BlockProgram program;
  BufferLedger ledger;               ///< of all kernels
  std::vector<pto::SyncResult> sync; ///< of all functions, in order
  prove::ProofResult proof;          ///< of all kernels: no faults, else there is no program
  /// How often tiles of tensor-level code were halved, by group (`ir::PipelineOptions`).
  std::vector<int64_t> halvings;
  std::vector<StatementParts> statements; ///< that are done in parts, in the order of kernels
  std::optional<RoomHelp> avoid;          ///< where tiles are done in parts: needs none
};

/// The same kernels and host code again, for who changes them.
ChipProgram copyOf(const ChipProgram &program);

/// Takes away what kernels require of their arguments, which the prover reads and the host checks,
/// before they are written or run.
void dropRequirements(mlir::ModuleOp kernel);

/// The innermost place in the source that a location stands for.
Span spanOf(mlir::Location location);

} // namespace ptl
