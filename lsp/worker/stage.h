// A stage as text, with the source of each of its lines, for previews.
#pragma once

#include "compile/stage_table.h"
#include "frontend/base/span.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::worker {

/// A requested stage, and its chip (`block@a3`).
struct StageWish {
  StageId id = StageId::Tile;
  std::string target; ///< empty: the CPU
};
/// Nothing if the text is not the name of a stage. If the text names no chip, a stage for chips
/// only is made for `kUsualChip`, and one for every machine is made for the CPU.
std::optional<StageWish> stageWish(std::string_view text);
/// The default chip of stages for chips.
inline constexpr std::string_view kUsualChip = "a3";

/// Facts about one line in addition to its text.
struct LineFacts {
  std::string op; ///< name of the operation or instruction that begins here; empty: none
  std::vector<std::string> operands, results; ///< types
  std::vector<std::string> notes;             ///< paragraphs of Markdown
};

/// Maps the lines of a text to their origins. Lines with the same origin share it.
class LineMap {
public:
  static constexpr uint32_t kNone = ~uint32_t(0);

  /// The number of an origin, whose innermost range comes first; kNone if it is empty.
  uint32_t intern(std::vector<Span> spans);
  /// `line` counts from 0.
  void set(size_t line, uint32_t origin);
  uint32_t originOf(size_t line) const { return line < lines_.size() ? lines_[line] : kNone; }
  /// Empty for a line that has no origin.
  const std::vector<Span> &spans(size_t line) const;
  const std::vector<Span> &origin(uint32_t number) const { return origins_[number]; }
  size_t lineCount() const { return lines_.size(); }

private:
  std::vector<std::vector<Span>> origins_;
  std::vector<uint32_t> lines_;
};

/// A part of a text that can be folded away; lines count from 0, both inclusive.
struct Fold {
  uint32_t start = 0, end = 0;
  const char *kind = "region";
};

struct StageText {
  std::string text;
  LineMap map;
  std::vector<LineFacts> facts; ///< per line; may be shorter than the text

  size_t bytes() const { return text.size() * 2 + map.lineCount() * 80; }
  /// Appends another text.
  void append(const StageText &more);
};

std::vector<std::string_view> linesOf(std::string_view text);

/// Finds folds by brackets at line ends, and by labels in assembly.
std::vector<Fold> foldsOf(std::string_view text, StageId stage);

} // namespace ptl::worker
