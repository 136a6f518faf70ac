// Functions of whole arrays, and programs that call kernels.
#include "tests/differential/generate/callables.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ptl::differential {

namespace {

std::string listOf(const std::vector<std::string> &words, const char *open, const char *close) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? open : ", ") + word;
  return words.empty() ? "" : text + close;
}

/// Dimensions and constants that the arrays of a callable have.
std::vector<Axis> someAxes(Maker &m, std::vector<std::string> &dims,
                           std::vector<std::string> &wheres) {
  static constexpr std::array<const char *, 3> names = {"R", "C", "D"};
  static constexpr std::array<int64_t, 6> constants = {2, 5, 8, 16, 33, 40};
  std::vector<Axis> axes;
  for (const char *name : names) {
    if (m.chance(40)) {
      axes.push_back(constantAxis(m.any(constants)));
      continue;
    }
    dims.push_back(name);
    if (m.chance(90))
      wheres.push_back(std::string(name) + " >= 1");
    axes.push_back(dimAxis(name, kMostExtent));
  }
  return axes;
}

void addParams(Maker &m, Signature &signature, const std::vector<Axis> &axes) {
  static constexpr std::array<ElemKind, 10> kinds = {
      ElemKind::F32, ElemKind::F32, ElemKind::F32, ElemKind::F16, ElemKind::BF16,
      ElemKind::I32, ElemKind::I32, ElemKind::I8,  ElemKind::I16, ElemKind::I64};
  for (size_t i = 0, count = 2 + m.below(3); i < count; ++i) {
    Type type{i == 0 ? ElemKind::F32 : m.any(kinds), {}};
    size_t rank = 1 + m.below(2) + (m.chance(15) ? 1 : 0);
    for (size_t axis = 0; axis < rank; ++axis)
      type.shape.push_back(i == 0 ? axes[axis] : m.any(axes));
    int64_t known = 1; // elements: what is too large for a call is none
    for (const Axis &axis : type.shape)
      known *= axis.constant.value_or(1);
    if (known > 30'000)
      type.shape.pop_back();
    signature.params.push_back({"x" + std::to_string(i), type, false});
    m.variables.push_back({signature.params.back().name, type, kArgument, false});
    if (isFloat(type.elem) || elemBits(type.elem) >= 16)
      m.elems.push_back(type.elem);
  }
  // All dimensions have an argument that they come from.
  Type all{ElemKind::F32, {}};
  for (const Axis &axis : axes)
    if (!axis.constant)
      all.shape.push_back(axis);
  if (!all.shape.empty()) {
    signature.params.push_back({"w", all, false});
    m.variables.push_back({"w", all, kArgument, false});
  }
}

std::string paramsText(const Signature &signature) {
  std::vector<std::string> words;
  for (const Signature::Array &param : signature.params)
    words.push_back(param.name + ": " + (param.isInout ? "inout " : "") + param.type.text());
  return "(" + listOf(words, "", "") + ")";
}

std::string wheresText(const std::vector<std::string> &wheres) {
  return wheres.empty() ? "\n" : "\n" + listOf(wheres, "where ", "\n");
}

Maker makerOfTensors(uint64_t seed) {
  Maker m(seed);
  m.isTile = false;
  m.hasOrders = m.chance(50);
  m.mayRound = m.chance(30);
  m.indent = "    ";
  return m;
}

/// The dimensions of a kernel by those of the program, when its arrays can be had.
class CallMaker {
public:
  /// `changing`: the variables of the program that calls change.
  CallMaker(Maker &m, const Signature &kernel, std::vector<Variable> &changing)
      : m_(m), kernel_(kernel), changing_(changing) {}
  bool make();

private:
  Axis here(const Axis &axis) const;
  Type here(const Type &type) const;
  const Variable *sharedOf(const Type &type) const;

  Maker &m_;
  const Signature &kernel_;
  std::vector<Variable> &changing_;
  std::vector<std::pair<std::string, Axis>> bound_;
};

Axis CallMaker::here(const Axis &axis) const {
  for (const auto &[name, value] : bound_)
    if (name == axis.name)
      return value;
  return axis;
}

Type CallMaker::here(const Type &type) const {
  Type result = type;
  for (Axis &axis : result.shape)
    axis = here(axis);
  return result;
}

/// A whole array of the program, as kernels before and after may take it, too.
const Variable *CallMaker::sharedOf(const Type &type) const {
  std::vector<const Variable *> fitting;
  for (const Variable &variable : m_.variables)
    if (variable.type == type && variable.bound.exact && variable.bound.bits == 0 &&
        variable.bound.most <= kArgument.most &&
        std::all_of(variable.name.begin(), variable.name.end(),
                    [](unsigned char c) { return std::isalnum(c); }))
      fitting.push_back(&variable);
  return fitting.empty() || m_.chance(40) ? nullptr : m_.any(fitting);
}

bool CallMaker::make() {
  for (const Axis &dim : kernel_.dims) {
    // Only lengths within the kernel's limits.
    std::vector<Axis> fitting;
    for (const Axis &axis : m_.axes)
      if (axis.constant && *axis.constant <= dim.most && *axis.constant >= 1)
        fitting.push_back(axis);
      else if (!axis.constant && axis.most <= dim.most)
        fitting.push_back(axis);
    if (fitting.empty())
      fitting.push_back(constantAxis(std::min<int64_t>(dim.most, 9)));
    bound_.push_back({dim.name, m_.any(fitting)});
  }
  std::vector<std::string> words;
  for (const Signature::Array &param : kernel_.params) {
    Type type = here(param.type);
    if (param.name == "ids") {
      std::string positions = "index(" + type.shape[0].range + ") * 3 % 8";
      words.push_back(type.elem == ElemKind::I32
                          ? positions
                          : std::string(elemName(type.elem)) + "(" + positions + ")");
      continue;
    }
    Term value = m_.within(m_.expression(type, 2), type.elem, 3, 0);
    if (param.name == "at") {
      words.push_back("(index(" + type.shape[0].range + ") * 3 % 8)[:, new] + zeros(" +
                      type.text() + ")");
      continue;
    }
    if (param.name == "slot") {
      words.push_back(type.shape[0].length + " - 1 - index(" + type.shape[0].range + ")");
      continue;
    }
    if (param.name == "number") {
      words.push_back("inout " + m_.fresh("c"));
      m_.line("var " + words.back().substr(6) + " = full(" + type.text() + ", 2)");
      continue;
    }
    if (!param.isInout) {
      const Variable *shared = sharedOf(type);
      words.push_back(shared ? shared->name : value.text);
      continue;
    }
    auto again = std::find_if(changing_.begin(), changing_.end(), [&](const Variable &each) {
      return each.type == type &&
             std::find(words.begin(), words.end(), "inout " + each.name) == words.end();
    });
    if (again != changing_.end() && m_.chance(60)) { // by several calls
      words.push_back("inout " + again->name);
      continue;
    }
    std::string name = m_.fresh("c");
    m_.line("var " + name + " = " + value.text);
    changing_.push_back({name, type, {8, 8, false}, false});
    m_.variables.push_back({"clamp(" + name + ", -8.0, 8.0)", type, {8, 8, false}, false});
    words.push_back("inout " + name);
  }
  std::vector<std::string> names;
  std::vector<Variable> results;
  for (const Signature::Array &output : kernel_.outputs) {
    names.push_back(m_.fresh("t"));
    Variable result{names.back(), here(output.type), output.bound.value_or(Bound{8, 8, false}),
                    false};
    if (!output.bound)
      result.name = "clamp(" + names.back() + ", -8.0, 8.0)";
    if (isFloat(output.type.elem))
      results.push_back(result);
  }
  std::string call = kernel_.name + "(" + listOf(words, "", "") + ")";
  if (names.size() == 1)
    m_.line("let " + names[0] + " = " + call);
  else
    m_.line("let (" + listOf(names, "", "") + ") = " + call);
  for (Variable &result : results)
    m_.variables.push_back(std::move(result));
  return true;
}

} // namespace

