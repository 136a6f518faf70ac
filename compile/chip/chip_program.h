// The code of an entry for a chip, and the facts about it.
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

/// A program with a changed text, and the entry in it.
struct TrialSource {
  SourceManager sources;
  std::unique_ptr<CheckedProgram> program;
  const CallableDecl *decl = nullptr;
};

/// A changed value with which the tiles fit a memory that is too small otherwise; it has been
/// tried.
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

/// A deep copy of the kernels and the host code, for callers that change them.
ChipProgram copyOf(const ChipProgram &program);

/// Removes the requirements of kernels on their arguments, before the kernels are written or run:
/// the prover has read them, and the host checks them.
void dropRequirements(mlir::ModuleOp kernel);

} // namespace ptl
