#include "frontend/sema/declarations/check_schedule.h"

#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/declarations/on_demand.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/limits.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/placement/chunked_pairs.h"
#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_program.h"
#include "frontend/sema/reported.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace ptl {
namespace {

/// What is wrong with an item for these movements; empty if nothing is.
using WhyNot = std::function<std::string(const PlacedProgram &, const std::vector<ValueId> &moves)>;

/// One schedule while it is checked. Names resolve in its own file, labels and dimensions in the
/// target.
struct ScheduleCheck {
  Context &ctx;
  ScheduleDecl &schedule;
  const CallableDecl &target;
  const std::vector<LabelInfo> &labels;
  std::vector<std::string> set; ///< what was set so far: nothing twice
  /// The target with its placements, once an item has asked for them; nothing inside if it has errors.
  std::optional<std::optional<PlacedProgram>> placed = {};

  void item(NodeId node);
  void assign(NodeId node);
  void block(NodeId node);
  void tile(NodeId node, ScheduleDirective &directive);
  const LabelInfo *label(NodeId node);
  const LabelInfo *loopLabel(NodeId node);
  ScheduleLabels labelList(NodeId node);
  int64_t positive(NodeId node, std::string_view what,
                   int64_t most = std::numeric_limits<int64_t>::max());
  void once(Span span, std::string what);
  bool isKernel() const {
    return target.kind == DeclKind::Kernel || isByHand() || target.kind == DeclKind::ExternKernel;
  }
  bool isByHand() const { return target.kind == DeclKind::ManualKernel; }
  /// What can have no effect, and what would.
  void refuse(NodeId node, std::string_view why, std::string_view help);
  /// Items about how a program is cut into kernels.
  bool refuseInKernel(NodeId node);
  /// Items about the instructions of a chip, with the reasons why a manual kernel and why `cpu` have no use for them.
  void refuseWithoutChip(NodeId node, std::string_view byHand, std::string_view onCpu);
  void place(NodeId node, ScheduleDirective &directive);
  void l0(NodeId node, ScheduleDirective &directive);
  void chunks(NodeId node, ScheduleDirective &directive);
  void how(NodeId node, ScheduleDirective &directive);
  void ofMovement(NodeId node, const ScheduleDirective &directive, std::string_view help,
                  const WhyNot &whyNot);
  bool isOnParts() const {
    return target.module->tree && isPlaced(*target.module->tree, target.syntax);
  }
  bool hasMovements(NodeId node);
  void modifier(NodeId node, NodeId labelNode, const char *word,
                std::vector<ScheduleModifier> &into, int64_t number);
  bool isValue(NodeId node, const LabelInfo *info);
  void fuse(NodeId node);
  void requireConditions();
};

} // namespace

void ScheduleCheck::once(Span span, std::string what) {
  // The same thing set twice is reported, because the later one would silently win.
  if (std::find(set.begin(), set.end(), what) != set.end())
    ctx.sink.report(DiagId::ScheduleRepeats, span, {what});
  set.push_back(std::move(what));
}

int64_t ScheduleCheck::positive(NodeId node, std::string_view what, int64_t most) {
  auto value = requireConstInt(ctx, node, what);
  if (!value)
    return 1;
  if (*value < 1)
    ctx.sink.report(DiagId::ScheduleNumber, ctx.span(node),
                    {std::string(what), std::to_string(*value)});
  // The clamp keeps a wrong number from making what follows unreasonably large.
  requireAtMost(ctx, ctx.span(node), what, *value, most);
  return std::clamp<int64_t>(*value, 1, most);
}

