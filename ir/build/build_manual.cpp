// Manual kernels: grids, ids of events, points.
#include "ir/build/build_manual.h"
#include "frontend/sema/block/block_machine.h"
#include "frontend/sema/walk.h"
#include "ir/build/build_check.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_loop.h"
#include "ir/build/build_parallel.h"
#include "ir/build/build_schedule.h"
#include "ir/build/build_stmt.h"
#include "ir/build/build_type.h"
#include "ir/build/manual.h"
#include "ir/dialect/attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

using namespace mlir;

namespace ptl::ir {

// ---- Walking statements -------------------------------------------------------------------------

/// Calls `visit` for each statement of a block and of what is inside, with the core of its section.
static void forEachStmt(const ptl::Block *block, const std::string &core,
                        const std::function<void(const Stmt &, const std::string &)> &visit) {
  for (const Stmt *stmt : block->stmts) {
    visit(*stmt, core);
    const auto *section = dyn_cast<OnStmt>(stmt);
    // Statements in a section run on its core, however deep they stand.
    const std::string &inside = section ? section->core : core;
    forEachPart(
        *stmt, [](const Expr *) {},
        [&](const ptl::Block *each) { forEachStmt(each, inside, visit); });
  }
}

/// As many as operations can name; machines may have fewer, which the prover knows.
static constexpr int64_t kMostEvents = 16;

// ---- Ids of events ------------------------------------------------------------------------------

static void checkId(BuildContext &c, const Local &event, int64_t last, int64_t limit) {
  if (last >= limit)
    c.fail(DiagId::EventIdBeyondLimit, event.span,
           {std::to_string(last), std::string(pipeName(event.object->from.pipe)),
            std::string(pipeName(event.object->to.pipe)), std::to_string(limit - 1)});
}

/// Ids count per pair of pipes and core, those of events between cores for all together; those that
/// are pinned are taken first.
static void allocateEvents(BuildContext &c, const ptl::Block &body, const std::string &core) {
  std::vector<std::pair<Local *, std::string>> events;
  forEachStmt(&body, core, [&](const Stmt &stmt, const std::string &where) {
    if (stmt.kind != StmtKind::BlockDecl)
      return;
    Local *local = cast<BlockDeclStmt>(stmt).local;
    if (local->kind == LocalKind::Event)
      // Events between cores share one set of ids, so the section does not matter for them.
      events.emplace_back(local, local->object->crosses() ? "cross" : where);
  });
  using Key = std::tuple<std::string, Pipe, Pipe>;
  std::map<Key, std::set<int64_t>> taken;
  auto keyOf = [](const Local &local, const std::string &where) {
    bool crosses = local.object->crosses(); // flags between cores are one set for all pipes
    return Key{where, crosses ? Pipe::All : local.object->from.pipe,
               crosses ? Pipe::All : local.object->to.pipe};
  };
  auto countOf = [&](const Local &local) {
    return local.object->count ? constantDim(c, local.object->count).value_or(1) : 1;
  };
  // Pinned ids come first, because the others have to avoid them.
  for (auto &[local, where] : events)
    if (local->object->number) {
      int64_t first = constantDim(c, local->object->number).value_or(0);
      c.manual->ids[local] = first;
      checkId(c, *local, first + countOf(*local) - 1, kMostEvents);
      // A count of several events takes consecutive ids.
      for (int64_t i = 0; i < countOf(*local); ++i)
        taken[keyOf(*local, where)].insert(first + i);
    }
  for (auto &[local, where] : events) {
    if (local->object->number)
      continue;
    std::set<int64_t> &used = taken[keyOf(*local, where)];
    int64_t first = 0, count = countOf(*local);
    auto isFree = [&](int64_t at) {
      for (int64_t i = 0; i < count; ++i)
        if (used.count(at + i))
          return false;
      return true;
    };
    int64_t limit = c.manual->machine->events;
    if (local->object->crosses()) { // from above: queues take theirs from below
      const CrossCoreFlags &flags = c.manual->machine->crossCore;
      limit = flags.flags;
      used.insert(flags.reserved.begin(), flags.reserved.end());
      first = (limit > 0 ? limit : kMostEvents) - count;
      while (first >= 0 && !isFree(first))
        --first;
      // Without room below the limit the id lies beyond it, which is reported.
      if (first < 0)
        first = std::max(limit, kMostEvents);
    }
    while (!isFree(first))
      ++first;
    for (int64_t i = 0; i < count; ++i)
      used.insert(first + i);
    c.manual->ids[local] = first;
    // The check is made again, because the search may have gone beyond the limit.
    checkId(c, *local, first + count - 1, limit > 0 ? limit : kMostEvents);
  }
}

// ---- Kernels ------------------------------------------------------------------------------------

static bool isHostLet(const Stmt &stmt) {
  if (stmt.kind != StmtKind::Let || cast<LetStmt>(stmt).isVar)
    return false;
  const auto &let = cast<LetStmt>(stmt);
  bool byHand = false;
  // A call of an instruction can only run on a core.
  forEachExpr(let.value, [&](const Expr *expr) { byHand |= expr->kind == ExprKind::Block; });
  return !byHand && llvm::all_of(let.locals, [](const Local *local) {
    return local->type->isScalar() || local->type->kind == TypeKind::Range;
  });
}

/// Reports what this machine cannot run of a kernel whose header does not say for which machines it
/// is.
static void checkMachine(BuildContext &c, const CallableDecl &decl) {
  auto namer = [&c](const Elem &elem) { return elemName(elemKind(c, elem)); };
  auto exprs = [&](const Expr *root) {
    forEachExpr(root, [&](const Expr *expr) {
      auto *call = dyn_cast<BlockExpr>(expr);
      // Only instructions depend on the machine.
      if (!call || !call->info)
        return;
      if (std::string why = whyNotOn(*c.manual->machine, *call, namer); !why.empty())
        c.fail(DiagId::NotOnMachine, call->span,
               {surfaceName(*call->info), c.manual->machine->name, why});
    });
  };
  forEachStmt(decl.body, decl.core, [&](const Stmt &stmt, const std::string &) {
    forEachPart(stmt, exprs, [](const Block *) {});
  });
}

/// The points are numbered, and core group g of n takes the points g, g + n, … Bounds that depend
/// on earlier variables make loops inside a point.
static void buildPoints(BuildContext &c, const ParallelStmt &stmt, size_t from = 0) {
  Location loc = c.location(stmt.span);
  llvm::SmallVector<LoopBounds> bounds;
  llvm::SmallVector<mlir::Value> counts;
  mlir::Value total = c.index(1);
  size_t to = from;
  // Variables are joined into one number as long as their bounds do not depend on those before.
  for (; to < stmt.heads.size() && (to == from || !dependsOnHeads(stmt, from, to)); ++to) {
    bounds.push_back(loopBounds(c, stmt.heads[to]));
    const LoopBounds &last = bounds.back();
    mlir::Value length = c.b.createOrFold<arith::SubIOp>(loc, last.upper, last.lower);
    counts.push_back(c.b.createOrFold<arith::CeilDivSIOp>(loc, length, last.step));
    total = c.b.createOrFold<arith::MulIOp>(loc, total, counts.back());
  }
  // Inner loops run within one point, so they start at 0 in steps of 1.
  bool outermost = from == 0;
  auto asIndex = [&](mlir::Value id) -> mlir::Value {
    return c.make<arith::IndexCastOp>(loc, c.b.getIndexType(), id);
  };
  mlir::Value first =
      outermost ? asIndex(c.make<pto::GetBlockIdxOp>(loc, c.b.getI64Type())) : c.index(0);
  mlir::Value step =
      outermost ? asIndex(c.make<pto::GetBlockNumOp>(loc, c.b.getI64Type())) : c.index(1);
  // Core groups beyond the number that the schedule gives take no points.
  if (auto cores = outermost ? attrs::cores.of(c.manual->grid) : IntegerAttr()) {
    step = c.make<arith::MinSIOp>(loc, step, c.index(cores.getInt()));
    mlir::Value works = c.make<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, first, step);
    first = c.make<arith::SelectOp>(loc, works, first, total);
  }
  auto loop = c.make<scf::ForOp>(loc, first, total, step);
  {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(loop.getBody());
    // The number of the point is taken apart from the last variable on, like digits of a number
    // with several bases.
    mlir::Value rest = loop.getInductionVar();
    for (size_t i = to; i-- > from;) {
      const LoopBounds &own = bounds[i - from];
      mlir::Value number =
          i == from ? rest : c.make<arith::RemUIOp>(loc, rest, counts[i - from]).getResult();
      if (i > from)
        rest = c.make<arith::DivUIOp>(loc, rest, counts[i - from]);
      mlir::Value offset = c.b.createOrFold<arith::MulIOp>(loc, number, own.step);
      bindLoopVar(c, stmt.heads[i], own, c.b.createOrFold<arith::AddIOp>(loc, own.lower, offset));
    }
    if (to < stmt.heads.size()) {
      buildPoints(c, stmt, to);
    } else {
      buildBlock(c, *stmt.body);
      attrs::point.set(loop);
      // Points do not overlap: the next begins when all pipes are empty.
      c.make<pto::BarrierOp>(loc, pto::PipeKindAttr::get(&c.context, pto::PipeKind::PIPE_ALL));
    }
  }
  // The symbols of the variables get other values in the next loop.
  for (size_t i = from; i < to; ++i)
    eraseSymbols(*c.frame, stmt.heads[i]);
}

