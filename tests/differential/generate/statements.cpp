// Statements: names, variables, loops that carry several of them, branches.
#include "tests/differential/generate/maker.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ptl::differential {

namespace {

Type someType(Maker &m) {
  Type type{m.chance(75) ? ElemKind::F32 : m.any(m.elems), {}};
  if (m.axes.empty())
    return type;
  static constexpr std::array<int, 10> ranks = {0, 1, 1, 2, 2, 2, 2, 2, 2, 3};
  int rank = m.any(ranks);
  if (rank == 3 && m.chance(50))
    rank = 2;
  for (int i = 0; i < rank; ++i)
    type.shape.push_back(m.chance(12) ? constantAxis(1) : m.any(m.axes));
  return type;
}

/// The types of names are those that other statements are about.
Type knownType(Maker &m) {
  if (m.variables.empty() || m.chance(30))
    return someType(m);
  Type type = m.any(m.variables).type;
  return type.elem == ElemKind::Bool ? type.with(ElemKind::F32) : type;
}

bool makeLet(Maker &m, int depth) {
  m.named(knownType(m), depth);
  return true;
}

/// The bound of all values that are assigned to a variable.
Bound boundOfVariable(const Term &start, ElemKind elem) {
  double most = std::min(std::max(start.bound.most, 8.0), exactLimit(elem) / 8);
  return {most, std::min(start.bound.bits, 2), start.bound.exact};
}

Variable declare(Maker &m, const Type &type, int depth) {
  Term start = m.expression(type, depth);
  Variable made{m.fresh("r"), type, boundOfVariable(start, type.elem), true};
  start = m.within(start, type.elem, made.bound.most, made.bound.bits);
  m.line("var " + made.name + " = " + start.text);
  m.variables.push_back(made);
  return made;
}

bool makeVariable(Maker &m, int depth) {
  Type type = knownType(m);
  if (type.elem == ElemKind::Bool || type.elem == ElemKind::I8 || type.elem == ElemKind::U8)
    return false;
  declare(m, type, depth);
  return true;
}

std::vector<Variable> assignable(const Maker &m) {
  std::vector<Variable> found;
  for (const Variable &variable : m.variables)
    if (variable.assignable)
      found.push_back(variable);
  return found;
}

bool assign(Maker &m, const Variable &to, int depth) {
  Term value = m.expression(to.type, depth);
  if (to.bound.exact && !value.bound.exact)
    return false;
  static constexpr std::array<const char *, 3> updates = {" += ", " -= ", " *= "};
  if (isFloat(to.type.elem) && m.chance(15)) {
    // Brought back into its bound at once.
    value = m.within(value, to.type.elem, 2, 0);
    m.line(to.name + m.any(updates) + value.text);
    value = {to.name, {1e9, to.bound.bits, to.bound.exact}};
  }
  value = m.within(value, to.type.elem, to.bound.most, to.bound.bits);
  m.line(to.name + " = " + value.text);
  return true;
}

bool makeAssignment(Maker &m, int depth) {
  std::vector<Variable> known = assignable(m);
  return !known.empty() && assign(m, m.any(known), depth);
}

/// A box of a variable along one of its axes.
bool makePartAssignment(Maker &m, int depth) {
  std::vector<Variable> known = assignable(m);
  if (known.empty())
    return false;
  const Variable &to = m.any(known);
  if (to.type.shape.empty())
    return false;
  size_t axis = m.below(to.type.shape.size());
  const Axis along = to.type.shape[axis];
  Type part = to.type;
  std::string box;
  if (along.constant && *along.constant >= 2) {
    int64_t length = 1 + static_cast<int64_t>(m.below(static_cast<size_t>(*along.constant - 1)));
    auto from = static_cast<int64_t>(m.below(static_cast<size_t>(*along.constant - length + 1)));
    part.shape[axis] = constantAxis(length);
    box = std::to_string(from) + ":" + std::to_string(from + length);
  } else if (!along.constant) {
    part.shape[axis] = constantAxis(1);
    box = "0:1";
  } else {
    return false;
  }
  Term value = m.expression(part, depth);
  if (to.bound.exact && !value.bound.exact)
    return false;
  value = m.within(value, to.type.elem, to.bound.most, to.bound.bits);
  m.line(indexed(to.name, to.type.shape.size(), axis, box) + " = " + value.text);
  return true;
}

/// The body of a loop: some of the variables change, each perhaps depending on the others.
void loopBody(Maker &m, int depth) {
  ++m.loops;
  if (m.chance(50))
    m.statement(depth);
  std::vector<Variable> known = assignable(m);
  bool changed = false;
  for (size_t i = 0, count = 1 + m.below(3); i < count && !known.empty(); ++i)
    changed |= assign(m, m.any(known), depth);
  if (m.loops < 3 && m.chance(35))
    m.statement(depth);
  if (!changed && !known.empty()) {
    const Variable &to = m.any(known);
    m.line(to.name + " = " +
           m.within(m.leaf(to.type), to.type.elem, to.bound.most, to.bound.bits).text);
  }
  --m.loops;
}

/// Variables that the next loop carries, if there are too few.
void someVariables(Maker &m, int depth) {
  std::vector<Variable> known = assignable(m);
  Type type = known.empty() ? knownType(m) : m.any(known).type;
  if (type.elem == ElemKind::Bool || type.elem == ElemKind::I8 || type.elem == ElemKind::U8)
    type.elem = ElemKind::F32;
  if (known.size() < 2)
    declare(m, type, depth);
  if (known.empty() && m.chance(60))
    declare(m, m.chance(60) ? type : someType(m).with(ElemKind::F32), depth);
}

bool makeCountedLoop(Maker &m, int depth) {
  if (m.loops >= 2)
    return false;
  someVariables(m, depth - 1);
  std::string k = m.fresh("k");
  static constexpr std::array<const char *, 5> heads = {"0..2", "0..3", "1..4", "0..5 step 2",
                                                        "0..1"};
  std::string head = m.any(heads);
  bool isList = m.chance(8);
  if (isList)
    head = "[2, 0, 1]";
  else if (!m.ints.empty() && m.chance(40)) // as far as the loop around it has come
    head = "0.." + m.any(m.ints) + " + 1";
  std::string how;
  if (m.isTile && !isList && m.chance(15))
    how = m.chance(50) ? " pipeline 2" : " unroll";
  m.block("for " + k + " in " + head + how, [&] {
    m.ints.push_back(k);
    if (how.empty() && m.chance(5))
      m.line("if " + m.condition(1).text + " { continue }");
    loopBody(m, depth - 1);
    if (how.empty() && m.isTile && m.chance(6))
      m.line("if " + m.condition(1).text + " { break }");
  });
  return true;
}

/// Along an axis of the arguments, by tiles: sums, products and what else a tile changes.
bool makeTiledLoop(Maker &m, int depth) {
  if (m.loops >= 2 || m.cuts.empty())
    return false;
  const Maker::Cut cut = m.any(m.cuts);
  static constexpr std::array<int64_t, 4> sizes = {8, 16, 16, 32};
  std::string k = m.fresh("k"), tile = std::to_string(m.any(sizes));
  someVariables(m, depth - 1);
  std::string how = m.isTile && m.chance(40) ? (m.chance(80) ? " pipeline 2" : " pipeline 3") : "";
  std::string before = m.body;
  // An accumulator's bound is known when what is added up is: it is declared in front.
  Type type{ElemKind::F32, {}};
  for (size_t i = 0; i < 2; ++i)
    type.shape.push_back(m.chance(85) ? m.any(m.axes) : constantAxis(1));
  std::string sum = m.fresh("acc");
  Bound added;
  m.body.clear();
  std::string from = cut.axis.length, outerIndent = m.indent;
  bool isGrouped = m.chance(12); // tiles of parts
  if (isGrouped) {
    from = m.fresh("g");
    m.line("for " + from + " in tiles(" + cut.axis.length + ", " +
           std::to_string(std::stoll(tile) * 2 + 4) + ") {");
    m.indent += "    ";
  }
  m.block("for " + k + " in tiles(" + from + ", " + tile + ")" + how, [&] {
    Axis range = rangeAxis(k, std::stoll(tile));
    m.axes.push_back(range);
    for (Variable &load : cut.loads(range))
      m.variables.push_back(std::move(load));
    Type left{m.chance(50) ? ElemKind::F16 : ElemKind::F32, {type.shape[0], range}};
    Type right{left.elem, {range, type.shape[1]}};
    Term step;
    if (m.hasProducts && m.chance(60)) {
      Term a = m.within(m.expression(left, depth - 1), left.elem, 4, 1);
      Term b = m.within(m.expression(right, depth - 1), left.elem, 4, 1);
      step = {a.text + " @ " + b.text,
              {a.bound.most * b.bound.most * static_cast<double>(range.most),
               a.bound.bits + b.bound.bits, a.bound.exact && b.bound.exact}};
    } else {
      Term x = m.within(m.expression(Type{ElemKind::F32, {type.shape[0], range}}, depth - 1),
                        ElemKind::F32, 4, 1);
      type.shape[1] = constantAxis(1);
      x.bound.most *= static_cast<double>(range.most);
      step = {"sum(" + x.text + ", axis: 1)", x.bound};
    }
    added = step.bound;
    if (m.chance(25))
      loopBody(m, depth - 1);
    m.line(sum + " += " + step.text);
  });
  m.indent = outerIndent;
  if (isGrouped)
    m.line("}");
  std::string loop = std::move(m.body);
  m.body = std::move(before);
  m.line("var " + sum + " = zeros(" + type.text() + ")");
  m.body += loop;
  int64_t rounds = cut.axis.most / std::stoll(tile) + 1;
  added.most *= static_cast<double>(rounds);
  m.variables.push_back({sum, type, added, false});
  return true;
}

/// A recurrence over the rows or columns of an array of the whole program: each round has the results of earlier ones, and stores its own.
bool makeRecurrence(Maker &m, int depth) {
  if (m.isTile || m.loops >= 1 || m.axes.empty())
    return false;
  Axis steps = m.any(m.axes), across = m.any(m.axes);
  if (!steps.factors.empty() || steps.isOne() || steps.most > 100)
    return false;
  bool alongRows = m.chance(70), isBackward = m.chance(25), hasPrevious = m.chance(40);
  auto placed = [&](const Axis &step) {
    return alongRows ? Shape{step, across} : Shape{across, step};
  };
  Type whole{ElemKind::F32, placed(steps)}, row{ElemKind::F32, {across}};
  std::vector<Variable> read;
  for (const Variable &variable : m.variables)
    if (variable.type.shape == whole.shape && isFloat(variable.type.elem) &&
        variable.name.find('[') == std::string::npos)
      read.push_back(variable);
  if (read.empty())
    read.push_back(m.named(whole, depth - 1));
  Variable carried = declare(m, row, depth - 1);
  std::string results = m.fresh("y"), t = m.fresh("t");
  m.line("var " + results + " = zeros(" + whole.text() + ")");
  std::string at = isBackward ? steps.length + " - 1 - " + t : t;
  auto rowOf = [&](const std::string &x, const std::string &index) {
    return alongRows ? x + "[" + index + ", :]" : x + "[:, " + index + "]";
  };
  m.block("for " + t + " in 0.." + steps.length, [&] {
    ++m.loops;
    for (const Variable &each : read)
      m.variables.push_back({rowOf(each.name, at), {each.type.elem, row.shape}, each.bound, false});
    if (hasPrevious) {
      std::string before = m.fresh("v");
      m.line("let " + before + " = " +
             rowOf(results, isBackward ? "min(" + at + " + 1, " + steps.length + " - 1)"
                                       : "max(" + at + " - 1, 0)"));
      m.variables.push_back({before, row, carried.bound, false});
    }
    if (m.chance(40))
      m.statement(depth - 1);
    if (!assign(m, carried, depth))
      m.line(carried.name + " = 0.5 * " + carried.name);
    m.line(rowOf(results, at) + " = " + carried.name);
    --m.loops;
  });
  m.variables.push_back({results, whole, carried.bound, false});
  return true;
}

bool makeWhile(Maker &m, int depth) {
  if (m.loops >= 1)
    return false;
  someVariables(m, depth - 1);
  std::string n = m.fresh("n");
  m.line("var " + n + " = 0");
  std::string also = m.chance(40) ? " and " + m.condition(1).text : "";
  m.block("while " + n + " < " + std::to_string(1 + m.below(3)) + also, [&] {
    loopBody(m, depth - 1);
    m.line(n + " += 1");
  });
  return true;
}

bool makeBranch(Maker &m, int depth) {
  std::vector<Variable> known = assignable(m);
  if (known.empty())
    return false;
  Term condition = m.condition(depth - 1);
  auto arm = [&] {
    if (!assign(m, m.any(known), depth - 1))
      m.line(known[0].name + " = " +
             m.within({known[0].name, known[0].bound}, known[0].type.elem, 1e9, 9).text);
    if (m.chance(30))
      m.statement(depth - 1);
  };
  m.block("if " + condition.text, arm);
  if (m.chance(50)) {
    m.body.pop_back(); // `} else {`
    m.body += " else {\n";
    std::string before = std::move(m.body);
    m.body.clear();
    m.block("", arm);
    m.body = before + m.body.substr(m.body.find('\n') + 1);
  }
  return true;
}

} // namespace

std::span<const StatementForm> statementForms() {
  static constexpr StatementForm forms[] = {
      {"let", 26, makeLet},
      {"var", 8, makeVariable},
      {"assignment", 12, makeAssignment},
      {"part assignment", 5, makePartAssignment},
      {"counted loop", 14, makeCountedLoop},
      {"tiled loop", 14, makeTiledLoop},
      {"while", 3, makeWhile},
      {"recurrence", 8, makeRecurrence},
      {"branch", 8, makeBranch},
  };
  return forms;
}

void Maker::statement(int depth) {
  if (depth <= 0)
    return;
  for (int attempts = 0; attempts < 6; ++attempts) {
    int total = 0;
    for (const StatementForm &form : statementForms())
      total += form.weight;
    int pick = static_cast<int>(below(static_cast<size_t>(total)));
    for (const StatementForm &form : statementForms())
      if ((pick -= form.weight) < 0) {
        if (form.make(*this, depth))
          return;
        break;
      }
  }
}

void Maker::statements(int count, int depth) {
  for (int i = 0; i < count; ++i)
    statement(depth);
}

} // namespace ptl::differential
