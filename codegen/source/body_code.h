// The text between the braces of one declaration while it is being written. The functions that
// print operations take it as their first argument and keep no state of their own.
#pragma once

#include "codegen/source/body_kind.h"
#include "codegen/source/expression.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace ptl::source {

struct SourceResult;

/// Positions whose text is no longer than this are repeated at each use instead of getting a name.
inline constexpr size_t kShort = 9;

/// Called for an operation that cannot be expressed in PTL, with the reason.
using Unwritable = std::function<void(mlir::Operation *, const std::string &why)>;
/// Notes the first such operation in `result`, which outlives what is returned. Only the first one is
/// reported, because others often follow from it.
Unwritable firstProblemOf(SourceResult &result);

/// Whether arrays in global memory must be indexed wherever they are used, as in kernels, or may be
/// assigned as a whole.
enum class ArrayUse : uint8_t { Indexed, Whole };

/// A loop variable that is a range, from `tiles`.
struct OpenRange {
  std::string name;
  mlir::Value position, lower, upper, step;
  llvm::SmallVector<mlir::Value> lengths; ///< of its tiles, if the last one may be shorter
};

/// Cached decisions about which operations are printed inline.
struct InliningMemo {
  llvm::DenseMap<mlir::Operation *, bool> decided;
  /// operations that get a name to preserve the order of evaluation
  llvm::DenseSet<mlir::Operation *> named;
  llvm::DenseMap<mlir::Operation *, unsigned> weights;
};

/// A declaration is printed twice. The first pass counts which positions and lengths are used more
/// than once; `startAgain` discards its text, and the second pass prints.
class BodyCode {
public:
  /// `kind` must outlive the text.
  BodyCode(BodyKind &kind, ArrayUse arrays, Unwritable unwritable)
      : kind_(kind), arrays_(arrays), unwritable_(std::move(unwritable)) {}
  BodyCode(const BodyCode &) = delete;
  BodyCode &operator=(const BodyCode &) = delete;

  BodyKind &kind() { return kind_; }
  const BodyKind &kind() const { return kind_; }
  bool indexesArrays() const { return arrays_ == ArrayUse::Indexed; }
  bool isCounting() const { return counting_; }
  /// Ends the counting pass: everything is discarded except the counts and the hints for names.
  void startAgain();
  /// Reports that an operation cannot be expressed, and why.
  void unwritable(mlir::Operation *op, const std::string &why) const { unwritable_(op, why); }

  // ---- Names, and values that have one ----------------------------------------------------------

  Names &names() { return names_; }
  /// From now on the value is written as the name.
  void know(mlir::Value value, const std::string &name) { known_[value] = {name}; }
  /// An array in global memory.
  void knowGlobal(mlir::Value value, const std::string &name);
  /// A value that is held by the variable of this name, to which another value can be assigned.
  void knowVariable(mlir::Value value, const std::string &name);
  /// From now on the value is written as this expression; nothing: it has no name. Returns the
  /// expression that it had before.
  std::optional<Expression> exchangeKnown(mlir::Value value, std::optional<Expression> name);
  bool isKnown(mlir::Value value) const { return known_.contains(value); }
  /// The expression of a value; its text is empty if there is none.
  Expression known(mlir::Value value) const { return known_.lookup(value); }
  bool isGlobal(mlir::Value value) const { return globals_.contains(value); }
  bool isVariable(mlir::Value value) const { return variables_.contains(value); }

  // ---- Lines -----------------------------------------------------------------------------------

  /// Adds a line, which belongs to the present statement.
  void line(const std::string &text);
  /// Adds `let name = expression`, where the name is derived from `wanted`, and binds the value to
  /// it.
  void let(mlir::Value value, const Expression &expression, const std::string &wanted);
  /// Like `let`, with `var`.
  void var(mlir::Value value, const Expression &expression, const std::string &wanted);
  /// Moves the lines added so far out.
  std::string takeText() { return std::exchange(text_, ""); }
  /// Adds lines unchanged.
  void addText(const std::string &lines) { text_ += lines; }

  /// The operation whose statement is being written; null if there is none.
  mlir::Operation *statement() const { return statement_; }
  /// Records the origin of an operation that is written inline in the present line.
  void addOrigin(mlir::Location origin) { origins_.push_back(origin); }

  // ---- Loops and branches ----------------------------------------------------------------------

  /// The ranges whose loops are open, outermost first.
  llvm::ArrayRef<OpenRange> ranges() const { return ranges_; }
  /// Opens the range until the present `LoopScope` ends.
  void openRange(OpenRange range) { ranges_.push_back(std::move(range)); }
  /// Enters a loop. Returns the number of enclosing loop variables before it.
  unsigned enterLoop() { return depth_++; }
  /// The enclosing branch that assigns a variable; null if there is none.
  mlir::Operation *branchAssigning(mlir::Value variable) const {
    return assigned_.lookup(variable);
  }
  void setBranchAssigning(mlir::Value variable, mlir::Operation *branch);

  // ---- Expressions that are used more than once -------------------------------------------------

  /// Counts a use of a position. Returns whether it had been used before.
  bool countPosition(mlir::Operation *op) { return counts_[op]++ > 0; }
  /// Whether a position is used more than once; always false during the counting pass.
  bool isWrittenOften(mlir::Operation *op) const { return !counting_ && counts_.lookup(op) > 1; }
  /// Suggests a name for a position, in case it gets one; the first suggestion wins.
  void hintName(mlir::Operation *op, const std::string &name) { hints_.try_emplace(op, name); }
  /// The suggested name of a position.
  std::string nameHint(mlir::Operation *op) const;
  InliningMemo &inlining() { return inlining_; }

private:
  friend class StatementScope;
  friend class LoopScope;

  BodyKind &kind_;
  const ArrayUse arrays_;
  Unwritable unwritable_;
  bool counting_ = true;
  Names names_;
  llvm::DenseMap<mlir::Value, Expression> known_;
  llvm::DenseSet<mlir::Value> globals_;
  llvm::DenseSet<mlir::Value> variables_; ///< names in `known_` that can be assigned
  std::string text_;
  mlir::Operation *statement_ = nullptr;
  /// of operations that are written inline in the present line
  std::vector<mlir::Location> origins_;
  std::vector<OpenRange> ranges_;
  unsigned depth_ = 0; ///< of loops
  llvm::DenseMap<mlir::Value, mlir::Operation *> assigned_;
  llvm::DenseMap<mlir::Operation *, unsigned> counts_;
  llvm::DenseMap<mlir::Operation *, std::string> hints_;
  InliningMemo inlining_;
};

/// During its lifetime, lines belong to this operation; afterwards, to the previous one again.
class StatementScope {
public:
  StatementScope(BodyCode &code, mlir::Operation *op)
      : code_(code), outer_(std::exchange(code.statement_, op)) {}
  ~StatementScope() { code_.statement_ = outer_; }
  StatementScope(const StatementScope &) = delete;
  StatementScope &operator=(const StatementScope &) = delete;

private:
  BodyCode &code_;
  mlir::Operation *outer_;
};

/// Ranges that are opened and loops that are entered during its lifetime end with it.
class LoopScope {
public:
  explicit LoopScope(BodyCode &code)
      : code_(code), ranges_(code.ranges_.size()), depth_(code.depth_) {}
  ~LoopScope() {
    code_.ranges_.resize(ranges_);
    code_.depth_ = depth_;
  }
  LoopScope(const LoopScope &) = delete;
  LoopScope &operator=(const LoopScope &) = delete;

private:
  BodyCode &code_;
  size_t ranges_;
  unsigned depth_;
};

} // namespace ptl::source