const LabelInfo *ScheduleCheck::label(NodeId node) {
  std::string_view name = ctx.text(node);
  const LabelInfo *found = nullptr;
  bool isAmbiguous = false;
  for (const LabelInfo &info : labels)
    if (info.name == name) {
      // Any label may occur several times in the target; only one that is used must be unique.
      isAmbiguous = found != nullptr;
      if (isAmbiguous)
        break;
      found = &info;
    }
  // The parser has reported a missing name.
  if (name.empty())
    return nullptr;
  if (isAmbiguous) {
    ctx.sink.report(DiagId::AmbiguousLabel, ctx.span(node), {std::string(name), target.name})
        .label(found->span, "one of them")
        .help("rename the `let`, or give the loop a name: `for … as name`");
    return nullptr;
  }
  // A target in error may lack labels that its source has.
  if (!found && !target.hasErrors) {
    auto builder =
        ctx.sink.report(DiagId::UnknownLabel, ctx.span(node), {target.name, std::string(name)});
    std::vector<std::string> names;
    for (const LabelInfo &info : labels)
      names.push_back(info.name);
    if (!suggestNearest(builder, ctx.span(node), name, names))
      builder.help("labels are `let` names, `task` names and loops");
  }
  return found;
}

const LabelInfo *ScheduleCheck::loopLabel(NodeId node) {
  const LabelInfo *info = label(node);
  if (info && info->kind != LabelKind::Loop) {
    ctx.sink.report(DiagId::LabelIsNoLoop, ctx.span(node), {info->name})
        .label(info->span, "declared here");
    return nullptr;
  }
  return info;
}

ScheduleLabels ScheduleCheck::labelList(NodeId node) {
  ScheduleLabels labels;
  for (NodeId name : ctx.tree.children(node))
    if (const LabelInfo *info = label(name)) {
      labels.names.push_back(info->name);
      labels.spans.push_back(ctx.span(name));
    }
  return labels;
}

void ScheduleCheck::refuse(NodeId node, std::string_view why, std::string_view help) {
  auto builder = ctx.sink.report(DiagId::ScheduleCannot, ctx.span(node),
                                 {std::string(ctx.text(node)), std::string(why)});
  if (!help.empty())
    builder.help(std::string(help));
}

void ScheduleCheck::refuseWithoutChip(NodeId node, std::string_view byHand,
                                      std::string_view onCpu) {
  if (isByHand())
    refuse(node, byHand, "");
  else if (schedule.machine == "cpu")
    refuse(node, onCpu, "name the chip that it is for: `schedule … on a3`");
}

bool ScheduleCheck::refuseInKernel(NodeId node) {
  if (isKernel())
    refuse(node,
           "`" + target.name + "` is a kernel, whose tiles and tasks are written in its source",
           target.tunables.empty()
               ? "give the kernel tunables: `tune ROWS = 8`"
               : "give a tunable a value: `" + target.tunables.front().local->name + " = …`");
  return isKernel();
}

/// In a kernel the place of a tile; in a program what is stored although it need not be.
void ScheduleCheck::place(NodeId node, ScheduleDirective &directive) {
  Layout layout = Layout::Inferred;
  resolvePlace(ctx, ctx.tree.child(node, 0), directive.place, layout);
  directive.placeSpan = ctx.span(node);
  // `gm` has a meaning in programs alone: it forces a value to be stored.
  bool isGlobal = directive.place == Place::Gm;
  if (directive.place == Place::Inferred)
    return;
  if (isByHand())
    refuse(node, "the buffers of a manual kernel already have places", "");
  else if (isKernel() && isGlobal)
    refuse(node, "tiles of a kernel lie on chip", "store into an array to keep a value");
}

void ScheduleCheck::l0(NodeId node, ScheduleDirective &directive) {
  directive.l0Span = ctx.span(node);
  for (NodeId size : ctx.tree.children(node))
    directive.l0.push_back(positive(size, "a size of `l0`"));
  if (directive.l0.size() != 3)
    refuse(node, "it takes three sizes",
           "rows, columns and contracted positions: `l0 128, 256, 64`");
  else
    refuseWithoutChip(node, "the instructions of a manual kernel name their operands",
                      "`cpu` has no operand buffers");
}

/// The movements that are bound to a name.
static std::vector<ValueId> movesOf(const PlacedProgram &placed, const std::string &label) {
  std::vector<ValueId> moves;
  for (const auto &[local, id] : placed.locals)
    if (local->name == label && placed.values[id].kind == PlacedKind::Move)
      moves.push_back(id);
  return moves;
}

