// Names: the locals of a declaration, and the declarations and imports of a file. Values, callables
// and types are separate name spaces.
#pragma once

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/module_index.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptl {

/// The meaning of a value name; all members null: unknown.
struct ValueRef {
  Local *local = nullptr;
  const ConstDecl *constant = nullptr;
  const CheckedModule *module = nullptr;
  explicit operator bool() const { return local || constant || module; }
};

/// The meaning of a callable name; both members null: unknown (or a built-in).
struct CalleeRef {
  const CallableDecl *callable = nullptr;
  const StructDecl *structDecl = nullptr;
  explicit operator bool() const { return callable || structDecl; }
};

/// The meaning of a type name.
struct TypeRef {
  const StructDecl *structDecl = nullptr;
  const TypeAliasDecl *alias = nullptr;
  explicit operator bool() const { return structDecl || alias; }
};

enum class LabelKind : uint8_t { Let, Task, Loop };

struct LabelInfo {
  std::string name;
  LabelKind kind = LabelKind::Let;
  Span span;
  bool isParallel = false; ///< a variable of a `parallel`
};

/// The locals of one declaration in nested scopes. A look-up is one hash access, independent of the
/// depth.
class Scope {
public:
  void push() { starts_.push_back(undo_.size()); }
  /// Leaves the innermost scope and returns the locals that were declared in it.
  std::vector<Local *> pop();
  /// Binds the name and hides an outer one until the scope ends. Returns the local that it hides,
  /// or null.
  Local *bind(Local *local);
  Local *find(std::string_view name) const;
  bool isInnermost(const Local *local) const;
  void markUsed(const Local *local);
  bool isUsed(const Local *local) const;
  std::vector<std::string> names() const;
  size_t depth() const { return starts_.size(); }

  std::vector<LabelInfo> labels;

private:
  struct Undo {
    Local *bound;
    Local *hidden;
  };
  std::vector<size_t> starts_;
  std::vector<Undo> undo_;
  std::unordered_map<std::string_view, Local *> visible_;
  std::vector<bool> used_;
};

/// Something imported by name: `import std.nn: silu`.
struct ImportedName {
  const CheckedModule *module = nullptr;
  Span span;
  bool used = false;
};

/// The declarations and imports of one file. With an index it is filled as names are looked up
/// (check_chunk.h), otherwise it is complete; so names must be looked up by the functions of
/// on_demand.h.
struct ModuleScope {
  StringMap<CallableDecl *> callables;
  StringMap<StructDecl *> structs;
  StringMap<TypeAliasDecl *> aliases;
  StringMap<ConstDecl *> consts;
  StringMap<ImportedName> modules; ///< `nn` of `import std.nn`
  StringMap<ImportedName> names;   ///< `silu` of `import std.nn: silu`
  FailedImports failed;            ///< of a whole check; that of a chunk has those of its index
  const ModuleIndex *index = nullptr;
};

} // namespace ptl
