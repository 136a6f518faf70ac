// The placement of the arrays of a program over the parts of the machine's levels: it is inferred
// from the header by a rule per operation, and checked. The result is a list of values in program
// order, which executors compute part by part.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"
#include "ir/ops/movement_table.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptl {

/// The operation that combines the summands of all parts into the value.
enum class Fold : uint8_t { Sum, Max, Min };

/// The placement of a value over the parts of one level.
struct LevelPlacement {
  PlacementKind kind = PlacementKind::Whole;
  int64_t axis = 0; ///< of `Cut`, counted from the end: -1 is the last
  Fold fold = Fold::Sum;
  uint32_t part = 0; ///< of `Single`
  /// Of `Single` for a stage: the part that has element `stage` of an axis of length `stages` that is cut over the level;
  /// `part` is that of the last run of the loop over the stages (`codegen/parts`). Of a task `stage` is its number, and `stages` none: tasks go round the parts.
  Dim stage = {}, stages = {};
  /// Of `Cut`: blocks are whole numbers of so many elements, `cdiv(length / unit, parts) * unit` of them; none: of single ones. So a
  /// reshape leaves them that joins the axis with those inside it. `unitLength` is its number, when that is known (`codegen/parts`).
  Dim unit = {};
  int64_t unitLength = 1;
  /// Of `Single` in the body of a `parallel` over parts: every part has a value of its own.
  bool isOwn = false;

  bool isWhole() const { return kind == PlacementKind::Whole; }
  bool isCut() const { return kind == PlacementKind::Cut; }
  bool isPartial() const { return kind == PlacementKind::Partial; }
  bool isSingle() const { return kind == PlacementKind::Single; }
  bool cuts(int64_t which) const { return isCut() && axis == which; }
  bool operator==(const LevelPlacement &) const = default;
};

/// On one part.
inline LevelPlacement onPart(uint32_t part) {
  LevelPlacement at;
  at.kind = PlacementKind::Single;
  at.part = part;
  return at;
}

/// What each part has for itself.
inline LevelPlacement onEachPart() {
  LevelPlacement at = onPart(0);
  at.isOwn = true;
  return at;
}

/// One entry per level of the program, outermost first. If several levels cut one dimension, the
/// outermost cuts it into blocks, and the next cuts these into blocks again.
using Placement = std::vector<LevelPlacement>;

/// A level whose parts hold the arrays of a program: one of the machine, or an axis of a mesh.
struct PlacedLevel {
  std::string name;
  /// `chip`: the level itself, or the level from which the mesh is made
  std::string machineLevel;
  std::optional<uint32_t> count; ///< of an axis of a mesh that states its number of parts
};

using ValueId = uint32_t;

enum class PlacedKind : uint8_t {
  Argument,  ///< `param`
  Constant,  ///< `expr`, a `ConstExpr`
  Dimension, ///< the number `dim`
  Number, ///< the operand, a number that is the same on all parts: from here on the symbol `dim` stands for it
  Apply,  ///< the built-in of `expr`, an `OpExpr`, on `operands`
  Call, ///< result `result` of the kernel, or program of one chip, that `expr` calls with `operands`
  Convert, ///< to `elem`, as `expr` says
  Reshape, ///< the operand in row-major order with the shape of the result
  Index,   ///< the operand at `positions` and `selected`, with the shape of the result
  Store,   ///< the first operand with the second one at `positions` and `selected`
  Assert,  ///< stops the run if the first operand, the condition, does not hold
  Print,   ///< writes a line with the operands, once for all parts that have the same
  Slice,   ///< each part takes its block of a value that it has whole
  Move,    ///< `movement`
  /// carried by a loop: initially its operand, then the value at the end of an iteration
  Carried,
  Arm,     ///< the beginning of an arm of a choice; its operand is the condition
  Missing, ///< whether a pool lacks the page that a choice takes from it (`PlacedPage`)
  Page,    ///< that page
  Chosen,  ///< the first or the second operand, by the arm taken; each part takes its block
  // In and behind the body of a `parallel` over parts (`PlacedParts`).
  Block, ///< the elements of the operand that the part has, or without an operand zeros, as an array of their own
  Joined, ///< the arrays of all parts, which are the blocks of the operand, as one
};

/// What an index selects along one axis, other than a position that is known: a slice, or the
/// positions in an operand, whose axis is dropped if it is a scalar.
struct PlacedSelection {
  size_t axis = 0;    ///< of the base
  size_t operand = 0; ///< number of the operand with the positions; 0: a slice
  Dim start = {}, length = {}, step = {};
  Dim stop = {}; ///< of a slice whose end may lie before its start
};

