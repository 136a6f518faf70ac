// The walk over the body of a program: its header and its statements.
#include "frontend/sema/placement/place_program.h"

#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/placement/place_choice.h"
#include "frontend/sema/placement/place_expression.h"
#include "frontend/sema/placement/place_header.h"
#include "frontend/sema/placement/place_leave.h"
#include "frontend/sema/placement/place_loop.h"
#include "frontend/sema/placement/place_movement.h"
#include "frontend/sema/placement/place_parts.h"
#include "frontend/sema/placement/place_section.h"
#include "frontend/sema/placement/place_statement.h"
#include "frontend/sema/placement/placer.h"
#include "frontend/syntax/typed_nodes.h"

#include <utility>

namespace ptl {

// ---- Values ------------------------------------------------------------------------------------

ValueId Placer::add(PlacedValue value) {
  value.placement.resize(placed_.levels.size());
  // What is computed in a section is computed on its part, whatever it is made of.
  bool isComputed = value.kind != PlacedKind::Constant && value.kind != PlacedKind::Dimension &&
                    value.kind != PlacedKind::Arm;
  if (section_ && isComputed && value.placement[section_->level].isWhole())
    value.placement[section_->level] = section_->at;
  for (const OwnBody &body : own_)
    if (isComputed && value.placement[body.level].isWhole())
      value.placement[body.level] = onEachPart();
  if (around_ && isComputed && value.placement[around_->level].isWhole())
    value.placement[around_->level] = around_->at;
  placed_.values.push_back(std::move(value));
  return static_cast<ValueId>(placed_.values.size() - 1);
}

/// A name of the declaration that is walked.
void Placer::bind(const Local &local, ValueId id) {
  frame_->locals[&local] = id;
  if (!outermost_)
    placed_.locals.emplace_back(&local, id);
}

/// A dimension as a number.
ValueId Placer::number(Dim dim) {
  PlacedValue value;
  value.kind = PlacedKind::Dimension;
  value.elem = ElemKind::Int;
  value.dim = inProgram(dim);
  return add(std::move(value));
}

bool Placer::isKnown(Dim dim) const {
  bool isKnown = true;
  forEachSymbol(dim, [&](SymbolId symbol) { isKnown &= known_.contains(symbol); });
  return isKnown;
}

bool Placer::isPosition(Dim dim) const {
  bool isPosition = true;
  forEachSymbol(dim, [&](SymbolId symbol) {
    isPosition &= known_.contains(symbol) || numbers_.contains(symbol);
  });
  return isPosition;
}

/// Whether all elements of a value are one number, so that each part makes its block by itself.
static bool isFilled(const PlacedProgram &placed, const PlacedValue &value) {
  if (value.kind != PlacedKind::Apply || value.shape.empty())
    return false;
  OpId op = cast<OpExpr>(*value.expr).op->id;
  return (op == OpId::Zeros || op == OpId::Ones || op == OpId::Full) &&
         std::ranges::all_of(value.operands, [&](std::optional<ValueId> operand) {
           return !operand || placed.values[*operand].shape.empty();
         });
}

/// Each part takes its block of what it has.
ValueId Placer::slice(ValueId of, Placement to) {
  if (placed_.values[of].placement == to)
    return of;
  PlacedValue value = placed_.values[of];
  if (isFilled(placed_, value)) {
    value.placement = std::move(to);
    return add(std::move(value));
  }
  value.kind = PlacedKind::Slice;
  value.placement = std::move(to);
  value.operands = {of};
  return add(std::move(value));
}

ElemKind Placer::elemOf(const Elem &elem) const {
  if (!elem.param)
    return elem.kind;
  auto found = frame_->elems.find(elem.param);
  ElemKind kind = found == frame_->elems.end() ? elem.kind : found->second;
  return elem.acc ? accOf(kind) : kind;
}

std::vector<Dim> Placer::shapeOf(const Type &type) const {
  std::vector<Dim> shape;
  if (!type.isArray())
    return shape;
  if (type.prefix)
    shape = frame_->prefix;
  for (const Extent &extent : type.extents)
    shape.push_back(inProgram(extent.length));
  return shape;
}

// ---- Reports -----------------------------------------------------------------------------------

ReportedValue Placer::reported(const Expr &expr, ValueId id) const {
  ReportedValue value{&placed_.values[id], "", "", std::nullopt};
  // What stands in a `fn` has no place in this file.
  if (outermost_) {
    value.name = "a value in `" + frame_->decl->name + "`";
    return value;
  }
  value.text = tree_.fileText().substr(expr.span.begin, expr.span.end - expr.span.begin);
  value.name = "`" + value.text + "`";
  value.written = expr.span;
  return value;
}

// ---- Expressions -------------------------------------------------------------------------------

ValueId Placer::value(const Expr &expr) { return ExpressionWalk(*this).value(expr); }

std::vector<ValueId> Placer::values(const Expr &expr) { return ExpressionWalk(*this).values(expr); }

// ---- The header --------------------------------------------------------------------------------

void Placer::header() {
  auto written = [&](NodeId type, const Local &local) {
    std::optional<Placement> placement =
        writtenPlacement(dims_, tree_, decl_, placed_.levels, type, local, sink_);
    if (!placement)
      throw Refused();
    return std::move(*placement);
  };
  NodeId params = tree_.child(decl_.syntax, 2), results = tree_.child(decl_.syntax, 3);
  std::span<const NodeId> nodes = tree_.children(params);
  // Sizes and integer parameters are known on every part, so bounds and loops may be computed from them.
  for (const DimParam &dim : decl_.dims)
    known_.insert(dim.symbol);
  for (const Local *param : decl_.params)
    if (param->symbol)
      known_.insert(*param->symbol);
  size_t inouts = decl_.outputs.size();
  for (size_t i = 0; i < decl_.params.size() && i < nodes.size(); ++i) {
    const Local &param = *decl_.params[i];
    Placement placement = written(ParamView(tree_, nodes[i]).type(), param);
    parameter(param, placement);
    if (param.isInout)
      keep(param, inouts++, placement);
  }
  placed_.outputs.resize(inouts);
  for (size_t i = 0; i < decl_.outputs.size() && results != kNoNode; ++i) {
    const Local &output = *decl_.outputs[i];
    Placement placement = written(ResultView(tree_, tree_.children(results)[i]).type(), output);
    const Expr *first = i < decl_.outputInits.size() ? decl_.outputInits[i] : nullptr;
    if (!first) {
      wanted_[&output] = std::move(placement);
      outputs_[&output] = i;
      continue;
    }
    ValueId id = value(*first);
    if (placed_.values[id].shape.size() < shapeOf(*output.type).size())
      id = filled(id, *output.type);
    given_[&output] = first;
    frame_->locals[&output] = asResult(output, id, placement, first->span, reported(*first, id));
    keep(output, i, placement);
  }
}

void Placer::parameter(const Local &param, const Placement &placement) {
  if (!(param.type->isArray() || param.type->isScalar()) || param.type->prefix ||
      param.type->elem.param || !param.type->strides.empty())
    refuseHeader(param, "a program on parts takes dense arrays and scalars of fixed element type");
  PlacedValue value;
  value.kind = PlacedKind::Argument;
  value.placement = placement;
  value.shape = shapeOf(*param.type);
  value.elem = param.type->elem.kind;
  value.param = &param;
  bind(param, add(std::move(value)));
}

void Placer::keep(const Local &local, size_t output, const Placement &wanted) {
  // A partial sum would be added again in each round that uses it.
  if (std::ranges::any_of(wanted, &LevelPlacement::isPartial))
    refuseHeader(local, "what has a value from the beginning cannot be partial");
  kept_.push_back({&local, output, wanted});
}

/// A number repeated to the shape of an array.
ValueId Placer::filled(ValueId number, const Type &type) {
  auto full = std::make_shared<OpExpr>();
  placed_.made.push_back(full);
  full->op = &opRecord(OpId::Full);
  full->type = &type;
  full->span = decl_.nameSpan;
  PlacedValue value;
  value.kind = PlacedKind::Apply;
  value.elem = placed_.values[number].elem;
  value.shape = shapeOf(type);
  value.expr = full.get();
  value.operands = {number};
  value.placement = placed_.values[number].placement;
  return add(std::move(value));
}

/// What results that have a value from the beginning hold at the end.
void Placer::giveKept() {
  for (const Kept &kept : kept_) {
    const Local &local = *kept.local;
    ValueId id = frame_->locals.at(&local);
    const Expr *given = given_[&local];
    ReportedValue value =
        given ? reported(*given, id)
              : ReportedValue{&placed_.values[id], "`" + local.name + "`", "", std::nullopt};
    placed_.outputs[kept.output] =
        asResult(local, id, kept.wanted, given ? given->span : local.span, value);
  }
}

/// A value with the placement that the header says of a result.
ValueId Placer::asResult(const Local &local, ValueId id, const Placement &wanted, Span span,
                         const ReportedValue &value) {
  Placement have = placed_.values[id].placement;
  for (size_t level = 0; level < have.size(); ++level) {
    // What every part has whole it can cut by itself, or keep on one part, without a movement, unless a level below has
    // cut the axis: then its blocks would be blocks of the whole, not of the outer block.
    bool isFree = have[level].isWhole() &&
                  (wanted[level].isSingle() ||
                   (wanted[level].isCut() && !cutInside(have, level, wanted[level].axis)));
    if (have[level] != wanted[level] && !isFree) {
      reports_.result(level, span, local.name, wanted, shapeOf(*local.type), value);
      throw Refused();
    }
    have[level] = wanted[level];
  }
  return slice(id, wanted);
}

// ---- Statements --------------------------------------------------------------------------------

void Placer::statement(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Let:
    return let(cast<LetStmt>(stmt));
  case StmtKind::Assign:
    return assign(cast<AssignStmt>(stmt));
  case StmtKind::For:
    return loop(cast<ForStmt>(stmt));
  case StmtKind::While:
    return loop(cast<WhileStmt>(stmt));
  case StmtKind::If:
    return ChoiceWalk(*this).choice(cast<IfStmt>(stmt), {});
  case StmtKind::Block:
    if (cast<BlockStmt>(stmt).section)
      return SectionWalk(*this).section(cast<BlockStmt>(stmt));
    for (const Stmt *each : cast<BlockStmt>(stmt).block->stmts)
      statement(*each);
    return;
  case StmtKind::Assert:
    return StatementWalk(*this).check(cast<AssertStmt>(stmt));
  case StmtKind::Task:
    for (const Stmt *each : cast<TaskStmt>(stmt).body->stmts)
      statement(*each);
    return;
  case StmtKind::ExprStmt:
    if (const auto *call = dyn_cast<BlockExpr>(cast<ExprStmt>(stmt).value))
      return SectionWalk(*this).push(*call);
    if (const auto *op = dyn_cast<OpExpr>(cast<ExprStmt>(stmt).value);
        op && op->op->id == OpId::Print)
      return StatementWalk(*this).print(*op);
    if (cast<ExprStmt>(stmt).value->kind == ExprKind::Call) {
      values(*cast<ExprStmt>(stmt).value);
      return;
    }
    [[fallthrough]];
  default:
    refuse(stmt, "this statement",
           "programs on parts may only contain `let`, `var`, `if`, `for`, `while`, "
           "`assert`, `print`, assignments and calls of kernels");
  }
}

