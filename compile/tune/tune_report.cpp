#include "compile/tune/tune_report.h"

#include "frontend/base/printed.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace ptl {

using Json = nlohmann::json;

std::string TuneReport::schedule() const {
  return "schedule " + entry + " on " + target + " { " +
         tuning.text(result.tries[*result.best].point) + " }";
}

/// The tries that have a time, from the fastest to the slowest.
static std::vector<const TuneTry *> ranked(const TuneResult &result) {
  std::vector<const TuneTry *> tries;
  for (const TuneTry &each : result.tries)
    if (each.outcome.us)
      tries.push_back(&each);
  std::stable_sort(tries.begin(), tries.end(), [](const TuneTry *a, const TuneTry *b) {
    return *a->outcome.us < *b->outcome.us;
  });
  // Of choices with equal times the one that was tried first is shown.
  auto isSame = [](const TuneTry *a, const TuneTry *b) { return *a->outcome.us == *b->outcome.us; };
  tries.erase(std::unique(tries.begin(), tries.end(), isSame), tries.end());
  return tries;
}

/// `tried 12 of 24 in 1.5 s; 3 were refused, 2 because …`
static std::string countsText(const TuneReport &report) {
  const TuneResult &result = report.result;
  std::map<std::string, size_t> reasons;
  size_t refused = 0;
  for (const TuneTry &each : result.tries)
    if (!each.outcome.us) {
      ++refused;
      ++reasons[each.outcome.reason];
    }
  size_t withItems = 0;
  for (const TuneTry &each : result.tries) {
    bool changes = false;
    for (size_t i = 0; i < each.point.size(); ++i)
      changes |= report.tuning.changesItem(i, each.point);
    withItems += changes;
  }
  std::string text = "tried " + std::to_string(result.tries.size() - withItems);
  if (result.exhaustive)
    text += ", which is all";
  else if (result.points)
    text += " of " + std::to_string(*result.points);
  if (withItems > 0)
    text += ", and " + std::to_string(withItems) + " with other items of the schedule";
  text += printed(", in %.1f s", report.seconds);
  if (size_t known = report.tuning.known())
    text += printed("; the times of %zu were known from an earlier search", known);
  if (report.ended == "budget")
    text += ", ended by the time limit (`--budget`)";
  if (report.ended == "interrupt")
    text += ", when it was interrupted";
  text += "\n";
  if (refused == 0)
    return text;
  auto most = std::max_element(reasons.begin(), reasons.end(),
                               [](const auto &a, const auto &b) { return a.second < b.second; });
  return text + std::to_string(refused) + " of them cannot be compiled, " +
         std::to_string(most->second) + " because: " + most->first + "\n";
}

std::string tuneText(const TuneReport &report) {
  const TuneTry &first = report.result.tries.front();
  const TuneTry &best = report.result.tries[*report.result.best];
  std::string text = report.entry, sizes;
  for (const ExampleSize &size : report.tuning.lastCost().sizes)
    sizes += (sizes.empty() ? "" : ", ") + size.name + "=" + std::to_string(size.value) + " (" +
             size.why + ")";
  text += (sizes.empty() ? "" : "[" + sizes + "]") + " on " + report.target + "\n";
  auto row = [&](const TuneTry &each, const char *mark) {
    text +=
        printed("  %12.2f us  ", *each.outcome.us) + report.tuning.text(each.point) + mark + "\n";
  };
  std::vector<const TuneTry *> tries = ranked(report.result);
  constexpr size_t most = 5;
  for (size_t i = 0; i < std::min(tries.size(), most); ++i)
    row(*tries[i], tries[i] == &first ? "  <-- today" : "");
  // Today's choice is always shown, even if it is not among the best.
  if (std::find(tries.begin(), tries.begin() + std::min(tries.size(), most), &first) ==
      tries.begin() + std::min(tries.size(), most)) {
    if (first.outcome.us)
      row(first, "  <-- today");
    else
      text += "                 -  " + report.tuning.text(first.point) +
              "  <-- today: " + first.outcome.reason + "\n";
  }
  text += countsText(report);
  if (&best == &first)
    return text + "nothing is faster than the present values\n";
  if (first.outcome.us)
    text += printed("%.2f times as fast as today\n", *first.outcome.us / *best.outcome.us);
  if (report.confirmed)
    text += printed("%s: %.2f us -> %.2f us\n",
                    report.target == "cpu" ? "measured again, in turn" : "simulated whole",
                    report.confirmed->first, report.confirmed->second);
  return text + report.schedule() + "\n";
}

static Json tryJson(const EntryTuning &tuning, const TuneTry &each) {
  Json values = Json::object(), items = Json::array();
  for (size_t i = 0; i < tuning.axes().size(); ++i) {
    const Tunable *tunable = tuning.choices()[i].tunable;
    int64_t value = tuning.axes()[i].values[each.point[i]];
    if (tunable && tunable->isBool)
      values[tuning.axes()[i].name] = value != 0;
    else if (tunable)
      values[tuning.axes()[i].name] = value;
    else if (std::string item = tuning.itemText(i, each.point); !item.empty())
      items.push_back(std::move(item));
  }
  Json json = {{"values", std::move(values)}, {"fits", each.outcome.us.has_value()}};
  if (!items.empty())
    json["items"] = std::move(items);
  if (each.outcome.us && !each.outcome.memory.empty())
    json["memory"] = each.outcome.memory;
  if (each.outcome.us)
    json["us"] = std::round(*each.outcome.us * 1000) / 1000;
  else
    json["reason"] = each.outcome.reason;
  return json;
}

std::string tuneDocument(const TuneReport &report) {
  const TuneResult &result = report.result;
  const EntryTuning &tuning = report.tuning;
  Json sizes = Json::array(), elements = Json::array(), decisions = Json::array();
  for (const ExampleSize &size : tuning.lastCost().sizes)
    sizes.push_back({{"name", size.name}, {"value", size.value}, {"why", size.why}});
  for (const AssumedElements &each : tuning.lastCost().elements)
    elements.push_back({{"name", each.name}, {"text", each.text}});
  for (const AssumedDecision &each : tuning.lastCost().decisions)
    decisions.push_back({{"place", each.place}, {"text", each.text}});
  Json tries = Json::array();
  for (const TuneTry &each : result.tries)
    tries.push_back(tryJson(tuning, each));
  Json json = {{"entry", report.entry},
               {"target", report.target},
               {"sizes", std::move(sizes)},
               {"exhaustive", result.exhaustive},
               {"seconds", std::round(report.seconds * 1000) / 1000},
               {"default", tryJson(tuning, result.tries.front())},
               {"best", tryJson(tuning, result.tries[*result.best])},
               {"schedule", report.schedule()},
               {"tries", std::move(tries)}};
  if (report.confirmed)
    json["confirmed"] = {{"default_us", std::round(report.confirmed->first * 1000) / 1000},
                         {"best_us", std::round(report.confirmed->second * 1000) / 1000}};
  if (!elements.empty())
    json["elements"] = std::move(elements);
  if (!decisions.empty())
    json["decisions"] = std::move(decisions);
  if (result.points)
    json["points"] = *result.points;
  if (tuning.known() > 0)
    json["known"] = tuning.known();
  if (!report.ended.empty())
    json["ended"] = report.ended;
  return json.dump(2) + "\n";
}

} // namespace ptl
