#include "frontend/sema/analysis/flow_report.h"

#include "frontend/sema/analysis/elements.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

static void reportOutput(FlowContext &flow, Tracked &tracked, size_t number,
                         std::optional<Span> at);
static void describeGap(FlowContext &flow, DiagnosticBuilder report, const Tracked &tracked,
                        size_t number);
static void offerInitialValue(FlowContext &flow, DiagnosticBuilder report, const Tracked &tracked);

// ---- Outputs ------------------------------------------------------------------------------------

/// Reports outputs that are not covered where the body ends or returns.
void checkOutputs(FlowContext &flow, std::optional<Span> at) {
  flow.state.written.resize(flow.tracked.size());
  for (size_t i = 0; i < flow.tracked.size(); ++i) {
    Tracked &tracked = flow.tracked[i];
    if (!tracked.isOutput || flow.isReported(tracked.local))
      continue;
    Regions asked = flow.regions(tracked.local);
    Region whole = wholeRegion(tracked.local->type);
    bool isCovered = std::any_of(flow.state.written[i].begin(), flow.state.written[i].end(),
                                 [&](const Region &region) { return asked.isFull(region); });
    if (isCovered || asked.isEmpty(whole))
      continue;
    if (flow.muted > 0 && at) {
      ++flow.failures; // what earlier iterations wrote is not known yet
      continue;
    }
    reportOutput(flow, tracked, i, at);
  }
}

static void reportOutput(FlowContext &flow, Tracked &tracked, size_t number,
                         std::optional<Span> at) {
  flow.data.reported.insert(tracked.local);
  const Local &local = *tracked.local;
  if (tracked.stores.empty() && !at) {
    auto report = flow.ctx.sink.report(DiagId::OutputNeverWritten, local.span, {local.name});
    report.help("write all of its elements in the body");
    offerInitialValue(flow, report, tracked);
    return;
  }
  if (at) {
    auto report = flow.ctx.sink.report(DiagId::OutputNotOnEveryPath, local.span, {local.name});
    report.label(*at, "this path leaves without writing " +
                          std::string(flow.state.written[number].empty() ? "it" : "all of it"));
    offerInitialValue(flow, report, tracked);
    return;
  }
  const auto &parts = flow.state.written[number];
  const Drop *drop = tracked.drops.empty() ? nullptr : &tracked.drops.front();
  bool isPath = drop && drop->isPath;
  auto report =
      flow.ctx.sink.report(isPath ? DiagId::OutputNotOnEveryPath : DiagId::OutputPartlyWritten,
                           local.span, {local.name});
  if (drop) {
    report.label(drop->span, drop->text);
  } else if (parts.empty() && !tracked.stores.empty()) {
    report.label(tracked.stores.front(), "this store may not cover all of it");
  } else {
    describeGap(flow, report, tracked, number);
  }
  offerInitialValue(flow, report, tracked);
}

static std::string axisName(const Type &type, size_t axis) {
  return type.extents.size() == 1 ? "the axis" : "axis " + std::to_string(axis);
}

/// The first axis that a part leaves open, and the slice that is missing there.
static void describeGap(FlowContext &flow, DiagnosticBuilder report, const Tracked &tracked,
                        size_t number) {
  DimContext &dims = flow.ctx.dims;
  const Type &type = *tracked.local->type;
  for (const Region &part : flow.state.written[number])
    for (size_t axis = 0; axis < part.axes.size(); ++axis) {
      const AxisSet &set = part.axes[axis];
      if (!set.isInterval() || flow.regions(tracked.local).isFull(set, axis))
        continue;
      Dim length = type.extents[axis].length;
      Span span = tracked.stores.empty() ? tracked.local->span : tracked.stores.front();
      report.label(span, "of " + axisName(type, axis) + " only `" + toString(dims, set) +
                             "` is known to be written, not `0:" + dims.toString(length) + "`");
      Region missing = part;
      AxisSet &gap = missing.axes[axis];
      // What is missing of a stepped store are several slices, which no single one can name.
      if (!set.step.isConstant(1)) {
        report.help("positions with another remainder by `" + dims.toString(set.step) +
                    "` are missing");
        return;
      }
      // The gap lies behind what is written or, if that does not begin at 0, before it.
      bool startsAtZero = flow.ctx.facts.proveLessEqual(set.start, dims.constant(0)).isTrue();
      gap.start = startsAtZero ? set.stop : dims.constant(0);
      gap.stop = startsAtZero ? length : set.start;
      report.help("write `" + tracked.local->name + "[" + toString(dims, missing) + "]` too");
      return;
    }
}