void Placer::let(const LetStmt &stmt) {
  if (!stmt.value)
    refuse(stmt, "this declaration", "it has no value");
  if (stmt.locals.size() != 1)
    return StatementWalk(*this).letAll(stmt);
  if (makesPool(placed_, tree_, stmt, loopDepth_ > 0 || outermost_ || section_, sink_))
    return;
  const Local &local = *stmt.locals[0];
  // Loops of sections that run together have one counter, which is called by the names of all.
  if (local.kind == LocalKind::Loop && local.symbol)
    frame_->dims[*local.symbol] = inProgram(stmt.value->dim);
  // What is a dimension is used as one.
  if (local.dim && local.type->isInt() && !stmt.isVar && isKnown(inProgram(local.dim)))
    return;
  ValueId id = value(*stmt.value);
  if (placed_.values[id].shape.size() != shapeOf(*local.type).size())
    refuse(*stmt.value, "this `let`", "its type would broadcast the value");
  // `let n = count` in front of `x[n..n + 4, :]`: positions are dimensions, and this one has its number when the program runs.
  bool isSame = std::ranges::all_of(placed_.values[id].placement, &LevelPlacement::isWhole);
  bool isNumber = local.symbol && local.dim && local.dim == dims_.symbolDim(*local.symbol);
  if (isNumber && local.type->isInt() && !stmt.isVar && isSame) {
    PlacedValue value = placed_.values[id];
    value.kind = PlacedKind::Number;
    value.operands = {id};
    value.dim = local.dim;
    id = add(std::move(value));
    numbers_[*local.symbol] = id;
  }
  bind(local, id);
}

