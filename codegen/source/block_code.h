// The text of one side of a `manual kernel` while it is being written: in addition to that of a
// body, the names of buffers, events and arrays, and the expressions that are used in several
// places.
#pragma once

#include "codegen/source/block_cores.h"
#include "codegen/source/body_code.h"
#include "codegen/source/position_text.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>
#include <set>

namespace ptl::source {

/// What the host passes for an argument of the kernel: its name in the text, or how it is computed
/// from dimensions.
struct GivenArgument {
  mlir::Value operand;
  std::string name, meaning;
};
using GivenArguments = llvm::DenseMap<unsigned, GivenArgument>;

/// An expression that may be used in several places.
struct SharedText {
  enum class Kind : uint8_t { Position, Identity, Tile, View } kind = Kind::Position;
  Dim dim = {};           ///< for a position
  mlir::Value value = {}; ///< for tiles and views
  std::string hint = {};  ///< for its name
  unsigned count = 0;
  mlir::Operation *anchor = nullptr; ///< the statement in front of which a `let` would be printed
  std::string name = {};             ///< of its `let`, once that is printed
};

/// All expressions of one kind.
struct SharedTexts {
  std::deque<SharedText> all; ///< in the order of their first uses
  std::map<std::string, size_t> byKey;
};

/// Event numbers of one direction that are declared as one event with `count` numbers.
struct EventGroup {
  Pipe from, to;
  int64_t first = 0, count = 1;
  std::string name;
  std::set<std::string> reasons;
  std::optional<mlir::Location> declared = {}; ///< where the source declares it
};

/// A buffer or a popped tile: other tiles are parts of it.
struct TileRoot {
  std::string base;      ///< name of its tiles
  std::string name;      ///< the name of the buffer itself
  bool hasParts = false; ///< some of its tiles do not cover all of it
};

/// An array in global memory.
struct ArrayShape {
  llvm::SmallVector<Dim> extents, strides; ///< empty if they cannot be expressed in the kernel
};

class BlockCode : public BodyCode {
public:
  /// The arguments that are passed by reference must outlive the text.
  BlockCode(BodyKind &kind, mlir::func::FuncOp function, SharedByCores &byCores,
            const GivenArguments &arguments, Unwritable unwritable);

  mlir::func::FuncOp function() const { return function_; }
  SharedByCores &byCores() { return byCores_; }
  /// What the host passes for an argument; empty if it passes nothing.
  GivenArgument given(unsigned argument) const { return arguments_.lookup(argument); }
  /// Ends the counting pass: what was counted and collected is kept, except for the names.
  void startPrinting();

  Positions &positions() { return positions_; }
  SharedTexts &shared() { return shared_; }
  std::vector<EventGroup> &events() { return events_; }
  /// The buffers, in program order.
  llvm::SmallVector<mlir::Value> &buffers() { return buffers_; }
  llvm::DenseMap<mlir::Value, TileRoot> &roots() { return roots_; }
  /// The arrays of those arguments that were requested so far.
  llvm::DenseMap<mlir::Value, ArrayShape> &arrays() { return arrays_; }

private:
  mlir::func::FuncOp function_;
  SharedByCores &byCores_;
  const GivenArguments &arguments_;
  Positions positions_;
  SharedTexts shared_;
  std::vector<EventGroup> events_;
  llvm::SmallVector<mlir::Value> buffers_;
  llvm::DenseMap<mlir::Value, TileRoot> roots_;
  llvm::DenseMap<mlir::Value, ArrayShape> arrays_;
};

} // namespace ptl::source
