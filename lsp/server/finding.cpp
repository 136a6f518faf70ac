#include "lsp/server/finding.h"

#include "lsp/server/connection.h"
#include "lsp/server/session.h"

#include <functional>
#include <utility>

namespace ptl::lsp {

namespace {

/// Writes positions of a document into a text whose lines count from `origin`.
struct PlacedWriter {
  const Session &session;
  const ide::Document &document;
  uint32_t origin;
  PlacedText &out;

  void position(uint32_t offset) {
    ide::LineByte at = document.position(offset);
    out.position(at.line - origin, session.length(document.lineText(at.line).substr(0, at.byte)));
  }
  void range(ide::Range range) {
    out.text += "{\"start\":";
    position(range.begin);
    out.text += ",\"end\":";
    position(range.end);
    out.text += '}';
  }
  void related(const ide::Location &location, const std::string &message) {
    out.text += "{\"location\":";
    // Lines of this document are counted from the chunk, so the text stays right when the chunk
    // moves.
    if (&location.file->document == &document) {
      out.text += "{\"uri\":" + jsonText(Session::uri(location.file->path())) + ",\"range\":";
      range(location.range);
      out.text += '}';
    } else {
      out.text += dumped(session.location(location));
    }
    out.text += ",\"message\":" + jsonText(message) + '}';
  }
  void all(ide::Range range, const FindingParts &parts) {
    constexpr int unnecessary = 1; // a tag of the protocol
    out.text = "{\"code\":" + jsonText(parts.code) + ",\"message\":" + jsonText(parts.message) +
               ",\"severity\":" + std::to_string(parts.severity) + ",\"source\":\"ptl\",\"range\":";
    this->range(range);
    if (!parts.page.empty())
      out.text += ",\"codeDescription\":{\"href\":" + jsonText(parts.page) + '}';
    if (parts.isUnneeded)
      out.text += ",\"tags\":[" + std::to_string(unnecessary) + ']';
    if (!parts.related.empty())
      out.text += ",\"relatedInformation\":";
    // The first item opens the list, each other one is separated from the one before.
    char before = '[';
    for (const auto &[location, message] : parts.related) {
      out.text += std::exchange(before, ',');
      related(location, message);
    }
    out.text += parts.related.empty() ? "}" : "]}";
  }
};

} // namespace

PlacedFinding findingAt(const Session &session, const ide::File &file, ide::Range range,
                        FindingParts parts, uint32_t origin) {
  auto finding = std::make_shared<Finding>();
  PlacedWriter{session, file.document, origin, finding->text}.all(range, parts);
  finding->line = file.document.position(range.begin).line - origin;
  finding->severity = parts.severity;
  finding->hash = std::hash<std::string>()(parts.code + "\n" + parts.message + "\n");
  finding->code = std::move(parts.code);
  finding->message = std::move(parts.message);
  return {std::move(finding), origin};
}

std::string jsonText(const std::vector<PlacedFinding> &findings) {
  size_t size = 2;
  for (const PlacedFinding &each : findings)
    size += each.text().size() + 1;
  std::string all = "[";
  all.reserve(size);
  for (const PlacedFinding &each : findings) {
    if (all.size() > 1)
      all += ',';
    all += each.text();
  }
  return all += ']';
}

} // namespace ptl::lsp
