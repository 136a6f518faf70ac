#include "frontend/sema/calls/op_call_reports.h"

#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/foreign_index.h"
#include "frontend/sema/names/foreign_names.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <set>

namespace ptl {

std::string shapeText(std::string_view text) {
  bool isShape = text.size() > 2 && (text.front() == '[' || text.front() == '(');
  return isShape ? "[" + std::string(text.substr(1, text.size() - 2)) + "]" : "[N]";
}

static std::string signatureText(const OpRecord &op) {
  std::string text;
  for (const OpParam &param : op.params) {
    text += text.empty() ? "" : ", ";
    text += std::string(param.name) + (param.keywordOnly ? ":" : "") +
            (param.variadic ? ", …" : "") + (param.optional ? "?" : "");
  }
  return std::string(op.name) + "(" + text + ")";
}

/// What arguments as other libraries take them are here: `reshape(x, M, N)`, `mean(x, -1)`,
/// `zeros([M, N], f32)`.
static void offerArguments(Context &ctx, DiagnosticBuilder report, const OpRecord &op,
                           const std::vector<CallArgument> &args) {
  if (args.size() < 2 || std::any_of(args.begin(), args.end(), [](const CallArgument &arg) {
        return !arg.name.empty() || arg.value == kNoNode;
      }))
    return;
  Span second = ctx.span(args[1].value), last = ctx.span(args.back().value);
  for (const OpParam &param : op.params) {
    if (param.kind == ParamKind::ArrayType) {
      report.help("the type gives the shape: `" + std::string(op.name) + "(f32" +
                  shapeText(ctx.text(args[0].value)) + ")`");
      return;
    }
    if (param.kind == ParamKind::Dims && args.size() > 2) {
      report.fix(FixId::ShapeList, "write them as a list: `[…]`",
                 {{{second.file, second.begin, second.begin}, "["},
                  {{last.file, last.end, last.end}, "]"}});
      return;
    }
    if (param.kind == ParamKind::Axes && args.size() > 2) {
      std::string list = "[" + std::string(ctx.text({second.file, second.begin, last.end})) + "]";
      std::string named = (param.keywordOnly ? std::string(param.name) + ": " : "") + list;
      // Two axes of `transpose` are swapped elsewhere, and those of longer lists put in order.
      if (op.id == OpId::Transpose && args.size() == 3)
        report.help("`x.T` swaps the last two axes; others are named in their new order: "
                    "`transpose(x, [1, 0, 2])`");
      else
        report.fix(param.keywordOnly ? FixId::ArgumentName : FixId::ForeignName,
                   "write them as a list: `" + named + "`",
                   {{{second.file, second.begin, last.end}, named}});
      return;
    }
    bool isAxis = param.kind == ParamKind::Axis || param.kind == ParamKind::Axes;
    if (isAxis && param.keywordOnly && args.size() == 2) {
      std::string name = std::string(param.name) + ": ";
      report.fix(FixId::ArgumentName, "name it: `" + name + std::string(ctx.text(second)) + "`",
                 {{{second.file, second.begin, second.begin}, name}});
      return;
    }
  }
}

/// How many arguments without a name the forms of an operation take: "1 argument", "1 or 2
/// arguments", "at least 2 arguments".
static std::string countsTaken(std::span<const OpRecord *const> records) {
  std::set<size_t> counts;
  bool isOpen = false, isNamed = false;
  for (const OpRecord *op : records) {
    size_t least = 0, most = 0;
    for (const OpParam &param : op->params) {
      isNamed |= param.keywordOnly;
      isOpen |= param.variadic;
      least += !param.keywordOnly && !param.optional;
      most += !param.keywordOnly;
    }
    for (; least <= most; ++least)
      counts.insert(least);
  }
  std::string text = isOpen ? "at least " : "", before;
  if (isOpen)
    counts = {*counts.begin()};
  for (size_t count : counts) {
    text += before + std::to_string(count);
    before = count == *std::prev(counts.end(), std::min<size_t>(2, counts.size())) ? " or " : ", ";
  }
  text += *counts.rbegin() == 1 ? " argument" : " arguments";
  return text + (isNamed ? " without a name" : "");
}

static std::string countGiven(const std::vector<CallArgument> &args) {
  size_t named = std::count_if(args.begin(), args.end(),
                               [](const CallArgument &arg) { return !arg.name.empty(); });
  std::string text = std::to_string(args.size() - named);
  return named == 0 ? text : text + ", and " + std::to_string(named) + " with a name";
}

/// `load(x[r - 1, outside: 0.0])`: the argument is there, in the wrong brackets.
static bool isGivenToIndex(Context &ctx, const std::vector<CallArgument> &args,
                           std::string_view name) {
  return std::ranges::any_of(args, [&](const CallArgument &arg) {
    if (!ctx.tree.is(arg.value, NodeKind::IndexExpr))
      return false;
    auto indices = IndexExprView(ctx.tree, arg.value).indices();
    return std::ranges::any_of(indices,
                               [&](NodeId index) { return isArgumentInIndex(ctx, index, name); });
  });
}

void reportNoRecord(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args) {
  auto records = findOps(name);
  for (const CallArgument &arg : args) {
    if (arg.name.empty())
      continue;
    std::vector<std::string> names;
    for (const OpRecord *op : records)
      for (const OpParam &param : op->params)
        names.emplace_back(param.name);
    if (std::find(names.begin(), names.end(), arg.name) != names.end())
      continue;
    Span span = ctx.span(ArgView(ctx.tree, arg.node).name());
    auto report =
        ctx.sink.report(DiagId::UnknownArgument, span, {std::string(name), std::string(arg.name)});
    const ForeignName *foreign = foreignArgument(arg.name);
    if (foreign && std::find(names.begin(), names.end(), foreign->ours) != names.end()) {
      std::string ours(foreign->ours);
      report.fix(FixId::ForeignName, "write `" + ours + "`", {{span, ours}});
      return;
    }
    suggestNearest(report, span, arg.name, names);
    return;
  }
  for (size_t i = 0; i < args.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!args[i].name.empty() && args[i].name == args[j].name) {
        ctx.sink.report(DiagId::ArgumentTwice, args[i].span, {std::string(args[i].name)})
            .label(args[j].span, "given here first");
        return;
      }
  // All names are known. Of several forms it is open which one was meant, so only a single form has a missing argument.
  const OpRecord &op = *records.front();
  for (size_t i = 0; records.size() == 1 && i < op.params.size(); ++i) {
    const OpParam &param = op.params[i];
    bool given = false;
    size_t positional = 0;
    for (const CallArgument &arg : args) {
      given |= arg.name == param.name ||
               (arg.name.empty() && !param.keywordOnly && (positional == i || param.variadic));
      positional += arg.name.empty();
    }
    if (given || param.optional)
      continue;
    if (isGivenToIndex(ctx, args, param.name))
      return;
    ctx.sink
        .report(DiagId::MissingArgument, ctx.span(node),
                {std::string(name), std::string(param.name)})
        .note("`" + signatureText(op) + "`: " + std::string(op.summary))
        .note("`" + std::string(param.name) + "`: " + std::string(param.doc));
    return;
  }
  auto report = ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(node),
                                {std::string(name), countsTaken(records), countGiven(args)});
  for (const OpRecord *record : records)
    report.note("`" + signatureText(*record) + "`: " + std::string(record->summary));
  offerArguments(ctx, report, op, args);
}

