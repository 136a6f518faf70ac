#include "frontend/sema/calls/op_call_reports.h"

#include "frontend/sema/names/foreign_names.h"

#include <algorithm>

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
      report.help("the type says the shape: `" + std::string(op.name) + "(f32" +
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
    std::string nearest = nearestName(arg.name, names);
    if (!nearest.empty())
      report.fix(FixId::Spelling, "did you mean `" + nearest + "`?", {{span, nearest}});
    return;
  }
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
    ctx.sink
        .report(DiagId::MissingArgument, ctx.span(node),
                {std::string(name), std::string(param.name)})
        .note("`" + std::string(param.name) + "` is " + std::string(param.doc));
    return;
  }
  auto report =
      ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(node),
                      {std::string(name), "other arguments", std::to_string(args.size())});
  for (const OpRecord *record : records)
    report.note("`" + signatureText(*record) + "`: " + std::string(record->summary));
  offerArguments(ctx, report, op, args);
}

} // namespace ptl