/// One of the axes that are dimensions, if there are any.
static std::vector<Axis> someDimension(Maker &m) {
  for (const Axis &axis : m.axes)
    if (!axis.constant)
      return {axis};
  return {};
}

/// The name and the parameters of something on some axes, with what stands for these axes in its header.
static Signature signatureOnAxes(Maker &m, const std::string &name, std::vector<std::string> &dims,
                                 std::vector<std::string> &wheres) {
  Signature signature;
  signature.name = name;
  m.axes = someAxes(m, dims, wheres);
  addParams(m, signature, m.axes);
  if (m.chance(30)) // lengths that no argument has
    for (const Axis &axis : someDimension(m))
      m.axes.push_back(productAxis(constantAxis(2 + static_cast<int64_t>(m.below(2))), axis));
  return signature;
}

Signature randomFunction(const std::string &name, uint64_t seed) {
  Maker m = makerOfTensors(seed);
  std::vector<std::string> dims, wheres;
  Signature signature = signatureOnAxes(m, name, dims, wheres);
  m.depth = m.chance(50) ? 3 : 2;
  m.statements(static_cast<int>(m.below(m.depth == 3 ? 6 : 3)), m.depth);
  Type type = m.chance(70) ? m.any(m.variables).type : Type{ElemKind::F32, {m.axes[0], m.axes[1]}};
  Term result = m.expression(type, m.depth);
  m.line("return " + result.text);
  signature.text = "fn " + name + listOf(dims, "[", "]") + paramsText(signature) + " -> " +
                   type.text() + wheresText(wheres) + "{\n" + m.body + "}\n";
  return signature;
}

