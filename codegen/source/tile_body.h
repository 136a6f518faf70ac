// Statements and expressions of one declaration at tile level: what is written between its braces.
#pragma once

#include "codegen/source/expression.h"
#include "codegen/source/origins.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/ops/op_table.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>
#include <map>
#include <vector>

namespace ptl::source {

/// Positions that are no longer than this are written again wherever they are used.
inline constexpr size_t kShort = 9;

/// What cannot be written as PTL: the operation and why.
using Unwritable = std::function<void(mlir::Operation *, const std::string &why)>;

/// A value is written where it is used if that is once and in the same block; what has a name in
/// the source, or is used more often, gets a `let`. A declaration is printed twice: `counting`
/// finds out which positions and lengths are written more than once, and keeps nothing else.
class TileBody {
public:
  TileBody(bool inKernel, Unwritable unwritable)
      : inKernel_(inKernel), unwritable_(std::move(unwritable)) {}
  virtual ~TileBody() = default;

  /// The statements of a block, without its terminator.
  void block(mlir::Block &block);
  Expression value(mlir::Value value);
  std::string takeText() { return std::move(out_); }
  void know(mlir::Value value, const std::string &name) { known_[value] = {name}; }
  /// An array in global memory: in a kernel it is indexed wherever it is used.
  void knowGlobal(mlir::Value value, const std::string &name) {
    know(value, name);
    globals_.insert(value);
  }
  Names &names() { return names_; }
  /// Ends the counting pass: everything is forgotten but the counts.
  virtual void startAgain();

protected:
  /// The loops of one grid, and what is in it.
  void grid(ir::ParallelOp grid);
  void statement(mlir::Operation *op);
  /// A line that is written for the present statement.
  void line(const std::string &text) {
    bool isEnd = text.starts_with("}");
    out_ += (statement_ && !isEnd ? withOrigin(text, statement_->getLoc(), parts_) : text) + "\n";
    parts_.clear();
  }
  void let(mlir::Value value, const Expression &expression, const std::string &wanted,
           const char *word = "let");
  /// Handles an operation of its own; false: it is printed as anywhere else.
  virtual bool special(mlir::Operation *op) { return false; }
  /// Where a tile lies on the chip that the text is for; empty: that is not said.
  virtual std::string placeOf(mlir::Value tile) const { return ""; }
  /// The name by which types speak of a length that is computed; empty: they do not.
  virtual std::string lengthName(mlir::Value value) const { return ""; }
  /// A value from outside of the declaration, or nothing: it is written out here.
  virtual std::optional<Expression> foreign(mlir::Value value) { return std::nullopt; }
  /// Where a `let` for something outside of the declaration's blocks goes; null: nowhere.
  virtual std::string *prologueFor(mlir::Operation *op) { return nullptr; }
  /// Whether a load gives what it gives wherever it stands behind its place.
  virtual bool readsFinal(mlir::Operation *load) { return false; }
  virtual std::string nameFor(mlir::Value value) const;
  /// The name of a position or length that nothing else names.
  virtual std::string positionName(mlir::Value value) const { return "n"; }
  /// An operation that tile level does not have, as an expression.
  virtual std::optional<Expression> written(mlir::Operation *op) { return std::nullopt; }
  /// Whether loops may run over tiles; else they run over positions.
  virtual bool hasRanges() const { return true; }
  /// A value computed by arithmetic on positions; nothing: its operations are written.
  virtual std::optional<Expression> positionText(mlir::Value value) { return std::nullopt; }
  /// Whether statements are to compute in the order of the operations: on chips that is the order
  /// of instructions.
  virtual bool keepsOrder() const { return false; }
  /// Called before each statement.
  virtual void before(mlir::Operation *op) {}
  /// Called at the end of the braces of a loop or a branch.
  virtual void closed(mlir::Block &block) {}
  Expression operandOf(ir::StoreOp store, mlir::Value stored);
  virtual bool isInlined(mlir::Operation *op);
  /// The name of a whole array that is stored under another name, else the value in brackets.
  std::string base(mlir::Value array);
  std::string boxText(mlir::Value base, mlir::OperandRange offsets, mlir::OperandRange lengths,
                      mlir::OperandRange steps, llvm::ArrayRef<int64_t> dropped,
                      mlir::Value scatter, int64_t scatterAxis);
  bool isWholeBox(mlir::Value base, mlir::OperandRange offsets, mlir::OperandRange lengths,
                  mlir::OperandRange steps, llvm::ArrayRef<int64_t> dropped);
  std::string typeText(mlir::Type type, mlir::ValueRange lengths = {});
  Expression extentText(const ir::Extent &extent) const;
  Expression literal(mlir::Attribute value, mlir::Type type, bool typed);
  /// The operand of an operation on scalars: a literal takes its type from `other`.
  Expression operandBeside(mlir::Value operand, mlir::Value other);
  Expression comparison(mlir::arith::CmpIOp op, mlir::arith::CmpIPredicate predicate);
  Expression compared(mlir::Value operand, mlir::Value other);
  /// `assert(holds, "…")`; `hasValues`: the message ends in values, which are shown again anyway.
  std::string assertText(const std::string &holds, llvm::StringRef message, bool hasValues) const;

