// Manual kernels: a grid of the block level per `parallel`, events and their ids, points of the
// grid.
#include "frontend/sema/block/block_machine.h"
#include "frontend/sema/walk.h"
#include "ir/build/manual.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;

namespace ptl::ir {

// ---- Walking statements -------------------------------------------------------------------------

/// Calls `visit` for each statement of a block and of what is inside, with the core of its section.
static void forEachStmt(const ptl::Block *block, const std::string &core,
                        const std::function<void(const Stmt &, const std::string &)> &visit) {
  if (!block)
    return;
  for (const Stmt *stmt : block->stmts) {
    visit(*stmt, core);
    switch (stmt->kind) {
    case StmtKind::For:
      forEachStmt(static_cast<const ForStmt *>(stmt)->body, core, visit);
      break;
    case StmtKind::Parallel:
      forEachStmt(static_cast<const ParallelStmt *>(stmt)->body, core, visit);
      break;
    case StmtKind::While:
      forEachStmt(static_cast<const WhileStmt *>(stmt)->body, core, visit);
      break;
    case StmtKind::If:
      forEachStmt(static_cast<const IfStmt *>(stmt)->thenBlock, core, visit);
      forEachStmt(static_cast<const IfStmt *>(stmt)->elseBlock, core, visit);
      break;
    case StmtKind::Block:
      forEachStmt(static_cast<const BlockStmt *>(stmt)->block, core, visit);
      break;
    case StmtKind::OnSection: {
      const auto *section = static_cast<const OnStmt *>(stmt);
      forEachStmt(section->body, section->core, visit);
      break;
    }
    default:
      break;
    }
  }
}

/// As many as operations can name; machines may have fewer, which the prover knows.
static constexpr int64_t kMostEvents = 16;

// ---- Ids of events ------------------------------------------------------------------------------

/// Ids count per pair of pipes and core, those of events between cores for all together; those that
/// are pinned are taken first.
void Builder::allocateEvents(const ptl::Block &body, const std::string &core) {
  std::vector<std::pair<Local *, std::string>> events;
  forEachStmt(&body, core, [&](const Stmt &stmt, const std::string &where) {
    if (stmt.kind != StmtKind::BlockDecl)
      return;
    Local *local = static_cast<const BlockDeclStmt &>(stmt).local;
    if (local->kind == LocalKind::Event)
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
    return local.object->count ? constantDim(local.object->count).value_or(1) : 1;
  };
  for (auto &[local, where] : events)
    if (local->object->number) {
      int64_t first = constantDim(local->object->number).value_or(0);
      manual_->ids[local] = first;
      checkId(*local, first + countOf(*local) - 1, kMostEvents);
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
    int64_t limit = manual_->machine->events;
    if (local->object->crosses()) { // from above: queues take theirs from below
      const CrossCoreFlags &flags = manual_->machine->crossCore;
      limit = flags.flags;
      used.insert(flags.reserved.begin(), flags.reserved.end());
      first = (limit > 0 ? limit : kMostEvents) - count;
      while (first >= 0 && !isFree(first))
        --first;
      if (first < 0)
        first = std::max(limit, kMostEvents);
    }
    while (!isFree(first))
      ++first;
    for (int64_t i = 0; i < count; ++i)
      used.insert(first + i);
    manual_->ids[local] = first;
    checkId(*local, first + count - 1, limit > 0 ? limit : kMostEvents);
  }
}

void Builder::checkId(const Local &event, int64_t last, int64_t limit) {
  if (last >= limit)
    fail(DiagId::EventIdBeyondLimit, event.span,
         {std::to_string(last), std::string(pipeName(event.object->from.pipe)),
          std::string(pipeName(event.object->to.pipe)), std::to_string(limit - 1)});
}

// ---- Kernels ------------------------------------------------------------------------------------

static bool isHostLet(const Stmt &stmt) {
  if (stmt.kind != StmtKind::Let || static_cast<const LetStmt &>(stmt).isVar)
    return false;
  const auto &let = static_cast<const LetStmt &>(stmt);
  bool byHand = false;
  forEachExpr(let.value, [&](const Expr *expr) { byHand |= expr->kind == ExprKind::Block; });
  return !byHand && llvm::all_of(let.locals, [](const Local *local) {
    return local->type->isScalar() || local->type->kind == TypeKind::Range;
  });
}

/// What does not run on this machine, where no `for` says which ones the kernel is for.
void Builder::checkMachine(const CallableDecl &decl) {
  auto namer = [this](const Elem &elem) { return elemName(elemKind(elem)); };
  auto exprs = [&](const Expr *root) {
    forEachExpr(root, [&](const Expr *expr) {
      auto *call = expr->kind == ExprKind::Block ? static_cast<const BlockExpr *>(expr) : nullptr;
      if (!call || !call->info)
        return;
      if (std::string why = whyNotOn(*manual_->machine, *call, namer); !why.empty())
        fail(DiagId::NotOnMachine, call->span,
             {surfaceName(*call->info), manual_->machine->name, why});
    });
  };
  forEachStmt(decl.body, decl.core, [&](const Stmt &stmt, const std::string &) {
    if (stmt.kind == StmtKind::ExprStmt)
      exprs(static_cast<const ExprStmt &>(stmt).value);
    else if (stmt.kind == StmtKind::Let)
      exprs(static_cast<const LetStmt &>(stmt).value);
  });
}

/// One grid per `parallel`, each with the declarations before it; one for all of a body without
/// `parallel`.
void Builder::buildManual(const CallableDecl &decl) {
  context_.loadDialect<pto::PtoDialect>();
  auto outer = std::exchange(manual_, std::make_shared<ManualState>());
  manual_->machine = binding_.chip;
  size_t errors = sink_.errorCount();
  if (decl.targets.empty())
    checkMachine(decl);
  allocateEvents(*decl.body, decl.core);
  const std::vector<Stmt *> &stmts = decl.body->stmts;
  bool asserts =
      llvm::any_of(stmts, [](const Stmt *stmt) { return stmt->kind == StmtKind::Assert; });
  for (const Stmt *stmt : stmts) // checked by the host, before the kernel runs
    if (asserts && (isHostLet(*stmt) || stmt->kind == StmtKind::Assert))
      buildStmt(*stmt);
  bool points =
      llvm::any_of(stmts, [](const Stmt *stmt) { return stmt->kind == StmtKind::Parallel; });
  for (size_t i = 0; i < stmts.size() && sink_.errorCount() == errors; ++i)
    if (points && stmts[i]->kind == StmtKind::Parallel)
      buildManualGrid(decl, stmts, i);
  if (!points && sink_.errorCount() == errors)
    buildManualGrid(decl, stmts, stmts.size());
  manual_ = outer;
}

void Builder::buildManualGrid(const CallableDecl &decl, const std::vector<Stmt *> &stmts,
                              size_t upTo) {
  Location loc = location(upTo < stmts.size() ? stmts[upTo]->span : decl.nameSpan);
  mlir::Value zero = index(0), one = index(1);
  auto grid = make<ParallelOp>(loc, zero, one, one);
  grid->setAttr("ptl.manual", builder_.getStringAttr(decl.core));
  scheduleGrid(grid);
  manual_->grid = grid;
  manual_->pointers.clear();
  manual_->uses.clear();
  OpBuilder::InsertionGuard guard(builder_);
  llvm::SmallVector<mlir::Type> types{builder_.getIndexType()};
  llvm::SmallVector<Location> locs{loc};
  builder_.createBlock(&grid.getBody(), {}, types, locs);
  for (const WhereClause &clause : decl.wheres) // for the prover
    if (clause.condition && !clause.onTunables)
      emitCondition(*clause.condition, "where", clause.text, location(clause.span));
  for (size_t i = 0; i < upTo; ++i)
    if (stmts[i]->kind != StmtKind::Parallel)
      buildStmt(*stmts[i]);
  if (upTo < stmts.size())
    buildPoints(static_cast<const ParallelStmt &>(*stmts[upTo]));
  make<YieldOp>(loc);
  for (auto &[local, pointer] : manual_->pointers) {
    auto [read, written] = manual_->uses[local];
    pointer.setRole(written ? (read ? "inout" : "out") : "in");
  }
}

/// The points are numbered, and core group g of n takes the points g, g + n, … Bounds that depend
/// on earlier variables make loops inside a point.
void Builder::buildPoints(const ParallelStmt &stmt, size_t from) {
  Location loc = location(stmt.span);
  llvm::SmallVector<LoopBounds> bounds;
  llvm::SmallVector<mlir::Value> counts;
  mlir::Value total = index(1);
  size_t to = from;
  for (; to < stmt.heads.size() && (to == from || !dependsOnHeads(stmt, from, to)); ++to) {
    bounds.push_back(loopBounds(stmt.heads[to]));
    const LoopBounds &last = bounds.back();
    mlir::Value length = builder_.createOrFold<arith::SubIOp>(loc, last.upper, last.lower);
    counts.push_back(builder_.createOrFold<arith::CeilDivSIOp>(loc, length, last.step));
    total = builder_.createOrFold<arith::MulIOp>(loc, total, counts.back());
  }
  bool outermost = from == 0;
  auto asIndex = [&](mlir::Value id) -> mlir::Value {
    return make<arith::IndexCastOp>(loc, builder_.getIndexType(), id);
  };
  mlir::Value first =
      outermost ? asIndex(make<pto::GetBlockIdxOp>(loc, builder_.getI64Type())) : index(0);
  mlir::Value step =
      outermost ? asIndex(make<pto::GetBlockNumOp>(loc, builder_.getI64Type())) : index(1);
  if (auto cores =
          outermost ? manual_->grid->getAttrOfType<IntegerAttr>("ptl.cores") : IntegerAttr()) {
    step = make<arith::MinSIOp>(loc, step, index(cores.getInt()));
    mlir::Value works = make<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, first, step);
    first = make<arith::SelectOp>(loc, works, first, total);
  }
  auto loop = make<scf::ForOp>(loc, first, total, step);
  {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    mlir::Value rest = loop.getInductionVar();
    for (size_t i = to; i-- > from;) {
      const LoopBounds &own = bounds[i - from];
      mlir::Value number =
          i == from ? rest : make<arith::RemUIOp>(loc, rest, counts[i - from]).getResult();
      if (i > from)
        rest = make<arith::DivUIOp>(loc, rest, counts[i - from]);
      mlir::Value offset = builder_.createOrFold<arith::MulIOp>(loc, number, own.step);
      bindLoopVar(stmt.heads[i], own, builder_.createOrFold<arith::AddIOp>(loc, own.lower, offset));
    }
    if (to < stmt.heads.size()) {
      buildPoints(stmt, to);
    } else {
      buildBlock(*stmt.body);
      loop->setAttr("ptl.point", builder_.getUnitAttr());
      make<pto::BarrierOp>(loc, pto::PipeKindAttr::get(&context_, pto::PipeKind::PIPE_ALL));
    }
  }
  for (size_t i = from; i < to; ++i)
    eraseSymbols(*frame_, stmt.heads[i]);
}

void Builder::buildSection(const OnStmt &stmt) {
  auto section = make<SectionOp>(location(stmt.span), stmt.core);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.createBlock(&section.getBody());
  buildBlock(*stmt.body);
}

} // namespace ptl::ir
