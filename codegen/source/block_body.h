// Statements of one side of a `manual kernel`: buffers at addresses, events by number, queues,
// instructions.
#pragma once

#include "codegen/pto/names.h"
#include "codegen/source/tile_body.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::source {

/// A queue between the two kinds of cores, which both sides must call the same.
struct Queue {
  std::string name;
  std::string shape; ///< `f32[128, 256] @vec`-less type of the whole tile
  std::string declaration;
};
/// By the number of its first flag.
using Queues = std::map<int64_t, Queue>;

/// Prints a function of the block level. What a pipe signals to another is declared once for each
/// group of event numbers; the reasons stand behind the declaration.
class BlockBody : public TileBody {
public:
  BlockBody(mlir::func::FuncOp function, Queues &queues, Unwritable unwritable);
  /// The statements, after declarations of the events.
  std::string print();
  const std::vector<std::string> &problems() const { return problems_; }

private:
  /// Numbers of one direction that are used as one event with `count` numbers.
  struct EventGroup {
    Pipe from, to;
    int64_t first = 0, count = 1;
    std::string name;
    std::set<std::string> reasons;
  };
  void run();
  void collectEvents();
  EventGroup &groupOf(Pipe from, Pipe to, int64_t id);
  std::string eventText(mlir::Operation *op, Pipe from, Pipe to, mlir::Value id,
                        std::optional<int64_t> number);
  void declareEvents();

  bool special(mlir::Operation *op) override;
  bool isInlined(mlir::Operation *op) override;
  std::string nameFor(mlir::Value value) const override;
  std::string positionName(mlir::Value value) const override { return nameFor(value); }
  std::optional<Expression> written(mlir::Operation *op) override;
  bool hasRanges() const override { return false; }
  void startAgain() override;

  void buffer(mlir::Value result, mlir::Value address, int64_t count);
  void tile(mlir::Value tile, const std::string &base, mlir::Value validRow, mlir::Value validCol);
  std::string validText(const std::string &base, pto::TileBufType type, mlir::Value row,
                        mlir::Value col);
  std::string shapeText(pto::TileBufType type) const;
  std::string layoutText(pto::TileBufType type) const;
  void instruction(mlir::Operation *op);
  std::string attributes(mlir::Operation *op) const;
  bool views(mlir::Operation *op);
  bool synchronisation(mlir::Operation *op);
  bool queueing(mlir::Operation *op);
  std::string span(mlir::Value offset, mlir::Value size);
  std::string fixedSpan(mlir::Value offset, int64_t size);
  std::pair<mlir::Value, std::string> pointer(mlir::Value pointer);
  void queue(mlir::Operation *op, int64_t flag, int64_t slots, std::optional<int64_t> held,
             mlir::Value address);

  mlir::func::FuncOp function_;
  Queues &queues_;
  mutable pto::NameTable values_{pto::NameTable::Style::Cpp};
  std::vector<EventGroup> events_;
  std::vector<std::string> problems_;
  bool declares_ = true;
};

} // namespace ptl::source