  llvm::DenseMap<mlir::Value, Expression> known_;
  llvm::DenseSet<mlir::Value> globals_;
  llvm::DenseSet<mlir::Value> variables_; ///< names in `known_` that can be assigned
  bool counting_ = true;
  const bool inKernel_;
  Names names_;
  std::string out_;
  mlir::Operation *statement_ = nullptr; ///< that is written
  std::vector<mlir::Location> parts_;    ///< of operations that are written in the present line
  Unwritable unwritable_;

private:
  /// A loop variable that is a range: what `tiles` made.
  struct Range {
    std::string name;
    mlir::Value position, lower, upper, step;
    llvm::SmallVector<mlir::Value> lengths;
  };
  struct Item {
    std::string text;
    bool dropped = false;
  };
  /// `base[items]`, taken apart.
  struct Indexed {
    std::string base;
    std::vector<Item> items;
    std::string outside;
    std::string text() const;
  };

  // tile_expressions.cpp
  Expression expressionOf(mlir::Operation *op, unsigned result);
  Expression operand(mlir::Operation *op, mlir::Value value);
  Expression builtin(mlir::Operation *op, const OpRecord &record);
  std::string argument(mlir::Operation *op, const OpRecord &record, size_t param,
                       mlir::ValueRange operands);
  Expression conversion(mlir::Operation *op);
  Expression creationIndex(mlir::Operation *op);
  std::string axes(mlir::Operation *op, const OpParam &param);
  Expression conditional(mlir::scf::IfOp branch);

  // tile_scalars.cpp
  std::optional<Expression> scalar(mlir::Operation *op);

  // tile_positions.cpp
  Expression position(mlir::Operation *op);
  Expression binaryPosition(mlir::Operation *op, llvm::StringRef spelling);
  Expression callPosition(mlir::Operation *op, llvm::StringRef name);
  const Range *rangeOf(mlir::Value position, mlir::Value length) const;
  std::optional<Expression> rangePart(mlir::Value value);
  Expression lengthText(mlir::Value length);
  Expression rangeText(mlir::Value offset, mlir::Value length, mlir::Value step,
                       const char *separator);
  bool isWholeAxis(mlir::Value base, int64_t axis, mlir::Value offset, mlir::Value length,
                   mlir::Value step);
  std::string item(mlir::Value base, int64_t axis, mlir::Value offset, mlir::Value length,
                   mlir::Value step);
  std::string positionItem(mlir::Value offset);
  Indexed indexed(mlir::Operation *op);
  Indexed boxOf(mlir::Value base, mlir::OperandRange offsets, mlir::OperandRange lengths,
                mlir::OperandRange steps, llvm::ArrayRef<int64_t> dropped);

  // tile_statements.cpp
  void store(ir::StoreOp store);
  void insert(ir::InsertOp insert);
  void check(ir::CheckOp check);
  bool isInPlace(ir::InsertOp insert) const;
  void results(mlir::Operation *op);
  unsigned weight(mlir::Operation *op);
  bool decideInlined(mlir::Operation *op);
  bool isSafeAt(mlir::Operation *load, mlir::Operation *use);

  // tile_order.cpp
  void nameByOrder(mlir::Block &block);
  void collectWritten(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &written);

  // tile_control.cpp
  void forLoop(mlir::scf::ForOp loop);
  void whileLoop(mlir::scf::WhileOp loop);
  void branch(mlir::scf::IfOp branch);
  llvm::SmallVector<mlir::Value> assignedBy(mlir::scf::IfOp branch) const;
  void assigningBranch(mlir::scf::IfOp branch, mlir::ValueRange targets);
  std::string loopHead(mlir::BlockArgument position, mlir::Value lower, mlir::Value upper,
                       mlir::Value step, unsigned depth);
  bool isTiled(mlir::BlockArgument position, mlir::Value upper, mlir::Value step, Range &range);
  std::string rangeName(const Range &range) const;
  void carry(mlir::ValueRange inits, mlir::Block::BlockArgListType args, mlir::Operation *loop);
  void assignAll(mlir::ValueRange targets, mlir::ValueRange values);
  void yield(mlir::Block &block, mlir::ValueRange targets);
  void closeRanges(size_t count) { ranges_.resize(count); }

  std::vector<Range> ranges_;                               ///< open ones, outermost first
  llvm::DenseMap<mlir::Value, mlir::Operation *> assigned_; ///< variables that open branches assign
  llvm::DenseMap<mlir::Operation *, unsigned> counts_;      ///< how often a position is written
  llvm::DenseMap<mlir::Operation *, std::string> hints_;
  llvm::DenseMap<mlir::Operation *, bool> inlined_;
  llvm::DenseSet<mlir::Operation *> named_; ///< that are not written in others for their order
  llvm::DenseMap<mlir::Operation *, unsigned> weights_;
  unsigned depth_ = 0; ///< of loops
};

/// The PTL element type of an IR scalar type.
std::string elementText(mlir::Type scalar);
/// Whether its result is its operand under another description, which is written as the operand.
bool isTransparent(mlir::Operation *op);
/// Whether it is an array out of nothing, or all of one: written again wherever it is used.
bool isCheap(mlir::Operation *op);
/// Whether it is a constant of any dialect.
bool isConstantLike(mlir::Operation *op);
/// Whether a check is one of bounds or of a conversion, which the builder makes again.
bool isMadeAgain(ir::CheckOp check);
/// Marks the conversions of positions whose range a check is about (`ptl.range_checked`), before it
/// goes.
void noteConversions(ir::CheckOp check);
/// Whether such a conversion is written with a name that says the type, `let n: i32 = T - S`: where
/// it is used nothing else would.
bool needsTypedName(mlir::Operation *op);
/// Whether it computes positions, lengths or conditions over them from nothing but such.
bool isPositionOp(mlir::Operation *op);

} // namespace ptl::source
