// Statements of kernels that process their tiles in parts, as plain data for people and tools. Uses
// only the standard library.
#pragma once

#include "passes/analysis/buffer_ledger.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptl {

/// A store or a reduction whose tiles exceed a memory: it processes them part by part, in sequence.
struct StatementParts {
  std::string kernel;
  LedgerPlace place;
  bool isFold = false;
  std::string tile; ///< the largest that is not in memory as a whole, by name; may be empty
  std::string type; ///< of that tile: `f32[8, 64, 128]`
  int64_t bytes = 0;
  int64_t parts = 1;
  std::string memory; ///< the memory that is too small for the whole tile
  int64_t needed = 0, usable = 0;
  std::string avoid;           ///< an edit without parts: `ROWS = 8`; empty: none was found
  bool tilesAreChosen = false; ///< by the compiler, for whole arrays
};

/// `in 32 parts`.
std::string partsTitle(const StatementParts &statement);
/// `` `d` is `f32[8, 64, 128]`, 256 KiB``.
std::string tileText(const StatementParts &statement);
/// A text that explains which tile does not fit, why, and how it could be avoided.
std::string partsText(const StatementParts &statement);

/// The document of a ledger (`ledgerJson`) with an additional member, `"statements": […]`.
std::string ledgerJson(const BufferLedger &ledger, const std::vector<StatementParts> &statements);
/// A line for each; empty if there are none.
std::string statementsText(const std::vector<StatementParts> &statements);

} // namespace ptl
