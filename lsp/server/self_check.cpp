#include "lsp/server/self_check.h"
#include "lsp/server/connection.h"

#include "frontend/base/install.h"
#include "lsp/server/capabilities.h"
#include "lsp/server/handlers.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

namespace ptl::lsp {
namespace {

struct Row {
  const char *name;
  RequestHandler handler;
};
constexpr Row kRows[] = {
#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS) {NAME, HANDLER},
#include "lsp/server/methods.def"
#undef METHOD
};

/// A client that can do everything.
ClientAbilities fullClient() {
  ClientAbilities client;
  client.encoding = Encoding::Utf16;
  client.markdown = client.snippets = client.versionedEdits = client.codeActionLiterals = true;
  client.relatedInformation = client.diagnosticTags = client.hierarchicalSymbols = true;
  client.labelDetails = true;
  return client;
}

struct SelfCheck {
  Session session;
  size_t asked = 0, failed = 0;

  void checkFile(const std::string &path);
  void ask(const Row &row, const json &params, const std::string &where);
  void resolve(const std::string &method, const json &answer, const std::string &where);
  void checkRanges(const json &value, const ide::File &file, const std::string &where);
  void fail(const std::string &where, const std::string &why);
};

void SelfCheck::fail(const std::string &where, const std::string &why) {
  constexpr size_t mostShown = 20;
  if (++failed <= mostShown)
    std::printf("%s: %s\n", where.c_str(), why.c_str());
}

const Row *rowOf(std::string_view method) {
  for (const Row &row : kRows)
    if (row.name == method)
      return &row;
  return nullptr;
}

/// Every `{start, end}` of an answer lies in the file and is in order.
void SelfCheck::checkRanges(const json &value, const ide::File &file, const std::string &where) {
  if (value.is_array())
    for (const json &each : value)
      checkRanges(each, file, where);
  if (!value.is_object())
    return;
  // An answer that names another file has ranges in that file.
  auto document = value.find("textDocument");
  const json &named = document == value.end() ? value : *document;
  if (auto uri = named.is_object() ? named.find("uri") : named.end();
      uri != named.end() && *uri != Session::uri(file.path()))
    return;
  for (const auto &[key, each] : value.get_ref<const json::object_t &>()) {
    if (!each.is_structured())
      continue;
    // The edits of a `WorkspaceEdit` stand under the file that they are for.
    const ide::File *of =
        key.starts_with("file:") ? session.workspace.find(Session::pathOfUri(key)) : &file;
    checkRanges(each, of ? *of : file, where);
  }
  auto start = value.find("start"), end = value.find("end");
  if (start == value.end() || end == value.end() || !start->is_object() || !end->is_object())
    return;
  auto key = [](const json &p) {
    return std::pair(p.value("line", int64_t(-1)), p.value("character", int64_t(-1)));
  };
  int64_t lines = file.document.lineCount();
  bool isGood =
      key(*start) <= key(*end) && key(*start).first >= 0 && end->value("line", int64_t(0)) <= lines;
  if (!isGood)
    fail(where, "a range outside the file or out of order: " + value.dump());
}

/// Resolves the items of an answer and checks the results.
void SelfCheck::resolve(const std::string &method, const json &answer, const std::string &where) {
  struct Pair {
    const char *list, *resolve;
  };
  constexpr Pair pairs[] = {{"textDocument/completion", "completionItem/resolve"},
                            {"textDocument/inlayHint", "inlayHint/resolve"},
                            {"textDocument/codeAction", "codeAction/resolve"},
                            {"textDocument/codeLens", "codeLens/resolve"},
                            {"textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls"},
                            {"textDocument/prepareCallHierarchy", "callHierarchy/outgoingCalls"}};
  const json &items = answer.is_object() && answer.contains("items") ? answer["items"] : answer;
  if (!items.is_array())
    return;
  for (const Pair &pair : pairs) {
    const Row *row = method == pair.list ? rowOf(pair.resolve) : nullptr;
    if (!row)
      continue;
    constexpr size_t mostResolved = 3;
    for (size_t i = 0; i < std::min(items.size(), mostResolved); ++i) {
      bool isCall = std::string_view(pair.resolve).starts_with("callHierarchy/");
      ask(*row, isCall ? json{{"item", items[i]}} : items[i], where + " " + pair.resolve);
    }
  }
}

void SelfCheck::ask(const Row &row, const json &params, const std::string &where) {
  ++asked;
  try {
    json answer = row.handler(session, params);
    // What is text already is sent as it is; everything else has to be text that can be sent.
    if (answer.is_binary()) {
      const auto &text = answer.get_binary();
      answer = json::parse(text.begin(), text.end());
    } else {
      dumped(answer);
    }
    if (params.contains("textDocument"))
      checkRanges(answer, session.file(params), where);
    resolve(row.name, answer, where);
  } catch (const RequestError &) {
    // A refusal with a reason is an answer.
  } catch (const std::exception &error) {
    fail(where, error.what());
  }
}

bool isAboutPosition(std::string_view method) {
  for (std::string_view whole :
       {"formatting", "documentSymbol", "foldingRange", "documentLink", "codeLens", "full", "delta",
        "diagnostic", "symbol", "willRenameFiles"})
    if (method.ends_with(whole))
      return false;
  return method.starts_with("textDocument/");
}

/// The members that any request about a position or a range may want.
json paramsAt(Session &session, const ide::File &file, ide::Range range) {
  json where = session.range(file, range);
  return {{"textDocument", {{"uri", Session::uri(file.path())}}},
          {"position", where["start"]},
          {"positions", {where["start"]}},
          {"range", where},
          {"newName", "renamed_to_this"},
          {"ch", "}"},
          {"query", "a"},
          {"previousResultId", ""},
          {"options", {{"tabSize", 4}, {"insertSpaces", true}}},
          {"context",
           {{"diagnostics", json::array()}, {"includeDeclaration", true}, {"triggerKind", 1}}}};
}

void SelfCheck::checkFile(const std::string &path) {
  ide::File *file = session.workspace.load(path);
  file->isOpen = true;
  std::set<uint32_t> offsets = {0, file->document.size()};
  for (const ide::Place &place : file->document.places())
    for (const Token &token : place.chunk->tree->tokens()) {
      offsets.insert(place.begin + token.begin);
      offsets.insert(place.begin + (token.begin + token.end) / 2);
      offsets.insert(place.begin + token.end);
    }
  // A long file is looked at here and there.
  constexpr size_t mostOffsets = 1500;
  size_t step = offsets.size() / mostOffsets + 1, index = 0;
  for (const Row &row : kRows)
    if (!isAboutPosition(row.name) && std::string_view(row.name).starts_with("textDocument/"))
      ask(row, paramsAt(session, *file, {0, file->document.size()}), path + ": " + row.name);
  for (auto it = offsets.begin(); it != offsets.end(); ++it) {
    if (index++ % step != 0)
      continue;
    auto next = std::next(it);
    ide::Range range{*it, next == offsets.end() ? *it : *next};
    json params = paramsAt(session, *file, range);
    for (const Row &row : kRows)
      if (isAboutPosition(row.name))
        ask(row, params, path + " at byte " + std::to_string(*it) + ": " + row.name);
  }
}

} // namespace

int selfCheck(char **firstFile, char **endFile) {
  SelfCheck check;
  CheckOptions options;
  options.stdPath = standardLibraryFolder();
  check.session.workspace.setOptions(std::move(options));
  check.session.client = fullClient();
  size_t files = 0;
  for (char **file = firstFile; file != endFile; ++file) {
    std::string path = std::filesystem::absolute(*file).lexically_normal().string();
    if (!check.session.workspace.load(path)) {
      std::fprintf(stderr, "ptl-lsp: error: cannot read `%s`\n", *file);
      return 3;
    }
    check.checkFile(path);
    ++files;
  }
  std::printf("%zu files, %zu requests, %zu failed\n", files, check.asked, check.failed);
  return check.failed > 0 ? 1 : 0;
}

} // namespace ptl::lsp
