// The meaning of a name or operator. Names are resolved by the syntax (names.h) and the indices of
// the files, so they have a meaning in code with errors, too; the result of the chunk's check is
// added if there is one.
#pragma once

#include "lsp/ide/names.h"
#include "lsp/ide/workspace.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ptl::ide {

/// One per row of symbol_kinds.def.
enum class SymbolType : uint8_t {
#define SYMBOL(NAME, WORDS) NAME,
#include "lsp/ide/symbol_kinds.def"
};
std::string_view words(SymbolType type);
/// A value, dimension, tunable or type parameter of one declaration.
inline bool isLocal(SymbolType type) { return type <= SymbolType::Label; }
inline bool isCallable(SymbolType type) {
  return type >= SymbolType::Fn && type <= SymbolType::Program;
}
/// Something with a location in some file.
inline bool isDeclared(SymbolType type) { return type <= SymbolType::Module; }

struct Symbol {
  SymbolType type = SymbolType::Word;
  std::string name; ///< an operator has the name of its record (`+`, `.T`)
  Range range;      ///< in the requested file
  Access access = Access::Read;

  // The declaration; `file` is null for built-ins. A module has only its file.
  File *file = nullptr;
  std::shared_ptr<const Chunk> chunk;
  NodeId nameNode = kNoNode; ///< in the tree of `chunk`
  NodeId declNode = kNoNode; ///< the `Param`, `LetStmt`, `KernelDecl` … that has the name
  Location definition;       ///< the name there
  Location whole;            ///< `declNode`

  const OpRecord *op = nullptr;        ///< built-ins, their parameters and tags
  const ptl::OpParam *param = nullptr; ///< `OpParam`, `Tag`

  // These are from the check of the requested chunk, which `check` keeps alive; null if it has
  // none.
  std::shared_ptr<const ChunkCheck> check;
  const Expr *expr = nullptr; ///< the name's or operator's expression; for a callee: the call
  const Local *local = nullptr;
  const CallableDecl *callable = nullptr;
  const StructDecl *structDecl = nullptr;
  const Type *valueType = nullptr; ///< of the expression, local or field

  // The place where it was found.
  size_t place = 0;      ///< in the requested document
  NodeId node = kNoNode; ///< in the tree of that place: `Name`, `NameExpr`, operator node …
  const Tree &tree() const { return *chunk->tree; } ///< of the declaration
};

/// The meaning of one name of a chunk, without the result of the chunk's check. The chunk is
/// checked only if the meaning of a field depends on it.
std::optional<Symbol> resolve(Workspace &workspace, File &file, size_t place, const NameUse &use);

/// The declaration of a file that a name refers to in a name space; imports included.
std::optional<Symbol> findDeclared(Workspace &workspace, File &file, DeclSpace space,
                                   std::string_view name);
/// The symbol whose name is at a span of a chunk, such as `CallableDecl::nameSpan`.
std::optional<Symbol> declaredAt(Workspace &workspace, Span nameSpan);
/// The callable that a schedule is for.
std::optional<Symbol> targetOf(Workspace &workspace, File &file, size_t place, NodeId schedule);

/// Whether both refer to the same declaration, module or built-in.
bool isSame(const Symbol &a, const Symbol &b);

/// The file that an import refers to; null if there is none.
File *importedFile(Workspace &workspace, File &file, const Tree &tree, NodeId importDecl);

} // namespace ptl::ide
