// Names previews, builds the requests to the worker for them, and converts its answers.
#pragma once

#include "lsp/server/session.h"
#include "lsp/server/worker_request.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptl::lsp {

/// Identifies a preview.
struct PreviewKey {
  std::string path;  ///< of the source
  std::string entry; ///< name of the declaration
  std::string stage;
  json bindings = json::object(); ///< in addition to those of the settings

  /// `ptl-ir:/FILE.ENTRY.STAGE.EXT?…`; the extension is that of the stage, with its dot.
  std::string uri(const std::string &extension) const;
  /// Throws `RequestError` if the text is not such a URI.
  static PreviewKey ofUri(const std::string &uri);
};

/// An answer of `ptl/preview`. A preview has thousands of lines, so the part that depends on its
/// text is serialised once and shared.
struct PreviewAnswer {
  struct Body {
    std::string text;
    /// lines, and the index of their origin in `sources`
    std::vector<std::pair<uint32_t, uint32_t>> map;
    std::vector<std::string> sources; ///< `[{uri, range}]`, as text
    std::string members;              ///< `"text":…,"map":…,"folds":…`

    const std::string *sourcesOf(uint32_t line) const;
  };
  json head;                        ///< the other members; null: there is no answer yet
  std::shared_ptr<const Body> body; ///< never null when there is an answer

  bool isNone() const { return head.is_null(); }
  /// The answer in the form that the client receives.
  json raw() const;
  bool looksLike(const PreviewAnswer &other) const;
};

/// A preview with its answers, of which the last one with a text is kept.
struct Preview {
  PreviewKey key;
  std::string uri; ///< as the client spells it
  PreviewAnswer answer;
  PreviewAnswer lastGood; ///< the last answer with a text
  bool isOpen = false;
};

/// The previews that clients have requested, by their URI. Their number is small, since old ones
/// that are not open are dropped.
struct Previews {
  std::map<std::string, Preview> byUri;
  json stages;             ///< from the worker, without a chip; null until known
  std::string usualTarget; ///< the chip of stages that do not name one
  Preview &get(const std::string &uri, const PreviewKey &key);
};

/// The stages for the chips of the settings, as `ptl/stages` lists them.
json stagesFor(const Previews &previews, const Settings &settings);
/// The stage including its chip: `block` means that of the first chip in the settings.
std::string wholeStage(const Previews &previews, const Settings &settings,
                       const std::string &stage);

/// The members of a worker's request that name a declaration and its text.
WorkerRequest entryRequest(const Session &session, const ide::File &file, const PreviewKey &key);

/// The places of a worker's answer as `[{uri, range}]`.
json sourcesOf(Session &session, const json &places);

/// Converts an answer of the worker to `preview` into the answer of `ptl/preview`.
PreviewAnswer previewAnswer(Session &session, const ide::File &file, const PreviewKey &key,
                            const json &result);

} // namespace ptl::lsp
