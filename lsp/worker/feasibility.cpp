// The request `feasibility`: whether an entry runs on a chip, and what it needs of its memories.
#include "lsp/worker/view.h"

namespace ptl::worker {

static Json overflowJson(const Overflow &overflow) {
  return {{"function", overflow.function},
          {"place", overflow.space.place},
          {"needed", overflow.needed},
          {"usable", overflow.space.usable}};
}

/// The places of buffers and loops in the ledger have paths and lines; the server has the texts.
static Json ledgerOf(const ChipOutcome &outcome) {
  return Json::parse(ledgerJson(outcome.ledger), nullptr, false);
}

Json Worker::feasibility(const Json &request) {
  std::string target = textOf(request, "target");
  View view = open(request, target.empty() ? std::string(kUsualChip) : target);
  if (!view.failure.is_null())
    return openFailure(std::move(view.failure));
  bool wasKnown = view.code->hasOutcome();
  Watch watch = [this](const std::string &name) { return step(name); };
  const ChipOutcome *outcome = view.code->outcome(watch, view.timings);
  if (!outcome && !view.code->wasStopped()) { // settled before anybody asked
    cache_.remove(view.code);
    return feasibility(request);
  }
  if (!outcome)
    return error("cancelled", "the request was cancelled");
  // Fixes may stand outside of what the entry is made of, where nothing says how they moved.
  bool isLost = false;
  auto place = [&](Span span) {
    Json json = view.place(span);
    isLost |= json.is_null() && span.file != kNoFile;
    return json;
  };
  Json diagnostics = Json::array();
  for (const Diagnostic &diagnostic : outcome->diagnostics)
    diagnostics.push_back(wholeDiagnosticJson(diagnostic, place));
  if (isLost && view.isKnown) {
    cache_.remove(view.code);
    return feasibility(request);
  }
  Json result = {{"ok", true},
                 {"entry", view.reach.front()->name},
                 {"target", target},
                 {"fits", outcome->fits},
                 {"ledger", ledgerOf(*outcome)},
                 {"diagnostics", std::move(diagnostics)},
                 {"entries", choicesJson(view.code->entries())},
                 {"cached", wasKnown},
                 {"timings", timingsJson(view.timings)}};
  if (outcome->overflow)
    result["overflow"] = overflowJson(*outcome->overflow);
  return {{"result", std::move(result)}};
}

} // namespace ptl::worker
