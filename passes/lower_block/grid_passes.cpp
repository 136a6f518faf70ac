#include "passes/lower_block/grid_passes.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/check_places.h"
#include "passes/lower_block/collapse_loops.h"
#include "passes/lower_block/core_marks.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/cut_choice.h"
#include "passes/lower_block/cut_products.h"
#include "passes/lower_block/cut_statements.h"
#include "passes/lower_block/hand_numbers.h"
#include "passes/lower_block/loop_stages.h"
#include "passes/lower_block/outline.h"
#include "passes/lower_block/plan_queues.h"
#include "passes/lower_block/rotate_while.h"
#include "passes/lower_block/select_instructions.h"
#include "passes/lower_block/slice_tiles.h"
#include "passes/lower_block/stage_operands.h"
#include "passes/lower_block/unroll_loops.h"

using namespace mlir;

namespace ptl::block {

// ---- choices ------------------------------------------------------------------------------------

namespace {
/// A number among the choices, by its name in the attribute.
struct Choice {
  llvm::StringLiteral name;
  int64_t LowerOptions::*number;
};
constexpr Choice choices[] = {
    {"queue_slots", &LowerOptions::queueSlots},
    {"grid_buffers", &LowerOptions::gridBuffers},
    {"ahead", &LowerOptions::ahead},
    {"streamed", &LowerOptions::streamed},
    {"parts", &LowerOptions::parts},
    {"slices", &LowerOptions::slices},
    {"point_parts", &LowerOptions::pointParts},
    {"part_buffers", &LowerOptions::partBuffers},
    {"statement_bytes", &LowerOptions::statementBytes},
};
} // namespace

void setChoices(ir::ParallelOp grid, const LowerOptions &options) {
  Builder b(grid.getContext());
  llvm::SmallVector<NamedAttribute> chosen;
  const LowerOptions usual;
  for (const Choice &choice : choices)
    // Usual choices are left out, so that the text of a grid shows what is special.
    if (options.*choice.number != usual.*choice.number)
      chosen.push_back(b.getNamedAttr(choice.name, b.getI64IntegerAttr(options.*choice.number)));
  if (!options.unrolls)
    chosen.push_back(b.getNamedAttr("unrolls", b.getBoolAttr(false)));
  if (chosen.empty())
    attrs::choices.remove(grid);
  else
    attrs::choices.set(grid, chosen);
}

LowerOptions choicesOf(ir::ParallelOp grid) {
  LowerOptions options;
  auto chosen = attrs::choices.of(grid);
  if (!chosen)
    return options;
  for (const Choice &choice : choices)
    if (auto number = chosen.getAs<IntegerAttr>(choice.name))
      options.*choice.number = number.getInt();
  if (auto unrolls = chosen.getAs<BoolAttr>("unrolls"))
    options.unrolls = unrolls.getValue();
  return options;
}

bool readChoice(llvm::StringRef text, std::vector<LowerOptions> &byGrid) {
  auto [grid, rest] = text.split('.');
  auto [name, value] = rest.split('=');
  size_t number = 0;
  int64_t wanted = 0;
  constexpr size_t most = 1 << 10; // of grids
  // The limit keeps a typing error from asking for a huge vector.
  if (grid.getAsInteger(10, number) || value.getAsInteger(10, wanted) || number >= most)
    return false;
  byGrid.resize(std::max(byGrid.size(), number + 1));
  LowerOptions &options = byGrid[number];
  if (name == "unrolls") {
    options.unrolls = wanted != 0;
    return true;
  }
  for (const Choice &choice : choices)
    if (choice.name == name) {
      options.*choice.number = wanted;
      return true;
    }
  return false;
}

// ---- passes -------------------------------------------------------------------------------------

static bool choose(ir::ParallelOp grid, size_t number, GridContext &context) {
  setChoices(grid, number < context.choices.size() ? context.choices[number] : LowerOptions());
  return true;
}

static bool checkPlaces(ir::ParallelOp grid, size_t, GridContext &context) {
  return takePlaces(grid, context.machine, context.report);
}

static bool unroll(ir::ParallelOp grid, size_t, GridContext &context) {
  if (choicesOf(grid).unrolls && !unrollLoops(grid, context.report))
    return false;
  collapseLoops(grid);
  return true;
}

static bool rotate(ir::ParallelOp grid, size_t, GridContext &) {
  rotateWhileLoops(grid);
  return true;
}

static bool hand(ir::ParallelOp grid, size_t, GridContext &) {
  handOperands(grid);
  return true;
}

static bool numbers(ir::ParallelOp grid, size_t number, GridContext &context) {
  handNumbers(grid, number, context.machine);
  return true;
}

static bool handLate(ir::ParallelOp grid, size_t, GridContext &context) {
  // With one queue for all values they have to arrive in the order in which they are read.
  if (!attrs::manual.isOn(grid) && mergesQueues(assignCores(grid), context.machine))
    handBeforeUse(grid);
  return true;
}

static bool cut(ir::ParallelOp grid, size_t number, GridContext &context) {
  std::optional<LedgerParts> unused;
  std::optional<LedgerParts> &told = number < context.parts.size() ? context.parts[number] : unused;
  LowerOptions options = choicesOf(grid);
  ir::ParallelOp made = options.slices > 1 ? sliceTiles(grid, options, context.machine, told)
                                           : cutTiles(grid, options, told);
  if (!made) {
    // The grid cannot be cut in this way. Its number tells the caller which grid to try again with other parts.
    context.uncut = number;
    return false;
  }
  // The new grid has lost the attribute.
  setChoices(made, options);
  return true;
}

static bool cutLargeStatements(ir::ParallelOp grid, size_t, GridContext &) {
  LowerOptions options = choicesOf(grid);
  if (options.statementBytes > 0 && !attrs::manual.isOn(grid))
    cutStatements(grid, options.statementBytes, options.partBuffers);
  return true;
}

llvm::ArrayRef<GridPass> gridPasses() {
  // The order matters: each pass relies on what those before it have made.
  static constexpr GridPass passes[] = {
      {"ptl-set-choices", choose},
      {"ptl-check-places", checkPlaces},
      {"ptl-unroll", unroll},
      {"ptl-rotate-while", rotate},
      {"ptl-hand-operands", hand},
      {"ptl-cut-tiles", cut},
      {"ptl-cut-statements", cutLargeStatements},
      {"ptl-hand-numbers", numbers},
      {"ptl-hand-late", handLate},
  };
  return passes;
}

static bool assign(ir::ParallelOp grid, size_t, GridContext &) {
  markCores(grid);
  return succeeded(verifyCores(grid));
}

static bool planQueues(ir::ParallelOp grid, size_t, GridContext &context) {
  return markQueues(grid, context.machine, context.report) &&
         succeeded(verifyQueues(grid, context.machine));
}

static bool stageOperands(ir::ParallelOp grid, size_t, GridContext &context) {
  return markOperands(grid, context.machine, context.report) && succeeded(verifyOperands(grid));
}

static bool cutProducts(ir::ParallelOp grid, size_t, GridContext &context) {
  return markProducts(grid, context.machine, context.report) && succeeded(verifyProducts(grid));
}

static bool stageLoops(ir::ParallelOp grid, size_t, GridContext &context) {
  markLoopStages(grid, context.machine);
  return succeeded(verifyLoopStages(grid));
}

static bool selectInstructions(ir::ParallelOp grid, size_t, GridContext &context) {
  return markInstructions(grid, context.machine, context.report) &&
         succeeded(verifyInstructions(grid, context.machine));
}

llvm::ArrayRef<GridPass> kernelPasses() {
  static constexpr GridPass passes[] = {
      {"ptl-assign-cores", assign},          {"ptl-plan-queues", planQueues},
      {"ptl-stage-operands", stageOperands}, {"ptl-cut-products", cutProducts},
      {"ptl-stage-loops", stageLoops},       {"ptl-select-instructions", selectInstructions},
  };
  return passes;
}

bool runGridPass(const GridPass &pass, func::FuncOp function, GridContext &context) {
  for (auto [i, grid] : llvm::enumerate(kernelGrids(function)))
    if (!pass.run(grid, context.numbers.empty() ? i : context.numbers[i], context))
      return false;
  return true;
}

} // namespace ptl::block