/// Why movements cannot go by chunks: no product is beside one of them.
static std::string whyNoChunks(const PlacedProgram &placed, const std::vector<ValueId> &moves,
                               const std::string &label) {
  std::vector<ChunkedPair> pairs = chunkedPairsOf(placed);
  for (ValueId id : moves)
    if (std::ranges::find(pairs, id, &ChunkedPair::move) != pairs.end())
      return "";
  return "no product of matrices in the same block needs `" + label +
         "`, or makes nothing but what it moves, so that both could go by chunks";
}

/// Why movements have no algorithm of that name: it is none of a record's.
static std::string whyNotHow(const PlacedProgram &placed, const std::vector<ValueId> &moves,
                             std::string_view how) {
  for (ValueId id : moves)
    if (const MovementRecord &record = *placed.values[id].movement; !isAlgorithmOf(record, how))
      return "the algorithms of `" + std::string(record.name) +
             "` are: " + std::string(record.algorithms);
  return "";
}

/// Checks an item of a label, which must be that of movements. `whyNot` says what else is wrong with it.
void ScheduleCheck::ofMovement(NodeId node, const ScheduleDirective &directive,
                               std::string_view help, const WhyNot &whyNot) {
  if (!hasMovements(node) || directive.label.empty())
    return;
  if (!placed) {
    DiagnosticSink quiet; // Its own errors come first.
    placed.emplace(placeProgram(ctx.program, *target.module->tree, target, quiet));
  }
  if (!*placed)
    return;
  std::vector<ValueId> moves = movesOf(**placed, directive.label);
  std::string why = moves.empty() ? "`" + directive.label + "` is no movement between parts"
                                  : whyNot(**placed, moves);
  if (!why.empty())
    refuse(node, why, help);
}

/// Of a program on parts the chunks of a movement; of others those of the contraction of a product.
void ScheduleCheck::chunks(NodeId node, ScheduleDirective &directive) {
  constexpr int64_t kMostChunks = 4096;
  directive.chunks =
      positive(ChunksItemView(ctx.tree, node).count(), "the number of chunks", kMostChunks);
  if (isKernel())
    return refuse(
        node, "`" + target.name + "` is a kernel, whose grid is written in its source",
        "`ptlc check --target a3 --cost` says whether a sum is better split over the grid");
  if (!isOnParts())
    return refuseWithoutChip(node, "", "`cpu` multiplies whole rows and columns");
  ofMovement(node, directive,
             "name a `let` such as `let all = all_gather(x, over: chip)` in front of `all @ w`",
             [&](const PlacedProgram &program, const std::vector<ValueId> &moves) {
               return whyNoChunks(program, moves, directive.label);
             });
}

void ScheduleCheck::how(NodeId node, ScheduleDirective &directive) {
  directive.how = ctx.text(HowItemView(ctx.tree, node).name());
  ofMovement(node, directive, "name a `let` such as `let all = all_gather(x, over: chip)`",
             [&](const PlacedProgram &program, const std::vector<ValueId> &moves) {
               return whyNotHow(program, moves, directive.how);
             });
}

/// Whether the target has movements and a body to look for them; reports a target without parts.
bool ScheduleCheck::hasMovements(NodeId node) {
  if (isOnParts())
    return target.body != nullptr;
  refuse(node, "`" + target.name + "` is no program on parts, whose movements it is for", "");
  return false;
}

/// `pipeline j 3`, `unroll j`.
void ScheduleCheck::modifier(NodeId node, NodeId labelNode, const char *word,
                             std::vector<ScheduleModifier> &into, int64_t number) {
  const LabelInfo *info = loopLabel(labelNode);
  if (!info)
    return;
  once(ctx.span(labelNode), std::string(word) + " " + info->name);
  if (info->isParallel)
    // The modifier is kept although it was refused: it is harmless after an error, and editors show
    // it.
    refuse(node,
           "the iterations of a `parallel` are distributed over the cores, and overlap without a "
           "schedule",
           "name a `for`");
  else
    refuseWithoutChip(node, "a manual kernel itself defines how its iterations overlap",
                      "`cpu` overlaps and unrolls loops by itself");
  into.push_back({info->name, number, ctx.span(node)});
}

