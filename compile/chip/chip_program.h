// The code of an entry for a chip, and facts about it.
#pragma once

#include "frontend/sema/check.h"
#include "passes/analysis/buffer_ledger.h"
#include "passes/analysis/statement_parts.h"
#include "passes/lower_block/lower_block.h"
#include "passes/prover/prover.h"
#include "passes/transform/sync/derive_sync.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// A program with an edited text, and the entry in it.
struct TrialSource {
  SourceManager sources;
  std::unique_ptr<CheckedProgram> program;
  const CallableDecl *decl = nullptr;
};

/// An edit of a value with which the tiles fit a memory that is otherwise too small; it has been
/// tried.
struct RoomHelp {
  const Tunable *tunable; ///< whose value it is; null: a number in the text
  int64_t value;
  std::string text;                   ///< `ROWS = 8`, `tiles(M, 8)`
  std::vector<TextEdit> edits;        ///< empty: an edit of the text alone cannot achieve it
  std::shared_ptr<TrialSource> trial; ///< for a number in the text: the edited program
};

struct ChipProgram {
  block::BlockProgram program;
  BufferLedger ledger;               ///< of all kernels
  std::vector<pto::SyncResult> sync; ///< of all functions, in order
  /// of all kernels; it contains no refutation, otherwise there would be no program
  prove::ProofResult proof;
  /// How often tiles of tensor-level code were halved, by group (`ir::PipelineOptions`).
  std::vector<int64_t> halvings;
  std::vector<StatementParts> statements; ///< executed in parts, in the order of kernels
  /// if tiles are executed in parts: an edit with which none are
  std::optional<RoomHelp> avoid;
};

/// A deep copy of the kernels and the host code, for callers that change them.
ChipProgram copyOf(const ChipProgram &program);

/// Removes the requirements of kernels on their arguments, before the kernels are printed or run:
/// the prover has used them, and the host checks them.
void dropRequirements(mlir::ModuleOp kernel);

} // namespace ptl
