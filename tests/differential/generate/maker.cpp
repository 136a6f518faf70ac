#include "tests/differential/generate/maker.h"

#include <algorithm>
#include <cmath>

namespace ptl::differential {

std::string indexed(const std::string &x, size_t rank, size_t axis, const std::string &index) {
  std::string text = x + "[";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + (i == axis ? index : std::string(":"));
  return text + "]";
}

static std::string number(double value, ElemKind elem) {
  if (!isFloat(elem))
    return std::to_string(static_cast<int64_t>(value));
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text + "0" : text;
}

Term Maker::within(Term term, ElemKind elem, double most, int bits) {
  if (elem == ElemKind::Bool)
    return term;
  if (term.bound.exact && term.bound.bits > bits) {
    term.text = "floor(" + term.text + ")";
    term.bound.bits = 0;
    term.bound.most = std::ceil(term.bound.most);
  }
  if (term.bound.most > most) {
    double limit = std::min(std::floor(most), 8.0);
    std::string high = number(limit, elem);
    std::string low = elem == ElemKind::U8 ? "0" : "-" + high;
    term.text = "clamp(" + term.text + ", " + low + ", " + high + ")";
    term.bound.most = limit;
  }
  return term;
}

Term Maker::fitted(Term term, ElemKind elem) {
  double limit = exactLimit(elem), most = term.bound.most;
  int bits = term.bound.bits;
  if (!term.bound.exact)
    return within(std::move(term), elem, std::min(limit, 1000.0), bits);
  if (most * std::ldexp(1.0, bits) <= limit)
    return term;
  return within(std::move(term), elem, limit / 4, most > limit / 4 ? bits : 0);
}

static bool isPlain(const Variable &variable, const Type &want) { return variable.type == want; }

/// How the axes of a value correspond to those of another shape.
struct AxisMatch {
  std::vector<int> to;   ///< of each own axis: the other's, or -1
  std::vector<int> from; ///< of each of the other's: the own one, or -1
  int count = 0;
};

static AxisMatch matchAxes(const Shape &own, const Shape &other) {
  AxisMatch match{std::vector<int>(own.size(), -1), std::vector<int>(other.size(), -1), 0};
  for (size_t i = own.size(); i-- > 0;)
    for (size_t k = other.size(); k-- > 0;)
      if (match.to[i] < 0 && match.from[k] < 0 && own[i] == other[k]) {
        match.to[i] = static_cast<int>(k);
        match.from[k] = static_cast<int>(i);
        ++match.count;
      }
  return match;
}

/// A name of another shape with axes left out, turned and repeated, so that few values are
/// constants.
std::optional<Term> Maker::derived(const Type &want) {
  const Variable *best = nullptr;
  AxisMatch how;
  for (int tries = 0; tries < 6 && !variables.empty(); ++tries) {
    const Variable &variable = any(variables);
    bool fits = variable.type.elem == want.elem ||
                (variable.type.elem == ElemKind::F32 && isFloat(want.elem));
    AxisMatch match = matchAxes(variable.type.shape, want.shape);
    if (fits && (!best || match.count > how.count))
      best = &variable, how = match;
  }
  if (!best)
    return std::nullopt;
  Term term{best->name, best->bound};
  std::string index;
  int last = -1;
  bool turned = false;
  for (size_t i = 0; i < how.to.size(); ++i) {
    index += (i ? ", " : "") + std::string(how.to[i] < 0 ? "0" : ":");
    if (how.to[i] >= 0)
      turned |= how.to[i] < last, last = how.to[i];
  }
  if (turned && how.count != 2)
    return std::nullopt;
  if (how.count < static_cast<int>(how.to.size()))
    term.text += "[" + index + "]";
  if (turned)
    term.text += ".T";
  if (how.count < static_cast<int>(want.shape.size()) && how.count > 0) {
    std::string added;
    for (size_t k = 0; k < how.from.size(); ++k)
      added += (k ? ", " : "") + std::string(how.from[k] < 0 ? "new" : ":");
    term.text = "(" + term.text + ")[" + added + "]";
  }
  bool isRepeated = false;
  for (size_t k = 0; k < how.from.size(); ++k)
    isRepeated |= how.from[k] < 0 && !want.shape[k].isOne();
  if (isRepeated || (how.count == 0 && !want.shape.empty()))
    term.text = "(" + term.text + " + zeros(" + want.with(best->type.elem).text() + "))";
  if (best->type.elem != want.elem) {
    term = within(term, best->type.elem, 8, 1);
    term.text = std::string(elemName(want.elem)) + "(" + term.text + ")";
  }
  return term;
}

Term Maker::leaf(const Type &want) {
  std::vector<const Variable *> fitting;
  for (const Variable &variable : variables)
    if (isPlain(variable, want))
      fitting.push_back(&variable);
  if (!fitting.empty() && !chance(7)) {
    // Young names first, so that little of a program is dead.
    size_t at = fitting.size() - 1 - std::min(below(fitting.size()), below(fitting.size()));
    return {fitting[at]->name, fitting[at]->bound};
  }
  if (want.elem != ElemKind::Bool && want.elem != ElemKind::U8 && chance(80))
    if (std::optional<Term> term = derived(want))
      return *term;
  if (want.elem == ElemKind::Bool) {
    Term term = leaf(want.with(ElemKind::F32));
    term.text = "(" + term.text + " > 0.0)";
    return term.bound.exact ? Term{term.text, {1, 0, true}}
                            : Term{want.shape.empty() ? "true" : "full(" + want.text() + ", true)",
                                   {1, 0, true}};
  }
  if (!want.shape.empty() && want.shape.size() <= 2 && chance(50)) {
    // Positions, so that elements differ from each other.
    size_t axis = below(want.shape.size());
    std::string positions = "index(" + want.shape[axis].range + ") % 5";
    if (want.elem != ElemKind::I32)
      positions = std::string(elemName(want.elem)) + "(" + positions + ")";
    if (want.shape.size() == 1)
      return {"(" + positions + ")", {4, 0, true}};
    std::string row = axis == 1 ? "(" + positions + ")[new, :]" : "(" + positions + ")[:, new]";
    return {"(" + row + " + zeros(" + want.text() + "))", {4, 0, true}};
  }
  double value = static_cast<double>(below(4));
  std::string text = number(value, want.elem);
  if (want.shape.empty())
    return {std::string(elemName(want.elem)) + "(" + text + ")", {value, 0, true}};
  if (value == 0)
    return {"zeros(" + want.text() + ")", {0, 0, true}};
  return {"full(" + want.text() + ", " + text + ")", {value, 0, true}};
}

std::optional<Term> Maker::attempt(const Type &want, int depth) {
  std::span<const Form> tables[] = {elementwiseForms(), moveForms(), foldForms(), productForms(),
                                    orderForms()};
  int total = 0;
  for (auto table : tables)
    for (const Form &form : table)
      total += form.weight;
  int pick = static_cast<int>(below(static_cast<size_t>(total)));
  for (auto table : tables)
    for (const Form &form : table)
      if ((pick -= form.weight) < 0)
        return form.make(*this, want, depth);
  return std::nullopt;
}

Term Maker::expression(const Type &want, int depth) {
  if (depth <= 0 || chance(12))
    return leaf(want);
  for (int attempts = 0; attempts < 8; ++attempts)
    if (std::optional<Term> term = attempt(want, depth))
      return fitted(std::move(*term), want.elem);
  return leaf(want);
}

Term Maker::condition(int depth) {
  Type scalar{chance(70) ? ElemKind::F32 : ElemKind::I32, {}};
  if (!ints.empty() && chance(40))
    return {"(" + any(ints) + " % 2 == " + std::to_string(below(2)) + ")", {1, 0, true}};
  Term term = expression(scalar, depth);
  for (int attempts = 0; attempts < 4 && !term.bound.exact; ++attempts)
    term = expression(scalar, depth - 1);
  if (!term.bound.exact)
    return {"true", {1, 0, true}};
  const char *zero = scalar.elem == ElemKind::F32 ? "0.0" : "0";
  return {"(" + term.text + (chance(50) ? " > " : " <= ") + zero + ")", {1, 0, true}};
}

std::string Maker::smallInt() {
  return !ints.empty() && chance(60) ? any(ints) : std::to_string(below(3));
}

Variable Maker::named(const Type &type, int depth) {
  Term term = expression(type, depth);
  Variable made{fresh("v"), type, term.bound, false};
  line("let " + made.name + " = " + term.text);
  variables.push_back(made);
  return made;
}

void Maker::block(const std::string &head, const std::function<void()> &inside) {
  line(head + " {");
  std::string outer = indent;
  indent += "    ";
  size_t names = variables.size(), lengths = axes.size(), numbers = ints.size();
  inside();
  variables.resize(names);
  axes.resize(lengths);
  ints.resize(numbers);
  indent = outer;
  line("}");
}

} // namespace ptl::differential