/// One value of a program. Shapes are those of whole arrays, in dimensions of the program.
struct PlacedValue {
  PlacedKind kind = PlacedKind::Constant;
  Placement placement;
  std::vector<Dim> shape;
  ElemKind elem = ElemKind::F32;
  const Expr *expr = nullptr;
  std::vector<std::optional<ValueId>> operands; ///< nothing for a missing operand
  const Local *param = nullptr;                 ///< of a parameter, or of what a loop carries
  const MovementRecord *movement = nullptr;
  std::string_view how = {};                          ///< of a movement: its algorithm; empty: any
  size_t level = 0;                                   ///< of a movement over one level
  std::vector<std::pair<size_t, Dim>> positions = {}; ///< of an index: axes of the operand
  std::vector<PlacedSelection> selected = {};         ///< of an index
  bool hasOutside = false;       ///< of an index: the last operand is what lies beyond the edges
  std::vector<Dim> lengths = {}; ///< of `Apply`: `OpExpr::shape`; of `Call`: `CallExpr::dimArgs`
  size_t result = 0; ///< of `Apply` and `Call`: its number; `inout`s of a call come last
  std::vector<size_t> over = {}; ///< of a movement of rows, or a shift: its levels, outermost first
  int64_t chunks = 0; ///< of a movement: into how many it is cut beside a product; 0: as is best
  Dim dim;            ///< of `Dimension` and `Number`; of a shift: by how many positions
};

/// A variable that a loop carries from one iteration to the next.
struct PlacedCarried {
  const Local *local = nullptr;
  ValueId next = 0; ///< its value at the end of an iteration
};

/// A loop over `lo`, `lo + step` … below `hi`, or a `while` (without `stmt`). Its values are
/// contiguous: first one `Carried` for each variable, which has the final value after the loop,
/// then the values of an iteration; those of a `while` begin with its condition, which is the same
/// on all parts.
struct PlacedLoop {
  const ForStmt *stmt = nullptr; ///< null for a `while`
  const Expr *condition = nullptr;
  ValueId holds = 0,
          inside = 0; ///< of a `while`: the condition, and where the values behind it begin
  SymbolId variable;
  Dim lo, hi, step;
  Dim every; ///< of a loop with checkpoints
  std::vector<PlacedCarried> carried;
  std::optional<size_t>
      leaves; ///< of `carried`: not 0 at the end of the last iteration, even if the range continues
  ValueId first = 0, end = 0;
  ValueId body() const { return first + static_cast<ValueId>(carried.size()); }
};

/// `parallel c in parts(N, over: chip)`: values that each part of the level whose range is not empty makes for itself, one part after
/// the other or at the same time. What they use of cut arrays begins with `Block`s, and what they leave behind ends with some. One may stand
/// in another, `parts(h, over: chip)` in that of the ranges `h` of hosts.
struct PlacedParts {
  const ForStmt *stmt = nullptr;
  size_t level = 0;
  Dim base, length; ///< of what is cut: where it begins, and how long it is
  SymbolId start, extent,
      number; ///< of the range of a part: its beginning, its length, and which it is
  /// Of one in a section `on host 0`: its level and placement, of whose part the parts compute it. Nothing: all parts do.
  std::optional<std::pair<size_t, LevelPlacement>> section = std::nullopt;
  ValueId first = 0, end = 0; ///< `first` is the length as a number
  ValueId body() const { return first + 1; }
};

/// `let kv = pool(f32[P, D], memory: 1GiB, disk: 64GiB)`: a store of pages that persists between
/// runs.
struct PlacedPool {
  const Local *local = nullptr;
  uint64_t memory = 0, disk = 0; ///< bytes; 0: it has no such tier
  std::optional<size_t> over; ///< the level whose parts have one memory; nothing: each has its own
};

/// What a page depends on, from which its key is computed: the rows up to its own, and the
/// following.
struct PageSource {
  std::vector<ValueId> arguments; ///< the whole of them
  std::vector<SymbolId> numbers;  ///< sizes, parameters and counters of other loops
};

/// A choice that takes a page from a pool. If the pool lacks the page, the first arm computes it
/// and stores it; the other arm is the stored page.
struct PlacedPage {
  size_t pool = 0;
  ValueId rows = 0, kept = 0;
  /// Of a pool whose memory is that of several parts: the page goes from the part where it lies to those that need it (`fetched`), and
  /// from one that has made it to where it will lie (`stored`; nothing where all have it). Both are movements of the arms. That part is known when the
  /// program runs, and their placements and that of the `Page` get it then.
  std::optional<ValueId> fetched = std::nullopt, stored = std::nullopt;
  SymbolId counter; ///< the variable of the loop over the pages
  const Expr *keep = nullptr;
  PageSource source = {};
};

