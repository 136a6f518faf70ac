#include "frontend/sema/dump/dump_block.h"

#include "frontend/sema/block/checked_block.h"

namespace ptl {

static std::string_view opName(BlockOp op) {
  constexpr std::string_view names[] = {
      "instruction", "slot",     "window",    "treshape", "bitcast", "view",    "initialize",
      "push",        "pop",      "free",      "signal",   "wait",    "barrier", "block",
      "blocks",      "subblock", "subblocks", "getval",   "load",    "store"};
  return names[static_cast<size_t>(op)];
}

std::string blockCall(const ExprDumper &dumper, const BlockExpr &expr) {
  std::string text = expr.info ? surfaceName(*expr.info) : std::string(opName(expr.op));
  if (expr.object)
    text += " " + expr.object->name;
  if (expr.op == BlockOp::Barrier)
    text += " " + std::string(pipeName(expr.pipe));
  text += "(" + dumper.list(expr.outs) + (expr.outs.empty() || expr.ins.empty() ? "" : " <- ") +
          dumper.list(expr.ins) + ")";
  for (size_t i = 0; i < expr.offsets.size(); ++i)
    text += (i == 0 ? "[" : ", ") + dumper.dim(expr.offsets[i]) +
            (i + 1 == expr.offsets.size() ? "]" : "");
  for (const auto &[info, value] : expr.attributes)
    text += " " + std::string(info->name) + "=" + value;
  return expr.type->kind == TypeKind::Void ? text : text + ":" + dumper.type(expr.type);
}

std::string blockObject(const ExprDumper &dumper, const Local &local) {
  const BlockObject &object = *local.object;
  std::string text = local.kind == LocalKind::Buffer  ? "buffer "
                     : local.kind == LocalKind::Event ? "event "
                                                      : "pipe ";
  text += local.name;
  if (object.count)
    text += "[" + dumper.dim(object.count) + "]";
  auto end = [](const PipeEnd &end) {
    return (end.core.empty() ? "" : end.core + ".") + std::string(pipeName(end.pipe));
  };
  text += local.kind == LocalKind::Event ? ": " + end(object.from) + " -> " + end(object.to)
                                         : ": " + dumper.type(local.type);
  if (object.split)
    text += object.split == 1 ? " split rows" : " split cols";
  for (auto [word, value] : {std::pair(" depth ", object.depth), std::pair(" hold ", object.hold),
                             std::pair(" at ", object.address), std::pair(" id ", object.number)})
    if (value)
      text += word + dumper.dim(value);
  return text;
}

} // namespace ptl