// ---- Axes that a reduction has kept ---------------------------------------------------------------

bool endsInKeptAxis(Context &ctx, const Expr *value, int depth) {
  // The search only words a report, so a chain of more than 8 values is not worth the time.
  if (!value || depth > 8 || !value->type->isArray() || value->type->extents.empty() ||
      !value->type->extents.back().length.isConstant(1))
    return false;
  if (value->kind == ExprKind::Convert)
    return endsInKeptAxis(ctx, cast<ConvertExpr>(value)->arg, depth + 1);
  if (value->kind == ExprKind::LocalRef) {
    auto named = ctx.letValues.find(cast<LocalRefExpr>(value)->local);
    return named != ctx.letValues.end() && endsInKeptAxis(ctx, named->second, depth + 1);
  }
  const auto *op = dyn_cast<OpExpr>(value);
  if (!op)
    return false;
  if (op->op->opClass == OpClass::Reduction) {
    const Expr *whole = op->args[0];
    return whole && whole->type->extents.size() == value->type->extents.size() &&
           !whole->type->extents.back().length.isConstant(1);
  }
  bool isPlain = op->op->opClass == OpClass::Elementwise || op->op->opClass == OpClass::Conversion;
  return isPlain && std::any_of(op->args.begin(), op->args.end(), [&](const Expr *arg) {
           return endsInKeptAxis(ctx, arg, depth + 1);
         });
}

/// Whether a shape has all axes of the other one but the last, which is 1 there.
static bool lacksLastAxis(Context &ctx, const Shape &shape, const Shape &whole) {
  if (shape.rank() == 0 || shape.rank() + 1 != whole.rank() || shape.prefix || whole.prefix ||
      shape.extents.back().length.isConstant(1))
    return false;
  for (size_t i = 0; i < shape.rank(); ++i)
    if (extentsEqual(ctx, shape.extents[i], whole.extents[i]) != Proof::True)
      return false;
  return true;
}

void warnOfKeptAxis(Context &ctx, const OpCall &call, const OpMatch &match) {
  OpClass kind = call.op->opClass;
  bool broadcasts =
      kind == OpClass::Elementwise || kind == OpClass::Comparison || kind == OpClass::Select;
  // What an assignment with an operator makes does not fit its target then: that is an error.
  broadcasts = broadcasts && !ctx.tree.is(call.node, NodeKind::AssignStmt);
  for (const Expr *kept : match.values)
    for (const Expr *other : match.values) {
      bool isPair = broadcasts && kept && other && kept->type->isArray() && other->type->isArray();
      if (!isPair || !lacksLastAxis(ctx, shapeOf(other->type), shapeOf(kept->type)) ||
          !endsInKeptAxis(ctx, kept))
        continue;
      std::string all;
      for (size_t i = 0; i < other->type->extents.size(); ++i)
        all += i + 1 < other->type->extents.size() ? ":, " : "new, :";
      auto report =
          ctx.sink.report(DiagId::KeptAxisRepeats, call.span,
                          {std::string(call.op->name), toString(ctx, kept->type),
                           toString(ctx, other->type), toString(ctx, match.results.front())});
      report.label(kept->span, "`" + toString(ctx, kept->type) + "`");
      report.label(other->span, "`" + toString(ctx, other->type) + "`");
      offerWithoutKeptAxes(ctx, report, kept, other->type);
      report.help("if this is intended, write the axis: `" + std::string(ctx.text(other->span)) +
                  "[" + all + "]`");
      return;
    }
}

} // namespace ptl
