// The names in one chunk: the location of each and, as far as the chunk alone determines it, its
// meaning. It follows the look-up rules of frontend/sema/scope.h on the syntax tree, so it works on
// code with errors, too. Meanings that depend on more than the chunk (declarations elsewhere,
// fields) are found by symbol.h.
#pragma once

#include "lsp/ide/chunk.h"

#include <vector>

namespace ptl::ide {

/// The name space in which a name is looked up.
enum class NameSpace : uint8_t {
  Local,        ///< `target`: the name node that declares it
  Label,        ///< likewise; of a `task` or loop: no value
  Declared,     ///< the name of a declaration of the file; `target`: that declaration
  FieldDecl,    ///< `target`: the `Field`
  Value,        ///< constants, modules
  Callee,       ///< callables, structs, built-ins
  Type,         ///< structs, aliases
  Member,       ///< after a dot in an expression; `target`: the `MemberExpr`
  Qualified,    ///< after a module in a path; `target`: the `Path`
  Argument,     ///< of a call; `target`: the `CallExpr`
  ImportPath,   ///< `target`: the `ImportDecl`
  ImportedName, ///< likewise
  Target,       ///< the callable of a schedule; `target`: the `ScheduleDecl`
  TargetLabel,  ///< a label of that callable; likewise
  TargetTune,   ///< a tunable of it
  TargetDim,    ///< a dimension of it
  Tag,          ///< `.even`
  Word,         ///< a name of the language itself: places, cores, machines
};

/// How the named thing is used.
enum class Access : uint8_t { Declare, Read, Write };

struct NameUse {
  uint32_t begin = 0; ///< in the chunk
  uint32_t end = 0;
  NodeId node = kNoNode; ///< `Name`, `NameExpr`, or the `StringLiteral` of an import
  NameSpace space = NameSpace::Value;
  Access access = Access::Read;
  NodeId target = kNoNode;
  NodeId schedule = kNoNode; ///< of names in a schedule, which are looked up in its callable
};

/// A local: a value, dimension, tunable or type parameter.
struct LocalName {
  NodeId name = kNoNode;
  uint32_t from = 0; ///< visible in `[from, to)`
  uint32_t to = 0;
  NodeId hides = kNoNode; ///< the name of the local that it shadows
};

struct ChunkNames {
  std::vector<NameUse> uses;     ///< by position
  std::vector<LocalName> locals; ///< by position

  /// The name that covers a byte or ends there; null: none.
  const NameUse *at(uint32_t offset) const;
  const LocalName *local(NodeId name) const;
};

/// The names of a tree.
ChunkNames namesOf(const Tree &tree);
/// The same, cached with the chunk.
const ChunkNames &namesOf(const Chunk &chunk);

/// The locals that are visible at a byte of the chunk, inner ones first, without shadowed ones.
std::vector<NodeId> localsAt(const Chunk &chunk, uint32_t offset);

/// The declaration of the file around a node, a child of the root; `kNoNode` for the root.
NodeId enclosingDecl(const Tree &tree, NodeId node);
/// The declaration that a name node belongs to: a `Param`, `LetStmt`, `LoopBinding`, `KernelDecl` …
/// Patterns are looked through.
NodeId declarationOf(const Tree &tree, NodeId name);
/// Whether an argument names a `fn`, as in built-ins such as `scan`.
bool namesFunction(const Tree &tree, NodeId argument);
/// The names of the labels of a callable: lets, tasks, loops. In the order written.
std::vector<NodeId> labelsOf(const Tree &tree, NodeId callable);
/// Words with a meaning everywhere, without a declaration in the text: keywords, element types,
/// built-ins with the names of their arguments, and numeric constants. Some occur twice.
const std::vector<std::string_view> &wordsOfLanguage();

} // namespace ptl::ide
