// Statements of one side of a `manual kernel`: buffers at addresses, events by number, queues,
// instructions.
#pragma once

#include "codegen/source/body_code.h"
#include "codegen/source/position_text.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <deque>

namespace ptl::source {

/// A queue between the two kinds of cores.
struct Queue {
  std::string name;
  std::string declaration; ///< with what `initialize_pipe` says
};

/// An event between them: each side knows its own end.
struct CoreEvent {
  std::string name;
  int64_t first = 0, count = 1;
  std::string from, to;          ///< `aic.fix`
  mlir::Operation *op = nullptr; ///< that is about it
};
/// Where the source declares the event that an operation is about.
std::optional<mlir::Location> declarationOf(mlir::Operation *op);

/// What the two kinds of cores share, which both sides must call the same.
struct SharedByCores {
  std::map<int64_t, Queue> queues; ///< by the number of the first flag
  /// By whether they go to vector cores, and number.
  std::map<std::pair<bool, int64_t>, CoreEvent> events;

  /// `wanted`, or what is free of that; no queue or event is called so.
  std::string fresh(const std::string &wanted) const;
  /// Stands before both sides.
  std::string declarations(const Unwritable &unwritable) const;
};

/// What the host gives for an argument of the kernel, and what that is called in the text, or how
/// it is computed from dimensions.
struct GivenArgument {
  mlir::Value operand;
  std::string name, meaning;
};
using GivenArguments = llvm::DenseMap<unsigned, GivenArgument>;

/// Prints a function of the block level. Positions, tiles and views that are written more than once
/// get a `let` before the first statement that all their uses are in or behind.
class BlockBody : public BodyKind {
public:
  BlockBody(mlir::func::FuncOp function, SharedByCores &shared, const GivenArguments &arguments,
            Unwritable unwritable);
  /// Declarations of buffers and events, then the statements.
  std::string print();

private:
  // block_body.cpp
  void run();
  bool special(mlir::Operation *op) override;
  std::optional<bool> isInlined(mlir::Operation *op) override;
  std::string nameFor(mlir::Value value) const override;
  std::optional<Expression> written(mlir::Operation *op) override;
  std::optional<Expression> positionText(mlir::Value value) override;
  void before(mlir::Operation *op) override;
  void closed(mlir::Block &block) override { positions_.forget(&block); }
  bool hasRanges() const override { return false; }
  void startAgain();
  void instruction(mlir::Operation *op);
  Expression scalarOperand(mlir::Value scalar, mlir::Type element);
  std::string attributes(mlir::Operation *op) const;
  bool trap(mlir::Operation *op);

  // block_shared.cpp
  /// Something that may be written in several places.
  struct Shared {
    enum class Kind : uint8_t { Position, Identity, Tile, View } kind = Kind::Position;
    Dim dim = {};           ///< of a position
    mlir::Value value = {}; ///< of the others
    std::string hint = {};  ///< for its name
    unsigned count = 0;
    mlir::Operation *anchor = nullptr; ///< the statement before which a `let` would stand
    std::string name = {};             ///< of its `let`, once that is written
  };
  Expression share(const std::string &key, Shared one);
  void raiseAnchors();
  Expression sharedText(const Shared &one);
  bool needsName(const Shared &one, const std::string &text) const;
  Expression dimText(Dim dim, const std::string &hint);
  void countParts(Dim dim);
  /// A position, with a name for it if it gets one.
  Expression positionAs(mlir::Value value, const char *hint);

  // block_events.cpp
  /// Numbers of one direction that are used as one event with `count` numbers.
  struct EventGroup {
    Pipe from, to;
    int64_t first = 0, count = 1;
    std::string name;
    std::set<std::string> reasons;
    std::optional<mlir::Location> declared = {}; ///< where the source declares it
  };
  void collectEvents();
  EventGroup &groupOf(Pipe from, Pipe to, int64_t id);
  void nameEvents();
  std::string eventText(Pipe from, Pipe to, mlir::Value id, std::optional<int64_t> number);
  void declareEvents();
  CoreEvent *coreEvent(mlir::Operation *op, bool isSet);
  void coreFlag(mlir::Operation *op, bool isSet, mlir::Value id);
  bool synchronisation(mlir::Operation *op);

  // block_tiles.cpp
  /// A buffer, or a tile that is popped: what tiles are parts of.
  struct Root {
    std::string base;      ///< name of its tiles
    std::string name;      ///< its own
    bool hasParts = false; ///< some of its tiles are not all of it
  };
  bool isAllOf(mlir::Operation *op, pto::TileBufType type);
  void collectBuffers();
  void declareBuffers();
  void declareBuffer(mlir::Value buffer);
  bool beginsInside(mlir::Value buffer) const;
  std::string bufferBase(mlir::Value root);
  Expression tileText(mlir::Value tile);
  std::string wholeKey(mlir::Value tile);
  std::string tileKey(mlir::Value tile);
  Expression wholeText(mlir::Value tile);
  Expression partText(mlir::Value tile);

  // block_views.cpp
  /// An array in global memory.
  struct Tensor {
    llvm::SmallVector<Dim> extents, strides;
  };
  Expression viewText(mlir::Value view);
  Expression rawView(mlir::Value view);
  std::optional<std::string> indexed(mlir::Value view);
  std::pair<mlir::Value, Dim> pointer(mlir::Value pointer);
  std::string elementAt(mlir::Value pointer, mlir::Value offset);
  const Tensor &tensorOf(mlir::BlockArgument argument);
  std::string span(Dim offset, Dim size, const char *start, const char *length);

  // block_queues.cpp
  void queue(mlir::Operation *op, int64_t flag, int64_t slots, std::optional<int64_t> held,
             mlir::Value address);
  bool queueing(mlir::Operation *op);

  BodyCode code_;
  mlir::func::FuncOp function_;
  SharedByCores &byCores_;
  const GivenArguments &arguments_;
  Positions positions_;
  std::deque<Shared> shared_; ///< in the order of their first uses
  std::map<std::string, size_t> sharedByKey_;
  std::vector<EventGroup> events_;
  llvm::SmallVector<mlir::Value> buffers_; ///< in the order of the code
  llvm::DenseMap<mlir::Value, Root> roots_;
  llvm::DenseMap<mlir::Value, Tensor> tensors_;
};

/// The name that the source gave a value; empty if none.
std::string givenName(mlir::Value value);
/// In hexadecimal.
std::string addressText(int64_t address);
/// Whether it says which core runs the kernel, or how many do.
bool isIdentity(mlir::Operation *op);

} // namespace ptl::source
