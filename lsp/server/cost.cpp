#include "lsp/server/cost.h"

#include "frontend/base/printed.h"
#include "lsp/server/deferred.h"
#include "lsp/server/placed_text.h"

#include <algorithm>

namespace ptl::lsp {

std::string timeText(double us) {
  if (us >= 10000)
    return printed("%.1f ms", us / 1000);
  return printed(us >= 1000 ? "%.0f µs" : us >= 10 ? "%.1f µs" : "%.2f µs", us);
}

static std::string percent(double share) { return printed("%.0f %%", 100 * share); }

/// The cost of a verdict; null if no time is known.
static const json *costOf(const ChipVerdict &verdict) {
  auto cost = verdict.result.find("cost");
  bool isKnown = verdict.result.is_object() && cost != verdict.result.end() && cost->contains("us");
  return isKnown ? &*cost : nullptr;
}

/// Nobody has asked for the length, and no bench has it: as `ExampleSize::isAssumed`.
static bool isAssumed(const json &size) {
  std::string why = size.value("why", "");
  return why == "assumed" || why == "default";
}

/// Whether something that decides the time is only assumed.
static bool restsOnAssumptions(const json &cost) {
  for (const json &size : cost.value("sizes", json::array()))
    if (isAssumed(size))
      return true;
  return !cost.value("elements", json::array()).empty() ||
         !cost.value("decisions", json::array()).empty();
}

/// A time that is a part of the cost, or the whole.
static std::string timeOf(const json &cost, double us) {
  return (restsOnAssumptions(cost) ? "~" : "") + timeText(us);
}

std::string costTitle(const ChipVerdict &verdict) {
  const json *cost = costOf(verdict);
  if (!cost)
    return "";
  std::string bound = cost->value("bound", "");
  return (cost->value("least", false) ? "at least " : "") + timeOf(*cost, cost->value("us", 0.0)) +
         (bound.empty() ? "" : " · " + bound);
}

/// `cube-bound 87 %` and `bound by memory 87 %` without the word.
static std::string shortBound(std::string bound) {
  for (std::string_view word : {"-bound", "bound by "})
    if (size_t at = bound.find(word); at != bound.npos)
      return bound.erase(at, word.size());
  return bound;
}

/// The first of what is known to make a kernel slow.
static std::string mainCause(const json &cost) {
  const json groups = cost.value("groups", json::object());
  int64_t used = groups.value("used", int64_t(0)), chip = groups.value("chip", int64_t(0));
  // With a quarter of them idle there is something to gain.
  if (chip > 0 && 4 * (chip - used) >= chip)
    return std::to_string(chip - used) + " of " + std::to_string(chip) + " core groups idle";
  constexpr double poor = 4;
  const json roofline = cost.value("roofline", json::object());
  if (double gap = roofline.value("gap", 0.0); gap >= poor)
    return printed("%.1f", gap) + " × the least time of " + roofline.value("by", "");
  return "";
}

std::string shortCostTitle(const ChipVerdict &verdict) {
  const json *cost = costOf(verdict);
  if (!cost)
    return "";
  bool isLeast = cost->value("least", false);
  std::string text = (isLeast ? "≥ " : "") + timeOf(*cost, cost->value("us", 0.0));
  if (std::string bound = shortBound(cost->value("bound", "")); !bound.empty())
    text += " · " + bound;
  if (std::string cause = isLeast ? "" : mainCause(*cost); !cause.empty())
    text += " · " + cause;
  return text;
}

std::string sizesTitle(const ChipVerdict &verdict) {
  const json *cost = costOf(verdict);
  std::string text;
  for (const json &size : cost ? cost->value("sizes", json::array()) : json::array())
    text += (text.empty() ? "for " : ", ") + size.value("name", "") + " = " +
            std::to_string(size.value("value", int64_t(0))) + (isAssumed(size) ? " (assumed)" : "");
  return text;
}

// ---- Hints --------------------------------------------------------------------------------------

static std::string sizesText(const json &cost) {
  std::string text;
  for (const json &size : cost.value("sizes", json::array()))
    text += (text.empty() ? "`" : ", `") + size.value("name", "") + " = " +
            std::to_string(size.value("value", int64_t(0))) + "` (" +
            (isAssumed(size) ? "assumed" : size.value("why", "")) + ")";
  for (const json &each : cost.value("elements", json::array()))
    text += (text.empty() ? "" : ", ") + ("elements of `" + each.value("name", "") + "`: ") +
            asMarkdown(each.value("text", "")) + " (assumed)";
  for (const json &each : cost.value("decisions", json::array())) {
    std::string place = each.value("place", "");
    text += (text.empty() ? "`" : ", `") + place.substr(place.rfind('/') + 1) +
            "`: " + asMarkdown(each.value("text", "")) + " (assumed)";
  }
  return text;
}

/// `67.1 MB`
static std::string amountText(double amount) {
  static constexpr const char *kPrefixes[] = {"", "K", "M", "G", "T"};
  size_t prefix = 0;
  for (; amount >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix)
    amount /= 1000;
  return printed(prefix == 0 ? "%.0f %s" : "%.1f %s", amount, kPrefixes[prefix]);
}

static std::string statementText(const json &cost, const json &item) {
  if (cost.value("least", false))
    return "at least " + timeOf(cost, item.value("us", 0.0)) + " of " +
           timeOf(cost, cost.value("us", 0.0)) + " (" + percent(item.value("share", 0.0)) +
           ") · bound by " + item.value("by", "") + " · reads " +
           amountText(item.value("reads", 0.0)) + "B, writes " +
           amountText(item.value("writes", 0.0)) + "B · " +
           amountText(item.value("operations", 0.0)) + "operations";
  return timeOf(cost, item.value("us", 0.0)) + " of " + timeOf(cost, cost.value("us", 0.0)) + " (" +
         percent(item.value("share", 0.0)) + ") · its pipes are busy for " +
         timeOf(cost, item.value("busyUs", 0.0)) + " on all cores · " +
         std::to_string(item.value("instructions", int64_t(0))) + " instructions";
}

uint32_t endOfLine(const ide::File &file, uint32_t offset) {
  ide::LineByte at = file.document.position(offset);
  auto length = static_cast<uint32_t>(file.document.lineText(at.line).size());
  return file.document.offset({at.line, length});
}

/// Calls `visit` with the statements of fresh verdicts about a file that are in it now.
template <typename Visit>
static void forEachStatement(Session &session, const ide::File &file, const ChipVerdict &verdict,
                             Visit visit) {
  for (const PlacedCost &each : verdict.statements)
    if (ide::Location at = session.workspace.locate(each.span); at.file == &file)
      visit(at.range, each.item);
}

void addCostHints(Session &session, const ide::File &file, ide::Range range, LineHints &hints) {
  for (const std::string &target : session.settings.targets)
    for (const ChipEntry &entry : chipEntries(file.document)) {
      const ChipVerdict *verdict = verdictOf(session, file.path(), entry.name, target);
      const json *cost = verdict ? costOf(*verdict) : nullptr;
      if (!cost || !isFresh(session, file.path(), *verdict))
        continue;
      forEachStatement(session, file, *verdict, [&](ide::Range at, const json &item) {
        uint32_t offset = endOfLine(file, at.begin);
        if (!item.value("dominant", false) || offset < range.begin || range.end < offset)
          return;
        bool isLoop = item.value("kind", "") == "loop";
        hints.add(offset, target,
                  timeOf(*cost, item.value("us", 0.0)) + " · " + percent(item.value("share", 0.0)),
                  (isLoop ? "The loop that dominates: " : "The statement that dominates: ") +
                      statementText(*cost, item) + "\n\nfor " + sizesText(*cost));
      });
    }
}

// ---- Hovers -------------------------------------------------------------------------------------

static std::string pipesText(const json &cost) {
  std::string text;
  for (const json &pipe : cost.value("pipes", json::array()))
    if (double share = pipe.value("util", 0.0); share >= 0.005)
      text += (text.empty() ? "" : ", ") + std::string("`") + pipe.value("core", "") + "." +
              pipe.value("pipe", "") + "` " + percent(share);
  return text;
}

std::string kernelCostText(const ChipVerdict &verdict) {
  const json *cost = costOf(verdict);
  if (!cost) {
    const json none = verdict.result.value("cost", json::object());
    std::string reason = none.value("unknown", "");
    return reason.empty() ? "" : "\n\nno time is known: " + asMarkdown(reason);
  }
  const json roofline = cost->value("roofline", json::object());
  const json groups = cost->value("groups", json::object());
  std::string text = "\n\n" + costTitle(verdict) + " for " + sizesText(*cost);
  if (double least = roofline.value("us", 0.0); least > 0)
    text += "\n- " + printed("%.1f", roofline.value("gap", 0.0)) + " × the least time of " +
            roofline.value("by", "") + ", " + timeOf(*cost, least);
  if (cost->value("least", false))
    return text + "\n- " + cost->value("machine", "");
  if (std::string formula = cost->value("formula", ""); !formula.empty())
    text += "\n- µs = `" + formula + "`";
  text += "\n- busy: " + pipesText(*cost);
  text += "\n- core groups with work: " + std::to_string(groups.value("used", int64_t(0))) +
          " of " + std::to_string(groups.value("chip", int64_t(0)));
  for (const json &hint : cost->value("hints", json::array())) {
    double gain = hint.value("gain", 0.0);
    text +=
        "\n- " + asMarkdown(hint.value("text", "")) + (gain > 0 ? " (−" + percent(gain) + ")" : "");
  }
  for (const json &advice : cost->value("advice", json::array()))
    text += "\n- " + asMarkdown(advice.value("text", "")) + ": " +
            timeOf(*cost, cost->value("us", 0.0)) + " → " + timeOf(*cost, advice.value("us", 0.0));
  return text;
}

std::string statementCostText(Session &session, const ide::File &file, const ChipVerdict &verdict,
                              ide::Range range) {
  const json *cost = costOf(verdict), *found = nullptr;
  ide::Range least{0, 0};
  if (cost)
    forEachStatement(session, file, verdict, [&](ide::Range at, const json &item) {
      bool isWithin = at.begin <= range.begin && range.end <= at.end;
      if (isWithin && (!found || at.end - at.begin <= least.end - least.begin)) {
        found = &item;
        least = at;
      }
    });
  return found ? "\n\n" + statementText(*cost, *found) : "";
}

// ---- Requests -----------------------------------------------------------------------------------

static json located(Session &session, const json &item, Span span) {
  json result = item;
  result.erase("place");
  if (ide::Location at = session.workspace.locate(span))
    result["location"] = session.location(at);
  return result;
}

json costAnswer(Session &session, const ide::File &file, const std::string &entry,
                const ChipVerdict &verdict, bool isStale) {
  json answer = verdict.result.value("cost", json::object());
  answer.update({{"version", file.version},
                 {"entry", entry},
                 {"target", verdict.result.value("target", "")},
                 {"fits", verdict.result.value("fits", false)},
                 {"stale", isStale}});
  if (!answer.contains("us") && !answer.contains("unknown"))
    answer["unknown"] = verdict.result.value("fits", false) ? "the costs of the chip are not known"
                                                            : "it does not run on the chip";
  if (!answer.contains("us"))
    return answer;
  answer["statements"] = json::array();
  for (const PlacedCost &each : verdict.statements)
    answer["statements"].push_back(located(session, each.item, each.span));
  json hints = json::array();
  for (const PlacedCost &each : verdict.hints)
    hints.push_back(located(session, each.item, each.span));
  answer["hints"] = std::move(hints);
  // These come below, with places in the present text instead of those that the worker knew.
  answer.erase("advice");
  answer.erase("tried");
  for (const PlacedCost &each : verdict.tried)
    answer["tried"].push_back(located(session, each.item, each.span));
  for (const PlacedAdvice &each : verdict.advice) {
    json advice = located(session, each.item, each.span);
    advice["edits"] = json::array();
    for (const TextEdit &edit : each.edits)
      advice["edits"].push_back(located(session, {{"text", edit.text}}, edit.span));
    answer["advice"].push_back(std::move(advice));
  }
  return answer;
}

/// When everything happens, for those who draw it.
void timeline(Server &server, const json &params, const Reply &reply) {
  Session &session = server.session;
  ide::File &file = session.file(params);
  ChipQuestion question = chipQuestion(session, file, params);
  // This processor is no chip, and has no timeline.
  if (std::vector<std::string> chips = session.settings.chips();
      !params.contains("target") && !chips.empty())
    question.request["target"] = chips.front();
  else if (!params.contains("target"))
    question.request.members.erase("target");
  std::string form = params.value("form", "lanes");
  if (form != "lanes" && form != "page")
    throw RequestError{kInvalidParams, "`form` is `lanes` or `page`"};
  question.request["form"] = form;
  if (params.contains("mostOperations"))
    question.request["mostOperations"] = params["mostOperations"];
  auto onAnswer = [reply, version = file.version](const WorkerAnswer &answer) {
    if (answer.ok() && answer.result.value("ok", false)) {
      json result = answer.result;
      result.erase("ok");
      result.erase("timings");
      result["version"] = version;
      return reply.result(std::move(result));
    }
    const json error = answer.ok() ? answer.result.value("error", json::object()) : answer.error;
    reply.error({kRequestFailed, error.value("message", "the compiler has no answer")});
  };
  server.worker.ask("timeline", std::move(question.request), "", {onAnswer, reply.onProblem()});
}

} // namespace ptl::lsp
