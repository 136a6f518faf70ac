#include "passes/lower_block/cut_products.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/fix_pipe.h"
#include "passes/lower_block/core_marks.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/limits.h"
#include "passes/lower_block/product_steps.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/stage_operands.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;

namespace ptl::block {

std::string_view operandName(Type element) {
  return element.isF32() ? "f32" : element.isF16() ? "f16" : element.isBF16() ? "bf16" : "i8";
}

static Type elementOf(ir::MatmulOp product) {
  return ir::elementTypeOf(product->getOperand(0).getType());
}

Type factorsOf(Value sum) {
  if (auto argument = dyn_cast<BlockArgument>(sum)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    // What comes from the round before is what this one hands on.
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? factorsOf(init->get()) : Type();
  }
  Operation *op = sum.getDefiningOp();
  if (auto product = dyn_cast<ir::MatmulOp>(op))
    return elementOf(product);
  auto number = cast<OpResult>(sum).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return factorsOf(loop.getYieldedValues()[number]);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return factorsOf(branch.thenYield().getOperand(number));
  if (isa<ir::AddOp>(op)) // sums of products have one as an operand
    for (Value operand : op->getOperands())
      if (auto product = operand.getDefiningOp<ir::MatmulOp>())
        return elementOf(product);
  if (isa<ir::ConvertOp>(op))
    return factorsOf(op->getOperand(0));
  Value limited = ir::reluOperand(op);
  return limited ? factorsOf(limited) : Type();
}

bool isHanded(const CoreAssignment &cores, Value sum) {
  if (llvm::is_contained(cores.toVector, sum))
    return true;
  return llvm::any_of(sum.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<scf::YieldOp>(user)) {
      Operation *around = user->getParentOp();
      return around->getNumResults() > use.getOperandNumber() &&
             isHanded(cores, around->getResult(use.getOperandNumber()));
    }
    return user->getNumResults() == 1 && cores.coreOf(user) == CoreKind::Cube &&
           isHanded(cores, user->getResult(0));
  });
}

/// Returns nothing for an operation that is no product of matrices or has no bounds; the lowering
/// reports these.
static std::optional<ProductShape> shapeOf(ir::MatmulOp product,
                                           const llvm::DenseMap<StringAttr, int64_t> &capacities,
                                           int64_t numProducts) {
  llvm::ArrayRef<ir::Extent> out = ir::extentsOf(product->getResult(0).getType()),
                             left = ir::extentsOf(product->getOperand(0).getType());
  // Products of more axes were taken apart before, or are reported by the lowering with a better
  // place.
  if (out.size() != 2 || left.size() != 2)
    return std::nullopt;
  int64_t rows = capacityIn(out[0], capacities), cols = capacityIn(out[1], capacities),
          contracted = capacityIn(left[1], capacities);
  // The lowering reports tiles without bounds, with a better place.
  if (rows == ir::Extent::kUnknown || cols == ir::Extent::kUnknown)
    return std::nullopt;
  constexpr int64_t longest = 4096; // a contraction without a bound is long
  return ProductShape{rows,
                      cols,
                      contracted > 0 ? contracted : longest,
                      pto::elementBytes(elementOf(product)),
                      operandName(elementOf(product)),
                      numProducts,
                      !product.getScales().empty()};
}

/// Why `l0 rows, columns, contracted positions` of a schedule cannot be; empty if it can. Rows and
/// columns of a tile go through the operand buffers whole.
static std::string whyNot(const ProductShape &shape, llvm::ArrayRef<int64_t> sizes,
                          const Machine &machine) {
  auto number = [](int64_t value) { return std::to_string(value); };
  auto tooSmall = [&](const char *what, int64_t given, int64_t own) -> std::string {
    return given >= own ? ""
                        : "the tile has " + number(own) + " " + what +
                              ", which go through the operand buffers together: make the tile "
                              "smaller";
  };
  auto tooLarge = [&](const char *place, int64_t lines) -> std::string {
    // The operand buffers hold whole fractals.
    int64_t needed = roundUp(lines, shape.box()) * sizes[2] * shape.bytes,
            there = usableBytes(machine, place);
    return needed <= there ? ""
                           : number(needed) + " bytes of `" + place + "` are needed, `" +
                                 machine.name + "` has " + number(there);
  };
  std::string uneven = sizes[2] % shape.depthBox() == 0
                           ? ""
                           : "contracted positions go in boxes of " + number(shape.depthBox());
  for (std::string why :
       {tooSmall("rows", sizes[0], shape.rows), tooSmall("columns", sizes[1], shape.cols), uneven,
        tooLarge("left", shape.rows), tooLarge("right", shape.cols)})
    if (!why.empty())
      return why;
  return "";
}

