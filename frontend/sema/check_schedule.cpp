// Schedules: everything they name exists, every number makes sense.

#include "frontend/sema/check_decl.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {
namespace {

/// One schedule while it is checked. Names resolve in its own file, labels and dimensions in the
/// target.
struct ScheduleCheck {
  Context &ctx;
  ScheduleDecl &schedule;
  const CallableDecl &target;
  const std::vector<LabelInfo> &labels;
  std::vector<std::string> set; ///< what was set so far: nothing twice

  void item(NodeId node);
  void assign(NodeId node);
  void block(NodeId node);
  void tile(NodeId node, ScheduleDirective &directive);
  const LabelInfo *label(NodeId node);
  const LabelInfo *loopLabel(NodeId node);
  std::vector<std::string> labelList(NodeId node);
  int64_t positive(NodeId node, std::string_view what);
  void once(Span span, std::string what);
};

} // namespace

void ScheduleCheck::once(Span span, std::string what) {
  if (std::find(set.begin(), set.end(), what) != set.end())
    ctx.sink.report(DiagId::ScheduleRepeats, span, {what});
  set.push_back(std::move(what));
}

int64_t ScheduleCheck::positive(NodeId node, std::string_view what) {
  auto value = requireConstInt(ctx, node, what);
  if (!value)
    return 1;
  if (*value < 1)
    ctx.sink.report(DiagId::ScheduleNumber, ctx.span(node),
                    {std::string(what), std::to_string(*value)});
  return std::max<int64_t>(*value, 1);
}

