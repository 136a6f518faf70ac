// Costs for people and for programs.

#include "compile/cost/cost_views.h"

#include "frontend/base/printed.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace ptl {

using Json = nlohmann::json;

/// Figures as people compare them: nanoseconds, parts in ten thousand.
static double rounded(double value, double parts) { return std::round(value * parts) / parts; }
static double us(double value) { return rounded(value, 1000); }
static double shareOf(double value) { return rounded(value, 10000); }

static Json statementJson(const Cost &cost, const StatementCost &each,
                          const std::function<Json(Span)> &place) {
  Json json = place(each.span);
  // A statement whose place the reader does not know is left out.
  if (!json.is_object())
    return Json();
  json.update({{"kind", each.kind}, {"us", us(each.us)}, {"share", shareOf(cost.share(each.us))}});
  if (each.work)
    json.update({{"reads", each.work->reads},
                 {"writes", each.work->writes},
                 {"operations", each.work->operations},
                 {"moveUs", us(each.work->moveUs)},
                 {"computeUs", us(each.work->computeUs)},
                 {"by", each.work->by}});
  else
    json.update({{"busyUs", us(each.busyUs)}, {"instructions", each.count}});
  if (each.rounds.value)
    json["rounds"] = {{"formula", each.rounds.text}, {"value", *each.rounds.value}};
  if (each.parts) {
    const StatementParts &told = *each.parts;
    Json &parts =
        json["parts"] = {{"count", told.parts},   {"tile", told.tile},      {"type", told.type},
                         {"bytes", told.bytes},   {"memory", told.memory},  {"needed", told.needed},
                         {"usable", told.usable}, {"text", partsText(told)}};
    if (!told.avoid.empty())
      parts["avoid"] = told.avoid;
  }
  if (&each == cost.dominantStatement() || &each == cost.dominantLoop())
    json["dominant"] = true;
  return json;
}

/// Without an edit that has no place, advice is none.
static Json adviceJson(const CostAdvice &advice, const std::function<Json(Span)> &place) {
  Json edits = Json::array();
  for (const TextEdit &edit : advice.edits) {
    Json one = place(edit.span);
    if (!one.is_object())
      return Json();
    one["text"] = edit.text;
    edits.push_back(std::move(one));
  }
  Json json = place(advice.span);
  if (json.is_object())
    json.update({{"kind", advice.kind},
                 {"text", advice.text},
                 {"us", us(advice.us)},
                 {"edits", std::move(edits)}});
  return json;
}

static Json pairsJson(const std::vector<std::pair<std::string, double>> &pairs, const char *name) {
  Json list = Json::array();
  for (const auto &[key, value] : pairs)
    list.push_back({{name, key}, {"us", us(value)}});
  return list;
}

Json costJson(const Cost &cost, const std::function<Json(Span)> &place) {
  Json sizes = Json::array();
  for (const ExampleSize &size : cost.sizes)
    sizes.push_back({{"name", size.name}, {"value", size.value}, {"why", size.why}});
  Json json = {{"entry", cost.entry}, {"target", cost.target}, {"sizes", std::move(sizes)}};
  for (const AssumedElements &each : cost.elements)
    json["elements"].push_back({{"name", each.name}, {"text", each.text}});
  for (const AssumedDecision &each : cost.decisions)
    json["decisions"].push_back({{"place", each.place}, {"text", each.text}});
  if (cost.storage.arrays > 0) {
    Json &storage =
        json["storage"] = {{"arrays", cost.storage.arrays}, {"inOrder", cost.storage.inOrder}};
    if (!cost.storage.most.empty())
      storage["most"] = cost.storage.most;
    if (cost.storageUse)
      storage["bytes"] = {{"peak", cost.storageUse->peak},
                          {"inOrder", cost.storageUse->inOrder},
                          {"most", cost.storageUse->unshared}};
  }
  if (!cost.storageUnknown.empty())
    json["storageUnknown"] = cost.storageUnknown;
  // Without a time the sizes and the storage are still of use.
  if (!cost.unknown.empty()) {
    json["unknown"] = cost.unknown;
    return json;
  }
  Json pipes = Json::array(), statements = Json::array(), hints = Json::array();
  for (const rt::sim::PipeUse &use : cost.pipes)
    pipes.push_back({{"core", use.cube ? "aic" : "aiv"},
                     {"pipe", pipeName(use.pipe)},
                     {"util", shareOf(use.share)},
                     {"cores", use.lanes}});
  for (const StatementCost &each : cost.statements)
    if (Json one = statementJson(cost, each, place); one.is_object())
      statements.push_back(std::move(one));
  for (const CostHint &hint : cost.hints) {
    Json one = place(hint.span);
    if (!one.is_object())
      one = Json::object();
    one.update({{"text", hint.text}, {"gain", shareOf(hint.gain)}});
    hints.push_back(std::move(one));
  }
  for (const CostAdvice &each : cost.advice)
    if (Json one = adviceJson(each, place); one.is_object())
      json["advice"].push_back(std::move(one));
  for (const NumberTimes &number : cost.tried) {
    Json one = place(number.span), times = Json::array();
    for (const auto &[value, time] : number.times)
      times.push_back({{"value", value}, {"us", us(time)}});
    if (one.is_object()) {
      one.update({{"name", number.name}, {"present", number.present}, {"times", std::move(times)}});
      json["tried"].push_back(std::move(one));
    }
  }
  json.update({{"us", us(cost.us)},
               {"bound", cost.bound},
               {"statements", std::move(statements)},
               {"hints", std::move(hints)}});
  // A bound for the processor has no pipes and launches.
  if (cost.isLeast) {
    json.update({{"least", true}, {"machine", cost.machineText}});
    return json;
  }
  json.update({{"exact", cost.exact},
               {"roofline",
                {{"us", us(cost.roofline.us)},
                 {"by", cost.roofline.by},
                 {"gap", cost.roofline.us > 0 ? rounded(cost.us / cost.roofline.us, 100) : 0}}},
               {"groups", {{"used", cost.groups}, {"chip", cost.groupsOfChip}}},
               {"launches", pairsJson(cost.launches, "kernel")},
               {"path", pairsJson(cost.path, "part")},
               {"pipes", std::move(pipes)}});
  if (!cost.formula.empty())
    json["formula"] = cost.formula;
  return json;
}

