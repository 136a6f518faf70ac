// Verdicts in a few words: titles for hovers, lenses and summaries.
#include "lsp/server/feasibility_title.h"

#include "lsp/server/cost.h"
#include "lsp/server/session.h"

#include <optional>

namespace ptl::lsp {

std::string kibText(int64_t bytes) {
  // Half of a tenth is added, so that the number is rounded.
  int64_t tenths = (bytes * 10 + 512) / 1024;
  // A few bytes are not shown as 0.
  tenths = bytes > 0 ? std::max<int64_t>(tenths, 1) : tenths;
  std::string text = std::to_string(tenths / 10);
  return tenths % 10 ? text + "." + std::to_string(tenths % 10) : text;
}

/// The memories that are used, with the most that any function of the ledger needs.
static std::vector<SpaceUse> usesOf(const json &ledger) {
  std::vector<SpaceUse> uses;
  for (const json &function : ledger.value("functions", json::array()))
    for (const json &space : function.value("spaces", json::array())) {
      std::string place = space.value("place", "");
      auto use = std::find_if(uses.begin(), uses.end(),
                              [&](const SpaceUse &each) { return each.place == place; });
      if (use == uses.end())
        use = uses.insert(uses.end(), {place, 0, space.value("usable", int64_t(0))});
      // The function that needs most decides whether the memory is large enough.
      use->peak = std::max(use->peak, space.value("peak", int64_t(0)));
    }
  return uses;
}

std::string useText(const SpaceUse &use) {
  std::string limit = use.usable > 0 ? "/" + kibText(use.usable) : "";
  return use.place + " " + kibText(use.peak) + limit + " KiB";
}

/// The memory that overflows, with what is needed of it: the reason why something does not fit, where that is known.
static std::optional<SpaceUse> overflowOf(const json &result) {
  auto overflow = result.find("overflow");
  if (overflow == result.end())
    return std::nullopt;
  return SpaceUse{overflow->value("place", ""), overflow->value("needed", int64_t(0)),
                  overflow->value("usable", int64_t(0))};
}

/// The code of the first error; empty where there is none.
static std::string firstCodeOf(const json &result) {
  const json diagnostics = result.value("diagnostics", json::array());
  return diagnostics.empty() ? "" : diagnostics[0].value("code", "");
}

/// Whether `parts` has more parts than `most`, the most so far, which may be none.
static bool hasMoreParts(const json &parts, const json &most) {
  return most.is_null() || most.value("parts", 0) < parts.value("parts", 0);
}

std::string summaryOf(const ChipVerdict &verdict) {
  if (!verdict.problem.empty())
    return verdict.problem;
  const json &result = verdict.result;
  // A processor has no memories that could be too small.
  if (result.value("target", "") == "cpu") { // everything fits this processor
    std::string cost = costTitle(verdict);
    return cost.empty() ? "no time is known" : cost;
  }
  if (!result.value("fits", false)) {
    if (std::optional<SpaceUse> overflow = overflowOf(result))
      return "does not fit · " + useText(*overflow);
    std::string code = firstCodeOf(result);
    return "cannot be compiled" + (code.empty() ? "" : " (" + code + ")");
  }
  std::string text = "fits";
  json slowest; // of the statements, to say one of them
  for (const json &parts : partsOf(verdict)) {
    // Parts of tiles are few and all shown; of statements only the slowest.
    if (!parts.contains("kind"))
      text += " · " + parts.value("title", "");
    else if (hasMoreParts(parts, slowest))
      slowest = parts;
  }
  if (!slowest.is_null())
    text += " · a " + slowest.value("kind", "") + " " + slowest.value("title", "");
  for (const SpaceUse &use : usesOf(result.value("ledger", json::object())))
    text += " · " + useText(use);
  std::string cost = costTitle(verdict);
  return cost.empty() ? text : text + " · " + cost;
}

/// What `summary` makes of the verdict of an entry on a chip, behind the name of the chip: `…` until there is one, and marked if it is of
/// an older text.
static std::string titled(Session &session, const std::string &path, const std::string &entry,
                          const std::string &target, const std::string &separator,
                          std::string (*summary)(const ChipVerdict &)) {
  const ChipVerdict *verdict = verdictOf(session, path, entry, target);
  if (!verdict)
    return target + separator + "…";
  // A problem of the worker's is not about the text, and so not stale.
  bool isStale = verdict->problem.empty() && !isFresh(session, path, *verdict);
  return target + separator + summary(*verdict) + (isStale ? " · stale" : "");
}

std::string verdictTitle(Session &session, const std::string &path, const std::string &entry,
                         const std::string &target) {
  return titled(session, path, entry, target, ": ", summaryOf);
}

/// The verdict itself, in a sign and the least that it needs.
static std::string lensSummary(const ChipVerdict &verdict) {
  if (!verdict.problem.empty())
    return "✗ " + verdict.problem;
  const json &result = verdict.result;
  std::string cost = shortCostTitle(verdict);
  if (result.value("target", "") == "cpu") // everything fits this processor
    return cost.empty() ? "no time is known" : cost;
  if (!result.value("fits", false)) {
    if (std::optional<SpaceUse> overflow = overflowOf(result))
      return "✗ " + useText(*overflow);
    std::string code = firstCodeOf(result);
    return "✗ " + (code.empty() ? "cannot be compiled" : code);
  }
  std::string text = cost.empty() ? "✓" : "✓ " + cost;
  // One cause is enough for a glance.
  bool hasCause = text.find("idle") != text.npos || text.find("×") != text.npos;
  json largest;
  for (const json &parts : partsOf(verdict))
    if (hasMoreParts(parts, largest))
      largest = parts;
  if (!hasCause && !largest.is_null())
    text += " · " + largest.value("title", "");
  return text;
}

std::string verdictLens(Session &session, const std::string &path, const std::string &entry,
                        const std::string &target) {
  return titled(session, path, entry, target, " ", lensSummary);
}

std::string sizesLens(Session &session, const std::string &path, const std::string &entry) {
  // All chips are asked about the same lengths.
  for (const std::string &target : session.settings.targets)
    if (const ChipVerdict *verdict = verdictOf(session, path, entry, target))
      if (std::string title = sizesTitle(*verdict); !title.empty())
        return title;
  return "for other sizes";
}

} // namespace ptl::lsp