const LabelInfo *ScheduleCheck::label(NodeId node) {
  std::string_view name = ctx.text(node);
  const LabelInfo *found = nullptr;
  bool isAmbiguous = false;
  for (const LabelInfo &info : labels)
    if (info.name == name) {
      isAmbiguous = found != nullptr;
      if (isAmbiguous)
        break;
      found = &info;
    }
  if (name.empty())
    return nullptr;
  if (isAmbiguous) {
    ctx.sink.report(DiagId::AmbiguousLabel, ctx.span(node), {std::string(name), target.name})
        .label(found->span, "one of them")
        .help("rename the `let`, or give the loop a name: `for … as name`");
    return nullptr;
  }
  if (!found && !target.hasErrors) {
    auto builder =
        ctx.sink.report(DiagId::UnknownLabel, ctx.span(node), {target.name, std::string(name)});
    std::vector<std::string> names;
    for (const LabelInfo &info : labels)
      names.push_back(info.name);
    std::string nearest = nearestName(name, names);
    if (!nearest.empty())
      builder.fix("did you mean `" + nearest + "`?", {{ctx.span(node), nearest}});
    else
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

std::vector<std::string> ScheduleCheck::labelList(NodeId node) {
  std::vector<std::string> names;
  for (NodeId name : ctx.tree.children(node))
    if (const LabelInfo *info = label(name))
      names.push_back(info->name);
  return names;
}

void ScheduleCheck::assign(NodeId node) {
  ScheduleAssignView view(ctx.tree, node);
  std::string name(ctx.text(view.name()));
  if (name.empty())
    return;
  auto found = std::find_if(target.tunables.begin(), target.tunables.end(),
                            [&](const Tunable &tunable) { return tunable.local->name == name; });
  if (found == target.tunables.end()) {
    auto builder =
        ctx.sink.report(DiagId::UnknownTunable, ctx.span(view.name()), {target.name, name});
    std::vector<std::string> names;
    for (const Tunable &tunable : target.tunables)
      names.push_back(tunable.local->name);
    std::string nearest = nearestName(name, names);
    if (!nearest.empty())
      builder.fix("did you mean `" + nearest + "`?", {{ctx.span(view.name()), nearest}});
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
    if (!exists && !axis.empty()) {
      auto builder =
          ctx.sink.report(DiagId::UnknownTileAxis, ctx.span(view.axis()), {target.name, axis});
      std::vector<std::string> names;
      for (const DimParam &dim : target.dims)
        names.push_back(dim.name);
      std::string nearest = nearestName(axis, names);
      if (!nearest.empty())
        builder.fix("did you mean `" + nearest + "`?", {{ctx.span(view.axis()), nearest}});
    }
    for (const auto &[other, size] : directive.tiles)
      if (other == axis)
        ctx.sink.report(DiagId::ScheduleRepeats, ctx.span(view.axis()), {axis});
    directive.tiles.push_back({axis, positive(view.size(), "a tile size")});
  }
}

void ScheduleCheck::block(NodeId node) {
  ScheduleBlockView view(ctx.tree, node);
  ScheduleDirective directive;
  directive.span = ctx.span(node);
  if (const LabelInfo *info = label(view.label())) {
    directive.label = info->name;
    once(ctx.span(view.label()), info->name);
  }
  for (NodeId part : view.items()) {
    switch (ctx.tree.kind(part)) {
    case NodeKind::TileItem:
      tile(part, directive);
      break;
    case NodeKind::PlaceItem: {
      Layout layout = Layout::Inferred;
      resolvePlace(ctx, ctx.tree.child(part, 0), directive.place, layout);
      break;
    }
    case NodeKind::L0Item:
      for (NodeId size : ctx.tree.children(part))
        directive.l0.push_back(positive(size, "a size of `l0`"));
      break;
    default:
      break;
    }
  }
  schedule.directives.push_back(std::move(directive));
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
    schedule.fuses.push_back(labelList(node));
    break;
  case NodeKind::OrderItem:
    schedule.orders.push_back(labelList(node));
    break;
  case NodeKind::SplitItem:
    if (const LabelInfo *info = label(ctx.tree.child(node, 0)))
      schedule.splitsAfter.push_back(info->name);
    break;
  case NodeKind::CoresItem:
    once(ctx.span(node), "cores");
    schedule.cores = positive(CoresItemView(ctx.tree, node).count(), "the number of cores");
    break;
  case NodeKind::PipelineItem: {
    PipelineItemView view(ctx.tree, node);
    int64_t depth = positive(view.depth(), "the depth of a pipeline");
    if (const LabelInfo *info = loopLabel(view.label())) {
      once(ctx.span(view.label()), "pipeline " + info->name);
      schedule.pipelines.push_back({info->name, depth});
    }
    break;
  }
  case NodeKind::UnrollItem: {
    UnrollItemView view(ctx.tree, node);
    int64_t factor =
        view.count() == kNoNode ? 0 : positive(view.count(), "the factor of an unroll");
    if (const LabelInfo *info = loopLabel(view.label())) {
      once(ctx.span(view.label()), "unroll " + info->name);
      schedule.unrolls.push_back({info->name, factor});
    }
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
      return lookupCallableIn(ctx, *module.module, last, ctx.span(names[1])).callable;
  }
  CalleeRef ref = names.size() == 1 ? lookupCallable(ctx, last) : CalleeRef();
  if (ref.callable)
    return ref.callable;
  auto builder =
      ctx.sink.report(DiagId::UnknownScheduleTarget, ctx.span(path), {std::string(ctx.text(path))});
  std::vector<std::string> candidates =
      declaredNames(ctx.state, ctx.moduleScope, DeclSpace::Callable);
  std::string nearest = nearestName(last, candidates);
  if (!nearest.empty())
    builder.fix("did you mean `" + nearest + "`?", {{ctx.span(path), nearest}});
  return nullptr;
}

static void checkSchedule(ProgramState &state, CheckedModule &module, NodeId node) {
  Context ctx(state, module, *module.tree);
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
  if (!target)
    return;
  // `when` speaks of the target's dimensions and tunables, written in this file.
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
  module.schedules.push_back(schedule);
}

void checkSchedules(ProgramState &state, CheckedModule &module) {
  const Tree &tree = *module.tree;
  for (NodeId item : tree.children(tree.root()))
    if (tree.is(item, NodeKind::ScheduleDecl))
      checkSchedule(state, module, item);
}

} // namespace ptl
