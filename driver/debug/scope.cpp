// What a call can name where it stands.
#include "codegen/reference/array_ops.h"
#include "common/read_number.h"
#include "driver/debug/values.h"
#include "frontend/sema/walk.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ptl::debug {

using namespace reference;

namespace {

/// The names bound before a place, block by block.
class Visible {
public:
  Visible(Span at, std::vector<const Local *> &names) : at_(at), names_(names) {}

  void block(const Block &block) {
    for (const Stmt *stmt : block.stmts) {
      if (stmt->span.begin >= at_.begin && !covers(stmt->span))
        return;
      if (covers(stmt->span))
        return within(*stmt);
      if (stmt->kind == StmtKind::Let)
        for (const Local *local : cast<LetStmt>(*stmt).locals)
          names_.push_back(local);
    }
    if (block.value)
      expression(*block.value);
  }

private:
  bool covers(Span span) const { return span.begin <= at_.begin && at_.end <= span.end; }

  void within(const Stmt &stmt) {
    forEachPart(
        stmt, [&](const Expr *expr) { expression(*expr); },
        [&](const Block *each) {
          if (!covers(each->span))
            return;
          if (stmt.kind == StmtKind::For)
            names_.push_back(cast<ForStmt>(stmt).head.var);
          if (stmt.kind == StmtKind::Parallel)
            for (const LoopHead &head : cast<ParallelStmt>(stmt).heads)
              names_.push_back(head.var);
          block(*each);
        });
  }

  void expression(const Expr &root) {
    forEachExpr(&root, [&](const Expr *expr) {
      if (expr->kind != ExprKind::If || !covers(expr->span))
        return;
      for (const Block *each : {cast<IfExpr>(expr)->thenBlock, cast<IfExpr>(expr)->elseBlock})
        if (each && covers(each->span))
          block(*each);
    });
  }

  Span at_;
  std::vector<const Local *> &names_;
};

} // namespace

std::vector<Shown> localsOf(const ActiveCall &call) {
  std::vector<const Local *> names(call.decl->params.begin(), call.decl->params.end());
  names.insert(names.end(), call.decl->outputs.begin(), call.decl->outputs.end());
  if (call.decl->body)
    Visible(call.at, names).block(*call.decl->body);
  std::vector<Shown> shown;
  for (const Local *local : names) {
    const Value &value = (*call.locals)[local->index];
    // An `inout` argument is in the callee for the time of the call.
    if (value.isNone())
      continue;
    // An inner name hides an outer one.
    std::erase_if(shown, [&](const Shown &outer) { return outer.name == local->name; });
    shown.push_back({local->name, value, local->type, {}, local->name});
  }
  return shown;
}

std::vector<Shown> dimensionsOf(const ActiveCall &call, const RunView &view) {
  std::vector<Shown> shown;
  auto number = [&](const std::string &name, int64_t value) {
    shown.push_back({name, Value::integer(value), nullptr, {}, name});
  };
  for (const DimParam &dim : call.decl->dims)
    if (auto value = view.valueOf(dim.symbol))
      number(dim.name, *value);
  if (call.decl->hasPrefix) {
    std::string leading = shapeText(*call.prefix);
    shown.push_back({"..", Value::text(leading), nullptr, {}, ""});
  }
  for (const Tunable &tunable : call.decl->tunables) {
    const Value &value = (*call.locals)[tunable.local->index];
    if (!value.isNone())
      shown.push_back({tunable.local->name, value, nullptr, {}, tunable.local->name});
    else if (auto bound =
                 tunable.local->symbol ? view.valueOf(*tunable.local->symbol) : std::nullopt)
      number(tunable.local->name, *bound);
  }
  for (size_t i = 0; i < call.decl->typeParams.size() && i < call.elems->size(); ++i)
    shown.push_back({call.decl->typeParams[i]->name,
                     Value::text(std::string(elemName((*call.elems)[i]))),
                     nullptr,
                     {},
                     ""});
  return shown;
}

// ---- Expressions -------------------------------------------------------------------------------

namespace {

class Evaluator {
public:
  Evaluator(std::string_view text, const ActiveCall &call, const RunView &view)
      : text_(text), call_(call), view_(view) {}

