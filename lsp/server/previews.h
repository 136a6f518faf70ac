// What previews are made of: their names, what the worker is asked, what its answers become.
#pragma once

#include "lsp/server/session.h"

#include <map>
#include <string>

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

/// An answer about a preview, kept while it is the last good one.
struct Preview {
  PreviewKey key;
  std::string uri; ///< as the client writes it
  json answer;     ///< of `ptl/preview`; null: none yet
  json lastGood;   ///< the last answer with a text
  bool isOpen = false;
};

/// Those that clients have asked for, by their URI. Few: old ones that are not open go.
struct Previews {
  std::map<std::string, Preview> byUri;
  json stages; ///< of the worker, once known
  Preview &get(const std::string &uri, const PreviewKey &key);
};

/// The members of a worker's request that name a declaration and its text.
json entryRequest(const Session &session, const ide::File &file, const PreviewKey &key);

/// The places of a worker's answer as `[{uri, range}]`.
json sourcesOf(Session &session, const json &places);

/// The answer of `ptl/preview` that the worker's `preview` becomes.
json previewAnswer(Session &session, const ide::File &file, const PreviewKey &key,
                   const json &result);

} // namespace ptl::lsp
