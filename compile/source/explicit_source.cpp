#include "compile/source/explicit_source.h"

#include "codegen/source/expression.h"
#include "codegen/source/origins.h"
#include "codegen/source/tile_source.h"
#include "compile/chip/lower_to_chip.h"
#include "compile/source/header_facts.h"
#include "compile/source/kept_comments.h"
#include "compile/source_spans.h"
#include "frontend/format/format.h"
#include "frontend/lex/lexer.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/source_range.h"
#include "passes/analysis/machine_types.h"
#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/check_places.h"
#include "passes/transform/output_views.h"

#include <algorithm>

namespace ptl {

static bool holds(Span outer, Span inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

/// The kernel whose text holds a place, innermost first; null for the entry itself, and for what a
/// kernel requires of its arguments, which the caller checks.
static const CallableDecl *kernelAt(const CheckedProgram &program, const CallableDecl &entry,
                                    mlir::Location location) {
  std::vector<Span> spans = ir::rangesOf(location);
  if (spans.empty())
    return nullptr;
  for (const auto &module : program.modules)
    for (const CallableDecl *decl : module->callables)
      if ((decl->kind == DeclKind::Kernel || decl->kind == DeclKind::ManualKernel) &&
          decl != &entry && holds(decl->span, spans[0])) {
        bool isRequired = llvm::any_of(
            decl->wheres, [&](const WhereClause &where) { return holds(where.span, spans[0]); });
        return isRequired ? nullptr : decl;
      }
  return nullptr;
}

/// Whether the vector cores compute a product of the grid, because the cube does not multiply its types. Later passes make other
/// operations of it, and decide where these have their tiles.
static bool multipliesElsewhere(ir::ParallelOp grid, const Machine &chip) {
  auto typeOf = [](mlir::Value value) {
    return ir::machineTypeName(ir::elementTypeOf(value.getType()));
  };
  return grid
      ->walk([&](ir::MatmulOp product) {
        std::string left = typeOf(product->getOperand(0)), right = typeOf(product->getOperand(1)),
                    out = typeOf(product->getResult(0));
        bool onCube = !product.getScales().empty() || chip.supports("tmatmul", {left, right, out});
        return onCube ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Where tiles of grids lie; the split of a grid over the cores is found once.
static std::function<std::string(mlir::Value)> placesOfTiles(const Machine &chip) {
  auto known =
      std::make_shared<llvm::DenseMap<mlir::Operation *, std::optional<block::CoreAssignment>>>();
  return [known, &chip](mlir::Value tile) -> std::string {
    ir::ParallelOp grid;
    for (mlir::Operation *op = tile.getDefiningOp(); op; op = op->getParentOp())
      if (auto outer = mlir::dyn_cast<ir::ParallelOp>(op))
        grid = outer;
    if (!grid || ir::rankOf(tile.getType()) == 0)
      return "";
    auto [cores, isNew] = known->try_emplace(grid);
    if (isNew && !multipliesElsewhere(grid, chip))
      cores->second = block::assignCores(grid);
    if (!cores->second)
      return "";
    llvm::SmallVector<ir::Place> places = block::placesOf(tile, *cores->second);
    return places.size() == 1 ? ir::placeName(places.front()).str() : "";
  };
}

/// A token and the line that it stands on.
struct PlacedToken {
  std::string_view text;
  size_t line;
};

static std::vector<PlacedToken> tokensOf(const std::string &text) {
  DiagnosticSink quiet;
  std::vector<PlacedToken> placed;
  size_t line = 0, seen = 0;
  for (const Token &token : lex(kNoFile, text, quiet, /*isFileStart=*/true).tokens) {
    line +=
        static_cast<size_t>(std::count(text.begin() + static_cast<ptrdiff_t>(seen),
                                       text.begin() + static_cast<ptrdiff_t>(token.begin), '\n'));
    seen = token.begin;
    placed.push_back({std::string_view(text).substr(token.begin, token.end - token.begin), line});
  }
  return placed;
}

/// Formatting breaks lines and joins them, and changes no tokens but commas: a line came from where
/// its first token did.
static ExplicitText withOrigins(std::string text, const source::OriginLines &plain) {
  ExplicitText result{std::move(text), {}};
  std::string given = plain.text();
  std::vector<PlacedToken> before = tokensOf(given), after = tokensOf(result.text);
  size_t next = 0;
  for (const PlacedToken &token : after) {
    while (next < before.size() && before[next].text != token.text && before[next].text == ",")
      ++next;
    if (next >= before.size() || before[next].text != token.text)
      continue;
    const auto &origin = plain.lines[std::min(before[next].line, plain.lines.size() - 1)].origin;
    bool isFirst = result.origins.size() <= token.line;
    result.origins.resize(std::max(result.origins.size(), token.line + 1));
    if (isFirst && origin)
      result.origins[token.line] = ir::rangesOf(*origin);
    ++next;
  }
  return result;
}

/// Tiles with what a chip lacks left as it is: what a person would write. Tiles of tensor-level code
/// are as small as the chip needs them. Nothing after an error.
static std::optional<TileModule> tileForReading(const CompileContext &context, BuiltEntry entry) {
  TileOptions how;
  how.legalizes = false;
  if (context.options().chip) {
    ChipResult lowered = lowerToChip(context, entry);
    if (!lowered.program)
      return std::nullopt;
    how.halvings = lowered.program->halvings;
  }
  return tileModule(context, std::move(entry.tensor), how);
}

/// An entry as built, as source. Nothing after an error.
static std::optional<source::SourceResult> print(const CompileContext &context, BuiltEntry entry,
                                                 const source::EntryFacts &facts,
                                                 ExplicitLevel level) {
  if (level == ExplicitLevel::Tile) {
    std::optional<TileModule> tiles = tileForReading(context, std::move(entry));
    if (!tiles)
      return std::nullopt;
    mlir::func::FuncOp function = *tiles->module->getOps<mlir::func::FuncOp>().begin();
    ir::storeViews(function);
    return source::printTiles(function, facts);
  }
  std::optional<ChipProgram> chip = lowerToChip(context, entry, {}, /*inPipes=*/true).program;
  if (!chip)
    return std::nullopt;
  std::vector<mlir::ModuleOp> kernels;
  for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : chip->program.kernels)
    kernels.push_back(*kernel);
  mlir::func::FuncOp host = *chip->program.host->getOps<mlir::func::FuncOp>().begin();
  ir::storeViews(host);
  return source::printBlocks(host, kernels, facts);
}

std::optional<ExplicitText> explicitSource(const CompileContext &context,
                                           const ir::EntryBinding &binding, const std::string &name,
                                           ExplicitLevel level) {
  const CheckedProgram &program = context.program();
  const std::optional<Machine> &chip = context.options().chip;
  const CallableDecl &decl = *binding.decl;
  std::optional<BuiltEntry> built = buildEntry(context, binding, name);
  if (!built)
    return std::nullopt;
  source::EntryFacts facts;
  facts.name = name;
  facts.doc = decl.doc;
  facts.isPub = decl.isPub;
  facts.statics = binding.statics;
  addHeaderFacts(decl, binding.statics, *program.dims, facts);
  facts.target = chip ? chip->name : "cpu";
  if (chip)
    facts.placeOf = placesOfTiles(*chip);
  facts.kernelAt = [&](mlir::Location at) {
    const CallableDecl *kernel = kernelAt(program, decl, at);
    return kernel ? kernel->name : "";
  };
  facts.kernelDocAt = [&](mlir::Location at) {
    const CallableDecl *kernel = kernelAt(program, decl, at);
    return kernel ? kernel->doc : "";
  };
  std::optional<source::SourceResult> result = print(context, std::move(*built), facts, level);
  if (!result)
    return std::nullopt;
  if (result->problem.empty()) {
    // The formatter moves lines, so the origins are taken out before and put back behind it.
    source::OriginLines plain = source::takeOrigins(result->text);
    keepComments(program, decl, name, plain);
    return withOrigins(formatted(plain.text()), plain);
  }
  Span span = spanOf(result->at);
  context.sink().report(
      DiagId::NoSourceForm, span.file == kNoSpan.file ? decl.nameSpan : span,
      {decl.name, level == ExplicitLevel::Tile ? "tile" : "block", result->problem});
  return std::nullopt;
}

} // namespace ptl
