#include "lsp/server/previews.h"

#include <algorithm>

namespace ptl::lsp {

// ---- Names --------------------------------------------------------------------------------------

static std::string encoded(std::string_view text) {
  constexpr const char *digits = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '-' || c == '_' || c == '.' || c == '~';
    if (isPlain)
      out += c;
    else
      (out += '%') +=
          {digits[static_cast<unsigned char>(c) >> 4], digits[static_cast<unsigned char>(c) & 15]};
  }
  return out;
}

std::string PreviewKey::uri(const std::string &extension) const {
  std::string file = path.substr(path.rfind('/') + 1);
  std::string uri = "ptl-ir:/" + encoded(file + "." + entry + extension) +
                    "?uri=" + encoded(Session::uri(path)) + "&entry=" + encoded(entry) +
                    "&stage=" + encoded(stage);
  if (!bindings.empty())
    uri += "&bindings=" + encoded(bindings.dump());
  return uri;
}

/// `percentDecoded` of a query's value; the scheme makes `pathOfUri` decode nothing else.
static std::string decoded(std::string_view text) {
  return Session::pathOfUri("file:///" + std::string(text)).substr(1);
}

PreviewKey PreviewKey::ofUri(const std::string &uri) {
  PreviewKey key;
  size_t question = uri.find('?');
  std::string query = question == uri.npos ? "" : uri.substr(question + 1);
  // Some clients encode the query once more as a whole.
  if (query.find('=') == query.npos)
    query = decoded(query);
  for (size_t at = 0; at < query.size();) {
    size_t end = std::min(query.find('&', at), query.size());
    std::string part = query.substr(at, end - at);
    size_t equals = std::min(part.find('='), part.size());
    std::string name = part.substr(0, equals);
    std::string value = decoded(part.substr(std::min(equals + 1, part.size())));
    if (name == "uri")
      key.path = Session::pathOfUri(value);
    else if (name == "entry")
      key.entry = value;
    else if (name == "stage")
      key.stage = value;
    else if (name == "bindings")
      key.bindings = json::parse(value, nullptr, false);
    at = end + 1;
  }
  if (!uri.starts_with("ptl-ir:") || key.path.empty() || key.stage.empty() ||
      !key.bindings.is_object())
    throw RequestError{kInvalidParams, "not the URI of a preview: " + uri};
  return key;
}

Preview &Previews::get(const std::string &uri, const PreviewKey &key) {
  constexpr size_t most = 64;
  if (byUri.size() >= most)
    std::erase_if(byUri,
                  [&](const auto &each) { return !each.second.isOpen && each.first != uri; });
  Preview &preview = byUri[uri];
  preview.key = key;
  preview.uri = uri;
  return preview;
}

// ---- Requests -----------------------------------------------------------------------------------

static void addOpenFiles(json &files, const ide::File &file) {
  if (files.contains(file.path()))
    return;
  if (file.isOpen)
    files[file.path()] = file.document.text();
  for (const ide::File *imported : file.imports)
    addOpenFiles(files, *imported);
}

json entryRequest(const Session &session, const ide::File &file, const PreviewKey &key) {
  json files = json::object();
  addOpenFiles(files, file);
  json bindings = session.settings.bindings;
  bindings.update(key.bindings);
  json request = {{"root", file.path()},
                  {"files", std::move(files)},
                  {"bindings", std::move(bindings)},
                  {"importPaths", session.workspace.options().importPaths},
                  {"defines", session.workspace.options().defines}};
  if (!key.entry.empty())
    request["entry"] = key.entry;
  if (!key.stage.empty())
    request["stage"] = key.stage;
  return request;
}

// ---- Answers ------------------------------------------------------------------------------------

json sourcesOf(Session &session, const json &places) {
  json sources = json::array();
  for (const json &place : places) {
    ide::File *file = session.workspace.load(place.at("path").get<std::string>());
    if (!file)
      continue;
    ide::Range range{place.at("begin").get<uint32_t>(), place.at("end").get<uint32_t>()};
    sources.push_back(
        {{"uri", Session::uri(file->path())}, {"range", session.range(*file, range)}});
  }
  return sources;
}

static json diagnosticsOf(Session &session, const json &result) {
  json list = json::array();
  for (const json &each : result.value("diagnostics", json::array())) {
    json out = {{"message", each.value("message", "")},
                {"code", each.value("code", "")},
                {"severity", each.value("severity", "error")}};
    if (each.contains("place"))
      out["sources"] = sourcesOf(session, json::array({each["place"]}));
    list.push_back(std::move(out));
  }
  return list;
}

/// `f32 128` … of what was bound without being said.
static std::string noteOf(const json &result) {
  std::string note;
  for (const json &entry : result.value("entries", json::array()))
    for (const json &value : entry.value("values", json::array())) {
      const json shown = value.value("value", json());
      note += (note.empty() ? "" : ", ") + value.value("name", "") + " = " +
              (shown.is_string() ? shown.get<std::string>() : shown.dump());
    }
  return note;
}

json previewAnswer(Session &session, const ide::File &file, const PreviewKey &key,
                   const json &result) {
  json answer = {{"version", file.version},
                 {"entry", key.entry},
                 {"stage", key.stage},
                 {"stale", !result.value("ok", false)},
                 {"text", result.value("text", "")},
                 {"note", noteOf(result)},
                 {"languageId", result.value("languageId", "plaintext")},
                 {"diagnostics", diagnosticsOf(session, result)}};
  if (result.contains("error"))
    answer["error"] = result["error"];
  bool saysNothing = answer["diagnostics"].empty() && answer.contains("error");
  if (saysNothing && answer["error"].is_object())
    answer["diagnostics"].push_back(
        {{"message", answer["error"].value("message", "")}, {"code", ""}, {"severity", "error"}});
  std::vector<json> origins;
  for (const json &origin : result.value("origins", json::array()))
    origins.push_back(sourcesOf(session, origin));
  json map = json::array();
  for (const json &pair : result.value("map", json::array()))
    map.push_back({{"line", pair.at(0)}, {"sources", origins.at(pair.at(1).get<size_t>())}});
  answer["map"] = std::move(map);
  answer["folds"] = result.value("folds", json::array());
  answer["uri"] = key.uri(result.value("extension", ".txt"));
  answer["timings"] = result.value("timings", json::object());
  return answer;
}

} // namespace ptl::lsp
