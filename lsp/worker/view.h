// Resolves a request: its compiled code, and the present locations of its declarations.
#pragma once

#include "lsp/worker/worker.h"

namespace ptl::worker {

struct Worker::View {
  Json failure; ///< the answer, if it is not null
  Code *code = nullptr;
  bool isKnown = false; ///< it was in the cache
  /// the present text, if the code was compiled from an older one
  std::unique_ptr<Checked> checked;
  std::vector<const CallableDecl *> reach;
  Timings timings;

  const SourceManager &sources() const { return checked ? checked->sources : code->sources(); }
  /// Maps a span of the compiled code to the present text.
  Span now(Span span) const;
  /// The same as JSON; null if it is not in the present text.
  Json place(Span span) const;
  /// A cost whose spans are mapped to the present text.
  Json placedCost(const Cost &cost) const;
};

/// The answer to a request that is invalid or was cancelled.
Json error(const char *code, const std::string &message);
/// Turns a failure of `open` into an answer: an error of the request itself, or a result with `ok`
/// false.
Json openFailure(Json failure);

/// `{path, begin, end, line, col, endLine, endCol}`; lines and columns count from 0, columns in
/// bytes.
Json placeJson(const SourceManager &sources, Span span);
Json diagnosticsJson(const SourceManager &sources, const DiagnosticSink &sink,
                     const std::vector<const CallableDecl *> &reach);
/// A diagnostic with all its parts; `place` returns null for a span that is not in the present
/// text.
Json wholeDiagnosticJson(const Diagnostic &diagnostic, const std::function<Json(Span)> &place);
/// The `sizes` of a request: lengths for which the cost is computed.
ExampleSizes sizesOf(const Json &request);
Json timingsJson(const Timings &timings);
Json choicesJson(const std::vector<BoundEntry> &entries);

} // namespace ptl::worker
