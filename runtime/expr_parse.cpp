
#include "runtime/expr_parse.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace ptl::rt {
namespace {

using Op = Expr::Op;
using Json = nlohmann::json;

constexpr int kDeepestExpr = 200;
constexpr int kAnyCount = std::numeric_limits<int>::max();

struct OpRow {
  const char *name;
  Op op;
  int fewest;
  int most;
};

constexpr OpRow opRows[] = {
    {"add", Op::Add, 1, kAnyCount},
    {"sub", Op::Sub, 2, 2},
    {"mul", Op::Mul, 1, kAnyCount},
    {"floordiv", Op::FloorDiv, 2, 2},
    {"truncdiv", Op::TruncDiv, 2, 2},
    {"ceildiv", Op::CeilDiv, 2, 2},
    {"exactdiv", Op::ExactDiv, 2, 2},
    {"mod", Op::Mod, 2, 2},
    {"rem", Op::Rem, 2, 2},
    {"min", Op::Min, 1, kAnyCount},
    {"max", Op::Max, 1, kAnyCount},
    {"neg", Op::Neg, 1, 1},
    {"eq", Op::Eq, 2, 2},
    {"ne", Op::Ne, 2, 2},
    {"lt", Op::Lt, 2, 2},
    {"le", Op::Le, 2, 2},
    {"gt", Op::Gt, 2, 2},
    {"ge", Op::Ge, 2, 2},
    {"and", Op::And, 1, kAnyCount},
    {"or", Op::Or, 1, kAnyCount},
    {"not", Op::Not, 1, 1},
};

class Reader {
public:
  Reader(const ExprNames &names, std::string &problem) : names_(names), problem_(problem) {}

  std::optional<Expr> read(const Json &json, int depth = 0) {
    if (depth > kDeepestExpr)
      return fail("an expression is nested too deeply");
    if (json.is_number_integer())
      return constant(json);
    if (json.is_string())
      return symbol(json.get_ref<const std::string &>());
    if (!json.is_object() || json.size() != 1)
      return fail("an expression is neither a number, a name, nor an object with one operator");
    const std::string &key = json.begin().key();
    const Json &value = json.begin().value();
    if (key == "const")
      return value.is_number_integer() ? constant(value) : fail("`const` wants an integer");
    if (key == "float")
      return floating(value);
    if (key == "sym")
      return value.is_string() ? symbol(value.get_ref<const std::string &>())
                               : fail("`sym` wants a name");
    if (key == "elem")
      return element(value);
    if (key == "all" || key == "unique" || key == "sorted")
      return dataFact(key, value, depth);
    for (const OpRow &row : opRows)
      if (key == row.name)
        return operation(row, value, depth);
    return fail("unknown operator `" + key + "`");
  }

private:
  std::nullopt_t fail(std::string problem) {
    problem_ = std::move(problem);
    return std::nullopt;
  }

  std::optional<Expr> constant(const Json &json) {
    if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX))
      return fail("a constant does not fit 64 bits");
    Expr expr;
    expr.constant = json.get<int64_t>();
    return expr;
  }

  // JSON has no spelling for infinities and NaN, so these come as text.
  std::optional<Expr> floating(const Json &json) {
    Expr expr;
    expr.op = Op::Float;
    if (json.is_number())
      expr.floating = json.get<double>();
    else if (json == "inf")
      expr.floating = std::numeric_limits<double>::infinity();
    else if (json == "-inf")
      expr.floating = -std::numeric_limits<double>::infinity();
    else if (json == "nan")
      expr.floating = std::numeric_limits<double>::quiet_NaN();
    else
      return fail("`float` wants a number");
    return expr;
  }

  std::optional<Expr> symbol(const std::string &name) {
    Expr expr;
    expr.op = Op::Dim;
    expr.index = names_.dim(name);
    if (expr.index < 0) {
      expr.op = Op::Scalar;
      expr.index = names_.scalar(name);
    }
    if (expr.index < 0)
      return fail("`" + name + "` names neither a dimension nor a scalar parameter");
    return expr;
  }

  std::optional<Expr> array(Op op, const Json &name) {
    Expr expr;
    expr.op = op;
    expr.index = name.is_string() ? names_.array(name.get<std::string>()) : -1;
    if (expr.index < 0)
      return fail("an expression about data does not name an array parameter");
    return expr;
  }

  // The element that stands for an array is the one that the fact around it visits.
  std::optional<Expr> element(const Json &name) {
    std::optional<Expr> expr = array(Op::Elem, name);
    if (expr && expr->index != visited_)
      return fail("`elem` stands outside an `all` over its array");
    return expr;
  }

  std::optional<Expr> dataFact(const std::string &key, const Json &value, int depth) {
    if (key != "all")
      return array(key == "unique" ? Op::Unique : Op::Sorted, value);
    if (!value.is_object() || !value.contains("array") || !value.contains("holds"))
      return fail("`all` wants an `array` and what `holds`");
    std::optional<Expr> fact = array(Op::All, value["array"]);
    if (!fact || visited_ >= 0)
      return fail("an `all` names no array, or stands inside another");
    // Within the condition `elem` stands for an element of this array; a second `all` inside would
    // need another name.
    visited_ = fact->index;
    std::optional<Expr> holds = read(value["holds"], depth + 1);
    visited_ = -1;
    if (!holds)
      return std::nullopt;
    fact->args.push_back(std::move(*holds));
    return fact;
  }

  std::optional<Expr> operation(const OpRow &row, const Json &operands, int depth) {
    Expr expr;
    expr.op = row.op;
    // A lone operand may stand without brackets.
    if (!operands.is_array()) {
      std::optional<Expr> operand = read(operands, depth + 1);
      if (!operand)
        return std::nullopt;
      expr.args.push_back(std::move(*operand));
    } else {
      for (const Json &json : operands) {
        std::optional<Expr> operand = read(json, depth + 1);
        if (!operand)
          return std::nullopt;
        expr.args.push_back(std::move(*operand));
      }
    }
    int count = static_cast<int>(expr.args.size());
    if (count < row.fewest || count > row.most)
      return fail(std::string("wrong number of operands of `") + row.name + "`");
    return expr;
  }

  const ExprNames &names_;
  std::string &problem_;
  int visited_ = -1; // the array of the `all` around
};

} // namespace

std::optional<Expr> parseExpr(const Json &json, const ExprNames &names, std::string &problem) {
  return Reader(names, problem).read(json);
}

} // namespace ptl::rt