void Placer::assign(const AssignStmt &stmt) {
  if (stmt.place)
    return StatementWalk(*this).store(stmt);
  auto output = outputs_.find(stmt.target);
  // The results of a task are values of its own program.
  bool isVar = stmt.target->kind == LocalKind::Var || frame_->decl != &decl_ || isKept(stmt.target);
  if (stmt.mode != AssignMode::Set ||
      (!isVar && (stmt.updateOp || output == outputs_.end() || loopDepth_ > 0)))
    refuse(*stmt.value, "this assignment",
           "results are assigned once, whole, and outside of loops");
  ValueId id = value(*stmt.value);
  std::vector<Dim> shape = shapeOf(*stmt.target->type);
  // The check has found the extents equal or repeated; only axes that are missing in front remain.
  if (placed_.values[id].shape.size() != shape.size())
    refuse(*stmt.value, "this assignment",
           "the value would be broadcast implicitly; write `broadcast`");
  if (isVar) {
    frame_->locals[stmt.target] = id;
    given_[stmt.target] = stmt.value;
    return;
  }
  id =
      asResult(*stmt.target, id, wanted_[stmt.target], stmt.value->span, reported(*stmt.value, id));
  placed_.outputs[output->second] = id;
  bind(*stmt.target, id);
}

void Placer::loop(const ForStmt &stmt) {
  if (PartsWalk::isOver(stmt))
    return PartsWalk(*this).run(stmt);
  if (stmt.checkpoint && !own_.empty())
    refuse(*stmt.checkpoint, "this loop",
           "checkpoints are saved by all parts together, outside of a `parallel`");
  const auto *list = dyn_cast<ListExpr>(stmt.head.iterable);
  if (list && !stmt.checkpoint && !breaks(stmt.body))
    return unroll(stmt, *list);
  if (std::string why = whyNoLoop(dims_, stmt); !why.empty())
    refuse(*stmt.head.iterable, "this loop", why);
  LoopRounds rounds = *roundsOf(dims_, stmt);
  PlacedLoop loop;
  loop.stmt = &stmt;
  loop.variable = rounds.variable;
  loop.lo = inProgram(rounds.lo);
  loop.hi = inProgram(rounds.hi);
  loop.step = inProgram(rounds.step);
  // Within the range of a part, positions count from its beginning, which differs from part to part.
  Dim base = PartsWalk(*this).startAround(loop.lo);
  if (base) {
    loop.lo = dims_.sub(loop.lo, base);
    loop.hi = dims_.sub(loop.hi, base);
    frame_->dims[loop.variable] = dims_.add(dims_.symbolDim(loop.variable), base);
  }
  if (stmt.checkpoint)
    loop.every = inProgram(stmt.checkpoint->every->dim);
  for (Dim dim : {loop.lo, loop.hi, loop.step, loop.every})
    if (dim && !isKnown(dim))
      refuse(*stmt.head.iterable, "this loop",
             "the number of its iterations depends on data; write a `while`");
  known_.insert(loop.variable);
  // Tasks of a loop go round over the parts by the number of the round.
  Dim start = dims_.symbolDim(loop.variable);
  Dim round = dims_.floorDiv(dims_.sub(start, loop.lo), loop.step);
  if (rounds.tile) {
    // The last tile ends with the range.
    frame_->dims[*rounds.tile->length.symbol()] = dims_.min(loop.step, dims_.sub(loop.hi, start));
    frame_->dims[*rounds.tile->count.symbol()] = round;
  }
  Dim outside = std::exchange(round_, round);
  goRound(std::move(loop), stmt.body, [&](PlacedLoop &) {});
  round_ = outside;
}

