#include "lsp/worker/stage.h"

#include <algorithm>

namespace ptl::worker {

uint32_t LineMap::intern(std::vector<Span> spans) {
  if (spans.empty())
    return kNone;
  // Neighbouring lines mostly have the same origin.
  size_t recent = origins_.size() > 64 ? origins_.size() - 64 : 0;
  for (size_t i = origins_.size(); i-- > recent;)
    if (origins_[i] == spans)
      return static_cast<uint32_t>(i);
  origins_.push_back(std::move(spans));
  return static_cast<uint32_t>(origins_.size() - 1);
}

void LineMap::set(size_t line, uint32_t origin) {
  if (lines_.size() <= line)
    lines_.resize(line + 1, kNone);
  lines_[line] = origin;
}

const std::vector<Span> &LineMap::spans(size_t line) const {
  static const std::vector<Span> none;
  uint32_t origin = originOf(line);
  return origin == kNone ? none : origins_[origin];
}

std::optional<StageWish> stageWish(std::string_view text) {
  size_t at = text.find('@');
  std::optional<StageId> id = stageByName(text.substr(0, at));
  if (!id)
    return std::nullopt;
  StageWish wish{*id, at == text.npos ? std::string() : std::string(text.substr(at + 1))};
  StageMachine machine = stageInfo(*id).machine;
  if (at != text.npos && (wish.target.empty() || machine == StageMachine::Cpu))
    return std::nullopt;
  if (wish.target.empty() && machine == StageMachine::Chip)
    wish.target = kUsualChip;
  if (wish.target == "cpu" && machine == StageMachine::Any)
    wish.target.clear();
  return wish;
}

void StageText::append(const StageText &more) {
  size_t first = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  text += more.text;
  for (size_t line = 0; line < more.map.lineCount(); ++line)
    if (more.map.originOf(line) != LineMap::kNone)
      map.set(first + line, map.intern(more.map.spans(line)));
  if (!more.facts.empty()) {
    facts.resize(first);
    facts.insert(facts.end(), more.facts.begin(), more.facts.end());
  }
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

static std::string_view withoutBlanks(std::string_view line) {
  size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  size_t end = line.find_last_not_of(" \t");
  return end == line.npos ? std::string_view() : line.substr(begin, end + 1 - begin);
}

static bool isFunctionLabel(std::string_view line) {
  return !line.empty() && line.back() == ':' && line.front() != '.' && line.front() != '\t' &&
         line.front() != ' ' && line.front() != '#';
}

/// Functions, and the blocks inside of them.
static std::vector<Fold> assemblyFolds(const std::vector<std::string_view> &lines) {
  std::vector<Fold> folds;
  auto close = [&](std::optional<uint32_t> &start, size_t end) {
    if (start && end > *start + 1)
      folds.push_back({*start, static_cast<uint32_t>(end - 1), "region"});
    start.reset();
  };
  std::optional<uint32_t> function, block;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    bool isBlock = line.starts_with(".L") || line.starts_with("# %bb");
    if (!isFunctionLabel(line) && !isBlock)
      continue;
    close(block, i);
    if (isFunctionLabel(line)) {
      close(function, i);
      function = static_cast<uint32_t>(i);
    } else {
      block = static_cast<uint32_t>(i);
    }
  }
  close(block, lines.size());
  close(function, lines.size());
  return folds;
}

std::vector<Fold> foldsOf(std::string_view text, StageId stage) {
  std::vector<std::string_view> lines = linesOf(text);
  if (stage == StageId::Asm)
    return assemblyFolds(lines);
  std::vector<Fold> folds;
  std::vector<uint32_t> open;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = withoutBlanks(lines[i]);
    if (line.starts_with("}") && !open.empty()) {
      if (i > open.back() + 1)
        folds.push_back({open.back(), static_cast<uint32_t>(i - 1), "region"});
      open.pop_back();
    }
    if (line.ends_with("{"))
      open.push_back(static_cast<uint32_t>(i));
  }
  std::sort(folds.begin(), folds.end(),
            [](const Fold &a, const Fold &b) { return a.start < b.start; });
  return folds;
}

} // namespace ptl::worker
