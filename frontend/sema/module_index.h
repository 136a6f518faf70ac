// The declarations of a file by name, as syntax. When a part of a file is checked (check_chunk.h),
// the checker finds in it the declarations that it has not created yet. An editor keeps the index
// between edits.
#pragma once

#include "frontend/syntax/tree.h"

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace ptl {

/// The name spaces of declarations.
enum class DeclSpace : uint8_t { Callable, Struct, Alias, Const };
inline constexpr size_t kDeclSpaces = 4;

/// The name space of a declaration; false for tests, schedules, imports and errors.
bool isNamed(const Tree &tree, NodeId node, DeclSpace &space);

/// The location of a declaration.
struct DeclSite {
  const Tree *tree = nullptr; ///< null: there is none
  NodeId node = kNoNode;
  uint64_t signature = 0; ///< hash of the text that other declarations depend on; 0: no declaration
  uint64_t text = 0;      ///< hash of its whole text
  bool hasSyntaxErrors = false;
  /// Hash of the parts of a body that schedules depend on (`labelsHash`); 0 until the body has been
  /// checked.
  uint64_t labels = 0;

  explicit operator bool() const { return tree != nullptr; }
  /// Whether both are the same declaration, regardless of `labels`.
  bool operator==(const DeclSite &other) const {
    return tree == other.tree && node == other.node && signature == other.signature &&
           text == other.text && hasSyntaxErrors == other.hasSyntaxErrors;
  }
};

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

/// The names that imports were to bind, and of which a report says why they do not.
using FailedImports = std::unordered_set<std::string, StringHash, std::equal_to<>>;

/// The index of one file. Trees must outlive it or be replaced in it.
struct ModuleIndex {
  /// A name that an import binds.
  struct Import {
    const ModuleIndex *module = nullptr;
    Span span;
  };

  FileId file = 0;
  std::string name;                                    ///< `nn` for `std.nn`
  std::array<StringMap<DeclSite>, kDeclSpaces> spaces; ///< the first declaration of each name
  StringMap<Import> modules;                           ///< `nn` of `import std.nn`
  StringMap<Import> names;                             ///< `silu` of `import std.nn: silu`
  FailedImports failed;

  const StringMap<DeclSite> &of(DeclSpace space) const {
    return spaces[static_cast<size_t>(space)];
  }
  StringMap<DeclSite> &of(DeclSpace space) { return spaces[static_cast<size_t>(space)]; }
  DeclSite find(DeclSpace space, std::string_view name) const {
    auto found = of(space).find(name);
    return found == of(space).end() ? DeclSite() : found->second;
  }
};

} // namespace ptl