std::string costDocument(const std::vector<Cost> &costs, const SourceManager &sources) {
  auto place = [&](Span span) -> Json {
    if (span.file >= sources.size())
      return nullptr;
    const SourceFile &file = sources.file(span.file);
    LineColumn begin = file.lineColumn(span.begin), end = file.lineColumn(span.end);
    return {{"file", file.path()},
            {"line", begin.line},
            {"column", begin.column},
            {"endLine", end.line},
            {"endColumn", end.column}};
  };
  Json list = Json::array();
  for (const Cost &cost : costs)
    list.push_back(costJson(cost, place));
  return Json{{"costs", std::move(list)}}.dump(2) + "\n";
}

// ---- For people ---------------------------------------------------------------------------------

static std::string amountText(double amount, const char *unit) {
  static constexpr const char *kPrefixes[] = {"", "K", "M", "G", "T"};
  size_t prefix = 0;
  for (; amount >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix)
    amount /= 1000;
  return printed(amount >= 100 || prefix == 0 ? "%.0f %s%s" : "%.1f %s%s", amount,
                 kPrefixes[prefix], unit);
}

static std::string workText(const StatementWork &work) {
  std::vector<std::string> words;
  if (work.reads > 0)
    words.push_back("reads " + amountText(work.reads, "B"));
  if (work.writes > 0)
    words.push_back("writes " + amountText(work.writes, "B"));
  if (work.operations > 0)
    words.push_back(
        amountText(work.operations, work.operations < 1000 ? "operations" : " operations"));
  std::string text = ", bound by " + work.by;
  for (const std::string &word : words)
    text += (&word == &words.front() ? ": " : ", ") + word;
  return text;
}

/// What is said of the whole.
static std::string wholeText(const Cost &cost) {
  std::string text = (cost.isLeast ? "at least " : "") + printed("%.2f us", cost.us);
  if (!cost.bound.empty())
    text += " · " + cost.bound;
  if (cost.isLeast)
    return text + "\n";
  if (cost.roofline.us > 0)
    text += printed(" · %.1f x the least for %s (%.2f us)", cost.us / cost.roofline.us,
                    cost.roofline.by.c_str(), cost.roofline.us);
  return text + printed(" · %lld of %lld core groups\n", static_cast<long long>(cost.groups),
                        static_cast<long long>(cost.groupsOfChip));
}

std::string costText(const Cost &cost, const SourceManager &sources) {
  std::vector<std::string> words;
  for (const ExampleSize &size : cost.sizes)
    words.push_back(size.name + "=" + std::to_string(size.value));
  for (const AssumedElements &each : cost.elements)
    words.push_back(each.name + ": " + each.text);
  for (const AssumedDecision &each : cost.decisions)
    words.push_back(each.place + ": " + each.text);
  std::string text = cost.entry;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i ? ", " : "[") + words[i];
  text += (words.empty() ? "" : "]") + (" on " + cost.target) + ": ";
  std::string storage;
  if (cost.storage.arrays > 0) {
    storage = "  intermediate arrays: ";
    if (cost.storageUse)
      storage += std::to_string(cost.storageUse->peak) + " bytes live at once; ";
    storage += cost.storage.inOrder + " bytes if tasks run in order";
    if (!cost.storage.most.empty() && cost.storage.most != cost.storage.inOrder)
      storage += ", at most " + cost.storage.most;
    storage += "\n";
  }
  if (!cost.storageUnknown.empty())
    storage += "  " + cost.storageUnknown + "\n";
  if (!cost.unknown.empty())
    return text + "no time is known: " + cost.unknown + "\n" + storage;
  text += wholeText(cost);
  if (!cost.formula.empty())
    text += "  us = " + cost.formula + "\n";
  text += storage;
  for (const StatementCost &each : cost.statements) {
    bool dominant = &each == cost.dominantStatement() || &each == cost.dominantLoop();
    text += printed("  %10.2f us %5.1f %%  ", each.us, 100 * cost.share(each.us));
    text += sources.place(each.span) + "  " + each.kind;
    if (each.rounds.value)
      text += printed(", %lld rounds", static_cast<long long>(*each.rounds.value));
    if (each.parts)
      text += ", " + partsTitle(*each.parts) + ": " + tileText(*each.parts);
    if (each.work)
      text += workText(*each.work);
    text += dominant ? "  <--\n" : "\n";
  }
  for (const CostAdvice &advice : cost.advice)
    text += "  advice: " + sources.place(advice.span) + ": " + advice.text +
            printed(": %.2f us -> %.2f us\n", cost.us, advice.us);
  for (const CostHint &hint : cost.hints) {
    std::string place = sources.place(hint.span);
    text += "  hint: " + (place.empty() ? "" : place + ": ") + hint.text;
    text += hint.gain > 0 ? printed(" (%.1f %%)\n", -100 * hint.gain) : "\n";
  }
  return text;
}

} // namespace ptl
