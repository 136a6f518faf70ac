// All files that are open or imported, with all cached results about them. It is the only state of
// the language server's engine; features (features.h) are functions of it. It is not thread-safe.
#pragma once

#include "lsp/ide/call_graph.h"
#include "lsp/ide/dependents.h"
#include "lsp/ide/document.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::ide {

/// One file.
struct File {
  File(std::string path, std::function<FileId()> newId) : document(std::move(path), newId) {}

  Document document;
  ModuleIndex index;
  int64_t version = 0;    ///< of the client's text
  uint64_t editedAt = 0;  ///< when the client edited it last, in ms of the server's clock
  bool isOpen = false;    ///< its text is the client's, not the disk's
  bool isMissing = false; ///< it existed before, but not on disk any more
  std::vector<File *> imports;
  DiagnosticSink importErrors; ///< of the imports of this file
  DiagnosticSink duplicates;   ///< names declared twice
  DiagnosticSink recursion;    ///< cycles of calls
  CallGraph calls;
  DiagnosticSink unusedImports;
  StringMap<FileId> userOf; ///< a chunk that used the import at the last search
  DiagnosticSink tooMany;   ///< the last of too many syntax errors
  size_t firstStale = 0;    ///< places before it are not stale
  Dependents dependents;    ///< the chunks of this file
  uint64_t namesHash = 0;   ///< see `meaningOfNames`
  bool namesChanged = true; ///< since that was found

  const std::string &path() const { return document.path(); }
};

/// Something in a file, for links and labels.
struct Location {
  const File *file = nullptr;
  Range range;
  explicit operator bool() const { return file; }
};

/// A diagnostic with its places in documents.
struct FileDiagnostic {
  const Diagnostic *diagnostic = nullptr;
  Range range;
  const Place *place = nullptr; ///< of the diagnostic, if the check of that chunk gave it
};

/// The text of a regular file; nothing if there is none. Any thread may call it.
std::optional<std::string> readFile(const std::string &path);

class Workspace {
public:
  explicit Workspace(CheckOptions options = {});

  const CheckOptions &options() const { return options_; }
  /// Sets other options; everything is checked again.
  void setOptions(CheckOptions options);

  /// Takes the client's text of a file.
  File &open(const std::string &path, std::string text, int64_t version);
  void edit(File &file, Range range, std::string_view text);
  /// Returns to the text on disk.
  void close(const std::string &path);
  /// Records that the text of a file on disk has changed, or that the file has been created or
  /// deleted. `text` is its present text, nothing if it was deleted.
  void fileChanged(const std::string &path, const std::optional<std::string> &text);
  void fileChanged(const std::string &path);
  /// Adds a file that was read from disk, unless it is known.
  void adopt(const std::string &path, const std::string &text);

  /// A file that is open or imported; null if unknown.
  File *find(const std::string &path);
  /// Like `find`, but reads the file from disk if necessary; null if there is none.
  File *load(const std::string &path);
  /// The file of an index; null if there is none.
  File *fileOf(const ModuleIndex *index) const;
  std::vector<File *> openFiles();
  const std::map<std::string, std::unique_ptr<File>> &files() const { return files_; }

  /// The check of one chunk, computed if it is missing or stale.
  const ChunkCheck &check(File &file, size_t place);
  /// Checks one stale chunk; false when none is left.
  bool checkNext(File &file);
  bool hasStale(const File &file) const;

  /// The present location of a span of a chunk; nothing if the chunk has been removed.
  Location locate(Span span) const;

  /// All diagnostics of a file, as far as it is checked, by position. They live until the file
  /// changes.
  std::vector<FileDiagnostic> diagnostics(File &file);

  /// What an edit changed of the declarations of a file.
  struct Touched {
    std::set<std::string_view> names; ///< of declarations that were rewritten, before and after
    bool areOthers = false;           ///< other names than before
    bool signatures = false;          ///< not bodies alone
  };

private:
  File &add(const std::string &path);
  void setText(File &file, std::string_view text);
  void takeFromDisk(File &file, const std::optional<std::string> &text);
  void changed(File &file, const DocumentChange &change);
  void resolveImports(File &file);
  void resolveImport(File &file, const Tree &tree, NodeId node);
  void invalidate(File &file, const Touched &touched);
  void invalidate(File &file, const ModuleIndex &index, const Touched &touched);

  CheckOptions options_;
  std::map<std::string, std::unique_ptr<File>> files_;
  std::vector<File *> fileOfId_; ///< by file id of chunks
};

} // namespace ptl::ide
