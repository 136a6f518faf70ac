#include "frontend/base/render_human.h"

#include "frontend/base/utf8.h"

#include <algorithm>

namespace ptl {

namespace {

constexpr unsigned kTabWidth = 4;

/// One marked place on one line of source, in bytes from the start of the line.
struct Mark {
  uint32_t line = 1;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool primary = false;
  std::string_view text;
  // On the terminal, set when the line is drawn.
  unsigned column = 0;
  unsigned width = 1;
};

/// The part of a line that is shown, and where its bytes stand on the terminal.
struct Excerpt {
  std::string text;
  std::vector<unsigned> columns; ///< column of each byte of the window, and of its end
  uint32_t begin = 0;            ///< first byte of the line that is shown
};

class Human {
public:
  Human(std::string &out, const SourceManager &sources, const RenderOptions &options)
      : out_(out), sources_(sources), options_(options) {}

  void render(const Diagnostic &diagnostic);

private:
  void header(const Diagnostic &diagnostic);
  void excerpts(FileId file, std::vector<Mark> marks);
  void drawLine(const SourceFile &file, std::vector<Mark> marks);
  void drawMarks(std::vector<Mark> &marks);
  void footer(const char *word, std::string_view text);
  void gutter(std::string_view number);
  void paint(const char *code, std::string_view text);

  std::string &out_;
  const SourceManager &sources_;
  const RenderOptions &options_;
  unsigned gutterWidth_ = 2;
  const char *severityColor_ = "";
};

constexpr const char *kBold = "\x1b[1m";
constexpr const char *kBlue = "\x1b[1;34m";
constexpr const char *kReset = "\x1b[0m";

const char *colorOf(Severity severity) {
  static constexpr const char *colors[] = {"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;36m"};
  return colors[static_cast<size_t>(severity)];
}

/// Marks only the first line of a span that goes over several.
Mark markOf(const SourceFile &file, Span span, bool primary, std::string_view text) {
  LineColumn place = file.lineColumn(span.begin);
  uint32_t start = file.lineStart(place.line);
  auto length = static_cast<uint32_t>(file.line(place.line).size());
  uint32_t begin = std::min(span.begin - start, length);
  uint32_t end = std::clamp(span.end - start, begin, length);
  return {place.line, begin, end, primary, text};
}

/// Moves `offset` back to the start of the code point it lies in.
size_t alignBack(std::string_view text, size_t offset) {
  for (unsigned i = 0; i < 3 && offset > 0 && offset < text.size(); ++i)
    if ((static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80)
      --offset;
  return offset;
}

/// Shows the bytes `[begin, end)` of `line`: tabs become spaces, what a terminal cannot show
/// U+FFFD.
Excerpt showBytes(std::string_view line, size_t begin, size_t end) {
  Excerpt excerpt;
  excerpt.begin = static_cast<uint32_t>(begin);
  unsigned column = 0;
  if (begin > 0) {
    excerpt.text = "…";
    column = 1;
  }
  for (size_t i = begin; i < end;) {
    CodePoint point = decodeUtf8(line, i);
    // Every byte of a character gets its column, so that a span that ends within one is still
    // drawn.
    excerpt.columns.insert(excerpt.columns.end(), point.length, column);
    if (point.value == '\t') {
      unsigned width = kTabWidth - column % kTabWidth;
      excerpt.text.append(width, ' ');
      column += width;
    } else if (!point.valid || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) {
      // Control characters are replaced as well: those of a hostile file could steer the terminal.
      excerpt.text += "\xEF\xBF\xBD";
      ++column;
    } else {
      excerpt.text.append(line, i, point.length);
      column += displayWidth(point.value);
    }
    i += point.length;
  }
  excerpt.columns.push_back(column);
  if (end < line.size())
    excerpt.text += "…";
  return excerpt;
}

/// Cuts a long line around its marks, the primary one first.
Excerpt cutLine(std::string_view line, const std::vector<Mark> &marks, size_t width) {
  if (line.size() <= width)
    return showBytes(line, 0, line.size());
  const Mark *centre = &marks.front();
  for (const Mark &mark : marks)
    if (mark.primary)
      centre = &mark;
  size_t begin = centre->begin > width / 3 ? centre->begin - width / 3 : 0;
  size_t end = std::min(line.size(), begin + width);
  return showBytes(line, alignBack(line, begin), alignBack(line, end));
}

void Human::paint(const char *code, std::string_view text) {
  if (options_.color)
    out_ += code;
  out_ += text;
  if (options_.color)
    out_ += kReset;
}

void Human::gutter(std::string_view number) {
  std::string text(gutterWidth_ > number.size() ? gutterWidth_ - number.size() : 0, ' ');
  text += number;
  paint(kBlue, text + " |");
}

void Human::drawMarks(std::vector<Mark> &marks) {
  // All underlines stand in one row; the text of the last follows it, the others hang below.
  gutter("");
  out_ += ' ';
  unsigned column = 0;
  for (const Mark &mark : marks) {
    if (mark.column < column)
      continue;
    out_.append(mark.column - column, ' ');
    paint(mark.primary ? severityColor_ : kBlue, std::string(mark.width, mark.primary ? '^' : '-'));
    column = mark.column + mark.width;
  }
  std::vector<const Mark *> hanging;
  for (const Mark &mark : marks)
    if (!mark.text.empty())
      hanging.push_back(&mark);
  if (!hanging.empty() && hanging.back() == &marks.back()) {
    out_ += ' ';
    paint(marks.back().primary ? severityColor_ : kBlue, marks.back().text);
    hanging.pop_back();
  }
  out_ += '\n';
  while (!hanging.empty()) {
    gutter("");
    out_ += ' ';
    column = 0;
    for (const Mark *mark : hanging) {
      if (mark->column < column)
        continue;
      out_.append(mark->column - column, ' ');
      const char *color = mark->primary ? severityColor_ : kBlue;
      paint(color, mark == hanging.back() ? mark->text : std::string_view("|"));
      column = mark->column + 1;
    }
    // A mark in the same column as its left neighbour still gets its own row.
    if (hanging.size() > 1 && hanging[hanging.size() - 2]->column == hanging.back()->column) {
      out_ += ' ';
      paint(kBlue, hanging.back()->text);
    }
    hanging.pop_back();
    out_ += '\n';
  }
}

void Human::drawLine(const SourceFile &file, std::vector<Mark> marks) {
  std::string_view line = file.line(marks.front().line);
  Excerpt excerpt = cutLine(line, marks, options_.excerptWidth);
  gutter(std::to_string(marks.front().line));
  if (!excerpt.text.empty())
    out_ += ' ' + excerpt.text;
  out_ += '\n';
  auto columnOf = [&](uint32_t byte) {
    size_t index = byte > excerpt.begin ? byte - excerpt.begin : 0;
    return excerpt.columns[std::min(index, excerpt.columns.size() - 1)];
  };
  for (Mark &mark : marks) {
    mark.column = columnOf(mark.begin);
    mark.width = std::max(1u, columnOf(mark.end) - mark.column);
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark &a, const Mark &b) { return a.column < b.column; });
  drawMarks(marks);
}

void Human::excerpts(FileId id, std::vector<Mark> marks) {
  const SourceFile &file = sources_.file(id);
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark &a, const Mark &b) { return a.line < b.line; });
  gutter("");
  out_ += '\n';
  for (size_t i = 0; i < marks.size();) {
    size_t end = i;
    while (end < marks.size() && marks[end].line == marks[i].line)
      ++end;
    drawLine(file, {marks.begin() + i, marks.begin() + end});
    i = end;
  }
}

