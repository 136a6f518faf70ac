// The text between the braces of one declaration while it is written. The functions that print
// operations take it as their first argument and keep no state of their own.
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

/// Positions that are no longer than this are written again wherever they are used.
inline constexpr size_t kShort = 9;

/// What cannot be written as PTL: the operation and why.
using Unwritable = std::function<void(mlir::Operation *, const std::string &why)>;

/// Whether arrays in global memory are indexed wherever they are used, as in kernels, or may be
/// assigned as a whole.
enum class ArrayUse : uint8_t { Indexed, Whole };

/// A loop variable that is a range: what `tiles` made.
struct OpenRange {
  std::string name;
  mlir::Value position, lower, upper, step;
  llvm::SmallVector<mlir::Value> lengths; ///< of its tiles, where they may be cut
};

/// What has been decided about operations that are written within others.
struct InliningMemo {
  llvm::DenseMap<mlir::Operation *, bool> decided;
  llvm::DenseSet<mlir::Operation *> named; ///< that are not, for the order
  llvm::DenseMap<mlir::Operation *, unsigned> weights;
};

/// A declaration is printed twice. The first time counts which positions and lengths are written
/// more than once; its text is thrown away by `startAgain`, and the second time prints.
class BodyCode {
public:
  /// `kind` outlives the text.
  BodyCode(BodyKind &kind, ArrayUse arrays, Unwritable unwritable)
      : kind_(kind), arrays_(arrays), unwritable_(std::move(unwritable)) {}
  BodyCode(const BodyCode &) = delete;
  BodyCode &operator=(const BodyCode &) = delete;

  BodyKind &kind() { return kind_; }
  const BodyKind &kind() const { return kind_; }
  bool indexesArrays() const { return arrays_ == ArrayUse::Indexed; }
  bool isCounting() const { return counting_; }
  /// Ends the counting pass: everything is forgotten but the counts and the hints for names.
  void startAgain();
  /// Notes that an operation cannot be written, and why.
  void unwritable(mlir::Operation *op, const std::string &why) const { unwritable_(op, why); }

  // ---- Names and what has one ------------------------------------------------------------------

  Names &names() { return names_; }
  /// From here on the value is written by the name.
  void know(mlir::Value value, const std::string &name) { known_[value] = {name}; }
  /// An array in global memory.
  void knowGlobal(mlir::Value value, const std::string &name);
  /// A value that the variable of this name has, to which another can be assigned.
  void knowVariable(mlir::Value value, const std::string &name);
  /// From here on the value is written so; nothing: it has no name. Returns what it was before.
  std::optional<Expression> exchangeKnown(mlir::Value value, std::optional<Expression> name);
  bool isKnown(mlir::Value value) const { return known_.contains(value); }
  /// What the value is written by, empty text if it is not known.
  Expression known(mlir::Value value) const { return known_.lookup(value); }
  bool isGlobal(mlir::Value value) const { return globals_.contains(value); }
  bool isVariable(mlir::Value value) const { return variables_.contains(value); }

  // ---- Lines -----------------------------------------------------------------------------------

  /// Adds a line that is written for the present statement.
  void line(const std::string &text);
  /// Adds `let name = expression` and knows the value by that name, which is like `wanted`.
  void let(mlir::Value value, const Expression &expression, const std::string &wanted);
  /// The same with `var`.
  void var(mlir::Value value, const Expression &expression, const std::string &wanted);
  /// Gives the lines away that were added so far.
  std::string takeText() { return std::exchange(text_, ""); }
  /// Adds lines as they are.
  void addText(const std::string &lines) { text_ += lines; }

  /// The operation whose statement is written; null: none.
  mlir::Operation *statement() const { return statement_; }
  /// Notes the origin of an operation that is written in the present line.
  void addOrigin(mlir::Location origin) { origins_.push_back(origin); }

  // ---- Loops and branches ----------------------------------------------------------------------

  /// The ranges whose loops are open, outermost first.
  llvm::ArrayRef<OpenRange> ranges() const { return ranges_; }
  /// The range is open until the present `LoopScope` ends.
  void openRange(OpenRange range) { ranges_.push_back(std::move(range)); }
  /// The number of loop variables around the one that begins here, which counts from now on.
  unsigned enterLoop() { return depth_++; }
  /// The open branch that assigns a variable; null: none.
  mlir::Operation *branchAssigning(mlir::Value variable) const {
    return assigned_.lookup(variable);
  }
  void setBranchAssigning(mlir::Value variable, mlir::Operation *branch);

  // ---- What is written more than once ----------------------------------------------------------

  /// Counts that a position is written. Returns whether it was before.
  bool countPosition(mlir::Operation *op) { return counts_[op]++ > 0; }
  /// Whether a position turned out to be written more than once; not known while that is counted.
  bool isWrittenOften(mlir::Operation *op) const { return !counting_ && counts_.lookup(op) > 1; }
  /// Says how a position is called if it gets a name; the first one who says it is right.
  void hintName(mlir::Operation *op, const std::string &name) { hints_.try_emplace(op, name); }
  /// A position that needs a name is to be called like this.
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
  std::vector<mlir::Location> origins_; ///< of operations that are written in the present line
  std::vector<OpenRange> ranges_;
  unsigned depth_ = 0; ///< of loops
  llvm::DenseMap<mlir::Value, mlir::Operation *> assigned_;
  llvm::DenseMap<mlir::Operation *, unsigned> counts_;
  llvm::DenseMap<mlir::Operation *, std::string> hints_;
  InliningMemo inlining_;
};

/// While it lives, lines are written for the operation; then for what they were before.
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

/// Ranges that are opened and loops that are entered while it lives end with it.
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
