// The checked tree: names are resolved, types inferred, and conversions explicit. Executors, IR
// construction and editors read it. It is generic: dimensions, element types and `..` stay
// symbolic; an executor or builder binds them (by `CallExpr`) and evaluates every `Dim` in its own
// environment.
//
// Symbols and values: an immutable scalar local of type `int` that occurs in a Dim has
// `Local::symbol`; whoever binds the local must bind the symbol to the same value. A range local
// has the symbols inside its `RangeInfo` (`start`, `length`, `count`, where these are plain
// symbols).
#pragma once

#include "frontend/base/arena.h"
#include "frontend/sema/checked_stmt.h"
#include "frontend/sema/node_map.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace ptl {

// ---- Declarations -------------------------------------------------------------------------------

enum class DeclKind : uint8_t {
  Fn,
  Kernel,
  ManualKernel,
  ExternKernel,
  Program,
  Test,
  Property,
  Bench
};

/// A `where` clause: a condition over dimensions, scalars and tunables, or a predicate on data.
struct WhereClause {
  Expr *condition = nullptr;
  std::string text;        ///< as written
  bool onTunables = false; ///< filters the tuning domain
  Span span;
};

struct CallableDecl {
  DeclKind kind = DeclKind::Fn;
  std::string name; ///< for tests, properties and benches: their text
  const CheckedModule *module = nullptr;
  NodeId syntax = kNoNode;
  Span span, nameSpan;
  std::string doc;
  bool isPub = false;
  bool hasErrors = false;    ///< do not execute
  bool isBlockLevel = false; ///< uses pipes, sections, buffers or events (language.md section 7)
  std::string level;         ///< `at host` …; empty: the default
  std::string role;          ///< `as worker`
  std::string core;          ///< `on aiv`; empty: the compiler splits
  std::vector<std::string> targets; ///< `for a2, a3`; empty: all
  /// Whether the schedule applies to a machine of that name.
  bool isFor(std::string_view machine) const {
    return targets.empty() || std::find(targets.begin(), targets.end(), machine) != targets.end();
  }
  std::vector<std::pair<std::string, std::string>> externSources; ///< target and symbol or file
  std::vector<TypeParam *> typeParams;
  std::vector<DimParam> dims; ///< in the order written, then the numbers of parts that it mentions
  bool hasPrefix = false;     ///< the signature uses `..`
  std::vector<Local *> params;
  std::vector<Expr *> paramDefaults; ///< parallel to `params`, null where none
  std::vector<Local *> outputs;      ///< kernels and programs
  std::vector<Expr *> outputInits;   ///< parallel to `outputs`, null where none
  const Type *returnType =
      nullptr; ///< fns: the value's type; kernels and programs: type of a call (output or tuple)
  std::vector<WhereClause> wheres;
  std::vector<Tunable> tunables;
  std::vector<std::pair<int64_t, int64_t>> sampleRanges; ///< properties: `[R: 0..300]`, one per dim
  Block *body = nullptr;                                 ///< null for extern kernels
  std::vector<Local *> locals;                           ///< all of them, `locals[i]->index == i`
};

struct StructField {
  std::string name;
  const Type *type = nullptr;
  Span span;
};
struct StructDecl {
  std::string name;
  std::string doc;
  const CheckedModule *module = nullptr;
  NodeId syntax = kNoNode;
  Span span, nameSpan;
  bool isPub = false;
  std::vector<TypeParam *> typeParams;
  std::vector<DimParam> dims;
  std::vector<StructField> fields;
};

struct ConstDecl {
  std::string name;
  std::string doc;
  Span span, nameSpan;
  bool isPub = false;
  Expr *value = nullptr; ///< a ConstExpr
};

struct TypeAliasDecl {
  std::string name;
  std::string doc;
  Span span, nameSpan;
  bool isPub = false;
  std::vector<TypeParam *> typeParams;
  std::vector<DimParam> dims;
  const Type *type = nullptr;
};

/// A line of a schedule that concerns a label: `tile B by 128, F by 256`, `place @mat`, `l0 128,
/// 256, 64` …
struct ScheduleDirective {
  std::string label;
  std::vector<std::pair<std::string, int64_t>> tiles; ///< dimension name and size
  Place place = Place::Inferred;
  std::vector<int64_t> l0;          ///< rows, columns, contracted positions; empty: not given
  int64_t chunks = 0;               ///< of a movement: into how many it is cut; 0: not given
  std::string how = {};             ///< of a movement: its algorithm; empty: not given
  Span span, placeSpan, l0Span;     ///< of the line, and of its parts
  std::vector<Span> tileSpans = {}; ///< one per `tiles`
};

/// `order a, b`, `fuse a, b`, `split after a`.
struct ScheduleLabels {
  std::vector<std::string> names;
  std::vector<Span> spans; ///< of the names
};

/// `pipeline j 3`, `unroll j`.
struct ScheduleModifier {
  std::string label;
  int64_t number = 0;
  Span span;
};

struct ScheduleDecl {
  const CallableDecl *target = nullptr;
  std::string machine;  ///< empty: every target
  Expr *when = nullptr; ///< over the target's dimensions and tunables; null: always
  std::vector<std::pair<Local *, int64_t>> tunables;
  std::vector<ScheduleModifier> pipelines; ///< with their depth
  std::vector<ScheduleModifier> unrolls;   ///< with their factor, 0: full
  std::vector<ScheduleDirective> directives;
  std::vector<ScheduleLabels> fuses, orders;
  ScheduleLabels splitsAfter;
  int64_t cores = 0; ///< 0: not said
  Span span, coresSpan;
};

/// One file after checking.
struct CheckedModule {
  FileId file = 0;
  std::string name; ///< `nn` for `std.nn`
  std::shared_ptr<const Tree> tree;
  std::vector<const CheckedModule *> imports;
  std::vector<CallableDecl *> callables; ///< in the order written, tests included
  std::vector<StructDecl *> structs;
  std::vector<ConstDecl *> consts;
  std::vector<TypeAliasDecl *> aliases;
  std::vector<ScheduleDecl *> schedules;
};

/// Everything made from one root file: modules, arena, dimensions. Owns all nodes.
struct CheckedProgram {
  std::shared_ptr<DimContext> dims;
  std::vector<std::unique_ptr<CheckedModule>> modules; ///< [0] is the root file
  /// For each expression or name in a syntax node of the root file, its checked expression (for
  /// hovers and previews).
  NodeMap<const Expr *> exprOfNode;
  NodeMap<Local *> localOfNode;

  template <typename T, typename... Args> T *make(Args &&...args) {
    return arena_.make<T>(std::forward<Args>(args)...);
  }

private:
  Arena arena_;
};

} // namespace ptl
