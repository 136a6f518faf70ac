// Lists the completions at a place.
#pragma once

#include "lsp/ide/actions/trial.h"
#include "lsp/ide/workspace.h"

#include <string>
#include <vector>

namespace ptl::ide {

enum class CompletionKind : uint8_t {
  Word,
  Snippet,
  Function,
  Struct,
  Alias,
  ElementType,
  Constant,
  Variable,
  Parameter,
  Dimension,
  Tunable,
  Field,
  Tag,
  Name, ///< of hardware, labels
  Module,
  File
};

/// Where the documentation of an item is found.
struct DocSource {
  enum class Kind : uint8_t { None, Op, Declaration, Word } kind = Kind::None;
  std::string name;
  std::string path; ///< of the file of a declaration
  DeclSpace space = DeclSpace::Callable;
};

struct CompletionItem {
  std::string label;
  CompletionKind kind = CompletionKind::Word;
  std::string signature = {}; ///< what follows the name: `(x: f32[N]) -> f32[N]`
  std::string detail = {};    ///< the type, or the module
  std::string insert = {};    ///< empty: the label
  bool isSnippet = false;     ///< `insert` has placeholders
  int rank = 0;               ///< lower ones come first
  std::string help = {};      ///< one line
  DocSource doc = {};
  std::vector<Edit> edits = {}; ///< elsewhere in the file: an import
  std::string filter = {};      ///< the text that the prefix is matched with; empty: the label
  int score = 0;                ///< how well the prefix fits, higher is better
  const std::string &filterText() const { return filter.empty() ? label : filter; }
};

struct Completions {
  Range replace;                     ///< of the file: the word that is being typed
  std::vector<CompletionItem> items; ///< best first, at most `kMaxCompletions`
  bool isIncomplete = false;         ///< there are more
};
inline constexpr size_t kMaxCompletions = 200;

Completions completionsAt(Workspace &workspace, File &file, uint32_t offset);
/// Markdown; empty if there is none.
std::string documentation(Workspace &workspace, const DocSource &source);

} // namespace ptl::ide
