// What previews are made of: their names, what the worker is asked, what its answers become.
#pragma once

#include "lsp/server/session.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptl::lsp {

/// What a preview shows.
struct PreviewKey {
  std::string path;  ///< of the source
  std::string entry; ///< name of the declaration
  std::string stage;
  json bindings = json::object(); ///< beside those of the settings

  /// `ptl-ir:/FILE.ENTRY.STAGE.EXT?…`; the extension is that of the stage, with its dot.
  std::string uri(const std::string &extension) const;
  /// Throws `RequestError` for what is no such URI.
  static PreviewKey ofUri(const std::string &uri);
};

/// An answer of `ptl/preview`. A preview has thousands of lines, so what belongs to its text is
/// written once and shared by those who hold it.
struct PreviewAnswer {
  struct Body {
    std::string text;
    std::vector<std::pair<uint32_t, uint32_t>> map; ///< lines, and the index of what they came from
    std::vector<std::string> sources;               ///< `[{uri, range}]`, as text
    std::string members;                            ///< `"text":…,"map":…,"folds":…`

    const std::string *sourcesOf(uint32_t line) const;
  };
  json head;                        ///< the other members; null: there is no answer yet
  std::shared_ptr<const Body> body; ///< never null when there is an answer

  bool isNone() const { return head.is_null(); }
  /// As the client gets it.
  json raw() const;
  bool looksLike(const PreviewAnswer &other) const;
};

/// An answer about a preview, kept while it is the last good one.
struct Preview {
  PreviewKey key;
  std::string uri; ///< as the client writes it
  PreviewAnswer answer;
  PreviewAnswer lastGood; ///< the last answer with a text
  bool isOpen = false;
};

/// Those that clients have asked for, by their URI. Few: old ones that are not open go.
struct Previews {
  std::map<std::string, Preview> byUri;
  json stages;             ///< of the worker, once known; those of chips without one
  std::string usualTarget; ///< the chip of stages that name none
  Preview &get(const std::string &uri, const PreviewKey &key);
};

/// The stages that there are for the chips of the settings, as `ptl/stages` answers.
json stagesFor(const Previews &previews, const Settings &settings);
/// A stage with its chip: `block` is that of the first chip of the settings.
std::string wholeStage(const Previews &previews, const Settings &settings,
                       const std::string &stage);

/// The members of a worker's request that name a declaration and its text.
json entryRequest(const Session &session, const ide::File &file, const PreviewKey &key);

/// The places of a worker's answer as `[{uri, range}]`.
json sourcesOf(Session &session, const json &places);

/// The answer of `ptl/preview` that the worker's `preview` becomes.
PreviewAnswer previewAnswer(Session &session, const ide::File &file, const PreviewKey &key,
                            const json &result);

} // namespace ptl::lsp
