#include "frontend/base/render_json.h"

#include "frontend/base/json.h"

namespace ptl {

static void writePlace(JsonWriter &json, std::string_view name, const SourceFile &file,
                       uint32_t offset) {
  LineColumn place = file.lineColumn(offset);
  json.key(name).beginObject();
  json.field("offset", offset).field("line", place.line).field("column", place.column);
  json.endObject();
}

/// `"file"`, `"begin"` and `"end"` of a span; nothing for a span without place.
static void writeSpan(JsonWriter &json, const SourceManager &sources, Span span) {
  if (span.file == kNoFile)
    return;
  const SourceFile &file = sources.file(span.file);
  json.field("file", file.path());
  writePlace(json, "begin", file, span.begin);
  writePlace(json, "end", file, span.end);
}

static void writeStrings(JsonWriter &json, std::string_view name,
                         const std::vector<std::string> &strings) {
  json.key(name).beginArray();
  for (const std::string &text : strings)
    json.string(text);
  json.endArray();
}

static void writeFixes(JsonWriter &json, const SourceManager &sources,
                       const std::vector<Fix> &fixes) {
  json.key("fixes").beginArray();
  for (const Fix &fix : fixes) {
    json.beginObject().field("title", fix.title).field("kind", fixInfo(fix.id).name);
    json.field("safety", fixSafetyName(fixInfo(fix.id).safety)).key("edits").beginArray();
    for (const TextEdit &edit : fix.edits) {
      json.beginObject();
      writeSpan(json, sources, edit.span);
      json.field("text", edit.text).endObject();
    }
    json.endArray().endObject();
  }
  json.endArray();
}

static void writeDiagnostic(JsonWriter &json, const SourceManager &sources,
                            const Diagnostic &diagnostic) {
  const DiagInfo &info = diagInfo(diagnostic.id);
  json.beginObject();
  json.field("code", info.code).field("name", info.name);
  json.field("severity", severityName(diagnostic.severity));
  if (*info.flag)
    json.field("flag", info.flag);
  json.field("message", diagnostic.message);
  writeSpan(json, sources, diagnostic.span);
  json.field("label", diagnostic.primaryLabel);
  json.key("labels").beginArray();
  for (const Label &label : diagnostic.labels) {
    json.beginObject();
    writeSpan(json, sources, label.span);
    json.field("text", label.text).endObject();
  }
  json.endArray();
  writeStrings(json, "notes", diagnostic.notes);
  writeStrings(json, "helps", diagnostic.helps);
  writeFixes(json, sources, diagnostic.fixes);
  json.endObject();
}

std::string renderJson(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics) {
  JsonWriter json;
  int64_t counts[3] = {0, 0, 0};
  json.beginObject().field("version", 1).key("diagnostics").beginArray();
  for (const Diagnostic &diagnostic : diagnostics) {
    ++counts[static_cast<size_t>(diagnostic.severity)];
    writeDiagnostic(json, sources, diagnostic);
  }
  json.endArray().field("errors", counts[0]).field("warnings", counts[1]).endObject();
  return json.take();
}

} // namespace ptl