void ScheduleCheck::assign(NodeId node) {
  ScheduleAssignView view(ctx.tree, node);
  std::string name(ctx.text(view.name()));
  if (name.empty())
    return;
  auto found = std::find_if(target.tunables.begin(), target.tunables.end(),
                            [&](const Tunable &tunable) { return tunable.local->name == name; });
  // The name is looked up among the tunables of the target, not in this file.
  if (found == target.tunables.end()) {
    auto builder =
        ctx.sink.report(DiagId::UnknownTunable, ctx.span(view.name()), {target.name, name});
    std::vector<std::string> names;
    for (const Tunable &tunable : target.tunables)
      names.push_back(tunable.local->name);
    suggestNearest(builder, ctx.span(view.name()), name, names);
    return;
  }
  once(ctx.span(view.name()), name);
  int64_t value = 0;
  if (found->isBool) {
    auto constant = evalConst(ctx, view.value());
    if (!constant || constant->kind != ConstKind::Bool) {
      ctx.sink.report(DiagId::TunableDefault, ctx.span(view.value()), {name})
          .label(found->local->span, "a `bool` tunable");
      return;
    }
    value = constant->boolean;
  } else {
    auto constant = requireConstInt(ctx, view.value(), "the value of a tunable");
    if (!constant)
      return;
    value = *constant;
  }
  // A tunable without a domain takes any positive number; a `bool` one takes both values.
  bool isLegal = found->domain.empty() ? value >= 1 || found->isBool
                                       : std::find(found->domain.begin(), found->domain.end(),
                                                   value) != found->domain.end();
  if (!isLegal)
    ctx.sink
        .report(DiagId::TunableNotInDomain, ctx.span(view.value()), {name, std::to_string(value)})
        .label(found->local->span, "declared here");
  schedule.tunables.push_back({found->local, value});
}

void ScheduleCheck::tile(NodeId node, ScheduleDirective &directive) {
  for (NodeId axisNode : ctx.tree.children(node)) {
    if (!ctx.tree.is(axisNode, NodeKind::TileBy))
      continue;
    TileByView view(ctx.tree, axisNode);
    std::string axis(ctx.text(view.axis()));
    bool exists = std::any_of(target.dims.begin(), target.dims.end(),
                              [&](const DimParam &dim) { return dim.name == axis; });
    // An empty axis name was reported by the parser.
    if (!exists && !axis.empty()) {
      auto builder =
          ctx.sink.report(DiagId::UnknownTileAxis, ctx.span(view.axis()), {target.name, axis});
      std::vector<std::string> names;
      for (const DimParam &dim : target.dims)
        names.push_back(dim.name);
      suggestNearest(builder, ctx.span(view.axis()), axis, names);
      // What it would do cannot be checked.
      continue;
    }
    for (const auto &[other, size] : directive.tiles)
      if (other == axis)
        ctx.sink.report(DiagId::ScheduleRepeats, ctx.span(view.axis()), {axis});
    directive.tiles.push_back({axis, positive(view.size(), "a tile size")});
    directive.tileSpans.push_back(ctx.span(axisNode));
  }
}

void ScheduleCheck::block(NodeId node) {
  ScheduleBlockView view(ctx.tree, node);
  ScheduleDirective directive;
  directive.span = ctx.span(node);
  // The directive is kept without a label after an error, so that its parts are still checked.
  if (const LabelInfo *info = label(view.label()); isValue(node, info)) {
    directive.label = info->name;
    once(ctx.span(view.label()), info->name);
  }
  for (NodeId part : view.items()) {
    switch (ctx.tree.kind(part)) {
    case NodeKind::TileItem:
      tile(part, directive);
      refuseInKernel(part);
      break;
    case NodeKind::PlaceItem:
      place(part, directive);
      break;
    case NodeKind::L0Item:
      l0(part, directive);
      break;
    case NodeKind::ChunksItem:
      chunks(part, directive);
      break;
    case NodeKind::HowItem:
      how(part, directive);
      break;
    default:
      break;
    }
  }
  schedule.directives.push_back(std::move(directive));
}