static void buildManualGrid(BuildContext &c, const CallableDecl &decl,
                            const std::vector<Stmt *> &stmts, size_t upTo) {
  Location loc = c.location(upTo < stmts.size() ? stmts[upTo]->span : decl.nameSpan);
  mlir::Value zero = c.index(0), one = c.index(1);
  auto grid = c.make<ParallelOp>(loc, zero, one, one);
  attrs::manual.set(grid, decl.core);
  scheduleGrid(c, grid);
  c.manual->grid = grid;
  // Each grid has its own pointers, since it becomes a kernel of its own.
  c.manual->pointers.clear();
  c.manual->uses.clear();
  OpBuilder::InsertionGuard guard(c.b);
  llvm::SmallVector<mlir::Type> types{c.b.getIndexType()};
  llvm::SmallVector<Location> locs{loc};
  c.b.createBlock(&grid.getBody(), {}, types, locs);
  for (const WhereClause &clause : decl.wheres) // for the prover
    if (clause.condition && !clause.onTunables)
      emitCondition(c, *clause.condition, "where", clause.text, c.location(clause.span));
  // Statements before the grid are built in it again, because the kernel has no access to values of
  // the host.
  for (size_t i = 0; i < upTo; ++i)
    if (stmts[i]->kind != StmtKind::Parallel)
      buildStmt(c, *stmts[i]);
  if (upTo < stmts.size())
    buildPoints(c, cast<ParallelStmt>(*stmts[upTo]));
  c.make<YieldOp>(loc);
  // Only now is it known how each array was used.
  for (auto &[local, pointer] : c.manual->pointers) {
    auto [read, written] = c.manual->uses[local];
    pointer.setRole(written ? (read ? "inout" : "out") : "in");
  }
}

