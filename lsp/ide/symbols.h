// Lists the declarations of a file as a tree, and finds declarations of all files by a few letters
// of their names.
#pragma once

#include "lsp/ide/workspace.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::ide {

enum class OutlineKind : uint8_t {
  Fn,
  Kernel,
  Program,
  Struct,
  Field,
  Alias,
  Const,
  Schedule,
  Test, ///< and properties and benches
  Let,
  Var,
  Task,
};

/// One declaration. Offsets and lines (from 0) count from the beginning of its chunk.
struct OutlineItem {
  OutlineKind kind = OutlineKind::Fn;
  bool isNested = false; ///< a child of the last item before it that is not nested
  std::string name;
  std::string detail; ///< the header without keyword and name; of a `let` its written type
  Range whole;
  Range selection; ///< the name, inside of `whole`
  LineByte begin, end, selectionBegin, selectionEnd;
};

/// The declarations of a chunk in source order, cached with it: fields follow their struct; lets,
/// variables and tasks follow their callable.
const std::vector<OutlineItem> &outlineOf(const Chunk &chunk);

struct FoundSymbol {
  const OutlineItem *item = nullptr; ///< lives as long as its chunk
  Location location;                 ///< of the name
  const File *file = nullptr;
  std::string container; ///< the module, or the struct of a field
  int score = 0;
};
/// Declarations whose name contains the letters of `query` in order, best first, at most `limit`:
/// in all files that are known and in those of `paths`, which are loaded.
std::vector<FoundSymbol> workspaceSymbols(Workspace &workspace, std::string_view query,
                                          size_t limit, std::span<const std::string> paths);

/// How well a name matches the letters; negative: not at all.
int fuzzyScore(std::string_view query, std::string_view name);

} // namespace ptl::ide