/// Whether a label is that of a value; reports it otherwise.
bool ScheduleCheck::isValue(NodeId node, const LabelInfo *info) {
  if (!info || info->kind == LabelKind::Let)
    return info != nullptr;
  bool isTask = info->kind == LabelKind::Task;
  auto builder = ctx.sink.report(
      DiagId::ScheduleCannot, ctx.span(node),
      {std::string(ctx.text(node)),
       "`" + info->name + "` is " +
           (isTask ? "a task, which has kernels of its own" : "a loop, not a value")});
  builder.label(info->span, "declared here");
  builder.help(std::string("name a `let`") + (isTask ? " in it" : " or a `var`"));
  return false;
}

/// What the target's `where` says of tunables has to hold for the values that this schedule gives
/// them.
void ScheduleCheck::requireConditions() {
  auto valueOf = [&](const Local &local) -> std::optional<int64_t> {
    for (const auto &[own, value] : schedule.tunables)
      if (own == &local)
        return value;
    for (const Tunable &tunable : target.tunables)
      if (tunable.local == &local)
        return tunable.defaultValue;
    return std::nullopt;
  };
  // Where the schedule sets none of them, the declaration has said it.
  const WhereClause *where = schedule.tunables.empty() ? nullptr : excludingWhere(target, valueOf);
  if (!where)
    return;
  auto report = ctx.sink.report(DiagId::WhereIsFalse, schedule.span, {target.name, where->text});
  report.label(where->span, "required here");
  for (const auto &[own, value] : schedule.tunables)
    report.note("here `" + own->name + "` is " + std::to_string(value));
}

/// Values that share a kernel: several, each in one such list.
void ScheduleCheck::fuse(NodeId node) {
  ScheduleLabels labels;
  // In a kernel the source says what is computed together, so the list would mean nothing.
  bool isLegal = !refuseInKernel(node);
  for (NodeId name : ctx.tree.children(node)) {
    const LabelInfo *info = label(name);
    if (!isLegal || !(isLegal = isValue(node, info)))
      continue;
    labels.names.push_back(info->name);
    labels.spans.push_back(ctx.span(name));
  }
  // In a longer list the other names were unknown, which was reported already.
  if (isLegal && labels.names.size() == 1 && ctx.tree.children(node).size() == 1)
    refuse(node, "it names only one label", "name all values that share a kernel: `fuse a, b`");
  // A value belongs to one kernel, so two lists cannot both claim it.
  for (size_t i = 0; isLegal && i < labels.names.size(); ++i)
    for (const ScheduleLabels &other : schedule.fuses)
      if (std::find(other.names.begin(), other.names.end(), labels.names[i]) != other.names.end())
        refuse(node, "`" + labels.names[i] + "` shares another kernel already",
               "name all that share a kernel in one `fuse`");
  if (isLegal)
    schedule.fuses.push_back(std::move(labels));
}

void ScheduleCheck::item(NodeId node) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::ScheduleAssign:
    assign(node);
    break;
  case NodeKind::ScheduleBlock:
    block(node);
    break;
  case NodeKind::FuseItem:
    fuse(node);
    break;
  case NodeKind::ChunksItem:
    refuse(node, "it does not say what it is for", "write `label { chunks 8 }`");
    break;
  case NodeKind::HowItem:
    refuse(node, "it does not say which movement it is for", "write `label { how ring }`");
    break;
  case NodeKind::OrderItem: {
    ScheduleLabels labels = labelList(node);
    if (!refuseInKernel(node) && labels.names.size() == 1 && ctx.tree.children(node).size() == 1)
      refuse(node, "it names only one label",
             "name the value that comes first, then the one that comes later");
    schedule.orders.push_back(std::move(labels));
    break;
  }
  case NodeKind::SplitItem:
    if (const LabelInfo *info = label(ctx.tree.child(node, 0));
        !refuseInKernel(node) && isValue(node, info)) {
      schedule.splitsAfter.names.push_back(info->name);
      schedule.splitsAfter.spans.push_back(ctx.span(node));
    }
    break;
  case NodeKind::CoresItem:
    once(ctx.span(node), "cores");
    schedule.coresSpan = ctx.span(node);
    if (target.kind == DeclKind::ExternKernel)
      refuse(node, "an `extern` kernel distributes its work itself", "");
    else if (schedule.machine == "cpu")
      refuse(node, "on `cpu` threads do the work",
             "give their number when the program runs: `--threads N`");
    schedule.cores = positive(CoresItemView(ctx.tree, node).count(), "the number of cores");
    break;
  case NodeKind::PipelineItem: {
    PipelineItemView view(ctx.tree, node);
    int64_t depth = positive(view.depth(), "the depth of a pipeline", kMostPipelineDepth);
    modifier(node, view.label(), "pipeline", schedule.pipelines, depth);
    break;
  }
  case NodeKind::UnrollItem: {
    UnrollItemView view(ctx.tree, node);
    int64_t factor = view.count() == kNoNode
                         ? 0
                         : positive(view.count(), "the factor of an unroll", kMostUnroll);
    modifier(node, view.label(), "unroll", schedule.unrolls, factor);
    break;
  }
  default:
    break;
  }
}

