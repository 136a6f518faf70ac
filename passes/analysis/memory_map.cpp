#include "passes/analysis/memory_map.h"

#include "frontend/base/markup.h"

#include <algorithm>

namespace ptl {

static uint32_t positionsOf(const LedgerFunction &function) {
  return std::max<uint32_t>(1, static_cast<uint32_t>(function.lines.size()));
}

static std::string placeText(const LedgerFunction &function, const LedgerSpace &space,
                             const BufferLedger &ledger) {
  return space.place + " of " + function.name + " on " + ledger.machine;
}

static std::string useText(const LedgerSpace &space) {
  std::string text = bytesText(space.peak) + " of " + capacityText(space);
  if (space.lowerBound < space.peak)
    text += ", at least " + bytesText(space.lowerBound);
  return text;
}

// ---- text ---------------------------------------------------------------------------------------

namespace {

constexpr uint32_t kColumns = 100;
constexpr size_t kBands = 48;

/// Draws one memory of one function with characters.
class TextMap {
public:
  TextMap(const LedgerFunction &function, const LedgerSpace &space)
      : function_(function), space_(space), positions_(positionsOf(function)) {
    // Few positions get several columns each, at most eight, so that names fit into the boxes.
    columns_ = positions_ >= kColumns ? kColumns
                                      : positions_ * std::min<uint32_t>(8, kColumns / positions_);
  }
  std::string draw() const;

private:
  uint32_t columnOf(uint32_t position) const {
    return static_cast<uint32_t>(uint64_t(std::min(position, positions_)) * columns_ / positions_);
  }
  std::vector<int64_t> bands() const;
  void drawBox(std::string &row, const LedgerBuffer &buffer, bool named) const;
  std::string lineLabels() const;
  std::string loopRow(uint32_t depth) const;