void Human::header(const Diagnostic &diagnostic) {
  std::string word = severityName(diagnostic.severity);
  paint(severityColor_, word + "[" + diagInfo(diagnostic.id).code + "]");
  paint(kBold, ": " + diagnostic.message);
  out_ += '\n';
}

void Human::footer(const char *word, std::string_view text) {
  out_.append(gutterWidth_ + 1, ' ');
  paint(kBlue, "=");
  out_ += ' ';
  paint(kBold, std::string(word) + ":");
  out_ += ' ';
  // Further lines of the text stand under its first.
  for (char c : text) {
    out_ += c;
    if (c == '\n')
      out_.append(gutterWidth_ + 5 + std::string_view(word).size(), ' ');
  }
  out_ += '\n';
}

void Human::render(const Diagnostic &diagnostic) {
  severityColor_ = colorOf(diagnostic.severity);
  header(diagnostic);
  if (diagnostic.span.file != kNoFile) {
    // One group of marks per file, the file of the diagnostic first.
    std::vector<std::pair<FileId, std::vector<Mark>>> groups;
    auto add = [&](Span span, bool primary, std::string_view text) {
      if (span.file == kNoFile)
        return;
      auto it = std::find_if(groups.begin(), groups.end(),
                             [&](const auto &group) { return group.first == span.file; });
      if (it == groups.end())
        it = groups.insert(groups.end(), {span.file, {}});
      it->second.push_back(markOf(sources_.file(span.file), span, primary, text));
    };
    add(diagnostic.span, true, diagnostic.primaryLabel);
    for (const Label &label : diagnostic.labels)
      add(label.span, false, label.text);
    uint32_t lastLine = 0;
    for (const auto &[file, marks] : groups)
      for (const Mark &mark : marks)
        lastLine = std::max(lastLine, mark.line);
    gutterWidth_ = std::max<unsigned>(2, static_cast<unsigned>(std::to_string(lastLine).size()));
    for (const auto &[file, marks] : groups) {
      LineColumn place = {marks.front().line, marks.front().begin + 1};
      out_.append(gutterWidth_, ' ');
      paint(kBlue, file == diagnostic.span.file ? "-->" : ":::");
      out_ += " " + sources_.file(file).path() + ":" + std::to_string(place.line) + ":" +
              std::to_string(place.column) + "\n";
      excerpts(file, marks);
    }
  }
  for (const std::string &note : diagnostic.notes)
    footer("note", note);
  for (const std::string &help : diagnostic.helps)
    footer("help", help);
  for (const Fix &fix : diagnostic.fixes)
    footer(fix.isCertain() ? "fix" : "help", fix.title);
}

} // namespace

void renderHuman(std::string &out, const SourceManager &sources, const Diagnostic &diagnostic,
                 const RenderOptions &options) {
  Human(out, sources, options).render(diagnostic);
}

} // namespace ptl