/// The step that a schedule says; 0: it says nothing. Nothing after an error.
static std::optional<int64_t> pinnedStep(ir::MatmulOp product, const ProductShape &shape,
                                         const Machine &machine, const Report &report) {
  auto l0 = attrs::l0.of(product);
  if (!l0)
    return 0;
  llvm::ArrayRef<int64_t> sizes = cast<DenseI64ArrayAttr>(l0[0]).asArrayRef();
  std::string why = whyNot(shape, sizes, machine);
  // The author's sizes are taken as they are, or refused; they are never changed silently.
  if (why.empty())
    return sizes[2];
  report(DiagId::ScheduleCannot, cast<LocationAttr>(l0[1]),
         {"l0 " + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + ", " +
              std::to_string(sizes[2]),
          why});
  return std::nullopt;
}

static bool goesInPieces(Value operand) {
  Operation *load = productSource(operand).getDefiningOp();
  return load && isInPieces(load);
}

/// The contracted extent of a piece: some steps, as many as leave room for other values in `mat`.
/// Where one accumulator leaves no room for a second one, there are no such values.
static int64_t pieceOf(ir::MatmulOp product, const ProductShape &shape, int64_t step,
                       const Machine &machine) {
  int64_t line = 0; // bytes that one position of the contracted axis takes
  for (auto [number, lines] : {std::pair(0U, shape.rows), std::pair(1U, shape.cols)})
    if (goesInPieces(product->getOperand(number)))
      line += roundUp(std::max<int64_t>(lines, 1), shape.box()) * shape.bytes;
  constexpr int64_t accumulatorBytes = 4;
  bool isAlone = 2 * shape.rows * shape.cols * accumulatorBytes > usableBytes(machine, "acc");
  int64_t parts = std::max<int64_t>(1, shape.products) * (isAlone ? 2 : 4);
  int64_t room = usableBytes(machine, "mat") / parts;
  return step * std::clamp<int64_t>(room / (line * step), 1, 4);
}

bool markProducts(ir::ParallelOp grid, const Machine &machine, const Report &report) {
  if (attrs::manual.isOn(grid))
    return true;
  CoreAssignment cores = markedCores(grid);
  llvm::DenseMap<StringAttr, int64_t> capacities = capacitiesOf(grid);
  Builder b(grid.getContext());
  int64_t atOnce = productsAtOnce(cores, choicesOf(grid));
  WalkResult result = grid.walk([&](ir::MatmulOp product) {
    std::optional<ProductShape> shape = shapeOf(product, capacities, atOnce);
    if (!shape)
      return WalkResult::advance();
    // Of a product that is handed over in slices only one slice is computed at a time.
    if (choicesOf(grid).slices > 1 && llvm::is_contained(cores.toVector, product->getResult(0)))
      // The accumulator then holds a slice, so longer steps fit beside it.
      shape->cols = ringProduct(shape->rows, shape->cols, atOnce, machine).cols;
    std::optional<int64_t> pinned = pinnedStep(product, *shape, machine, report);
    // The report was made where the schedule is read, and a second one would hide it.
    if (!pinned)
      return WalkResult::interrupt();
    int64_t step = *pinned ? *pinned : stepOf(*shape, machine);
    if (goesInPieces(product->getOperand(0)) || goesInPieces(product->getOperand(1))) {
      // The step is chosen anew, since the product now contracts one piece at a time.
      shape->contracted = pieceOf(product, *shape, step, machine);
      attrs::piece.set(product, shape->contracted);
      step = *pinned ? *pinned : stepOf(*shape, machine);
    }
    attrs::step.set(product, step);
    return WalkResult::advance();
  });
  return !result.wasInterrupted();
}

ProductCut cutOf(Operation *product) {
  auto number = [](IntegerAttr size) { return size ? size.getInt() : 0; };
  return {number(attrs::step.of(product)), number(attrs::piece.of(product))};
}

LogicalResult verifyProducts(ir::ParallelOp grid) {
  llvm::DenseMap<StringAttr, int64_t> capacities = capacitiesOf(grid);
  WalkResult result = grid.walk([&](ir::MatmulOp product) {
    if (!shapeOf(product, capacities, 1))
      return WalkResult::advance();
    ProductCut cut = cutOf(product);
    bool inPieces = goesInPieces(product->getOperand(0)) || goesInPieces(product->getOperand(1));
    if (cut.step > 0 && cut.step % productBox(pto::elementBytes(elementOf(product))) == 0 &&
        (cut.piece > 0) == inPieces)
      return WalkResult::advance();
    product->emitError("the extent of its steps along the contracted axis is missing or wrong");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace ptl::block
