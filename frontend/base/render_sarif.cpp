#include "frontend/base/render_sarif.h"

#include "frontend/base/json.h"
#include "frontend/base/utf8.h"

#include <algorithm>

namespace ptl {

/// A path as the path of a URI: everything outside the unreserved characters is percent-encoded.
static std::string uriOf(std::string_view path) {
  static const char digits[] = "0123456789ABCDEF";
  std::string uri = !path.empty() && path[0] == '/' ? "file://" : "";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                 (byte >= '0' && byte <= '9') ||
                 std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
      continue;
    }
    uri += '%';
    uri += digits[byte >> 4];
    uri += digits[byte & 15];
  }
  return uri;
}

/// Line and column as SARIF counts them here: both from 1, columns in code points.
static void writePlace(JsonWriter &json, const SourceFile &file, uint32_t offset, const char *line,
                       const char *column) {
  LineColumn place = file.lineColumn(offset);
  size_t points = countCodePoints(
      file.line(place.line)
          .substr(0, std::min<size_t>(place.column - 1, file.line(place.line).size())));
  json.field(line, place.line).field(column, static_cast<int64_t>(points) + 1);
}

static void writeRegion(JsonWriter &json, const char *key, const SourceFile &file, Span span) {
  json.key(key).beginObject();
  writePlace(json, file, span.begin, "startLine", "startColumn");
  writePlace(json, file, span.end, "endLine", "endColumn");
  json.field("byteOffset", span.begin).field("byteLength", span.end - span.begin);
  json.endObject();
}

static void writeText(JsonWriter &json, const char *key, std::string_view text) {
  json.key(key).beginObject().field("text", text).endObject();
}

static void writeArtifact(JsonWriter &json, const SourceFile &file) {
  json.key("artifactLocation").beginObject().field("uri", uriOf(file.path())).endObject();
}

static void writeLocation(JsonWriter &json, const SourceManager &sources, Span span,
                          std::string_view text) {
  const SourceFile &file = sources.file(span.file);
  json.beginObject().key("physicalLocation").beginObject();
  writeArtifact(json, file);
  writeRegion(json, "region", file, span);
  json.endObject();
  if (!text.empty())
    writeText(json, "message", text);
  json.endObject();
}

static void writeFix(JsonWriter &json, const SourceManager &sources, const Fix &fix) {
  json.beginObject();
  writeText(json, "description", fix.title);
  json.key("artifactChanges").beginArray();
  for (const TextEdit &edit : fix.edits) {
    const SourceFile &file = sources.file(edit.span.file);
    json.beginObject();
    writeArtifact(json, file);
    json.key("replacements").beginArray().beginObject();
    writeRegion(json, "deletedRegion", file, edit.span);
    writeText(json, "insertedContent", edit.text);
    json.endObject().endArray().endObject();
  }
  json.endArray().key("properties").beginObject().field("kind", fixInfo(fix.id).name);
  json.field("safety", fixSafetyName(fixInfo(fix.id).safety)).endObject().endObject();
}

static void writeResult(JsonWriter &json, const SourceManager &sources,
                        const Diagnostic &diagnostic) {
  std::string message = diagnostic.message;
  // SARIF has no place for notes, and viewers show the message only.
  for (const std::vector<std::string> *lines : {&diagnostic.notes, &diagnostic.helps})
    for (const std::string &line : *lines)
      message += "\n" + line;
  json.beginObject().field("ruleId", diagInfo(diagnostic.id).code);
  json.field("level", severityName(diagnostic.severity));
  writeText(json, "message", message);
  json.key("locations").beginArray();
  if (diagnostic.span.file != kNoFile)
    writeLocation(json, sources, diagnostic.span, diagnostic.primaryLabel);
  json.endArray();
  json.key("relatedLocations").beginArray();
  for (const Label &label : diagnostic.labels)
    if (label.span.file != kNoFile)
      writeLocation(json, sources, label.span, label.text);
  json.endArray();
  json.key("fixes").beginArray();
  for (const Fix &fix : diagnostic.fixes)
    writeFix(json, sources, fix);
  json.endArray().endObject();
}

static void writeRules(JsonWriter &json, const std::vector<Diagnostic> &diagnostics) {
  std::vector<DiagId> used;
  for (const Diagnostic &diagnostic : diagnostics)
    used.push_back(diagnostic.id);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  json.key("rules").beginArray();
  for (DiagId id : used) {
    const DiagInfo &info = diagInfo(id);
    json.beginObject().field("id", info.code).field("name", info.name);
    writeText(json, "shortDescription", info.message);
    json.endObject();
  }
  json.endArray();
}

std::string renderSarif(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics) {
  JsonWriter json;
  json.beginObject();
  json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json").field("version", "2.1.0");
  json.key("runs").beginArray().beginObject();
  json.key("tool").beginObject().key("driver").beginObject().field("name", "ptlc");
  writeRules(json, diagnostics);
  json.endObject().endObject();
  json.field("columnKind", "unicodeCodePoints");
  json.key("results").beginArray();
  for (const Diagnostic &diagnostic : diagnostics)
    writeResult(json, sources, diagnostic);
  json.endArray().endObject().endArray().endObject();
  return json.take();
}

} // namespace ptl