  const LedgerFunction &function_;
  const LedgerSpace &space_;
  uint32_t positions_;
  uint32_t columns_;
};

} // namespace

/// Addresses between which the rows stand: where something begins or ends, or evenly when these are
/// many.
std::vector<int64_t> TextMap::bands() const {
  std::vector<int64_t> edges = {0};
  for (const LedgerBuffer &buffer : space_.buffers) {
    edges.push_back(buffer.address);
    edges.push_back(buffer.address + buffer.total);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  // With too many edges the rows stand at even distances, and small buffers may be missed.
  if (edges.size() <= kBands + 1)
    return edges;
  edges.clear();
  for (size_t i = 0; i <= kBands; ++i)
    edges.push_back(space_.peak * static_cast<int64_t>(i) / static_cast<int64_t>(kBands));
  return edges;
}

void TextMap::drawBox(std::string &row, const LedgerBuffer &buffer, bool named) const {
  uint32_t from = columnOf(buffer.begin);
  // A buffer of one position still has a column.
  uint32_t to = std::max(from + 1, columnOf(buffer.end + 1));
  uint32_t width = to - from;
  if (width == 1) {
    row[from] = '|';
    return;
  }
  std::string box = "[" + std::string(width - 2, '=') + "]";
  // Names may be UTF-8; what would be cut inside a character is left out.
  bool plain = std::all_of(buffer.name.begin(), buffer.name.end(),
                           [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (named && plain)
    for (size_t i = 0; i < buffer.name.size() && i + 2 < width; ++i)
      box[i + 1] = buffer.name[i];
  row.replace(from, width, box);
}

/// Source lines, each above the first position that came from it, as far as there is room.
std::string TextMap::lineLabels() const {
  std::string row(columns_, ' ');
  size_t free = 0;
  uint32_t last = 0;
  for (uint32_t position = 0; position < positions_; ++position) {
    uint32_t line = function_.lineAt(position), column = columnOf(position);
    if (!line || line == last)
      continue;
    last = line;
    std::string label = std::to_string(line);
    // A label that would touch the one before is left out.
    if (column < free || column + label.size() > columns_)
      continue;
    row.replace(column, label.size(), label);
    free = column + label.size() + 1;
  }
  return row.substr(0, row.find_last_not_of(' ') + 1);
}

std::string TextMap::loopRow(uint32_t depth) const {
  std::string row(columns_, ' ');
  for (const LedgerLoop &loop : function_.loops) {
    if (loop.depth != depth)
      continue;
    uint32_t from = columnOf(loop.begin), to = std::max(from + 1, columnOf(loop.end + 1));
    for (uint32_t column = from; column < to; ++column)
      row[column] = column == from ? '<' : column + 1 == to ? '>' : '-';
  }
  size_t end = row.find_last_not_of(' ');
  return end == std::string::npos ? "" : row.substr(0, end + 1);
}

std::string TextMap::draw() const {
  static constexpr size_t kLabel = 10;
  auto labelled = [](std::string label, const std::string &row) {
    label.insert(0, kLabel - std::min(kLabel, label.size()), ' ');
    return label + " " + row + "\n";
  };
  std::string out;
  std::vector<int64_t> edges = bands();
  std::vector<bool> named(space_.buffers.size(), false);
  // High addresses stand at the top.
  for (size_t band = edges.size() - 1; band-- > 0;) {
    std::string row(columns_, ' ');
    // The middle of the band decides, since buffers do not begin within a band unless these are
    // even.
    int64_t middle = edges[band] + (edges[band + 1] - edges[band]) / 2;
    for (size_t i = 0; i < space_.buffers.size(); ++i) {
      const LedgerBuffer &buffer = space_.buffers[i];
      if (buffer.address < 0 || middle < buffer.address || middle >= buffer.address + buffer.total)
        continue;
      drawBox(row, buffer, !named[i]);
      named[i] = true;
    }
    out += labelled(bytesText(edges[band]), row.substr(0, row.find_last_not_of(' ') + 1));
  }
  // Deeper loops would take more rows than they explain.
  for (uint32_t depth = 0; depth < 4; ++depth)
    if (std::string row = loopRow(depth); !row.empty())
      out += labelled("loop", row);
  return out + labelled("line", lineLabels());
}

std::string memoryMapText(const BufferLedger &ledger) {
  std::string out;
  for (const LedgerFunction &function : ledger.functions)
    for (const LedgerSpace &space : function.spaces) {
      out += (out.empty() ? "" : "\n") + placeText(function, space, ledger) + ": " +
             useText(space) + "\n";
      out += space.fits ? TextMap(function, space).draw() : "it does not fit\n";
    }
  return out;
}

// ---- SVG ----------------------------------------------------------------------------------------

namespace {

// Pixels. Half a window is about as wide as this, so that the letters keep their size beside a source.
constexpr int kLeft = 70, kWidth = 520, kRight = 10, kTop = 60, kHeight = 300, kBelow = 60;
constexpr int kPanel = kTop + kHeight + kBelow;

/// Draws one memory of one function, from `y` downwards.
class SvgMap {
public:
  // The height has to show both the limit and what goes beyond it.
  SvgMap(const LedgerFunction &function, const LedgerSpace &space, int y)
      : function_(function), space_(space), y_(y), positions_(positionsOf(function)),
        top_(std::max<int64_t>({1, space.usable, space.peak})) {}
  std::string draw(const std::string &title, const std::string &use);

private:
  int x(uint32_t position) const {
    return kLeft + static_cast<int>(uint64_t(std::min(position, positions_)) * kWidth / positions_);
  }
  int y(int64_t address) const {
    return y_ + kTop + kHeight - static_cast<int>(address * kHeight / top_);
  }
  void text(int x, int y, const std::string &style, const std::string &words);
  void line(int x1, int y1, int x2, int y2, const std::string &style);
  void axes();
  void box(const LedgerBuffer &buffer, size_t number);
  void loops();
  void lineLabels();
  void fullest();

  const LedgerFunction &function_;
  const LedgerSpace &space_;
  int y_;
  uint32_t positions_;
  int64_t top_;
  std::string out_;
};

} // namespace

static std::string attribute(std::string_view name, int value) {
  return " " + std::string(name) + "=\"" + std::to_string(value) + "\"";
}

void SvgMap::text(int x, int y, const std::string &style, const std::string &words) {
  out_ += "<text" + attribute("x", x) + attribute("y", y) + style + ">" + escapedMarkup(words) +
          "</text>\n";
}

void SvgMap::line(int x1, int y1, int x2, int y2, const std::string &style) {
  out_ += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
          attribute("y2", y2) + style + "/>\n";
}

void SvgMap::axes() {
  for (int quarter = 0; quarter <= 4; ++quarter) {
    int64_t address = top_ * quarter / 4;
    line(kLeft, y(address), kLeft + kWidth, y(address), " stroke=\"#ddd\"");
    text(kLeft - 6, y(address) + 4, " text-anchor=\"end\"", bytesText(address));
  }
  if (space_.peak > space_.usable && space_.bytes)
    line(kLeft, y(space_.usable), kLeft + kWidth, y(space_.usable), " stroke=\"#c00\"");
}

void SvgMap::box(const LedgerBuffer &buffer, size_t number) {
  static constexpr std::string_view colours[] = {"#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6",
                                                 "#fb9a99", "#ffff99", "#b3e2cd", "#e5d8bd"};
  int left = x(buffer.begin), right = std::max(left + 2, x(buffer.end + 1));
  int top = y(buffer.address + buffer.total), height = std::max(1, y(buffer.address) - top);
  std::string kind = buffer.kind == LedgerBuffer::Kind::Queue ? " stroke-dasharray=\"4 2\"" : "";
  out_ += "<g" + attribute("data-line", static_cast<int>(buffer.place.line)) + "><title>" +
          escapedMarkup(buffer.name + " " + buffer.type + ": " + sizeText(buffer) + " at " +
                        std::to_string(buffer.address) + ", made at line " +
                        std::to_string(buffer.place.line) + ", live from line " +
                        std::to_string(function_.lineAt(buffer.begin)) + " to " +
                        std::to_string(function_.lineAt(buffer.end))) +
          "</title><rect" + attribute("x", left) + attribute("y", top) +
          attribute("width", right - left) + attribute("height", height) + " rx=\"2\" fill=\"" +
          std::string(colours[number % std::size(colours)]) + "\" stroke=\"#555\"" + kind + "/>\n";
  // Slots are only separated where the lines do not run together.
  for (int64_t slot = 1; slot < buffer.count && height > 6 * buffer.count; ++slot)
    line(left, y(buffer.address + buffer.total / buffer.count * slot), right,
         y(buffer.address + buffer.total / buffer.count * slot),
         " stroke=\"#555\" stroke-dasharray=\"2 3\"");
  // A character is about 7 pixels wide.
  int room = (right - left - 6) / 7; // characters
  std::string label = buffer.name + " " + sizeText(buffer);
  if (static_cast<int>(label.size()) > room)
    label = buffer.name;
  if (static_cast<int>(label.size()) <= room && height >= 12)
    text(left + 4, top + height - height / static_cast<int>(2 * buffer.count) + 4, "", label);
  out_ += "</g>\n";
}

void SvgMap::loops() {
  for (const LedgerLoop &loop : function_.loops) {
    if (loop.depth > 3)
      continue;
    int at = y_ + kTop + kHeight + 6 + static_cast<int>(loop.depth) * 6;
    out_ += "<g><title>loop at line " + std::to_string(loop.place.line) + "</title>\n";
    line(x(loop.begin) + 1, at, x(loop.end + 1) - 1, at, " stroke=\"#555\" stroke-width=\"3\"");
    out_ += "</g>\n";
  }
}

// Labels that would overlap are left out; their ticks stay.
void SvgMap::lineLabels() {
  text(kLeft - 6, y_ + kTop + kHeight + 42, " text-anchor=\"end\"", "line");
  int free = 0;
  uint32_t last = 0;
  for (uint32_t position = 0; position < positions_; ++position) {
    uint32_t number = function_.lineAt(position);
    if (!number || number == last)
      continue;
    last = number;
    line(x(position), y_ + kTop + kHeight, x(position), y_ + kTop + kHeight + 4,
         " stroke=\"#555\"");
    if (x(position) < free)
      continue;
    std::string label = std::to_string(number);
    text(x(position), y_ + kTop + kHeight + 42, "", label);
    free = x(position) + static_cast<int>(label.size()) * 7 + 6;
  }
}

void SvgMap::fullest() {
  int at = (x(space_.fullest) + x(space_.fullest + 1)) / 2;
  out_ += "<g><title>" + bytesText(space_.lowerBound) + " live at line " +
          std::to_string(function_.lineAt(space_.fullest)) + "</title>\n";
  line(at, y_ + kTop - 6, at, y_ + kTop + kHeight, " stroke=\"#c00\" stroke-dasharray=\"3 3\"");
  out_ += "</g>\n";
}

std::string SvgMap::draw(const std::string &title, const std::string &use) {
  text(kLeft, y_ + 20, " font-weight=\"bold\"", title);
  text(kLeft, y_ + 38, "", use);
  axes();
  for (size_t i = 0; i < space_.buffers.size(); ++i)
    if (space_.buffers[i].address >= 0)
      box(space_.buffers[i], i);
  loops();
  lineLabels();
  fullest();
  return std::move(out_);
}

std::string memoryMapSvg(const BufferLedger &ledger) {
  std::string body;
  int panels = 0;
  for (const LedgerFunction &function : ledger.functions)
    for (const LedgerSpace &space : function.spaces)
      body += SvgMap(function, space, kPanel * panels++)
                  .draw(placeText(function, space, ledger), useText(space));
  int width = kLeft + kWidth + kRight, height = std::max(1, kPanel * panels);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width) + " " +
         std::to_string(height) + "\"" + attribute("width", width) + attribute("height", height) +
         " font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"#fff\"/>\n" +
         body + "</svg>\n";
}

} // namespace ptl
