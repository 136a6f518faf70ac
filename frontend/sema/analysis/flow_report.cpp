// What the walk found, in words.
#include "frontend/sema/analysis/elements.h"
#include "frontend/sema/analysis/flow_walker.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

std::string FlowWalker::sourceText(Span span) const { return std::string(ctx_.text(span)); }

// ---- Outputs ------------------------------------------------------------------------------------

/// Reports outputs that are not covered where the body ends or returns.
void FlowWalker::checkOutputs(std::optional<Span> at) {
  state_.written.resize(tracked_.size());
  for (size_t i = 0; i < tracked_.size(); ++i) {
    Tracked &tracked = tracked_[i];
    if (!tracked.isOutput || isReported(tracked.local))
      continue;
    Regions asked = regions(tracked.local);
    Region whole = wholeRegion(tracked.local->type);
    bool isCovered = std::any_of(state_.written[i].begin(), state_.written[i].end(),
                                 [&](const Region &region) { return asked.isFull(region); });
    if (isCovered || asked.isEmpty(whole))
      continue;
    if (muted_ > 0 && at) {
      ++failures_; // what earlier iterations wrote is not known yet
      continue;
    }
    reportOutput(tracked, i, at);
  }
}

void FlowWalker::reportOutput(Tracked &tracked, size_t number, std::optional<Span> at) {
  data_.reported.insert(tracked.local);
  const Local &local = *tracked.local;
  if (tracked.stores.empty() && !at) {
    auto report = ctx_.sink.report(DiagId::OutputNeverWritten, local.span, {local.name});
    report.help("write it, or give it an initial value");
    offerInitialValue(report, tracked);
    return;
  }
  if (at) {
    auto report = ctx_.sink.report(DiagId::OutputNotOnEveryPath, local.span, {local.name});
    report.label(*at, "this path leaves without writing " +
                          std::string(state_.written[number].empty() ? "it" : "all of it"));
    offerInitialValue(report, tracked);
    return;
  }
  const auto &parts = state_.written[number];
  const Drop *drop = tracked.drops.empty() ? nullptr : &tracked.drops.front();
  bool isPath = drop && drop->isPath;
  auto report =
      ctx_.sink.report(isPath ? DiagId::OutputNotOnEveryPath : DiagId::OutputPartlyWritten,
                       local.span, {local.name});
  if (drop) {
    report.label(drop->span, drop->text);
  } else if (parts.empty() && !tracked.stores.empty()) {
    report.label(tracked.stores.front(), "this store may not cover all of it");
  } else {
    describeGap(report, tracked, number);
  }
  offerInitialValue(report, tracked);
}

static std::string axisName(const Type &type, size_t axis) {
  return type.extents.size() == 1 ? "the axis" : "axis " + std::to_string(axis);
}

/// The first axis that a part leaves open, and the slice that is missing there.
void FlowWalker::describeGap(DiagnosticBuilder report, const Tracked &tracked, size_t number) {
  DimContext &dims = ctx_.dims;
  const Type &type = *tracked.local->type;
  for (const Region &part : state_.written[number])
    for (size_t axis = 0; axis < part.axes.size(); ++axis) {
      const AxisSet &set = part.axes[axis];
      if (!set.isInterval() || regions(tracked.local).isFull(set, axis))
        continue;
      Dim length = type.extents[axis].length;
      Span span = tracked.stores.empty() ? tracked.local->span : tracked.stores.front();
      report.label(span, "of " + axisName(type, axis) + " only `" + toString(dims, set) +
                             "` is known to be written, not `0:" + dims.toString(length) + "`");
      Region missing = part;
      AxisSet &gap = missing.axes[axis];
      if (!set.step.isConstant(1)) {
        report.help("the other remainders of `" + dims.toString(set.step) + "` are missing");
        return;
      }
      bool startsAtZero = ctx_.facts.proveLessEqual(set.start, dims.constant(0)).isTrue();
      gap.start = startsAtZero ? set.stop : dims.constant(0);
      gap.stop = startsAtZero ? length : set.start;
      report.help("write `" + tracked.local->name + "[" + toString(dims, missing) + "]` too");
      return;
    }
}

/// The smallest repair that always is one: `-> (y: f32[N] = 0.0)`.
void FlowWalker::offerInitialValue(DiagnosticBuilder report, const Tracked &tracked) {
  const Type &type = *tracked.local->type;
  if (!type.isArray() && !type.isScalar())
    return;
  NodeId results = CallableView(ctx_.tree, ctx_.decl->syntax).results();
  if (results == kNoNode)
    return;
  bool isFloat = type.elem.param || type.elem.kind == ElemKind::F16 ||
                 type.elem.kind == ElemKind::BF16 || type.elem.kind == ElemKind::F32 ||
                 type.elem.kind == ElemKind::F64;
  std::string value = type.elem.kind == ElemKind::Bool && !type.elem.param ? "false"
                      : isFloat                                            ? "0.0"
                                                                           : "0";
  for (NodeId node : ctx_.tree.children(results)) {
    if (!ctx_.tree.is(node, NodeKind::Result))
      continue;
    ResultView result(ctx_.tree, node);
    if (result.name() == kNoNode || ctx_.span(result.name()).begin != tracked.local->span.begin)
      continue;
    Span end = ctx_.span(result.type());
    report.fix(FixId::InitialValue,
               "give it an initial value: `" + tracked.local->name + ": " + sourceText(end) +
                   " = " + value + "`",
               {{{end.file, end.end, end.end}, " = " + value}});
  }
}

// ---- Reads --------------------------------------------------------------------------------------

void FlowWalker::reportRead(Tracked &tracked, size_t number, const Elements &elements) {
  data_.reported.insert(tracked.local);
  const Local &local = *tracked.local;
  auto report =
      ctx_.sink.report(tracked.isOutput ? DiagId::OutputReadUnwritten : DiagId::ReadBeforeAssigned,
                       elements.span, {local.name});
  report.label(local.span,
               tracked.isOutput ? "an output without initial value" : "declared without a value");
  const auto &parts = state_.written[number];
  if (!tracked.drops.empty())
    report.label(tracked.drops.front().span, tracked.drops.front().text);
  else if (!parts.empty() && !parts.front().axes.empty())
    report.note("up to here `" + local.name + "[" + toString(ctx_.dims, parts.front()) +
                "]` is known to be written");
  if (tracked.isOutput)
    offerInitialValue(report, tracked);
  else
    report.help("give it a value where it is declared");
}

// ---- atomic -------------------------------------------------------------------------------------

static std::string atomicText(AssignMode mode) {
  return mode == AssignMode::AtomicMax ? "max=" : mode == AssignMode::AtomicMin ? "min=" : "+=";
}

/// `atomic` on an output without a value to start from.
void FlowWalker::reportAtomicStart(const Local *local, const AssignStmt &stmt) {
  size_t number = 0;
  Tracked *tracked = trackedOf(local, &number);
  if (!tracked || isReported(tracked->local))
    return;
  data_.reported.insert(tracked->local);
  auto report = ctx_.sink.report(DiagId::AtomicNeedsInitial, stmt.span, {local->name});
  report.label(local->span, "an output without initial value");
  offerInitialValue(report, *tracked);
}

void FlowWalker::reportAtomicMix(const Local *local, const AtomicUse &use) {
  size_t number = 0;
  if (!use.atomic || !use.other || trackedOf(local, &number) || isReported(local))
    return;
  ctx_.sink.report(DiagId::AtomicMixed, *use.other, {local->name, atomicText(use.atomic->mode)})
      .label(use.atomic->span, "iterations update it in any order, at the same time");
}

} // namespace ptl
