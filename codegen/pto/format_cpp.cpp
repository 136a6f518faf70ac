#include "codegen/pto/format_cpp.h"

#include "clang/Format/Format.h"

#include <algorithm>

namespace ptl::pto {

static std::vector<unsigned> lineStarts(const std::string &text) {
  std::vector<unsigned> starts{0};
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' && i + 1 < text.size())
      starts.push_back(static_cast<unsigned>(i + 1));
  return starts;
}

static unsigned firstVisible(const std::string &text, unsigned at) {
  while (at < text.size() && text[at] == ' ')
    ++at;
  return at;
}

void formatCpp(Emitted &emitted) {
  namespace format = clang::format;
  namespace tooling = clang::tooling;
  format::FormatStyle style = format::getLLVMStyle();
  style.ColumnLimit = 100;
  style.AllowShortFunctionsOnASingleLine = format::FormatStyle::SFS_All;
  // Helpers are short, and a line of their own for `template` would double them.
  style.BreakTemplateDeclarations = format::FormatStyle::BTDS_No;
  style.StatementMacros.clear();
  // Without these the formatter takes the words for types and breaks lines behind them.
  style.AttributeMacros = {"AICORE", "__gm__", "__global__"};
  tooling::Range all(0, static_cast<unsigned>(emitted.text.size()));
  tooling::Replacements edits = format::reformat(style, emitted.text, {all}, "kernel.cpp");
  llvm::Expected<std::string> formatted = tooling::applyAllReplacements(emitted.text, edits);
  // The text is right without the format, so it stays as it is.
  if (!formatted) {
    llvm::consumeError(formatted.takeError());
    return;
  }
  std::vector<unsigned> newStarts = lineStarts(*formatted);
  std::vector<std::optional<SourcePlace>> places(newStarts.size());
  std::vector<unsigned> oldStarts = lineStarts(emitted.text);
  for (size_t i = 0; i < oldStarts.size(); ++i) {
    const SourcePlace *place = emitted.lines.at(static_cast<unsigned>(i + 1));
    if (!place)
      continue;
    unsigned begin = edits.getShiftedCodePosition(firstVisible(emitted.text, oldStarts[i]));
    unsigned oldEnd = i + 1 < oldStarts.size() ? oldStarts[i + 1] - 1
                                               : static_cast<unsigned>(emitted.text.size());
    // A line may be broken into several, which all come from the same place of the source.
    unsigned end = edits.getShiftedCodePosition(oldEnd - 1);
    auto lineAt = [&](unsigned offset) {
      return static_cast<size_t>(std::upper_bound(newStarts.begin(), newStarts.end(), offset) -
                                 newStarts.begin()) -
             1;
    };
    for (size_t line = lineAt(begin); line <= lineAt(end) && line < places.size(); ++line)
      // Where several lines were joined the first one gives the place.
      if (!places[line])
        places[line] = *place;
  }
  LineMap lines;
  for (std::optional<SourcePlace> &place : places)
    lines.add(std::move(place));
  emitted.text = std::move(*formatted);
  emitted.lines = std::move(lines);
}

void addLineDirectives(Emitted &emitted, const std::string &fileName) {
  std::string text;
  LineMap lines;
  unsigned number = 0;
  SourcePlace at; // what the last directive named; no file: the text itself
  auto direct = [&](const std::string &file, unsigned line) {
    text += "#line " + std::to_string(line) + " \"" + file + "\"\n";
    lines.add(std::nullopt);
  };
  for (llvm::StringRef rest = emitted.text; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    rest = after;
    const SourcePlace *place = emitted.lines.at(++number);
    llvm::StringRef visible = line.ltrim();
    bool code = !visible.empty() && !visible.starts_with("//");
    if (place && code && (at.file != place->file || at.line != place->line)) {
      direct(place->file, place->line);
      at = *place;
    } else if (!place && code && visible == line && !line.starts_with("#") &&
               !line.starts_with("}") && !at.file.empty()) {
      direct(fileName, lines.numLines() + 2);
      // Lines of the text itself follow, which a directive for the source would place wrongly.
      at = {};
    }
    text += line.str() + "\n";
    lines.add(place ? std::optional<SourcePlace>(*place) : std::nullopt);
  }
  emitted.text = std::move(text);
  emitted.lines = std::move(lines);
}

} // namespace ptl::pto
