// What the handlers of requests share: the workspace, the client's abilities and settings, and the
// conversion between the protocol's JSON and the engine's bytes.
#pragma once

#include "lsp/ide/workspace.h"
#include "lsp/server/feasibility.h"
#include "lsp/server/request_error.h"
#include "lsp/server/token_state.h"
#include "lsp/server/typing.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace ptl::lsp {

using json = nlohmann::json;

/// How a client counts the characters of a line.
enum class Encoding : uint8_t { Utf8, Utf16, Utf32 };

/// Offsets and ranges of a document as the protocol's.
json positionIn(const ide::Document &document, uint32_t offset, Encoding encoding);
json rangeIn(const ide::Document &document, ide::Range range, Encoding encoding);

/// The client's abilities on which answers depend.
struct ClientAbilities {
  Encoding encoding = Encoding::Utf16;
  bool pullsDiagnostics = false;
  bool refreshesDiagnostics = false;
  bool markdown = false;       ///< in hovers and documentation
  bool snippets = false;       ///< in completions
  bool versionedEdits = false; ///< `documentChanges`
  bool codeActionLiterals = false;
  bool resolvesActions = false; ///< asks for the edits of a code action when it is chosen
  bool disabledActions = false; ///< shows why one cannot be done
  bool relatedInformation = false;
  bool codeDescription = false;
  bool diagnosticTags = false;
  bool hierarchicalSymbols = false;
  bool definitionLinks = false; ///< from a range to a declaration, not only to a place
  bool labelDetails = false;
  bool workDoneProgress = false;
  bool configuration = false;
  bool dynamicWatching = false;
  bool refreshesHints = false;
  bool resolvesHintLocations = false; ///< asks where a hint leads when it is looked at
  bool refreshesLenses = false;
  bool refreshesTokens = false;
  bool asksHoverIr = false; ///< `ptl/hoverIr`, beside the hover itself
};

/// The settings `ptl.…` of the client's configuration, with their defaults.
struct Settings {
  bool typeHints = true;
  bool parameterHints = true;
  bool capacityHints = true;
  bool costHints = true;
  bool advice = true;            ///< changes that make kernels faster are searched for
  bool adviceDiagnostics = true; ///< and shown as diagnostics
  bool lenses = true;
  bool referenceLenses = true;
  std::string lensCommands = "client"; ///< or "server": who carries out what a lens names
  std::string previewStage = "tile";   ///< shown in hovers and by lenses
  bool hoverIr = true;
  bool errorsWhileTyping = false;   ///< errors of what is being typed are shown at once
  json bindings = json::object();   ///< values of dimensions and element types for previews
  std::vector<std::string> targets; ///< chips that kernels are to run on; `cpu`: this processor
  /// The targets without this processor.
  std::vector<std::string> chips() const {
    std::vector<std::string> result;
    std::copy_if(targets.begin(), targets.end(), std::back_inserter(result),
                 [](const std::string &target) { return target != "cpu"; });
    return result;
  }
  std::vector<std::string> machines; ///< paths of own machine files
  json sizes = json::object();       ///< lengths that costs are told for
};

/// What an expression became, as Markdown, from the worker.
struct KnownIr {
  std::string path;
  ide::Range range;
  uint64_t edition = 0; ///< see `Session::edition`
  std::string text;
};

/// A declaration on which the compiler's process failed.
struct CompilerFailure {
  std::string path, entry, message;
};

class Session {
public:
  ide::Workspace workspace;
  ClientAbilities client;
  Settings settings;
  std::vector<std::string> folders = {}; ///< of the workspace
  /// The files in the folders, while a request is answered for which they were listed.
  std::optional<std::vector<std::string>> projectFiles = {};
  std::vector<CompilerFailure> failures = {};
  Verdicts verdicts = {}; ///< of chips
  Typing typing = {};
  uint64_t edition = 0;              ///< counts changes of texts and settings
  std::vector<KnownIr> knownIr = {}; ///< for hovers; the oldest first
  TokenState tokens = {};

  /// The paths of all `.ptl` files: those in the workspace's folders and those that are open.
  std::vector<std::string> workspaceFiles() const;

  // ---- From the protocol. All throw `RequestError` if something is no file, no position … -------

  /// The file of `params.textDocument.uri`.
  ide::File &file(const json &params);
  ide::File &fileOfUri(const std::string &uri);
  /// The file of a request that was answered elsewhere meanwhile. If it was closed or deleted
  /// since, that is no fault of the request, and the error is `ContentModified`.
  ide::File &fileStill(const std::string &path);
  uint32_t offset(const ide::File &file, const json &position) const;
  ide::Range range(const ide::File &file, const json &range) const;
  /// `params.position` in the file of `params`.
  uint32_t offsetIn(const ide::File &file, const json &params) const;

  // ---- To the protocol --------------------------------------------------------------------------

  json position(const ide::File &file, uint32_t offset) const;
  json range(const ide::File &file, ide::Range range) const;
  json location(const ide::Location &location) const;
  /// Characters of the client's encoding in a piece of one line.
  uint32_t length(std::string_view text) const;
  static std::string uri(const std::string &path);
  static std::string pathOfUri(std::string_view uri);
  /// Edits by file, as a `WorkspaceEdit`.
  json workspaceEdit(const std::vector<std::pair<ide::Location, std::string>> &edits) const;
  /// Markdown where the client shows it, otherwise the same text without its marks.
  json markup(const std::string &markdown) const;
};

/// A text about a program as Markdown: names and formulas in backticks stay code, and other characters
/// stand for themselves, as in `2*H*S*D` without backticks.
std::string asMarkdown(std::string_view text);

/// An answer that is JSON text already, because it is long and assembled from cached parts. It is
/// stored as bytes, which no other answer contains, until it is sent.
using RawText = std::vector<uint8_t>;
inline json rawJson(RawText bytes) { return json::binary(std::move(bytes)); }
inline json rawJson(const std::string &text) { return rawJson(RawText(text.begin(), text.end())); }
inline void add(RawText &text, std::string_view more) {
  // Bytes are copied in one go; characters would be converted one by one.
  auto *bytes = reinterpret_cast<const uint8_t *>(more.data());
  text.insert(text.end(), bytes, bytes + more.size());
}

/// Answers one request.
using RequestHandler = json (*)(Session &session, const json &params);

} // namespace ptl::lsp
