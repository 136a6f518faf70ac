// What kinds of bodies print otherwise than tile level does: kernels, programs, sides of kernels at
// the block level.
#pragma once

#include "codegen/source/expression.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace ptl::source {

/// The functions that print a body ask it at the places named here. Every answer has a default,
/// which is what tile level does.
class BodyKind {
public:
  virtual ~BodyKind() = default;

  // ---- Statements ------------------------------------------------------------------------------

  /// Called before each statement, and before what the end of a block computes.
  virtual void before(mlir::Operation *op) {}
  /// Prints an operation in a way of its own. False: it is printed as anywhere else.
  virtual bool special(mlir::Operation *op) { return false; }
  /// Called at the end of the braces of a loop or a branch.
  virtual void closed(mlir::Block &block) {}
  /// Whether statements are to compute in the order of the operations: on chips that is the order
  /// of instructions.
  virtual bool keepsOrder() const { return false; }
  /// Whether loops may run over tiles; else they run over positions.
  virtual bool hasRanges() const { return true; }

  // ---- Expressions -----------------------------------------------------------------------------

  /// An operation that tile level does not have, as an expression.
  virtual std::optional<Expression> written(mlir::Operation *op) { return std::nullopt; }
  /// A value computed by arithmetic on positions. Nothing: its operations are written.
  virtual std::optional<Expression> positionText(mlir::Value value) { return std::nullopt; }
  /// A value from outside of the declaration, which is known by its name from then on. Nothing: it
  /// is written out here.
  virtual std::optional<Expression> foreign(mlir::Value value) { return std::nullopt; }
  /// Where a `let` for something outside of the declaration's blocks goes; null: nowhere.
  virtual std::string *prologueFor(mlir::Operation *op) { return nullptr; }
  /// Whether an operation is written where it is used. Nothing: it is decided as anywhere else.
  virtual std::optional<bool> isInlined(mlir::Operation *op) { return std::nullopt; }
  /// Whether an operation reads an array that statements of this body change, so that it has to
  /// stay before them. Loads of storage do anyway.
  virtual bool readsChanged(mlir::Operation *op) { return false; }
  /// Whether a load gives what it gives wherever it stands behind its place.
  virtual bool readsFinal(mlir::Operation *load) { return false; }

  // ---- Names and places ------------------------------------------------------------------------

  /// What a value that needs a name is called; empty: what it is called anywhere else.
  virtual std::string nameFor(mlir::Value value) const { return ""; }
  /// The name by which types speak of a length that is computed; empty: they do not.
  virtual std::string lengthName(mlir::Value value) const { return ""; }
  /// Where a tile lies on the chip that the text is for; empty: that is not said.
  virtual std::string placeOf(mlir::Value tile) const { return ""; }
};

} // namespace ptl::source
