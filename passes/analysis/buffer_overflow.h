// Buffers that do not fit: what is said, and the search for what would. Standard library only.
#pragma once

#include "frontend/base/diagnostic.h"
#include "passes/analysis/buffer_ledger.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptl {

/// One memory of one function that is too small.
struct Overflow {
  std::string function, machine;
  LedgerSpace space;
  int64_t needed = 0;             ///< bytes
  LedgerPlace at;                 ///< where that much is live
  std::vector<LedgerBuffer> live; ///< there, largest first
  /// The largest `pipeline` below the present one with which it was found to fit; 0: none.
  int64_t pipeline = 0;
  int64_t freed = 0; ///< bytes that this saves
  /// What the compiler did otherwise to need less, in words: it was too much even so.
  std::vector<std::string> tried;
  bool wholeTiles = false; ///< what it could not do: the tiles in parts
};

/// `vector buffer full: 204 KiB needed at line 37, `a3` has 184 KiB (192 less 8 reserved)`.
std::string overflowText(const Overflow &overflow);
/// Whether slots in this memory are the copies of a `pipeline`, not the compiler's own.
bool isPipelined(std::string_view place);
/// What is live there: `s 64 KiB (27:7) · o 2 × 48 KiB (18:7) · 12 KiB in 3 others`.
std::string liveText(const Overflow &overflow);

/// `` `BK = 192` is the largest that fits``.
std::string tunableHelp(std::string_view name, int64_t value);

/// What is live, and what was found to fit: the notes and helps of the message without `helps`.
std::vector<std::string> detailsOf(const Overflow &overflow);
/// Reports it as E0421. `helps`: further changes that were tried and found to fit, with the edits
/// that make them, where there are such. `fewerCopies`: the edits for `overflow.pipeline`.
void reportOverflow(DiagnosticSink &sink, Span span, const Overflow &overflow,
                    const std::vector<Fix> &helps, const std::vector<TextEdit> &fewerCopies = {});

/// The largest of the ascending candidates that fits, by bisection: what is larger than something
/// that does not fit is not asked about. What it returns was asked about and fits.
std::optional<int64_t> largestThatFits(std::span<const int64_t> candidates,
                                       const std::function<bool(int64_t)> &fits);

} // namespace ptl
