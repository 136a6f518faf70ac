#include "lsp/worker/hover.h"

#include "common/words.h"
#include "compile/source_spans.h"

#include <algorithm>
#include <cctype>

namespace ptl::worker {

namespace {

using Now = std::function<Span(Span)>;

/// Lines of a text by how they come from a range.
struct Found {
  std::vector<size_t> exact;  ///< from the range itself
  std::vector<size_t> inside; ///< from parts of it
  std::vector<size_t> around; ///< from the smallest thing that the range is part of
  Span aroundSpan;
};

Found find(const StageText &stage, Span range, const Now &now) {
  Found found;
  uint32_t smallest = ~uint32_t(0);
  for (size_t line = 0; line < stage.map.lineCount(); ++line) {
    int rank = 0;
    for (Span span : stage.map.spans(line)) {
      Span here = now(span);
      if (here == range)
        rank = 2;
      else if (isWithin(here, range))
        rank = std::max(rank, 1);
    }
    if (rank == 2)
      found.exact.push_back(line);
    else if (rank == 1)
      found.inside.push_back(line);
    if (rank > 0 || stage.map.spans(line).empty())
      continue;
    for (Span span : stage.map.spans(line)) {
      Span here = now(span);
      if (!isWithin(range, here) || here.end - here.begin > smallest)
        continue;
      if (here.end - here.begin < smallest)
        found.around.clear();
      smallest = here.end - here.begin;
      found.aroundSpan = here;
      if (found.around.empty() || found.around.back() != line)
        found.around.push_back(line);
    }
  }
  return found;
}

/// `%4 = ptl.exp %3 : …`: the name, and what defines it.
std::pair<std::string_view, std::string_view> takeApart(std::string_view line) {
  line = trimmed(line);
  size_t equals = line.find(" = ");
  if (!line.starts_with("%") || equals == line.npos)
    return {{}, line};
  return {line.substr(0, equals), line.substr(equals + 3)};
}

bool isUsed(std::string_view name, const std::vector<std::string_view> &lines, size_t besides) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == besides)
      continue;
    for (size_t at = lines[i].find(name); at != lines[i].npos; at = lines[i].find(name, at + 1)) {
      size_t end = at + name.size();
      if (end >= lines[i].size() ||
          !(std::isalnum(static_cast<unsigned char>(lines[i][end])) || lines[i][end] == '_'))
        return true;
    }
  }
  return false;
}

/// Comments of assembly and long constants would fill the screen.
std::string shownLine(std::string_view text, StageId id) {
  constexpr size_t longest = 140;
  text = trimmed(text);
  if (id == StageId::Asm)
    text = text.substr(0, text.find('#'));
  text = trimmed(text);
  return text.size() <= longest ? std::string(text) : std::string(text.substr(0, longest)) + "…";
}

std::string shortened(std::string_view text) {
  size_t end = text.find(" : ");
  std::string result(text.substr(0, std::min<size_t>(end, 60)));
  return "`" + result + "`";
}

/// Why an expression that was built is not there any more.
std::string whyGone(const StageText &built, Span range, const Now &now) {
  Found first = find(built, range, now);
  const std::vector<size_t> &lines = first.exact.empty() ? first.inside : first.exact;
  if (lines.empty())
    return "";
  std::vector<std::string_view> text = linesOf(built.text);
  size_t line = lines.back();
  auto [name, definition] = takeApart(text[line]);
  if (name.empty())
    return "folded into its uses";
  if (!isUsed(name, text, line))
    return "dead code: nothing uses " + shortened(definition);
  for (size_t other = 0; other < text.size(); ++other)
    if (other != line && takeApart(text[other]).second == definition)
      return "the same as line " + std::to_string(other + 1) + " of the IR as built, " +
             shortened(definition) + ": computed once";
  return "folded into its uses";
}

/// The work itself rather than counting and addresses: what has vectors in it.
bool isWork(const LineFacts &facts, StageId id) {
  auto hasVector = [](const std::vector<std::string> &types) {
    return std::any_of(types.begin(), types.end(), [](const std::string &type) {
      return type.starts_with("vector<") || type.starts_with("<");
    });
  };
  if (id == StageId::Asm)
    return facts.op.starts_with("v");
  if (id == StageId::Vector && facts.op.ends_with(".constant"))
    return false;
  return hasVector(facts.results) || hasVector(facts.operands);
}

/// The lines to show when there are too many: those that do the work, and of these where most lie
/// together.
void cut(std::vector<size_t> &lines, const StageText &stage, StageId id, size_t limit) {
  if (lines.size() <= limit)
    return;
  std::vector<size_t> work;
  for (size_t line : lines)
    if (line < stage.facts.size() && isWork(stage.facts[line], id))
      work.push_back(line);
  // From this stage on most lines are addresses and loops around the few that compute.
  if (id >= StageId::Vector && !work.empty())
    lines = std::move(work);
  if (lines.size() <= limit)
    return;
  size_t best = 0, spread = ~size_t(0);
  for (size_t i = 0; i + limit <= lines.size(); ++i)
    if (size_t width = lines[i + limit - 1] - lines[i]; width < spread) {
      spread = width;
      best = i;
    }
  lines = std::vector<size_t>(lines.begin() + static_cast<std::ptrdiff_t>(best),
                              lines.begin() + static_cast<std::ptrdiff_t>(best + limit));
}

} // namespace

Json hoverJson(const StageText &stage, StageId id, const StageText *built, Span range,
               const Now &now, size_t limit) {
  Json result = {{"stage", stageInfo(id).name},
                 {"languageId", stageInfo(id).shown.language},
                 {"lines", Json::array()}};
  Found found = find(stage, range, now);
  std::vector<size_t> lines = found.exact.empty() ? found.inside : found.exact;
  if (lines.empty()) {
    std::string reason = built ? whyGone(*built, range, now) : "";
    if (!found.around.empty()) {
      result["part"] = {{"begin", found.aroundSpan.begin}, {"end", found.aroundSpan.end}};
      if (reason.empty() || reason.starts_with("folded"))
        reason = "part of what line " + std::to_string(found.around.front() + 1) + " does";
    }
    result["reason"] = reason.empty() ? "no operation: its value is known at compile time" : reason;
    return result;
  }
  std::vector<std::string_view> text = linesOf(stage.text);
  result["total"] = lines.size();
  cut(lines, stage, id, limit);
  for (size_t line : lines)
    if (line < text.size())
      result["lines"].push_back({{"line", line}, {"text", shownLine(text[line], id)}});
  // For a chip the notes say which pipe the instruction uses, which buffers, and what it waits for.
  // One line represents all.
  for (size_t line : lines)
    if (line < stage.facts.size() && !stage.facts[line].notes.empty()) {
      result["notes"] = stage.facts[line].notes;
      break;
    }
  return result;
}

} // namespace ptl::worker