/// An `if`, or an `and` or `or` whose right side is evaluated only if the left does not decide. All
/// parts take the same arm, since the condition is the same on all. Its values are contiguous:
/// those of the one arm, then those of the other, each after an `Arm`, then one `Chosen` for each
/// variable that may differ and for the value.
struct PlacedChoice {
  const Expr *condition = nullptr;
  ValueId holds = 0; ///< the condition
  ValueId first = 0, otherwise = 0, chosen = 0, end = 0;
  std::string what = {}; ///< what it decides, for messages: a variable, or empty
  std::optional<PlacedPage> page = std::nullopt;

  /// The values of an arm, after its `Arm`.
  std::pair<ValueId, ValueId> arm(bool isThen) const {
    return isThen ? std::pair(first + 1, otherwise) : std::pair(otherwise + 1, chosen);
  }
};

/// An `assert`, which is checked on each part that has its condition.
struct PlacedAssert {
  ValueId value = 0; ///< whose operands after the condition are what it compares
  const AssertStmt *stmt = nullptr;
  std::vector<std::string> names = {}; ///< of what it compares
};

/// A position in the lists of a program, to which they can be cut back.
struct PlacedMark {
  size_t values = 0, loops = 0, choices = 0, locals = 0, asserts = 0, parts = 0;
};

struct PlacedProgram {
  const CallableDecl *decl = nullptr;
  std::vector<PlacedLevel> levels;   ///< whose parts hold the arrays, outermost first
  std::vector<PlacedValue> values;   ///< operands before what uses them
  std::vector<PlacedLoop> loops;     ///< inner ones before those that they stand in
  std::vector<PlacedChoice> choices; ///< inner ones before outer ones
  std::vector<PlacedAssert> asserts;
  std::vector<PlacedParts> parts;
  std::vector<PlacedPool> pools;
  std::vector<std::shared_ptr<Local>> flags; ///< the variables of `PlacedLoop::leaves`
  std::vector<std::shared_ptr<Expr>> made;   ///< expressions that the source leaves implicit
  std::vector<ValueId> outputs; ///< one per output, placed as declared, and then one per `inout`
  /// The values of the program's own names, in the order in which they are bound: parameters,
  /// `let`s, results.
  std::vector<std::pair<const Local *, ValueId>> locals;

  /// The loop whose values begin with this one; null if there is none.
  const PlacedLoop *loopAt(ValueId first) const {
    auto found = std::ranges::find(loops, first, &PlacedLoop::first);
    return found == loops.end() ? nullptr : &*found;
  }
  /// The choice whose values begin with this one; null if there is none.
  const PlacedChoice *choiceAt(ValueId first) const {
    auto found = std::ranges::find(choices, first, &PlacedChoice::first);
    return found == choices.end() ? nullptr : &*found;
  }
  /// The body of a `parallel` over parts whose values begin with this one; null if there is none.
  const PlacedParts *partsAt(ValueId first) const {
    auto found = std::ranges::find(parts, first, &PlacedParts::first);
    return found == parts.end() ? nullptr : &*found;
  }
  /// The choice whose `Missing` or `Page` a value is, or of whose page it is a movement.
  const PlacedChoice *pageAt(ValueId id) const {
    auto found = std::ranges::find_if(choices, [&](const PlacedChoice &choice) {
      return choice.page && (choice.holds == id || choice.otherwise + 1 == id ||
                             choice.page->fetched == id || choice.page->stored == id);
    });
    return found == choices.end() ? nullptr : &*found;
  }
  PlacedMark mark() const {
    return {values.size(), loops.size(),   choices.size(),
            locals.size(), asserts.size(), parts.size()};
  }
  /// Removes everything after a mark.
  void backTo(const PlacedMark &mark) {
    values.resize(mark.values);
    loops.resize(mark.loops);
    choices.resize(mark.choices);
    locals.resize(mark.locals);
    asserts.resize(mark.asserts);
    parts.resize(mark.parts);
  }
  /// The loop with checkpoints; null if there is none.
  const PlacedLoop *savedLoop() const {
    auto found =
        std::ranges::find_if(loops, [](const PlacedLoop &loop) { return bool(loop.every); });
    return found == loops.end() ? nullptr : &*found;
  }
};

/// Whether the header of a callable places an array.
bool isPlaced(const Tree &tree, NodeId decl);

/// The same for editors, which also show programs with errors: it has the values before the first
/// error.
struct PlacedAsFar {
  PlacedProgram program;
  bool isAll = false;
};

} // namespace ptl
