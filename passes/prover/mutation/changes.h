// The faults that the mutation test seeds: changes of a module that are undone.
#pragma once

#include "passes/prover/findings.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace ptl::prove {

/// A fault that is seeded in a module and undone.
struct Change {
  enum Kind : uint8_t {
    Remove,   ///< an operation
    Up,       ///< an operation, in front of its predecessor
    Down,     ///< an operation, behind its successor
    Move,     ///< a buffer, to another address
    Unpaired, ///< an event between kinds of cores loses all signals and waits
    Renumber, ///< an event gets the number of another one
    Both,     ///< code that asks which vector core it runs on is told the first
    Redirect  ///< an operand is another tile of the same type
  };

  Change(Kind kind, mlir::Operation *op, int64_t place = 0, std::string name = "")
      : kind(kind), op(op), place(place), name(std::move(name)) {}

  Kind kind;
  mlir::Operation *op;
  int64_t place;    ///< Move: the address; Renumber: the number; Redirect: the operand
  std::string name; ///< Move: of the buffer
  std::vector<mlir::Operation *> ops; ///< Unpaired, Renumber: all that change
  mlir::Value value;                  ///< Redirect: the tile

  /// Returns false, and changes nothing, if the change is impossible here.
  bool apply();
  void undo();
  std::string text() const;
  /// Whether the changed module may compute other values in any order of the pipes, so that it is
  /// another program rather than one with a race.
  bool changesValues() const;

private:
  struct Removed {
    mlir::Operation *op, *next;
    mlir::Block *block;
  };
  bool shift(bool down);
  void remove(mlir::Operation *op);

  std::vector<Removed> removed; ///< also the place in front of an operation that was moved
  std::vector<mlir::Attribute> numbers;
  mlir::Value former; ///< the address, the value or the operand that it had
};

/// Whether an operation orders others, or passes tiles between cores.
bool isSync(mlir::Operation *op);

std::vector<Change> changesOf(mlir::ModuleOp module);

} // namespace ptl::prove