/// `mlp`, `nn.mlp`. Tests need no schedule.
static const CallableDecl *findTarget(Context &ctx, NodeId path) {
  if (!ctx.tree.is(path, NodeKind::Path))
    return nullptr;
  auto names = ctx.tree.children(path);
  std::string_view last = ctx.text(names.back());
  if (last.empty())
    return nullptr;
  if (names.size() == 2) {
    ValueRef module = lookupValue(ctx, ctx.text(names[0]));
    if (module.module)
      // This reports an unknown name by itself.
      return lookupCallableIn(ctx, *module.module, last, ctx.span(names[1])).callable;
  }
  CalleeRef ref = names.size() == 1 ? lookupCallable(ctx, last) : CalleeRef();
  if (ref.callable)
    return ref.callable;
  auto builder =
      ctx.sink.report(DiagId::UnknownScheduleTarget, ctx.span(path), {std::string(ctx.text(path))});
  std::vector<std::string> candidates =
      declaredNames(ctx.state, ctx.moduleScope, DeclSpace::Callable);
  suggestNearest(builder, ctx.span(path), last, candidates);
  return nullptr;
}

static void checkSchedule(ProgramState &state, CheckedModule &module, NodeId node) {
  Context ctx(state, module, *module.tree);
  // Dimensions of the target are bound here only for `when`, so unused ones are fine.
  ctx.suppressUnused = true;
  ScheduleDeclView view(ctx.tree, node);
  const CallableDecl *target = findTarget(ctx, view.callee());
  ScheduleDecl *schedule = ctx.program.make<ScheduleDecl>();
  schedule->target = target;
  schedule->span = ctx.span(node);
  if (view.target() != kNoNode) {
    checkTargetName(ctx, view.target());
    schedule->machine = ctx.text(view.target());
  }
  // The schedule is not listed where its target is unknown: nothing could apply it.
  if (!target)
    return;
  // `when` speaks of the target's dimensions and tunables, written in this file.
  // The copy keeps the target as it is while names in this file resolve against it.
  CallableDecl shadow = *target;
  ctx.decl = &shadow;
  for (const DimParam &dim : target->dims)
    ctx.scope.bind(dim.local);
  for (const Tunable &tunable : target->tunables)
    ctx.scope.bind(tunable.local);
  if (view.when() != kNoNode) {
    ctx.inWhere = true;
    schedule->when = checkCondition(ctx, view.when());
    ctx.inWhere = false;
  }
  ScheduleCheck check{ctx, *schedule, *target, labelsOf(state, *target), {}};
  for (NodeId item : view.items())
    check.item(item);
  check.requireConditions();
  module.schedules.push_back(schedule);
}

void checkSchedules(ProgramState &state, CheckedModule &module) {
  const Tree &tree = *module.tree;
  for (NodeId item : tree.children(tree.root()))
    if (tree.is(item, NodeKind::ScheduleDecl))
      checkSchedule(state, module, item);
}

} // namespace ptl