void buildManual(BuildContext &c, const CallableDecl &decl) {
  c.context.loadDialect<pto::PtoDialect>();
  auto outer = std::exchange(c.manual, std::make_shared<ManualState>());
  c.manual->machine = c.binding.chip;
  size_t errors = c.sink.errorCount();
  if (decl.targets.empty())
    checkMachine(c, decl);
  allocateEvents(c, *decl.body, decl.core);
  const std::vector<Stmt *> &stmts = decl.body->stmts;
  bool asserts =
      llvm::any_of(stmts, [](const Stmt *stmt) { return stmt->kind == StmtKind::Assert; });
  // Requirements of the host may depend on values that are computed before them.
  for (const Stmt *stmt : stmts) // checked by the host, before the kernel runs
    if (asserts && (isHostLet(*stmt) || stmt->kind == StmtKind::Assert))
      buildStmt(c, *stmt);
  bool points =
      llvm::any_of(stmts, [](const Stmt *stmt) { return stmt->kind == StmtKind::Parallel; });
  // Each `parallel` is a kernel of its own.
  for (size_t i = 0; i < stmts.size() && c.sink.errorCount() == errors; ++i)
    if (points && stmts[i]->kind == StmtKind::Parallel)
      buildManualGrid(c, decl, stmts, i);
  if (!points && c.sink.errorCount() == errors)
    buildManualGrid(c, decl, stmts, stmts.size());
  c.manual = outer;
}

void buildSection(BuildContext &c, const OnStmt &stmt) {
  auto section = c.make<SectionOp>(c.location(stmt.span), stmt.core);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.createBlock(&section.getBody());
  buildBlock(c, *stmt.body);
}

} // namespace ptl::ir
