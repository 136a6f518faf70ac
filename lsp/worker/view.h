// What one request asks for, found: the compiled form and where its declarations stand now.
#pragma once

#include "lsp/worker/worker.h"

namespace ptl::worker {

struct Worker::View {
  Json failure; ///< the answer, if it is not null
  Code *code = nullptr;
  bool isKnown = false;             ///< it was compiled before
  std::unique_ptr<Checked> checked; ///< the present text, when the code is from an older one
  std::vector<const CallableDecl *> reach;
  Timings timings;

  const SourceManager &sources() const { return checked ? checked->sources : code->sources(); }
  /// A range of the compiled form in the present texts.
  Span now(Span span) const;
  /// The same as JSON; null for what is in none.
  Json place(Span span) const;
};

/// The answer to a request that is wrong or was cancelled.
Json error(const char *code, const std::string &message);
/// An answer of `open` that is an error of the request itself, or a result that is not ok.
Json openFailure(Json failure);

/// `{path, begin, end, line, col, endLine, endCol}`; lines and columns count from 0, columns in
/// bytes.
Json placeJson(const SourceManager &sources, Span span);
Json diagnosticsJson(const SourceManager &sources, const DiagnosticSink &sink,
                     const std::vector<const CallableDecl *> &reach);
/// All of a diagnostic; `place` gives null for what is no place of the present text.
Json wholeDiagnosticJson(const Diagnostic &diagnostic, const std::function<Json(Span)> &place);
/// `sizes` of a request: lengths that a cost is told for.
ExampleSizes sizesOf(const Json &request);
Json timingsJson(const Timings &timings);
Json choicesJson(const std::vector<BoundEntry> &entries);

} // namespace ptl::worker
