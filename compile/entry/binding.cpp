#include "compile/entry/binding.h"

#include "compile/entry/reach.h"
#include "frontend/base/given_value.h"
#include "frontend/sema/example_names.h"

#include <algorithm>

namespace ptl {

static bool isBlock(DeclKind kind) {
  return kind == DeclKind::Test || kind == DeclKind::Property || kind == DeclKind::Bench;
}

std::string describeCaller(const CallableDecl &decl) {
  switch (decl.kind) {
  case DeclKind::Bench:
    return "bench \"" + decl.name + "\"";
  case DeclKind::Test:
    return "test \"" + decl.name + "\"";
  case DeclKind::Property:
    return "property \"" + decl.name + "\"";
  default:
    return "the call in `" + decl.name + "`";
  }
}

std::string elementProblem(const TypeParam &param, const std::string &name) {
  std::optional<ElemKind> kind = elemKindByName(name);
  if (kind && satisfies(*kind, param.constraint))
    return {};
  return "`" + name + "` is not an element type for `" + param.name + ": " +
         std::string(constraintName(param.constraint)) + "`";
}

ElemKind usualElement(const TypeParam &param) {
  for (ElemKind kind : {ElemKind::F32, ElemKind::I32, ElemKind::Bool})
    // These three between them satisfy every constraint.
    if (satisfies(kind, param.constraint))
      return kind;
  return ElemKind::F32;
}

std::vector<CallSite> callsOf(const CheckedProgram &program, const CallableDecl &callee) {
  // The first calls decide, and benches have the sizes that matter most.
  auto rank = [](DeclKind kind) { return kind == DeclKind::Bench ? 0 : isBlock(kind) ? 1 : 2; };
  std::vector<CallSite> calls;
  for (const CallableDecl *decl : program.modules.front()->callables)
    forEachExprOf(*decl, [&](const Expr &expr) {
      if (expr.kind == ExprKind::Call && cast<CallExpr>(expr).callee == &callee)
        calls.push_back({decl, cast<CallExpr>(&expr)});
    });
  std::stable_sort(calls.begin(), calls.end(), [&](const CallSite &a, const CallSite &b) {
    return rank(a.caller->kind) < rank(b.caller->kind);
  });
  return calls;
}

namespace {

/// For `static` dimensions that neither the request nor a call gives a value.
constexpr int64_t kStaticDefault = 128;

using Call = CallSite;

std::optional<int64_t> numberOf(const std::string &text) {
  std::optional<int64_t> value = givenNumber(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// Chooses the values of one declaration.
class Binder {
public:
  Binder(const CallableDecl &decl, const Wanted &wanted, std::vector<Call> calls)
      : decl_(decl), wanted_(wanted), calls_(std::move(calls)) {
    entry_.binding.decl = &decl;
    entry_.name = decl.name;
  }

  /// Empty when all is well, else what does not fit.
  std::string bind();
  BoundEntry take() { return std::move(entry_); }

private:
  void chose(const char *kind, const std::string &name, const std::string &value, std::string why) {
    entry_.choices.push_back({kind, name, value, std::move(why)});
  }
  const std::string *asked(const std::string &name) const {
    auto found = wanted_.find(name);
    return found == wanted_.end() ? nullptr : &found->second;
  }
  void bindType(size_t number);
  void bindDim(size_t number);
  void bindPrefix();
  void bindTunable(const Tunable &tunable);

  const CallableDecl &decl_;
  const Wanted &wanted_;
  std::vector<Call> calls_;
  BoundEntry entry_;
  std::string problem_;
};

void Binder::bindType(size_t number) {
  const TypeParam &param = *decl_.typeParams[number];
  auto choose = [&](ElemKind kind, std::string why) {
    entry_.binding.elems.push_back(kind);
    chose("type", param.name, std::string(elemName(kind)), std::move(why));
  };
  if (const std::string *text = asked(param.name)) {
    if (std::string wrong = elementProblem(param, *text); !wrong.empty())
      problem_ = wrong;
    // The choice goes on with some element type, because callers expect one for each parameter.
    return choose(elemKindByName(*text).value_or(ElemKind::F32), "asked for");
  }
  for (const Call &call : calls_)
    // A call in generic code may only pass on a type parameter, which says nothing.
    if (number < call.expr->elemArgs.size() && !call.expr->elemArgs[number].param)
      return choose(call.expr->elemArgs[number].kind, describeCaller(*call.caller));
  choose(usualElement(param), "default");
}

void Binder::bindDim(size_t number) {
  const DimParam &dim = decl_.dims[number];
  const char *kind = dim.isStatic ? "static" : "dimension";
  auto choose = [&](int64_t value, std::string why) {
    entry_.binding.statics[dim.name] = value;
    chose(kind, dim.name, std::to_string(value), std::move(why));
  };
  if (const std::string *text = asked(dim.name)) {
    std::optional<int64_t> value = ptl::numberOf(*text);
    if (!value)
      problem_ = "`" + *text + "` is not a length for `" + dim.name + "`";
    return choose(value.value_or(0), "asked for");
  }
  // A dimension that is not static is known when running, so only a request binds it.
  if (!dim.isStatic)
    return;
  for (const Call &call : calls_)
    if (number < call.expr->dimArgs.size() && call.expr->dimArgs[number])
      // A caller's own dimension is no constant.
      if (auto value = call.expr->dimArgs[number].constant())
        return choose(*value, describeCaller(*call.caller));
  choose(kStaticDefault, "default");
}

void Binder::bindPrefix() {
  if (!decl_.hasPrefix)
    return;
  auto choose = [&](int64_t rank, std::string why) {
    entry_.binding.prefixRank = static_cast<uint32_t>(rank);
    chose("leading", "..", std::to_string(rank), std::move(why));
  };
  if (const std::string *text = asked("..")) {
    std::optional<int64_t> rank = ptl::numberOf(*text);
    if (!rank || *rank > 8)
      // More than eight leading axes are a mistake.
      problem_ = "`" + *text + "` is not a number of leading axes";
    return choose(std::min<int64_t>(rank.value_or(1), 8), "asked for");
  }
  for (const Call &call : calls_)
    if (!call.expr->prefixHasPrefix)
      return choose(static_cast<int64_t>(call.expr->prefixArgs.size()),
                    describeCaller(*call.caller));
  // One leading axis is the simplest case that shows the prefix at all.
  choose(1, "default");
}

void Binder::bindTunable(const Tunable &tunable) {
  const std::string &name = tunable.local->name;
  if (const std::string *text = asked(name)) {
    std::optional<int64_t> value = ptl::numberOf(*text);
    if (!value)
      problem_ = "`" + *text + "` is not a value for `" + name + "`";
    entry_.binding.tunables[name] = value.value_or(tunable.defaultValue);
    return chose("tunable", name, *text, "asked for");
  }
  chose("tunable", name, std::to_string(tunable.defaultValue),
        "the default, unless a schedule sets it");
}

std::string Binder::bind() {
  for (size_t i = 0; i < decl_.typeParams.size(); ++i)
    bindType(i);
  for (size_t i = 0; i < decl_.dims.size(); ++i)
    bindDim(i);
  bindPrefix();
  for (const Tunable &tunable : decl_.tunables)
    bindTunable(tunable);
  for (const auto &[name, value] : wanted_)
    if (std::none_of(entry_.choices.begin(), entry_.choices.end(),
                     [&name = name](const Choice &each) { return each.name == name; }) &&
        !isExampleName(decl_, name)) // examples only concern times
      problem_ = "`" + decl_.name + "` has no `" + name + "` to bind";
  return problem_;
}

/// Why a declaration cannot be a function of its own; empty if it can.
std::string signatureProblem(const CallableDecl &decl) {
  // Only arrays and scalars cross the boundary of a compiled function.
  auto fits = [](const Type &type) { return type.isArray() || type.isScalar(); };
  for (const Local *param : decl.params)
    if (!fits(*param->type))
      return "`" + param->name + "` is neither an array nor a scalar; look at a caller of `" +
             decl.name + "`";
  if (decl.kind == DeclKind::ExternKernel || !decl.body)
    return "`" + decl.name + "` has no body here";
  // Kernels and programs return their results as outputs, which are arrays or scalars by rule.
  if (decl.kind != DeclKind::Fn)
    return "";
  std::vector<const Type *> results = {decl.returnType};
  if (decl.returnType->kind == TypeKind::Tuple)
    results = decl.returnType->elements;
  for (const Type *type : results)
    if (type->kind != TypeKind::Void && !fits(*type))
      return "a result of `" + decl.name + "` is neither an array nor a scalar; look at a caller";
  return "";
}

/// The callees of a test, each once with the bindings of its first call.
std::vector<Call> calledBy(const CallableDecl &block) {
  std::vector<Call> calls;
  forEachExprOf(block, [&](const Expr &expr) {
    if (expr.kind != ExprKind::Call)
      return;
    const auto *call = cast<CallExpr>(&expr);
    // One callee is compiled once, with the bindings of its first call.
    bool known = std::any_of(calls.begin(), calls.end(),
                             [&](const Call &each) { return each.expr->callee == call->callee; });
    if (!known && signatureProblem(*call->callee).empty())
      calls.push_back({&block, call});
  });
  return calls;
}

} // namespace

Wanted wantedBy(const CallableDecl &decl, const Wanted &wanted) {
  Wanted own;
  for (const auto &[name, value] : wanted) {
    size_t dot = name.find('.');
    // A word without a dot, and `..` whose dot comes first, concern every declaration.
    if (dot == 0 || dot == name.npos)
      // A value for this declaration wins, whatever the order, so a general one never overwrites
      // it.
      own.try_emplace(name, value);
    else if (name.substr(0, dot) == decl.name)
      own[name.substr(dot + 1)] = value;
  }
  return own;
}

std::vector<BoundEntry> bindEntries(const CheckedProgram &program, const CallableDecl &decl,
                                    const Wanted &wanted, std::string &problem) {
  std::vector<BoundEntry> entries;
  auto add = [&](const CallableDecl &each, const Wanted &values, std::vector<Call> calls) {
    Binder binder(each, values, std::move(calls));
    problem = binder.bind();
    entries.push_back(binder.take());
    return problem.empty();
  };
  if (!isBlock(decl.kind)) {
    problem = signatureProblem(decl);
    if (!problem.empty() || !add(decl, wantedBy(decl, wanted), callsOf(program, decl)))
      entries.clear();
    return entries;
  }
  for (const Call &call : calledBy(decl)) {
    // The block's own call comes first; others fill in what it leaves open.
    std::vector<Call> calls = {call};
    for (const Call &other : callsOf(program, *call.expr->callee))
      calls.push_back(other);
    // Requests are for a declaration and not for those that a test calls.
    if (!add(*call.expr->callee, {}, std::move(calls)))
      return {};
  }
  if (entries.empty())
    problem = describeCaller(decl) + " calls nothing that is compiled";
  return entries;
}

} // namespace ptl