/// The elements of a list are in the text, so the rounds follow each other like statements.
void Placer::unroll(const ForStmt &stmt, const ListExpr &list) {
  const Local *var = stmt.head.var;
  Dim outside = round_;
  for (size_t i = 0; i < list.elements.size(); ++i) {
    const Expr &element = *list.elements[i];
    round_ = dims_.constant(static_cast<int64_t>(i));
    if (var->symbol && element.dim) {
      known_.insert(*var->symbol);
      frame_->dims[*var->symbol] = inProgram(element.dim);
    }
    frame_->locals[var] = value(element);
    sequence({stmt.body->stmts.begin(), stmt.body->stmts.end()});
  }
  round_ = outside;
}

void Placer::loop(const WhileStmt &stmt) {
  PlacedLoop loop;
  loop.condition = stmt.condition;
  Dim outside = std::exchange(round_, Dim());
  goRound(std::move(loop), stmt.body, [&](PlacedLoop &made) {
    made.holds = ChoiceWalk(*this).condition(*stmt.condition, "this `while`");
    made.inside = static_cast<ValueId>(placed_.values.size());
  });
  round_ = outside;
}

/// `begin`: what stands in front of the statements of a round.
void Placer::goRound(PlacedLoop loop, const Block *block,
                     const std::function<void(PlacedLoop &)> &begin) {
  ++loopDepth_;
  const Local *outside = std::exchange(leaves_, nullptr);
  if (breaks(block)) {
    // `break` becomes a variable: whether the loop has been left.
    auto flag = std::make_shared<Local>();
    flag->name = "break";
    flag->kind = LocalKind::Var;
    leaves_ = placed_.flags.emplace_back(std::move(flag)).get();
    frame_->locals[leaves_] = number(dims_.constant(0));
  }
  auto body = [&](PlacedLoop &made) {
    if (leaves_)
      frame_->locals[leaves_] = number(dims_.constant(0));
    begin(made);
    sequence({block->stmts.begin(), block->stmts.end()});
  };
  auto reported = [&](const Local *local, ValueId id) {
    const Expr *given = given_[local];
    return given ? this->reported(*given, id)
                 : ReportedValue{&placed_.values[id], "`" + local->name + "`", "", std::nullopt};
  };
  auto slice = [&](ValueId of, const Placement &to) { return this->slice(of, to); };
  if (!placeLoop(std::move(loop), {placed_, frame_->locals, block, body, slice, reported, reports_,
                                   leaves_, returned_.all()}))
    throw Refused();
  leaves_ = outside;
  --loopDepth_;
}

PlacedAsFar placeAsFar(const CheckedProgram &program, const Tree &tree, const CallableDecl &decl,
                       DiagnosticSink &sink) {
  if (!decl.body)
    return {};
  std::optional<std::vector<PlacedLevel>> levels = levelsOf(tree, decl, sink);
  if (!levels)
    return {};
  return Placer(program, tree, decl, std::move(*levels), sink).run();
}

std::optional<PlacedProgram> placeProgram(const CheckedProgram &program, const Tree &tree,
                                          const CallableDecl &decl, DiagnosticSink &sink) {
  if (decl.hasErrors)
    return std::nullopt;
  PlacedAsFar placed = placeAsFar(program, tree, decl, sink);
  return placed.isAll ? std::optional(std::move(placed.program)) : std::nullopt;
}

} // namespace ptl
