// Instructions, moves and buffers against the file of a machine.
#include "frontend/sema/block/block_machine.h"

#include "frontend/sema/block/instruction_shapes.h"

namespace ptl {

static std::string placeText(const Type &type) {
  return "`@" + std::string(placeName(type.place)) + "`";
}

static std::string layoutOn(const Machine &machine, const Type &type) {
  if (type.layout != Layout::Inferred)
    return std::string(layoutName(type.layout));
  const MemorySpace *space = machine.space(placeName(type.place));
  return space ? std::string(space->usualLayout()) : "";
}

/// A part of a view lies as the view does.
static const Type &lyingType(const Expr *operand) {
  while (operand->kind == ExprKind::Index)
    operand = cast<IndexExpr>(operand)->base;
  return *operand->type;
}

static std::string whyNoMove(const Machine &machine, const BlockExpr &call,
                             const ElemNamer &elemName) {
  const Type &from = *call.ins.front()->type, &to = *call.outs.front()->type;
  auto placeOf = [](const Type &type) { return isTile(&type) ? type.place : Place::Gm; };
  std::string_view source = placeName(placeOf(from)), target = placeName(placeOf(to));
  const Move *move = machine.move(source, target);
  std::string way = "from `@" + std::string(source) + "` to `@" + std::string(target) + "`";
  if (!move)
    return "nothing moves " + way;
  if (!move->hasInstruction(call.info->mnemonic)) {
    std::string names;
    for (const std::string &name : move->instructions)
      names += (names.empty() ? "`" : ", `") + name + "`";
    return way + " it is " + names;
  }
  std::string_view moved = elemName(from.elem), result = elemName(to.elem);
  // Tiles have no truth values: in memory these are bytes, which tiles see as numbers.
  auto isByte = [](std::string_view name) { return name == "i8" || name == "u8"; };
  if (moved == "bool" && isByte(result) && placeOf(from) == Place::Gm)
    moved = result;
  if (result == "bool" && isByte(moved) && placeOf(to) == Place::Gm)
    result = moved;
  if (!moved.empty() && !result.empty() && !move->carries(moved, result))
    return "`" + std::string(moved) + "` " + way + " cannot become `" + std::string(result) + "`";
  auto layoutOf = [&](const Expr *operand) {
    if (isTile(operand->type))
      return layoutOn(machine, *operand->type);
    const Type &type = lyingType(operand);
    return std::string(type.layout == Layout::Inferred ? "nd" : layoutName(type.layout));
  };
  std::string before = layoutOf(call.ins.front()), after = layoutOf(call.outs.front());
  if (!before.empty() && !after.empty() && !move->hasLayouts(before, after))
    return "layout `" + before + "` " + way + " cannot become `" + after + "`";
  return "";
}

std::string whyNotOn(const Machine &machine, const BlockExpr &call, const ElemNamer &elemName) {
  if (call.info->has(InstructionInfo::Move))
    return whyNoMove(machine, call, elemName);
  std::vector<std::string_view> types;
  const InstructionShape &shape = instructionShape(call.info->id);
  auto add = [&](const std::vector<Expr *> &operands, std::span<const OperandShape> shapes) {
    for (size_t i = 0; i < operands.size() && i < shapes.size(); ++i)
      if (operands[i] && shapes[i].counts && !shapes[i].isScalar)
        types.push_back(elemName(operands[i]->type->elem));
  };
  add(call.ins, shape.ins);
  add(call.outs, shape.outs);
  // An unknown element type, as of a generic kernel, leaves open what the instruction takes: then
  // only its name is looked up, and the instance is checked again.
  for (std::string_view type : types)
    if (type.empty())
      types.clear();
  std::string name(call.info->mnemonic);
  for (const auto &[info, value] : call.attributes)
    if (info->ptoas == "cmpMode" && machine.instruction(name + "." + value))
      name += "." + value;
  return machine.whyNot(name, types);
}

std::string whyNoBuffer(const Machine &machine, const Type &type, const ElemNamer &elemName) {
  const MemorySpace *space = machine.space(placeName(type.place));
  if (!space)
    return "it has no " + placeText(type);
  std::string layout = layoutOn(machine, type);
  if (!layout.empty() && !space->hasLayout(layout))
    return placeText(type) + " has no layout `" + layout + "`";
  auto elem = elemKindByName(elemName(type.elem));
  auto rows = type.extents[0].capacity.constant(), cols = type.extents[1].capacity.constant();
  if (!elem || !rows || !cols)
    return "";
  int64_t bytes = elemBytes(*elem);
  auto unless = [&](std::string_view axis, int64_t extent, int64_t unit) {
    return extent % unit == 0
               ? ""
               : std::string(axis) + " must be a multiple of " + std::to_string(unit) +
                     " in layout `" + layout + "`, not " + std::to_string(extent);
  };
  int64_t block = std::max<int64_t>(1, std::max<int64_t>(machine.limits.blockBytes, 32) / bytes);
  if (layout == "nd" || layout.empty())
    return unless("columns", *cols, block);
  if (layout == "dn")
    return unless("rows", *rows, block);
  // Rows and columns of the inner boxes; those of accumulators are square.
  int64_t inner = space->fractal ? std::max<int64_t>(1, space->fractal->bytes / bytes) : 16;
  int64_t outer = space->fractal ? space->fractal->rows : 16;
  bool lies = layout == "zn" || layout == "nn";
  std::string why = unless("rows", *rows, lies ? inner : outer);
  return why.empty() ? unless("columns", *cols, lies ? outer : inner) : why;
}

} // namespace ptl