Signature randomOrchestration(const std::string &name, uint64_t seed,
                              const std::vector<Signature> &kernels) {
  Maker m = makerOfTensors(seed);
  std::vector<std::string> dims, wheres;
  Signature signature = signatureOnAxes(m, name, dims, wheres);
  std::vector<Variable> changing;
  for (size_t i = 0, count = 1 + m.below(3); i < count; ++i) {
    if (m.chance(50))
      m.statement(2);
    if (kernels.empty())
      continue;
    if (m.chance(80)) {
      CallMaker(m, m.any(kernels), changing).make();
      continue;
    }
    size_t names = m.variables.size();
    m.block("task " + m.fresh("part"), [&] { m.statements(2, 2); });
    m.variables.resize(std::min(names, m.variables.size()));
  }
  m.statements(static_cast<int>(m.below(3)), 2);
  for (size_t n = 0; n < 1 + m.below(2); ++n) {
    Type type = m.any(m.variables).type;
    std::string output = "y" + std::to_string(n);
    signature.outputs.push_back({output, type, false});
    Term value = m.expression(type, 2);
    m.line(output + " = " + value.text);
  }
  std::vector<std::string> outputs;
  for (const Signature::Array &output : signature.outputs)
    outputs.push_back(output.name + ": " + output.type.text());
  signature.text = "program " + name + listOf(dims, "[", "]") + paramsText(signature) + " -> (" +
                   listOf(outputs, "", "") + ")" + wheresText(wheres) + "{\n" + m.body + "}\n";
  return signature;
}

static std::string drawnSource(std::mt19937_64 &random) {
  size_t kind = random() % 10;
  if (kind < 6)
    return randomKernel("entry", random()).text;
  if (kind < 8)
    return randomFunction("entry", random()).text;
  std::vector<Signature> kernels;
  std::string text;
  for (size_t i = 0; i < 1 + random() % 2; ++i) {
    kernels.push_back(randomKernel("part" + std::to_string(i), random()));
    text += kernels.back().text + "\n";
  }
  return text + randomOrchestration("entry", random(), kernels).text;
}

std::string randomSource(uint64_t seed) {
  // Long ones take most of the time and show little more: few of them stay.
  static constexpr size_t kLong = 1500;
  std::mt19937_64 random(seed);
  std::string text = drawnSource(random);
  for (int attempt = 0; attempt < 3 && text.size() > kLong && random() % 8 != 0; ++attempt)
    text = drawnSource(random);
  return declarationsFor(text) + text;
}

} // namespace ptl::differential
