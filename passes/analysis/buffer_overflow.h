// Describes buffers that do not fit, and searches for changes with which they do. Uses only the
// standard library.
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
  LedgerPlace at;                 ///< the position with that many live bytes
  std::vector<LedgerBuffer> live; ///< at that position, largest first
  /// The largest `pipeline` below the present one with which the buffers fit; 0 if there is none.
  int64_t pipeline = 0;
  int64_t freed = 0; ///< bytes that this saves
  /// The changes that the compiler tried to save memory, in words; they were not sufficient.
  std::vector<std::string> tried;
  bool wholeTiles = false; ///< the change that was impossible: processing the tiles in parts
};

/// `the vector buffer is full: 204 KiB needed at line 37, but `a3` has 184 KiB (192 less 8 reserved)`.
std::string overflowText(const Overflow &overflow);
/// Whether slots in this memory are copies for a `pipeline` of the author, not the compiler's own.
bool isPipelined(std::string_view place);
/// The live buffers at that position: `s 64 KiB (27:7) · o 2 × 48 KiB (18:7) · 12 KiB in 3 others`.
std::string liveText(const Overflow &overflow);

/// `` `BK = 192` is the largest that fits``.
std::string tunableHelp(std::string_view name, int64_t value);

/// The notes and suggestions of the message, except for `helps`: the live buffers, and changes with
/// which they fit.
std::vector<std::string> detailsOf(const Overflow &overflow);
/// Reports it as E0421. `helps` are further changes that were found to fit, with their edits, if
/// there are any. `fewerCopies` has the edits for `overflow.pipeline`.
void reportOverflow(DiagnosticSink &sink, Span span, const Overflow &overflow,
                    const std::vector<Fix> &helps, const std::vector<TextEdit> &fewerCopies = {});

/// The largest of the ascending candidates that fits, found by bisection: if one does not fit,
/// larger ones are assumed not to fit. The result itself has been tried.
std::optional<int64_t> largestThatFits(std::span<const int64_t> candidates,
                                       const std::function<bool(int64_t)> &fits);

} // namespace ptl
