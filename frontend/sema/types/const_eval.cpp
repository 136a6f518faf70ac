// Constant expressions: exact, over literals and `const`s.
#include "frontend/sema/types/const_eval.h"

#include "frontend/lex/literal.h"
#include "frontend/sema/declarations/declare_module.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

using MaybeConst = std::optional<ConstValue>;

/// Callers may ask about an expression and then about its parts: each mistake is reported once.
static void reportConst(Context &ctx, DiagId id, NodeId node) {
  if (ctx.reportedConsts.insert(node).second)
    ctx.sink.report(id, ctx.span(node));
}

static ConstValue numberConst(Rational number, bool isFloat) {
  ConstValue value;
  value.isFloat = isFloat || !number.isInteger();
  value.number = std::move(number);
  return value;
}

static ConstValue boolConst(bool boolean) {
  ConstValue value;
  value.kind = ConstKind::Bool;
  value.boolean = boolean;
  return value;
}

static ConstValue specialConst(ConstKind kind) {
  ConstValue value;
  value.kind = kind;
  value.isFloat = true;
  return value;
}

static MaybeConst evalLiteral(Context &ctx, NodeId node) {
  std::string_view text = ctx.tree.mainText(node);
  TokenKind token = ctx.tree.mainKind(node);
  switch (ctx.tree.kind(node)) {
  case NodeKind::BoolLiteral:
    return boolConst(token == TokenKind::True);
  // A size literal is a number of bytes.
  case NodeKind::SizeLiteral:
    if (auto bytes = sizeLiteralValue(text))
      return numberConst(Rational(false, Natural(*bytes), Natural(1)), false);
    return std::nullopt;
  default:
    break;
  }
  if (token == TokenKind::Inf)
    return specialConst(ConstKind::PlusInf);
  if (token == TokenKind::Nan)
    return specialConst(ConstKind::Nan);
  if (ctx.tree.token(ctx.tree.node(node).mainToken).malformed)
    return std::nullopt; // the lexer has said so
  if (auto number = Rational::parse(text))
    return numberConst(std::move(*number), token == TokenKind::FloatLiteral);
  reportConst(ctx, DiagId::ConstantTooLarge, node);
  return std::nullopt;
}

static MaybeConst evalUnary(Context &ctx, NodeId node) {
  MaybeConst value = evalConst(ctx, UnaryExprView(ctx.tree, node).operand());
  if (!value)
    return value;
  TokenKind op = ctx.tree.mainKind(node);
  if (op == TokenKind::Not && value->kind == ConstKind::Bool) {
    value->boolean = !value->boolean;
    return value;
  }
  if (op != TokenKind::Minus)
    return std::nullopt;
  switch (value->kind) {
  case ConstKind::Number:
    // A rational number has no sign at zero, so this is a value of its own.
    if (value->number.isZero() && value->isFloat) {
      value->kind = ConstKind::NegativeZero;
      return value;
    }
    value->number = -value->number;
    return value;
  case ConstKind::PlusInf:
    value->kind = ConstKind::MinusInf;
    return value;
  case ConstKind::MinusInf:
    value->kind = ConstKind::PlusInf;
    return value;
  case ConstKind::Nan:
    return value;
  // The negation of `-0.0` is an ordinary zero.
  case ConstKind::NegativeZero:
    value->kind = ConstKind::Number;
    return value;
  case ConstKind::Bool:
    return std::nullopt;
  }
  return std::nullopt;
}

static MaybeConst evalPower(Context &ctx, NodeId node, const Rational &base,
                            const Rational &exponent, bool isFloat) {
  auto count = exponent.toInt64();
  if (!count)
    return std::nullopt; // a root, which is no constant expression
  if (base.isZero() && *count < 0) {
    reportConst(ctx, DiagId::ConstantDivisionByZero, node);
    return std::nullopt;
  }
  // The limit ends the loop below for bases such as 1, whose powers never become huge.
  constexpr int64_t largest = 4096;
  Rational result(1);
  for (int64_t i = 0; i < std::abs(*count); ++i) {
    result = result * base;
    if (i > largest || result.isHuge()) {
      reportConst(ctx, DiagId::ConstantTooLarge, node);
      return std::nullopt;
    }
  }
  return numberConst(*count < 0 ? Rational(1) / result : result, isFloat);
}

static MaybeConst compare(TokenKind op, int order) {
  switch (op) {
  case TokenKind::EqualEqual:
    return boolConst(order == 0);
  case TokenKind::NotEqual:
    return boolConst(order != 0);
  case TokenKind::Less:
    return boolConst(order < 0);
  case TokenKind::LessEqual:
    return boolConst(order <= 0);
  case TokenKind::Greater:
    return boolConst(order > 0);
  case TokenKind::GreaterEqual:
    return boolConst(order >= 0);
  default:
    return std::nullopt;
  }
}

/// Both sides are of one type when a `const` gave it; the type stays with the result.
static std::optional<ElemKind> commonType(const ConstValue &a, const ConstValue &b) {
  return a.type ? a.type : b.type;
}

