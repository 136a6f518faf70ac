// The kinds of bodies that print some operations differently from the tile level: kernels,
// programs, and sides of kernels at the block level.
#pragma once

#include "codegen/source/expression.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace ptl::source {

/// Hooks that the functions which print a body call at certain places. Each has a default, which is
/// the behaviour of the tile level.
class BodyKind {
public:
  virtual ~BodyKind() = default;

  // ---- Statements ------------------------------------------------------------------------------

  /// Called before each statement, and before the operands of a block's terminator are printed.
  virtual void before(mlir::Operation *op) {}
  /// Prints an operation in a way of its own. False: it is printed in the default way.
  virtual bool special(mlir::Operation *op) { return false; }
  /// Called at the closing brace of a loop or a branch.
  virtual void closed(mlir::Block &block) {}
  /// Whether statements must compute in the order of the operations: on chips that is the order of
  /// instructions.
  virtual bool keepsOrder() const { return false; }
  /// Whether loops may run over tiles; otherwise they run over positions.
  virtual bool hasRanges() const { return true; }

  // ---- Expressions -----------------------------------------------------------------------------

  /// An operation that the tile level lacks, as an expression.
  virtual std::optional<Expression> written(mlir::Operation *op) { return std::nullopt; }
  /// A value computed by arithmetic on positions. Nothing: its operations are printed one by one.
  virtual std::optional<Expression> positionText(mlir::Value value) { return std::nullopt; }
  /// A value from outside the declaration, which is referred to by its name from then on. Nothing:
  /// it is printed inline here.
  virtual std::optional<Expression> foreign(mlir::Value value) { return std::nullopt; }
  /// The text to which a `let` for a value from outside the declaration's blocks is added; null if
  /// there is none.
  virtual std::string *prologueFor(mlir::Operation *op) { return nullptr; }
  /// Whether an operation is printed inline at its use. Nothing: the default rule decides.
  virtual std::optional<bool> isInlined(mlir::Operation *op) { return std::nullopt; }
  /// Whether an operation reads an array that statements of this body modify, so that it must stay
  /// in front of them. Loads of storage always count as such.
  virtual bool readsChanged(mlir::Operation *op) { return false; }
  /// Whether a load gives the same value anywhere after its place.
  virtual bool readsFinal(mlir::Operation *load) { return false; }

  // ---- Names and places ------------------------------------------------------------------------

  /// The name of a value that needs one; empty: the default.
  virtual std::string nameFor(mlir::Value value) const { return ""; }
  /// The name by which types refer to a computed length; empty if they do not.
  virtual std::string lengthName(mlir::Value value) const { return ""; }
  /// The memory of the chip in which a tile lies; empty if the text does not state it.
  virtual std::string placeOf(mlir::Value tile) const { return ""; }
};

} // namespace ptl::source
