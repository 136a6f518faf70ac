#include "lsp/server/previews.h"
#include "lsp/server/connection.h"

#include <algorithm>

namespace ptl::lsp {

// ---- Names --------------------------------------------------------------------------------------

static std::string encoded(std::string_view text) { return percentEncoded(text, "-_.~"); }

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
  // Closed previews are forgotten when there are many.
  constexpr size_t most = 64;
  if (byUri.size() >= most)
    std::erase_if(byUri,
                  [&](const auto &each) { return !each.second.isOpen && each.first != uri; });
  Preview &preview = byUri[uri];
  preview.key = key;
  preview.uri = uri;
  return preview;
}

// ---- Stages -------------------------------------------------------------------------------------

/// The chips whose stages are offered.
static std::vector<std::string> chipsOf(const Previews &previews, const Settings &settings) {
  std::vector<std::string> chips = settings.chips();
  // Without a chip in the settings the usual one is offered.
  return chips.empty() ? std::vector<std::string>{previews.usualTarget} : chips;
}

json stagesFor(const Previews &previews, const Settings &settings) {
  json list = json::array();
  auto add = [&](json stage, const std::string &chip) {
    if (!chip.empty()) {
      stage["target"] = chip;
      for (const char *name : {"title", "summary"})
        stage[name] = stage.value(name, "") + " for " + chip;
      stage["id"] = stage.value("id", "") + "@" + chip;
    }
    list.push_back(std::move(stage));
  };
  for (const json &stage : previews.stages)
    if (stage.value("machine", "cpu") != "chip")
      add(stage, "");
  for (const std::string &chip : chipsOf(previews, settings))
    for (const json &stage : previews.stages)
      if (stage.value("machine", "cpu") != "cpu" && stage.value("id", "") != "built")
        add(stage, chip);
  return list;
}

std::string wholeStage(const Previews &previews, const Settings &settings,
                       const std::string &stage) {
  bool isOfChips =
      std::any_of(previews.stages.begin(), previews.stages.end(), [&](const json &each) {
        return each.value("id", "") == stage && each.value("machine", "") == "chip";
      });
  // A stage of chips needs one to be meant.
  return isOfChips ? stage + "@" + chipsOf(previews, settings).front() : stage;
}

// ---- Requests -----------------------------------------------------------------------------------

static void addOpenFiles(std::vector<OpenText> &files, std::set<const ide::File *> &seen,
                         const ide::File &file) {
  // Imports form no cycles, but modules may be imported twice.
  if (!seen.insert(&file).second)
    return;
  if (file.isOpen)
    files.push_back({file.path(), std::make_shared<ide::Document>(file.document)});
  for (const ide::File *imported : file.imports)
    addOpenFiles(files, seen, *imported);
}

/// The lengths that everything about an entry is for: those of the settings, unless `bindings`, which
/// are asked for now, say others.
static json wantedSizes(const Settings &settings, const json &bindings) {
  json sizes = settings.sizes;
  // A value for previews that names no declaration is a length wherever a dimension has its name.
  for (const auto &[name, value] : settings.bindings.items())
    if (value.is_number_integer() && name.find('.') == name.npos && !sizes.contains(name))
      sizes[name] = value;
  // What is asked for now wins, also over sizes that name a declaration.
  for (const auto &[name, value] : bindings.items())
    for (auto size = sizes.begin(); size != sizes.end();)
      size = size.key() == name || size.key().ends_with("." + name) ? sizes.erase(size)
                                                                    : std::next(size);
  return sizes;
}

WorkerRequest entryRequest(const Session &session, const ide::File &file, const PreviewKey &key) {
  std::vector<OpenText> files;
  std::set<const ide::File *> seen;
  addOpenFiles(files, seen, file);
  json sizes = wantedSizes(session.settings, key.bindings);
  json bindings = session.settings.bindings;
  // A length that was chosen in place wins over a value for previews.
  for (const auto &[name, value] : sizes.items())
    if (name.find('.') != name.npos)
      bindings.erase(name);
  // Values of the preview win over those of the settings.
  bindings.update(key.bindings);
  WorkerRequest request{{{"root", file.path()},
                         {"bindings", std::move(bindings)},
                         {"sizes", std::move(sizes)},
                         {"importPaths", session.workspace.options().importPaths},
                         {"defines", session.workspace.options().defines}},
                        std::move(files)};
  for (const MachineFile &machine : session.workspace.options().machines->ownFiles())
    request["machines"][machine.path] = machine.text;
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
      // A length that nobody has named is only an example.
      if (value.value("kind", "") == "static" && value.value("why", "") == "default")
        note += " (assumed)";
    }
  return note;
}

const std::string *PreviewAnswer::Body::sourcesOf(uint32_t line) const {
  auto found = std::lower_bound(map.begin(), map.end(), std::pair(line, uint32_t(0)));
  return found == map.end() || found->first != line ? nullptr : &sources[found->second];
}

json PreviewAnswer::raw() const {
  std::string text = dumped(head);
  // The text of the body is kept as JSON, so it is joined to the head as text.
  text.back() = ',';
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() + body->members.size() + 1);
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.insert(bytes.end(), body->members.begin(), body->members.end());
  bytes.push_back('}');
  return rawJson(std::move(bytes));
}

bool PreviewAnswer::looksLike(const PreviewAnswer &other) const {
  if (isNone() || other.isNone())
    return isNone() == other.isNone();
  // Equal texts have one body, which makes the comparison cheap.
  return head.at("stale") == other.head.at("stale") &&
         (body == other.body || body->members == other.body->members);
}

static PreviewAnswer::Body bodyOf(Session &session, const json &result) {
  PreviewAnswer::Body body;
  body.text = result.value("text", "");
  if (auto origins = result.find("origins"); origins != result.end())
    // Each set of places is written once, and lines refer to it.
    for (const json &origin : *origins)
      body.sources.push_back(dumped(sourcesOf(session, origin)));
  std::string &out = body.members;
  out = "\"text\":" + dumped(json(body.text)) + ",\"map\":[";
  if (auto map = result.find("map"); map != result.end())
    for (size_t i = 0; i + 1 < map->size(); i += 2) {
      body.map.emplace_back(map->at(i).get<uint32_t>(), map->at(i + 1).get<uint32_t>());
      out += i == 0 ? "{\"line\":" : ",{\"line\":";
      out += std::to_string(body.map.back().first);
      out += ",\"sources\":";
      out += body.sources.at(body.map.back().second);
      out += '}';
    }
  out += "],\"folds\":" + dumped(result.value("folds", json::array()));
  return body;
}

PreviewAnswer previewAnswer(Session &session, const ide::File &file, const PreviewKey &key,
                            const json &result) {
  json head = {{"version", file.version},
               {"entry", key.entry},
               {"stage", key.stage},
               {"stale", !result.value("ok", false)},
               {"note", noteOf(result)},
               {"languageId", result.value("languageId", "plaintext")},
               {"diagnostics", diagnosticsOf(session, result)},
               {"uri", key.uri(result.value("extension", ".txt"))},
               {"timings", result.value("timings", json::object())}};
  if (result.contains("error"))
    head["error"] = result["error"];
  // An error without a diagnostic is shown as one.
  bool saysNothing = head["diagnostics"].empty() && head.contains("error");
  if (saysNothing && head["error"].is_object())
    head["diagnostics"].push_back(
        {{"message", head["error"].value("message", "")}, {"code", ""}, {"severity", "error"}});
  return {std::move(head), std::make_shared<PreviewAnswer::Body>(bodyOf(session, result))};
}

} // namespace ptl::lsp