static MaybeConst evalArithmetic(Context &ctx, NodeId node, TokenKind op, const ConstValue &a,
                                 const ConstValue &b) {
  bool isFloat = a.isFloat || b.isFloat;
  auto type = commonType(a, b);
  // Values are exact fractions, which are rounded only when they get a type.
  const Rational &x = a.number, &y = b.number;
  MaybeConst result;
  switch (op) {
  case TokenKind::Plus:
    result = numberConst(x + y, isFloat);
    break;
  case TokenKind::Minus:
    result = numberConst(x - y, isFloat);
    break;
  case TokenKind::Star:
    result = numberConst(x * y, isFloat);
    break;
  case TokenKind::StarStar:
    result = evalPower(ctx, node, x, y, isFloat);
    break;
  case TokenKind::Slash:
  case TokenKind::Percent:
    if (y.isZero()) {
      reportConst(ctx, DiagId::ConstantDivisionByZero, node);
      return std::nullopt;
    }
    // A typed integer divides as its type does; an untyped one is a fraction.
    if (op == TokenKind::Percent)
      // The remainder takes the sign of the divisor, as for `int`.
      result = numberConst(x - y * (x / y).floor(), isFloat);
    else if (type && isInteger(*type))
      result = numberConst((x / y).floor(), false);
    else
      result = numberConst(x / y, isFloat);
    break;
  case TokenKind::ShiftLeft:
    // A shift beyond 64 bits fits no integer type.
    if (auto bits = y.toInt64(); bits && *bits >= 0 && *bits < 64 && x.isInteger())
      result = numberConst(x * Rational(false, Natural(1).shiftLeft(*bits), Natural(1)), false);
    break;
  default:
    break;
  }
  // Numbers without bound would take time and memory that the source does not show.
  if (result && result->isNumber() && result->number.isHuge()) {
    reportConst(ctx, DiagId::ConstantTooLarge, node);
    return std::nullopt;
  }
  if (result)
    result->type = type;
  return result;
}

static MaybeConst evalBinary(Context &ctx, NodeId node) {
  BinaryExprView binary(ctx.tree, node);
  TokenKind op = ctx.tree.mainKind(node);
  // `@` multiplies matrices.
  if (op == TokenKind::At)
    return std::nullopt;
  MaybeConst a = evalConst(ctx, binary.lhs());
  if (!a)
    return a;
  MaybeConst b = evalConst(ctx, binary.rhs());
  if (!b)
    return b;
  if (a->type && b->type && *a->type != *b->type)
    return std::nullopt; // as an expression it gets the message
  if (a->kind == ConstKind::Bool && b->kind == ConstKind::Bool) {
    switch (op) {
    case TokenKind::And:
      return boolConst(a->boolean && b->boolean);
    case TokenKind::Or:
      return boolConst(a->boolean || b->boolean);
    default:
      return compare(op, int(a->boolean) - int(b->boolean));
    }
  }
  // Infinities and NaN take part in no arithmetic here.
  if (!a->isNumber() || !b->isNumber())
    return std::nullopt;
  if (MaybeConst result = compare(op, a->number.compare(b->number)))
    return result;
  return evalArithmetic(ctx, node, op, *a, *b);
}

static MaybeConst constOf(Context &ctx, const ConstDecl *decl) {
  if (!decl || !completeConst(ctx.state, *decl))
    return std::nullopt;
  // The value is there, because completing it has succeeded.
  auto found = ctx.state.constValues.find(decl);
  return found->second;
}

static MaybeConst constOfLocal(Context &ctx, const Local *local) {
  auto found = ctx.localConsts.find(local);
  return found == ctx.localConsts.end() ? std::nullopt : MaybeConst(found->second);
}

std::optional<ConstValue> evalConst(Context &ctx, NodeId node) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::IntLiteral:
  case NodeKind::SizeLiteral:
  case NodeKind::FloatLiteral:
  case NodeKind::BoolLiteral:
    return evalLiteral(ctx, node);
  case NodeKind::ParenExpr:
    return evalConst(ctx, ParenExprView(ctx.tree, node).inner());
  case NodeKind::UnaryExpr:
    return evalUnary(ctx, node);
  case NodeKind::BinaryExpr:
    return evalBinary(ctx, node);
  case NodeKind::NameExpr: {
    // Other names, such as dimensions, are known only at run time or when compiling.
    ValueRef ref = lookupValue(ctx, ctx.tree.mainText(node));
    return ref.local ? constOfLocal(ctx, ref.local) : constOf(ctx, ref.constant);
  }
  case NodeKind::MemberExpr: {
    MemberExprView member(ctx.tree, node);
    if (!ctx.tree.is(member.base(), NodeKind::NameExpr))
      return std::nullopt;
    ValueRef ref = lookupValue(ctx, ctx.tree.mainText(member.base()));
    // A name that is private is reported when the expression is checked.
    if (!ref.module || !moduleExports(ctx, *ref.module, ctx.text(member.name())))
      return std::nullopt;
    return constOf(
        ctx,
        lookupValueIn(ctx, *ref.module, ctx.text(member.name()), ctx.span(member.name())).constant);
  }
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> requireConstInt(Context &ctx, NodeId node, std::string_view what) {
  if (ctx.tree.is(node, NodeKind::Error))
    return std::nullopt;
  size_t errors = ctx.sink.errorCount();
  MaybeConst value = evalConst(ctx, node);
  // A float is no integer even if it is whole.
  if (value && !value->isFloat)
    if (auto integer = value->integer())
      return integer;
  // A mistake within the expression was reported already.
  if (ctx.sink.errorCount() == errors)
    ctx.sink.report(DiagId::NotAConstantInteger, ctx.span(node), {std::string(what)})
        .primary(value ? "this is " + toString(*value)
                       : "this is not known before the program runs");
  return std::nullopt;
}

void requireAtMost(Context &ctx, Span span, std::string_view what, int64_t value, int64_t most) {
  if (value > most)
    ctx.sink
        .report(DiagId::CountTooLarge, span,
                {std::string(what), std::to_string(most), std::to_string(value)})
        .note("the compiler makes this many copies, so the number limits the time and memory of "
              "compilation");
}

} // namespace ptl
