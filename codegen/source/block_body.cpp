#include "codegen/source/block_body.h"

#include "codegen/source/block_buffers.h"
#include "codegen/source/block_events.h"
#include "codegen/source/block_instructions.h"
#include "codegen/source/block_queues.h"
#include "codegen/source/block_shared.h"
#include "codegen/source/block_tiles.h"
#include "codegen/source/block_views.h"
#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_scalars.h"
#include "codegen/source/tile_statements.h"
#include "ir/dialect/instruction_op.h"
#include "ir/dialect/source_name.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::source {

namespace {

/// What the block level prints otherwise than tile level does.
class BlockBody : public BodyKind {
public:
  BlockBody(func::FuncOp function, SharedByCores &byCores, const GivenArguments &arguments,
            Unwritable unwritable)
      : code_(*this, function, byCores, arguments, std::move(unwritable)) {}
  std::string print();

private:
  void run();
  bool special(Operation *op) override;
  std::optional<bool> isInlined(Operation *op) override;
  std::string nameFor(Value value) const override;
  std::optional<Expression> written(Operation *op) override;
  std::optional<Expression> positionText(Value value) override;
  void before(Operation *op) override { printSharedBefore(code_, op); }
  void closed(mlir::Block &block) override { code_.positions().forget(&block); }
  bool hasRanges() const override { return false; }

  BlockCode code_;
};

} // namespace

std::string BlockBody::nameFor(Value value) const {
  if (std::string name = givenName(value); !name.empty() && !value.getType().isIndex())
    return name;
  Operation *op = value.getDefiningOp();
  return op && isa<pto::TGetValOp, pto::LoadScalarOp>(op) ? "element"
         : value.getType().isIndex()                      ? "n"
                                                          : "s";
}

/// Names in locations are those of tiles, beside which scalars are computed.
std::optional<bool> BlockBody::isInlined(Operation *op) {
  // An element of memory is read where it stands.
  if (isa<pto::TGetValOp, pto::LoadScalarOp, pto::TPopOp>(op))
    return false;
  // A choice is a statement of its own, as a branch is.
  if (isa<arith::SelectOp>(op) && op->getResult(0).getType().isIndex())
    return op->use_empty();
  // Positions become what instructions take by themselves.
  if (auto cast = dyn_cast<arith::IndexCastOp>(op); cast && cast.getIn().getType().isIndex())
    return true;
  bool isScalar = op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op) &&
                  op->getResult(0).getType().isIntOrIndexOrFloat();
  if (!isScalar || isPositionOp(op) || op->hasTrait<OpTrait::ConstantLike>() || isIdentity(op))
    return std::nullopt;
  return op->getResult(0).hasOneUse() &&
         (*op->getResult(0).user_begin())->getBlock() == op->getBlock();
}

void BlockBody::run() {
  for (BlockArgument argument : code_.function().getArguments()) {
    GivenArgument given = code_.given(argument.getArgNumber());
    // Arguments that the language does not have, such as workspaces, get no name.
    if (given.name.empty())
      continue;
    code_.names().reserve(given.name);
    code_.know(argument, given.name);
  }
  for (const std::string &name : code_.byCores().unused)
    code_.names().reserve(name);
  for (auto &[flag, queue] : code_.byCores().queues)
    code_.names().reserve(queue.name);
  for (auto &[number, event] : code_.byCores().events)
    code_.names().reserve(event.name);
  declareBuffers(code_);
  declareEvents(code_);
  printBlock(code_, code_.function().getBody().front());
}

std::string BlockBody::print() {
  collectEvents(code_);
  collectBuffers(code_);
  run();
  raiseAnchors(code_);
  code_.startPrinting();
  run();
  return code_.takeText();
}

std::optional<Expression> BlockBody::written(Operation *op) {
  if (isIdentity(op))
    return shareText(
        code_, "id " + op->getName().getStringRef().str(),
        {SharedText::Kind::Identity, Dim(), op->getResult(0), pto::sourceName(op->getResult(0))});
  auto element = [&](const std::string &text) {
    return Expression{isReadAsPosition(op->getResult(0)) ? "int(" + text + ")" : text};
  };
  if (auto get = dyn_cast<pto::TGetValOp>(op))
    return element("tgetval(" + tileText(code_, get.getSource()).text + ", " +
                   indexText(code_, get.getOffset(), "at").text + ")");
  if (auto load = dyn_cast<pto::LoadScalarOp>(op))
    return element("load_scalar(" + elementOperands(code_, load.getPointer(), load.getOffset()) +
                   ")");
  return std::nullopt;
}

std::optional<Expression> BlockBody::positionText(Value value) {
  if (!value.getType().isIndex())
    return std::nullopt;
  Dim dim = code_.positions().of(value);
  if (code_.positions().isLeaf(dim, value))
    return std::nullopt;
  return dimText(code_, dim, "n");
}

/// A branch that only stops the kernel is a check.
static bool printTrap(BlockCode &code, Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch->getNumResults() > 0 || !branch.getElseRegion().empty())
    return false;
  auto only = dyn_cast<pto::TrapOp>(branch.getThenRegion().front().front());
  if (!only || !isa<scf::YieldOp>(only->getNextNode()))
    return false;
  Value fails = branch.getCondition();
  std::string holds;
  // The kernel stops where the condition fails, so the check says the opposite: what was inverted
  // is shown as it was, and a comparison by its inverse.
  auto flipped = fails.getDefiningOp<arith::XOrIOp>();
  auto comparison = fails.getDefiningOp<arith::CmpIOp>();
  if (flipped && matchPattern(flipped.getRhs(), m_One()))
    holds = valueText(code, flipped.getLhs()).text;
  else if (comparison)
    holds =
        comparedIntegers(code, comparison, arith::invertPredicate(comparison.getPredicate())).text;
  else
    holds = "not " + valueText(code, fails).as(Precedence::Not);
  code.line(assertText(holds, only.getMessage(), !only.getValues().empty()));
  return true;
}

bool BlockBody::special(Operation *op) {
  if (pto::Instruction(op)) {
    printInstruction(code_, op);
    return true;
  }
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op); alloc && beginsInside(code_, alloc)) {
    declareBuffer(code_, alloc);
    return true;
  }
  if (isa<func::ReturnOp, pto::ReserveBufferOp, pto::ImportReservedBufferOp, pto::AddPtrOp,
          pto::MakeTensorViewOp, pto::PartitionViewOp, pto::AllocTileOp, pto::AllocMultiTileOp,
          pto::MultiTileGetOp, pto::SubsetOp, pto::TReshapeOp, pto::BitcastOp>(op) ||
      isIdentity(op))
    return true;
  if (auto store = dyn_cast<pto::StoreScalarOp>(op)) {
    Type element = cast<pto::PtrType>(store.getPointer().getType()).getElementType();
    code_.line("store_scalar(" + elementOperands(code_, store.getPointer(), store.getOffset()) +
               ", " + scalarOperandText(code_, store.getValue(), element).text + ")");
    return true;
  }
  return printTrap(code_, op) || printSynchronisation(code_, op) || printQueueing(code_, op);
}

std::string printSide(func::FuncOp function, SharedByCores &byCores,
                      const GivenArguments &arguments, Unwritable unwritable) {
  return BlockBody(function, byCores, arguments, std::move(unwritable)).print();
}

} // namespace ptl::source
