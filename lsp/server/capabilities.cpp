#include "lsp/server/capabilities.h"

#include "frontend/base/given_value.h"

namespace ptl::lsp {

/// The value at a path (`/textDocument/hover`), null if something on the way is missing.
static json at(const json &value, const char *path) {
  json::json_pointer pointer(path);
  return value.contains(pointer) ? value.at(pointer) : json();
}

static bool isSet(const json &value, const char *path) {
  json found = at(value, path);
  return found.is_boolean() && found.get<bool>();
}

static bool contains(const json &list, std::string_view word) {
  if (list.is_array())
    for (const json &each : list)
      if (each == word)
        return true;
  return false;
}

/// The first of the client's encodings that counts bytes, else what it wants most.
static Encoding encodingOf(const json &wanted) {
  if (contains(wanted, "utf-8"))
    return Encoding::Utf8;
  if (contains(wanted, "utf-32") && !contains(wanted, "utf-16"))
    return Encoding::Utf32;
  if (wanted.is_array() && !wanted.empty() && wanted[0] == "utf-32")
    return Encoding::Utf32;
  return Encoding::Utf16;
}

ClientAbilities abilitiesOf(const json &capabilities) {
  ClientAbilities client;
  const json &c = capabilities;
  client.encoding = encodingOf(at(c, "/general/positionEncodings"));
  client.pullsDiagnostics = at(c, "/textDocument/diagnostic").is_object();
  client.refreshesDiagnostics = isSet(c, "/workspace/diagnostics/refreshSupport");
  client.markdown = contains(at(c, "/textDocument/hover/contentFormat"), "markdown");
  client.snippets = isSet(c, "/textDocument/completion/completionItem/snippetSupport");
  client.labelDetails = isSet(c, "/textDocument/completion/completionItem/labelDetailsSupport");
  client.versionedEdits = isSet(c, "/workspace/workspaceEdit/documentChanges");
  client.codeActionLiterals =
      at(c, "/textDocument/codeAction/codeActionLiteralSupport").is_object();
  client.resolvesActions =
      contains(at(c, "/textDocument/codeAction/resolveSupport/properties"), "edit");
  client.disabledActions = isSet(c, "/textDocument/codeAction/disabledSupport");
  client.relatedInformation = isSet(c, "/textDocument/publishDiagnostics/relatedInformation") ||
                              isSet(c, "/textDocument/diagnostic/relatedInformation");
  client.codeDescription = isSet(c, "/textDocument/publishDiagnostics/codeDescriptionSupport") ||
                           isSet(c, "/textDocument/diagnostic/codeDescriptionSupport");
  client.diagnosticTags = at(c, "/textDocument/publishDiagnostics/tagSupport").is_object() ||
                          at(c, "/textDocument/diagnostic/tagSupport").is_object();
  client.hierarchicalSymbols =
      isSet(c, "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport");
  client.definitionLinks = isSet(c, "/textDocument/definition/linkSupport");
  client.workDoneProgress = isSet(c, "/window/workDoneProgress");
  client.configuration = isSet(c, "/workspace/configuration");
  client.dynamicWatching = isSet(c, "/workspace/didChangeWatchedFiles/dynamicRegistration");
  json hintMembers = at(c, "/textDocument/inlayHint/resolveSupport/properties");
  client.resolvesHintLocations =
      contains(hintMembers, "label.location") || contains(hintMembers, "location");
  client.refreshesHints = isSet(c, "/workspace/inlayHint/refreshSupport");
  client.refreshesLenses = isSet(c, "/workspace/codeLens/refreshSupport");
  client.refreshesTokens = isSet(c, "/workspace/semanticTokens/refreshSupport");
  client.asksHoverIr = isSet(c, "/experimental/ptl/hoverIr");
  return client;
}

static const char *nameOf(Encoding encoding) {
  switch (encoding) {
  case Encoding::Utf8:
    return "utf-8";
  case Encoding::Utf16:
    return "utf-16";
  case Encoding::Utf32:
    return "utf-32";
  }
  return "utf-16";
}

json serverCapabilities(const ClientAbilities &client) {
  json capabilities = {
      {"positionEncoding", nameOf(client.encoding)},
      {"textDocumentSync",
       {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
      {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
  struct Row {
    const char *capability, *options;
  };
  constexpr Row rows[] = {
#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS) {CAPABILITY, OPTIONS},
#include "lsp/server/deferred_methods.def"
#include "lsp/server/methods.def"
#undef METHOD
  };
  for (const Row &row : rows)
    if (*row.capability)
      capabilities[json::json_pointer("/" + std::string(row.capability))] =
          json::parse(row.options);
  return capabilities;
}

template <typename T> static void take(const json &settings, const char *path, T &value) {
  json found = at(settings, path);
  try {
    if (!found.is_null())
      value = found.get<T>();
  } catch (const json::exception &) {
    // A setting of another type is as good as none.
  }
}

/// `{"f": {"S": 4096}}` says the same as `{"f.S": 4096}`.
static json flatSizes(const json &sizes) {
  json flat = json::object();
  if (!sizes.is_object())
    return flat;
  for (const auto &[name, value] : sizes.items())
    if (value.is_object())
      for (const auto &[dim, length] : value.items())
        flat[name + "." + dim] = length;
    else
      flat[name] = value;
  return flat;
}

/// Leaves out what is no value of a length, a tunable or an element type, and says so. Numbers may also
/// be written as text, as on command lines.
static void keepValues(json &values, const char *setting, bool onlyNumbers,
                       std::vector<std::string> &problems) {
  for (auto each = values.begin(); each != values.end();) {
    if (each->is_null()) {
      each = values.erase(each); // as good as not given
      continue;
    }
    std::string text = each->is_string() ? each->get<std::string>() : each->dump();
    std::optional<int64_t> number = givenNumber(text);
    std::string problem = number ? "" : givenProblem(text);
    if (problem.empty() && !number && onlyNumbers)
      problem = "`" + text + "` is not a whole number";
    if (problem.empty()) {
      if (number && (onlyNumbers || each->is_string()))
        *each = *number;
      ++each;
      continue;
    }
    problems.push_back(std::string("the setting `") + setting + "` of `" + each.key() +
                       "` is ignored: " + problem);
    each = values.erase(each);
  }
}

std::vector<std::string> applySettings(const json &settings, Settings &own, CheckOptions &options) {
  take(settings, "/inlayHints/types", own.typeHints);
  take(settings, "/inlayHints/parameters", own.parameterHints);
  take(settings, "/inlayHints/capacities", own.capacityHints);
  take(settings, "/inlayHints/costs", own.costHints);
  take(settings, "/advice/enabled", own.advice);
  take(settings, "/advice/diagnostics", own.adviceDiagnostics);
  take(settings, "/lens/enable", own.lenses);
  take(settings, "/lens/references", own.referenceLenses);
  take(settings, "/lens/commands", own.lensCommands);
  take(settings, "/preview/stage", own.previewStage);
  take(settings, "/preview/bindings", own.bindings);
  take(settings, "/hover/ir", own.hoverIr);
  take(settings, "/diagnostics/whileTyping", own.errorsWhileTyping);
  take(settings, "/targets", own.targets);
  take(settings, "/machines", own.machines);
  take(settings, "/sizes", own.sizes);
  take(settings, "/importPaths", options.importPaths);
  take(settings, "/standardLibrary", options.stdPath);
  if (!own.bindings.is_object())
    own.bindings = json::object();
  own.sizes = flatSizes(own.sizes);
  std::vector<std::string> problems;
  keepValues(own.bindings, "ptl.preview.bindings", false, problems);
  keepValues(own.sizes, "ptl.sizes", true, problems);
  if (json defines = at(settings, "/defines"); defines.is_object()) {
    keepValues(defines, "ptl.defines", true, problems);
    options.defines.clear();
    for (const auto &[name, value] : defines.items())
      options.defines[name] = value.get<int64_t>();
  }
  return problems;
}

} // namespace ptl::lsp