  std::optional<Shown> primary() {
    skip();
    if (at_ < text_.size() &&
        (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-'))
      return number();
    std::optional<Shown> shown = named(word());
    while (shown && at_ < text_.size()) {
      skip();
      if (take('.'))
        shown = field(*shown, word());
      else if (take('['))
        shown = element(*shown);
      else
        break;
    }
    return shown;
  }

  /// `==` and the like; empty at the end.
  std::string comparison() {
    skip();
    size_t end = at_;
    while (end < text_.size() &&
           std::string_view("=!<>").find(text_[end]) != std::string_view::npos)
      ++end;
    std::string op(text_.substr(at_, end - at_));
    at_ = end;
    return op;
  }

  bool isAtEnd() {
    skip();
    return at_ == text_.size();
  }

  std::string problem;

private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }

  bool take(char wanted) {
    bool isThere = at_ < text_.size() && text_[at_] == wanted;
    at_ += isThere;
    return isThere;
  }

  std::string word() {
    size_t end = at_;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      ++end;
    std::string word(text_.substr(at_, end - at_));
    at_ = end;
    return word;
  }

  std::optional<Shown> number() {
    double value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc())
      return fail("a number is expected");
    std::string_view digits(text_.data() + at_, static_cast<size_t>(end - text_.data()) - at_);
    at_ += digits.size();
    bool isWhole = digits.find_first_of(".eE") == digits.npos;
    // A double does not hold all integers.
    std::optional<int64_t> whole = isWhole ? integerIn(digits) : std::nullopt;
    if (isWhole && !whole)
      return fail("`" + std::string(digits) + "` does not fit 64 bits");
    Value made = whole ? Value::integer(*whole) : Value::scalar(ElemKind::F64, Scalar::real(value));
    return Shown{std::string(digits), std::move(made), nullptr, {}, std::string(digits)};
  }

  std::optional<Shown> named(const std::string &name) {
    for (const std::vector<Shown> &all : {localsOf(call_), dimensionsOf(call_, view_)})
      for (const Shown &shown : all)
        if (shown.name == name)
          return shown;
    return fail(name.empty() ? "a name, `x[3, 1]` or `r.start` is expected"
                             : "`" + name + "` has no value here");
  }

  std::optional<Shown> field(const Shown &base, const std::string &name) {
    if (!base.value.isArray())
      for (Shown &part : partsOf(base, 0, namedCount(base)))
        if (part.name == name)
          return std::move(part);
    return fail("`" + base.path + "` has no `" + name + "`");
  }

  std::optional<Shown> element(Shown base) {
    do {
      std::optional<Shown> position = primary();
      if (!position)
        return std::nullopt;
      if (!position->value.isScalar() || isFloat(position->value.elem()))
        return fail("`" + position->path + "` is not a position");
      int64_t at = position->value.asScalar().scalar.i;
      size_t length = indexedCount(base);
      if (at < 0)
        at += static_cast<int64_t>(length);
      if (at < 0 || static_cast<size_t>(at) >= length)
        return fail("`" + position->path + "` is outside of `" + base.path + "`, which has " +
                    std::to_string(length));
      base = partsOf(base, static_cast<size_t>(at), 1)[0];
      skip();
    } while (take(','));
    if (!take(']'))
      return fail("`]` is expected");
    return base;
  }

  std::nullopt_t fail(std::string why) {
    if (problem.empty())
      problem = std::move(why);
    return std::nullopt;
  }

  std::string_view text_;
  const ActiveCall &call_;
  const RunView &view_;
  size_t at_ = 0;
};

std::optional<double> scalarOf(const Shown &shown, std::string &problem) {
  const Value &value = shown.value;
  if (value.isScalar())
    return isFloat(value.elem()) ? value.asScalar().scalar.f
                                 : static_cast<double>(value.asScalar().scalar.i);
  if (value.isArray() && shown.index.size() == value.asArray().shape.size()) {
    const RefArray &array = value.asArray();
    std::vector<int64_t> strides = denseStrides(array.shape);
    int64_t at = 0;
    for (size_t i = 0; i < strides.size(); ++i)
      at += shown.index[i] * strides[i];
    Scalar element = array.at(at);
    return array.isReal() ? element.f : static_cast<double>(element.i);
  }
  problem = "`" + shown.path + "` is not a number";
  return std::nullopt;
}

} // namespace

std::optional<Shown> evaluate(std::string_view text, const ActiveCall &call, const RunView &view,
                              std::string &problem) {
  Evaluator evaluator(text, call, view);
  std::optional<Shown> shown = evaluator.primary();
  if (shown && !evaluator.isAtEnd()) {
    problem =
        "only names and elements or fields of them can be evaluated: `x`, `x[3, 1]`, `r.start`";
    return std::nullopt;
  }
  problem = evaluator.problem;
  return shown;
}

std::optional<bool> holds(std::string_view condition, const ActiveCall &call, const RunView &view,
                          std::string &problem) {
  Evaluator evaluator(condition, call, view);
  std::optional<Shown> left = evaluator.primary();
  std::string op = evaluator.comparison();
  std::optional<Shown> right = left && !op.empty() ? evaluator.primary() : std::nullopt;
  problem = evaluator.problem;
  if (!left || (!op.empty() && !right))
    return std::nullopt;
  std::optional<double> a = scalarOf(*left, problem);
  std::optional<double> b = op.empty() ? 0.0 : scalarOf(*right, problem);
  if (!a || !b)
    return std::nullopt;
  if (op.empty() || op == "!=")
    return *a != *b;
  if (op == "==")
    return *a == *b;
  if (op == "<" || op == "<=")
    return *a < *b || (op == "<=" && *a == *b);
  if (op == ">" || op == ">=")
    return *a > *b || (op == ">=" && *a == *b);
  problem = "`" + op + "` is not a comparison";
  return std::nullopt;
}

} // namespace ptl::debug
