// The state that handlers of requests share: the workspace, the client's capabilities and settings,
// and the conversion between the protocol's JSON and the engine's byte offsets.
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

/// Offsets and ranges of a document in the protocol's form.
json positionIn(const ide::Document &document, uint32_t offset, Encoding encoding);
json rangeIn(const ide::Document &document, ide::Range range, Encoding encoding);

/// A text as part of a URI: letters, digits and the characters of `plain` as they are, the others as
/// `%` with two digits.
std::string percentEncoded(std::string_view text, std::string_view plain);

/// The client's capabilities on which answers depend.
struct ClientAbilities {
  Encoding encoding = Encoding::Utf16;
  bool pullsDiagnostics = false;
  bool refreshesDiagnostics = false;
  bool markdown = false;       ///< in hovers and documentation
  bool snippets = false;       ///< in completions
  bool versionedEdits = false; ///< `documentChanges`
  bool codeActionLiterals = false;
  bool resolvesActions = false; ///< requests the edits of a code action when it is chosen
  bool disabledActions = false; ///< shows why an action is disabled
  bool relatedInformation = false;
  bool codeDescription = false;
  bool diagnosticTags = false;
  bool hierarchicalSymbols = false;
  bool definitionLinks = false; ///< with the range of a whole declaration, not only a place
  bool labelDetails = false;
  bool workDoneProgress = false;
  bool configuration = false;
  bool dynamicWatching = false;
  bool refreshesHints = false;
  bool resolvesHintLocations = false; ///< requests the target of a hint when the mouse is over it
  bool refreshesLenses = false;
  bool refreshesTokens = false;
  bool asksHoverIr = false; ///< requests `ptl/hoverIr` in addition to the hover itself
};

/// The settings `ptl.…` of the client's configuration, with their defaults.
struct Settings {
  bool typeHints = true;
  bool parameterHints = true;
  bool capacityHints = true;
  bool costHints = true;
  bool advice = true;            ///< search for changes that make kernels faster
  bool adviceDiagnostics = true; ///< and show them as diagnostics
  bool lenses = true;
  bool referenceLenses = true;
  std::string lensCommands = "client"; ///< or "server": who executes the commands of lenses
  std::string previewStage = "tile";   ///< for hovers and lenses
  bool hoverIr = true;
  bool errorsWhileTyping = false;   ///< show errors in text that is being typed at once
  json bindings = json::object();   ///< values of dimensions and element types for previews
  std::vector<std::string> targets; ///< chips that kernels must support; `cpu`: this processor
  /// The targets without this processor.
  std::vector<std::string> chips() const {
    std::vector<std::string> result;
    std::copy_if(targets.begin(), targets.end(), std::back_inserter(result),
                 [](const std::string &target) { return target != "cpu"; });
    return result;
  }
  std::vector<std::string> machines; ///< paths of the user's machine files
  json sizes = json::object();       ///< lengths for which costs are estimated
};

/// The IR of an expression, as Markdown, from the worker.
struct KnownIr {
  std::string path;
  ide::Range range;
  uint64_t edition = 0; ///< see `Session::edition`
  std::string text;
};

/// A declaration on which the compiler's process crashed.
struct CompilerFailure {
  std::string path, entry, message;
};

class Session {
public:
  ide::Workspace workspace;
  ClientAbilities client;
  Settings settings;
  std::vector<std::string> folders = {}; ///< of the workspace
  /// The files in the folders, set while a request is answered for which they were listed.
  std::optional<std::vector<std::string>> projectFiles = {};
  std::vector<CompilerFailure> failures = {};
  Verdicts verdicts = {}; ///< of chips
  Typing typing = {};
  uint64_t edition = 0;              ///< counts changes of texts and settings
  std::vector<KnownIr> knownIr = {}; ///< for hovers; oldest first
  TokenState tokens = {};

  /// The paths of all `.ptl` files: those in the workspace's folders and those that are open.
  std::vector<std::string> workspaceFiles() const;

  // ---- From the protocol. All throw `RequestError` if the input is not a file, a position …
  // ------

  /// The file of `params.textDocument.uri`.
  ide::File &file(const json &params);
  ide::File &fileOfUri(const std::string &uri);
  /// The file of a request that was answered asynchronously. If it has been closed or deleted
  /// since, that is not the client's error, and the response is `ContentModified`.
  ide::File &fileStill(const std::string &path);
  uint32_t offset(const ide::File &file, const json &position) const;
  ide::Range range(const ide::File &file, const json &range) const;
  /// `params.position` in the file of `params`.
  uint32_t offsetIn(const ide::File &file, const json &params) const;

  // ---- To the protocol --------------------------------------------------------------------------

  json position(const ide::File &file, uint32_t offset) const;
  json range(const ide::File &file, ide::Range range) const;
  json location(const ide::Location &location) const;
  /// The number of characters, in the client's encoding, in a piece of one line.
  uint32_t length(std::string_view text) const;
  static std::string uri(const std::string &path);
  static std::string pathOfUri(std::string_view uri);
  /// Edits by file, as a `WorkspaceEdit`.
  json workspaceEdit(const std::vector<std::pair<ide::Location, std::string>> &edits) const;
  /// Markdown if the client supports it, otherwise the same text without markup.
  json markup(const std::string &markdown) const;
};

/// Converts a text about a program to Markdown: names and formulas in backticks stay code; other
/// special characters are escaped, as in `2*H*S*D` without backticks.
std::string asMarkdown(std::string_view text);

/// An answer that is already JSON text, because it is long and assembled from cached parts. It is
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