/// The smallest repair that always is one: `-> (y: f32[N] = 0.0)`.
static void offerInitialValue(FlowContext &flow, DiagnosticBuilder report, const Tracked &tracked) {
  const Type &type = *tracked.local->type;
  if (!type.isArray() && !type.isScalar())
    return;
  NodeId results = CallableView(flow.ctx.tree, flow.ctx.decl->syntax).results();
  if (results == kNoNode)
    return;
  bool isFloat = type.elem.param || type.elem.kind == ElemKind::F16 ||
                 type.elem.kind == ElemKind::BF16 || type.elem.kind == ElemKind::F32 ||
                 type.elem.kind == ElemKind::F64;
  std::string value = type.elem.kind == ElemKind::Bool && !type.elem.param ? "false"
                      : isFloat                                            ? "0.0"
                                                                           : "0";
  for (NodeId node : flow.ctx.tree.children(results)) {
    if (!flow.ctx.tree.is(node, NodeKind::Result))
      continue;
    ResultView result(flow.ctx.tree, node);
    if (result.name() == kNoNode || flow.ctx.span(result.name()).begin != tracked.local->span.begin)
      continue;
    Span end = flow.ctx.span(result.type());
    report.fix(FixId::InitialValue,
               "give it an initial value: `" + tracked.local->name + ": " +
                   std::string(flow.ctx.text(end)) + " = " + value + "`",
               {{{end.file, end.end, end.end}, " = " + value}});
  }
}

// ---- Reads --------------------------------------------------------------------------------------

void reportRead(FlowContext &flow, Tracked &tracked, size_t number, const Elements &elements) {
  flow.data.reported.insert(tracked.local);
  const Local &local = *tracked.local;
  auto report = flow.ctx.sink.report(tracked.isOutput ? DiagId::OutputReadUnwritten
                                                      : DiagId::ReadBeforeAssigned,
                                     elements.span, {local.name});
  report.label(local.span,
               tracked.isOutput ? "an output without initial value" : "declared without a value");
  const auto &parts = flow.state.written[number];
  if (!tracked.drops.empty())
    report.label(tracked.drops.front().span, tracked.drops.front().text);
  else if (!parts.empty() && !parts.front().axes.empty())
    report.note("up to here only `" + local.name + "[" + toString(flow.ctx.dims, parts.front()) +
                "]` is known to be written");
  if (tracked.isOutput)
    offerInitialValue(flow, report, tracked);
  else
    report.help("give it a value where it is declared");
}

// ---- atomic -------------------------------------------------------------------------------------

/// The two constructs that update an element, by their words: `atomic y[i] += v`, and
/// `fetch_add(inout y[i], v)`, which is an `atomic` to the analysis.
struct UpdateWords {
  AssignMode mode;
  std::string_view atomic, fetch;
};

static constexpr UpdateWords kUpdates[] = {
    {AssignMode::AtomicAdd, "atomic +=", "fetch_add"},
    {AssignMode::AtomicMax, "atomic max=", "fetch_max"},
    {AssignMode::AtomicMin, "atomic min=", "fetch_min"},
};

static const UpdateWords &wordsOf(const AssignStmt &stmt) {
  return *std::find_if(std::begin(kUpdates), std::end(kUpdates),
                       [&](const UpdateWords &each) { return each.mode == stmt.mode; });
}

static bool isFetch(const FlowContext &flow, const AssignStmt &stmt) {
  return std::any_of(flow.ctx.fetches.begin(), flow.ctx.fetches.end(),
                     [&](const auto &each) { return each.second == &stmt; });
}

/// `atomic` on an output without a value to start from.
void reportAtomicStart(FlowContext &flow, const Local *local, const AssignStmt &stmt) {
  size_t number = 0;
  Tracked *tracked = flow.trackedOf(local, &number);
  if (!tracked || flow.isReported(tracked->local))
    return;
  flow.data.reported.insert(tracked->local);
  std::string_view word = isFetch(flow, stmt) ? wordsOf(stmt).fetch : "atomic";
  auto report =
      flow.ctx.sink.report(DiagId::AtomicNeedsInitial, stmt.span, {local->name, std::string(word)});
  report.label(local->span, "an output without initial value");
  offerInitialValue(flow, report, *tracked);
}

void reportAtomicMix(FlowContext &flow, const Local *local, const AtomicUse &use) {
  size_t number = 0;
  if (!use.atomic || !use.other || flow.trackedOf(local, &number) || flow.isReported(local))
    return;
  const UpdateWords &words = wordsOf(*use.atomic);
  std::string_view word = isFetch(flow, *use.atomic) ? words.fetch : words.atomic;
  flow.ctx.sink.report(DiagId::AtomicMixed, *use.other, {local->name, std::string(word)})
      .label(use.atomic->span, isFetch(flow, *use.atomic)
                                   ? "iterations update it in their order"
                                   : "iterations update it in any order, at the same time");
}

} // namespace ptl
