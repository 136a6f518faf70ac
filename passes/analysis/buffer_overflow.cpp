#include "passes/analysis/buffer_overflow.h"

#include <algorithm>

namespace ptl {

// The names of the memories in messages.
static std::string spaceName(std::string_view place) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"vec", "vector buffer"},
      {"mat", "matrix buffer"},
      {"left", "left operand buffer"},
      {"right", "right operand buffer"},
      {"acc", "accumulator buffer"},
      {"bias", "bias buffer"},
      {"scale", "scale buffer"},
      {"scaleleft", "buffer of left scales"},
      {"scaleright", "buffer of right scales"},
  };
  for (auto [key, name] : names)
    if (key == place)
      return std::string(name);
  return "memory `" + std::string(place) + "`";
}

static std::vector<std::string> argumentsOf(const Overflow &overflow) {
  std::string where = overflow.at.line ? " at line " + std::to_string(overflow.at.line) : "";
  std::string has = overflow.space.bytes ? capacityText(overflow.space) : "none";
  return {spaceName(overflow.space.place), bytesText(overflow.needed), where, overflow.machine,
          has};
}

std::string overflowText(const Overflow &overflow) {
  DiagnosticSink sink;
  sink.report(DiagId::BufferFull, kNoSpan, argumentsOf(overflow));
  return sink.all().front().message;
}

// Only these memories hold tiles that a loop rotates through copies.
bool isPipelined(std::string_view place) { return place == "vec" || place == "mat"; }

std::string tunableHelp(std::string_view name, int64_t value) {
  return "`" + std::string(name) + " = " + std::to_string(value) + "` is the largest that fits";
}

static std::string pipelineHelp(const Overflow &overflow) {
  std::string names;
  for (const LedgerBuffer &buffer : overflow.live)
    if (buffer.kind == LedgerBuffer::Kind::Slots && buffer.count > overflow.pipeline)
      names += (names.empty() ? "`" : "`, `") + buffer.name;
  return "`pipeline " + std::to_string(overflow.pipeline) + "`" +
         (names.empty() ? "" : " on " + names + "`") + " frees " + bytesText(overflow.freed) +
         ", and fits";
}

std::string liveText(const Overflow &overflow) {
  constexpr size_t kNamed = 6;
  std::string text;
  int64_t others = 0;
  size_t numOthers = 0;
  for (size_t i = 0; i < overflow.live.size(); ++i) {
    const LedgerBuffer &buffer = overflow.live[i];
    // The small rest is summed, unless the sum would stand for one alone.
    // Buffers of less than a sixteenth of what is needed do not explain why it is too much.
    bool isNamed = i < kNamed && (buffer.total * 16 >= overflow.needed || i == 0 ||
                                  (numOthers == 0 && i + 1 == overflow.live.size()));
    if (!isNamed) {
      others += buffer.total;
      ++numOthers;
      continue;
    }
    text += (text.empty() ? "" : " · ") + buffer.name + " " + sizeText(buffer);
    if (buffer.kind == LedgerBuffer::Kind::Slots && isPipelined(overflow.space.place))
      text += ", `pipeline " + std::to_string(buffer.count) + "`";
    if (buffer.place.line)
      text += " (" + std::to_string(buffer.place.line) + ":" + std::to_string(buffer.place.column) +
              ")";
  }
  if (numOthers)
    text += " · " + bytesText(others) + " in " + std::to_string(numOthers) +
            (numOthers == 1 ? " other" : " others");
  return text;
}

static std::string triedText(const std::vector<std::string> &tried) {
  std::string text = "these ways to save memory were tried, but the tiles still do not fit: ";
  for (size_t i = 0; i < tried.size(); ++i)
    text += (i ? "; " : "") + tried[i];
  return text;
}

void reportOverflow(DiagnosticSink &sink, Span span, const Overflow &overflow,
                    const std::vector<Fix> &helps, const std::vector<TextEdit> &fewerCopies) {
  DiagnosticBuilder builder = sink.report(DiagId::BufferFull, span, argumentsOf(overflow));
  if (!overflow.live.empty())
    builder.note(liveText(overflow));
  // The bound would fit, so the loss is due to gaps.
  if (overflow.space.lowerBound <= overflow.space.usable && overflow.needed > overflow.space.usable)
    builder.note(bytesText(overflow.space.lowerBound) +
                 " are live at once; the rest is lost to gaps between buffers");
  if (!overflow.tried.empty())
    builder.note(triedText(overflow.tried));
  if (overflow.wholeTiles)
    builder.note("tiles were not done in parts: on every axis of variable length some operation "
                 "mixes positions");
  auto add = [&](FixId id, const std::string &title, const std::vector<TextEdit> &edits) {
    edits.empty() ? builder.help(title) : builder.fix(id, title, edits);
  };
  for (const Fix &help : helps)
    add(help.id, help.title, help.edits);
  if (overflow.pipeline)
    add(FixId::FewerCopies, pipelineHelp(overflow), fewerCopies);
}

std::vector<std::string> detailsOf(const Overflow &overflow) {
  DiagnosticSink sink;
  reportOverflow(sink, kNoSpan, overflow, {});
  std::vector<std::string> details = sink.all().front().notes;
  const std::vector<std::string> &helps = sink.all().front().helps;
  details.insert(details.end(), helps.begin(), helps.end());
  return details;
}

std::optional<int64_t> largestThatFits(std::span<const int64_t> candidates,
                                       const std::function<bool(int64_t)> &fits) {
  std::optional<int64_t> best;
  // This is a binary search: candidates are sorted, and what fits stays so for smaller ones.
  while (!candidates.empty()) {
    size_t middle = candidates.size() / 2;
    if (fits(candidates[middle])) {
      best = candidates[middle];
      candidates = candidates.subspan(middle + 1);
    } else {
      candidates = candidates.first(middle);
    }
  }
  return best;
}

} // namespace ptl
