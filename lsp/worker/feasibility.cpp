// The requests `feasibility`: whether an entry runs on a chip, what it needs of its memories and
// how long it takes; and `timeline`: when everything happens.
#include "lsp/worker/view.h"

#include <algorithm>

namespace ptl::worker {

ExampleSizes sizesOf(const Json &request) {
  ExampleSizes sizes;
  for (const auto &[name, value] : objectField(request, "sizes").items())
    if (value.is_number_integer())
      sizes[name] = value.get<int64_t>();
  return sizes;
}

static Json overflowJson(const Overflow &overflow) {
  return {{"function", overflow.function},
          {"place", overflow.space.place},
          {"needed", overflow.needed},
          {"usable", overflow.space.usable}};
}

/// The places of buffers and loops in the ledger have paths and lines; the server has the texts.
static Json ledgerAnswer(const ChipOutcome &outcome) {
  return Json::parse(ledgerJson(outcome.ledger, outcome.statements), nullptr, false);
}

/// Adds the cost to an answer, if there is one. False if the code was settled before anybody asked for
/// its cost: then it has been forgotten, and the request has to be answered again.
bool Worker::addCost(const View &view, const Cost *cost, Json &result) {
  if (!cost && view.isKnown && view.code->isSettled()) {
    cache_.remove(view.code);
    return false;
  }
  if (cost)
    result["cost"] = view.placedCost(*cost);
  return true;
}

/// Everything fits this processor; how long it takes at least is what there is to say.
Json Worker::processorTime(const Json &request) {
  View view = open(request, "");
  if (!view.failure.is_null())
    return openFailure(std::move(view.failure));
  Json result = {{"ok", true},
                 {"entry", view.reach.front()->name},
                 {"target", "cpu"},
                 {"fits", true},
                 {"ledger", ledgerAnswer({})},
                 {"diagnostics", Json::array()},
                 {"entries", choicesJson(view.code->entries())},
                 {"cached", view.isKnown}};
  if (truthField(request, "cost", false)) {
    if (!step("cost"))
      return error("cancelled", "the request was cancelled");
    if (!addCost(view, view.code->processorCost(sizesOf(request), view.timings), result))
      return processorTime(request);
  }
  result["timings"] = timingsJson(view.timings);
  return {{"result", std::move(result)}};
}

Json Worker::feasibility(const Json &request) {
  std::string target = textField(request, "target");
  if (target == "cpu")
    return processorTime(request);
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
                 {"ledger", ledgerAnswer(*outcome)},
                 {"diagnostics", std::move(diagnostics)},
                 {"entries", choicesJson(view.code->entries())},
                 {"cached", wasKnown},
                 {"timings", timingsJson(view.timings)}};
  if (outcome->overflow)
    result["overflow"] = overflowJson(*outcome->overflow);
  if (!truthField(request, "cost", false) || !outcome->fits)
    return {{"result", std::move(result)}};
  if (!step("cost"))
    return error("cancelled", "the request was cancelled");
  bool isAdvised = truthField(request, "advice", false);
  const Cost *cost = isAdvised ? view.code->advised(sizesOf(request), watch, view.timings)
                               : view.code->cost(sizesOf(request),
                                                 truthField(request, "hints", false), view.timings);
  if (!cost && isAdvised && !view.code->isSettled() && !step("cost"))
    return error("cancelled", "the request was cancelled");
  if (!addCost(view, cost, result))
    return feasibility(request);
  result["timings"] = timingsJson(view.timings);
  return {{"result", std::move(result)}};
}

/// The dimensions of an entry, and which lengths they have in the calls of its file.
Json Worker::sizes(const Json &request) {
  View view = open(request, "");
  if (!view.failure.is_null())
    return openFailure(std::move(view.failure));
  const CheckedProgram *program = view.checked ? view.checked->program.get() : view.code->program();
  const CallableDecl &decl = *view.reach.front();
  Json dims = Json::array(), calls = Json::array();
  for (const DimParam &dim : decl.dims)
    dims.push_back({{"name", dim.name}, {"static", dim.isStatic}});
  for (const CallSite &call : program ? callsOf(*program, decl) : std::vector<CallSite>()) {
    Json values = Json::object();
    for (size_t i = 0; i < std::min(decl.dims.size(), call.expr->dimArgs.size()); ++i)
      // A length that follows from the caller's own dimensions is not known.
      if (call.expr->dimArgs[i])
        if (auto value = call.expr->dimArgs[i].constant())
          values[decl.dims[i].name] = *value;
    Json one = {{"caller", describeCaller(*call.caller)}, {"sizes", std::move(values)}};
    bool isNew = std::find(calls.begin(), calls.end(), one) == calls.end();
    if (isNew && !one["sizes"].empty())
      calls.push_back(std::move(one));
  }
  return {{"result",
           {{"ok", true},
            {"dims", std::move(dims)},
            {"calls", std::move(calls)},
            {"timings", timingsJson(view.timings)}}}};
}

/// So many operations are as many boxes as a browser likes.
static constexpr int64_t kMostOperations = 150'000;

Json Worker::timeline(const Json &request) {
  std::string target = textField(request, "target");
  View view = open(request, target.empty() ? std::string(kUsualChip) : target);
  if (!view.failure.is_null())
    return openFailure(std::move(view.failure));
  if (view.isKnown && view.code->isSettled()) {
    cache_.remove(view.code);
    return timeline(request);
  }
  Watch watch = [this](const std::string &name) { return step(name); };
  const ChipOutcome *outcome = view.code->outcome(watch, view.timings);
  if (!outcome || !step("timeline"))
    return error("cancelled", "the request was cancelled");
  if (!outcome->fits)
    return stageFailure(view);
  bool isPart = false;
  std::string problem = "there are no costs for `" + target + "`";
  int64_t most = numberField(request, "mostOperations", kMostOperations);
  std::optional<rt::sim::Report> report =
      view.code->timeline(sizesOf(request), static_cast<uint64_t>(std::max<int64_t>(most, 1)),
                          isPart, problem, view.timings);
  if (!report)
    return {{"result", {{"ok", false}, {"error", {{"code", "no-time"}, {"message", problem}}}}}};
  bool isPage = textField(request, "form") == "page";
  Json result = {{"ok", true},
                 {"entry", report->entry},
                 {"target", report->machine},
                 {"part", isPart},
                 {"timings", timingsJson(view.timings)}};
  if (isPage)
    result["page"] = rt::sim::writeSwimlane(*report);
  else
    result["timeline"] = Json::parse(rt::sim::writeLanes(*report), nullptr, false);
  return {{"result", std::move(result)}};
}

} // namespace ptl::worker
