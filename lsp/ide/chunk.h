// One chunk of a document (frontend/parse/parse.h): whole lines with their tree. Immutable.
#pragma once

#include "frontend/parse/parse.h"
#include "frontend/sema/check_chunk.h"
#include "frontend/sema/declarations/check_module.h"
#include "lsp/ide/memo.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl::ide {

/// A named declaration of a chunk, as in its module's index.
struct ChunkDecl {
  NamedDecl decl;
  DeclSite site;
};

struct Chunk {
  Chunk(FileId id, std::string path, std::string text, ParsedChunk parsed, DiagnosticSink syntax);
  Chunk(const Chunk &) = delete;

  SourceFile file;                  ///< its text; offsets and lines count from its beginning
  std::shared_ptr<const Tree> tree; ///< of `file`
  DiagnosticSink syntax;            ///< diagnostics of the lexer and the parser
  uint32_t reach;                   ///< see `ParsedChunk`
  std::vector<ChunkDecl> decls;
  bool hasImports = false;
  bool hasSchedules = false; ///< their checks depend on the bodies of other declarations
  Memo memo;                 ///< caches of features

  FileId id() const { return file.id(); }
  uint32_t size() const { return static_cast<uint32_t>(file.text().size()); }
  /// The number of line ends in it.
  uint32_t lines() const { return file.lineCount() - 1; }
};

/// A hash of the chunk's text, as a number that fits every client.
uint32_t textHash(const Chunk &chunk);

/// Where a text lies in a document.
struct TextPart {
  bool isFirst = false; ///< it begins the document
  bool isLast = false;  ///< the document ends with it
};

/// Parses the first chunk of `text`, a part of a document that begins at the start of a line. Null
/// if more of the document is needed.
std::shared_ptr<const Chunk> makeChunk(FileId id, const std::string &path, std::string_view text,
                                       TextPart part);

} // namespace ptl::ide
