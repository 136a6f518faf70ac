// The text of one side of a `manual kernel` while it is written: beside that of a body what its
// buffers, events and arrays are called, and what is written in several places.
#pragma once

#include "codegen/source/block_cores.h"
#include "codegen/source/body_code.h"
#include "codegen/source/position_text.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>
#include <set>

namespace ptl::source {

/// What the host gives for an argument of the kernel, and what that is called in the text, or how
/// it is computed from dimensions.
struct GivenArgument {
  mlir::Value operand;
  std::string name, meaning;
};
using GivenArguments = llvm::DenseMap<unsigned, GivenArgument>;

/// Something that may be written in several places.
struct SharedText {
  enum class Kind : uint8_t { Position, Identity, Tile, View } kind = Kind::Position;
  Dim dim = {};           ///< of a position
  mlir::Value value = {}; ///< of the others
  std::string hint = {};  ///< for its name
  unsigned count = 0;
  mlir::Operation *anchor = nullptr; ///< the statement before which a `let` would stand
  std::string name = {};             ///< of its `let`, once that is written
};

/// All that is of this kind.
struct SharedTexts {
  std::deque<SharedText> all; ///< in the order of their first uses
  std::map<std::string, size_t> byKey;
};

/// Numbers of one direction that are used as one event with `count` numbers.
struct EventGroup {
  Pipe from, to;
  int64_t first = 0, count = 1;
  std::string name;
  std::set<std::string> reasons;
  std::optional<mlir::Location> declared = {}; ///< where the source declares it
};

/// A buffer, or a tile that is popped: what tiles are parts of.
struct TileRoot {
  std::string base;      ///< name of its tiles
  std::string name;      ///< its own
  bool hasParts = false; ///< some of its tiles are not all of it
};

/// An array in global memory.
struct ArrayShape {
  llvm::SmallVector<Dim> extents, strides; ///< none: they cannot be named in the kernel
};

class BlockCode : public BodyCode {
public:
  /// What is given by reference outlives the text.
  BlockCode(BodyKind &kind, mlir::func::FuncOp function, SharedByCores &byCores,
            const GivenArguments &arguments, Unwritable unwritable);

  mlir::func::FuncOp function() const { return function_; }
  SharedByCores &byCores() { return byCores_; }
  /// What the host gives for an argument; empty where that is nothing.
  GivenArgument given(unsigned argument) const { return arguments_.lookup(argument); }
  /// Ends the counting pass: what was counted and collected stays, without its names.
  void startPrinting();

  Positions &positions() { return positions_; }
  SharedTexts &shared() { return shared_; }
  std::vector<EventGroup> &events() { return events_; }
  /// In the order of the code.
  llvm::SmallVector<mlir::Value> &buffers() { return buffers_; }
  llvm::DenseMap<mlir::Value, TileRoot> &roots() { return roots_; }
  /// Of the arguments that were asked for so far.
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
