#include "lsp/server/advice.h"

#include "lsp/ide/code_actions.h"
#include "lsp/server/connection.h"
#include "lsp/server/cost.h"
#include "lsp/server/session.h"

namespace ptl::lsp {

static constexpr const char *kAdviceCode = "ptl.advice";

/// `tiles(M, 256)`: 22.7 ms → 199 µs
static std::string adviceText(const ChipVerdict &verdict, const PlacedAdvice &advice) {
  const json cost = verdict.result.value("cost", json::object());
  return advice.item.value("text", "") + ": " + timeText(cost.value("us", 0.0)) + " → " +
         timeText(advice.item.value("us", 0.0));
}

std::vector<std::string> adviceTexts(const ChipVerdict &verdict) {
  std::vector<std::string> texts;
  for (const PlacedAdvice &advice : verdict.advice)
    texts.push_back(adviceText(verdict, advice));
  return texts;
}

namespace {

/// Advice for the present text of a file.
struct ShownAdvice {
  const ChipVerdict &verdict;
  std::string target;
  const PlacedAdvice &advice;
  ide::Range range;
  ide::Range name; ///< of the kernel or program
  std::string text;
};

} // namespace

template <typename Visit>
static void forEachAdvice(Session &session, const ide::File &file, const Visit &visit) {
  for (const std::string &target : session.settings.targets)
    for (const ChipEntry &entry : chipEntries(file.document)) {
      const ChipVerdict *verdict = verdictOf(session, file.path(), entry.name, target);
      if (!verdict || !isFresh(session, file.path(), *verdict))
        continue;
      uint32_t begin = file.document.places()[entry.place].begin;
      ide::Range name{begin + entry.range.begin, begin + entry.range.end};
      for (const PlacedAdvice &advice : verdict->advice)
        if (ide::Location at = session.workspace.locate(advice.span); at.file == &file)
          visit(ShownAdvice{*verdict, target, advice, at.range, name,
                            target + ": " + adviceText(*verdict, advice)});
    }
}

void addAdvice(Session &session, const ide::File &file, std::vector<PlacedFinding> &list) {
  if (!session.settings.adviceDiagnostics)
    return;
  constexpr int information = 3;
  forEachAdvice(session, file, [&](const ShownAdvice &shown) {
    list.push_back(findingAt(session, file, shown.range, {information, kAdviceCode, shown.text}));
  });
}

/// The edits as the protocol wants them; null if some of them have no place any more.
static json editOf(Session &session, const PlacedAdvice &advice) {
  std::vector<std::pair<ide::Location, std::string>> edits;
  for (const TextEdit &edit : advice.edits)
    if (ide::Location at = session.workspace.locate(edit.span))
      edits.push_back({at, edit.text});
  return edits.size() == advice.edits.size() ? session.workspaceEdit(edits) : json();
}

std::string triedText(Session &session, const ide::File &file, const ChipVerdict &verdict,
                      ide::Range range) {
  std::string text;
  for (const PlacedCost &number : verdict.tried) {
    ide::Location at = session.workspace.locate(number.span);
    if (at.file != &file || range.begin < at.range.begin || range.end > at.range.end)
      continue;
    text += "\n\n| " + number.item.value("name", "") + " | at least |\n|---|---|";
    for (const json &time : number.item.value("times", json::array())) {
      int64_t value = time.value("value", int64_t(0));
      bool isPresent = value == number.item.value("present", int64_t(0));
      std::string mark = isPresent ? "**" : "";
      text += "\n| " + mark + std::to_string(value) + mark + " | " +
              timeText(time.value("us", 0.0)) + " |";
    }
  }
  return text;
}

std::vector<std::string> adviceLenses(Session &session, const ide::File &file) {
  std::vector<std::string> lenses;
  const ChipVerdict *last = nullptr;
  forEachAdvice(session, file, [&](const ShownAdvice &shown) {
    json edit = editOf(session, shown.advice);
    if (&shown.verdict == last || edit.is_null())
      return;
    last = &shown.verdict;
    const json cost = shown.verdict.result.value("cost", json::object());
    std::string title = shown.target + ": " + timeText(cost.value("us", 0.0)) + " → " +
                        timeText(shown.advice.item.value("us", 0.0)) + " · Apply";
    lenses.push_back(dumped({{"range", session.range(file, shown.name)},
                             {"command",
                              {{"title", title},
                               {"command", "ptl.server.applyEdit"},
                               {"arguments", {std::move(edit)}}}}}));
  });
  return lenses;
}

std::vector<json> adviceActions(Session &session, const ide::File &file, const json &params) {
  json given = params.value("context", json::object()).value("diagnostics", json::array());
  ide::Range range = session.range(file, params.at("range"));
  auto touches = [&](ide::Range at) { return range.begin <= at.end && at.begin <= range.end; };
  std::vector<json> actions;
  forEachAdvice(session, file, [&](const ShownAdvice &shown) {
    if (!touches(shown.range) && !touches(shown.name))
      return;
    json edit = editOf(session, shown.advice);
    if (edit.is_null())
      return;
    json action = {{"title", shown.text},
                   {"kind", ide::actionKindId(ide::ActionKind::QuickFix)},
                   {"edit", std::move(edit)}};
    for (const json &each : given.is_array() ? given : json::array())
      if (each.is_object() && each.value("code", json()) == kAdviceCode &&
          each.value("message", "") == shown.text)
        action["diagnostics"].push_back(each);
    actions.push_back(std::move(action));
  });
  return actions;
}

} // namespace ptl::lsp
