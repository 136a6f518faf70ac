#include "passes/prover/length.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ptl::prove {

namespace {

/// The expressions that the checker prints for lengths: sums of products, quotients and remainders
/// of names and numbers, with `min`, `max` and `cdiv`; relations of these with `and`, `or`, `not`.
struct Term {
  enum Kind : uint8_t { Number, Name, Operation } kind = Number;
  int64_t number = 0;
  std::string_view name;
  Calc calc = Calc::Constant;
  std::vector<Term> operands;
};

class Parser {
public:
  explicit Parser(std::string_view text) : rest_(text) {}
  std::optional<Term> parse() {
    Term whole = relation();
    return ok_ && rest_.empty() ? std::optional(std::move(whole)) : std::nullopt;
  }

private:
  static bool isDigit(char c) { return c >= '0' && c <= '9'; }
  static bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  }
  void skipBlanks() {
    while (!rest_.empty() && rest_.front() == ' ')
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    // Blanks are allowed around every sign.
    skipBlanks();
    if (rest_.empty() || rest_.front() != c)
      return false;
    rest_.remove_prefix(1);
    skipBlanks();
    return true;
  }
  static Term of(Calc calc, Term a, Term b) {
    Term made;
    made.kind = Term::Operation;
    made.calc = calc;
    made.operands.push_back(std::move(a));
    made.operands.push_back(std::move(b));
    return made;
  }
  Term relation() {
    using mlir::arith::CmpIPredicate;
    // Longer signs come first, or `<=` would be read as `<`.
    constexpr std::pair<std::string_view, CmpIPredicate> signs[] = {
        {"==", CmpIPredicate::eq},  {"!=", CmpIPredicate::ne}, {"<=", CmpIPredicate::sle},
        {">=", CmpIPredicate::sge}, {"<", CmpIPredicate::slt}, {">", CmpIPredicate::sgt}};
    Term left = sum();
    for (auto [sign, predicate] : signs)
      if (rest_.starts_with(sign)) {
        rest_.remove_prefix(sign.size());
        left = of(Calc::Compare, std::move(left), sum());
        left.number = static_cast<int64_t>(predicate);
        break;
      }
    return left;
  }
  Term sum() {
    // A leading minus is a subtraction from the number 0.
    bool negative = take('-');
    Term value = product();
    if (negative)
      value = of(Calc::Sub, Term(), std::move(value));
    // Equal operators associate to the left.
    while (ok_)
      if (take('+'))
        value = of(Calc::Add, std::move(value), product());
      else if (take('-'))
        value = of(Calc::Sub, std::move(value), product());
      else
        break;
    return value;
  }
  Term product() {
    Term value = factor();
    while (ok_)
      if (take('*'))
        value = of(Calc::Mul, std::move(value), factor());
      else if (take('/'))
        value = of(Calc::FloorDiv, std::move(value), factor());
      else if (take('%'))
        value = of(Calc::Rem, std::move(value), factor());
      else
        break;
    return value;
  }
  Term factor() {
    Term base = primary();
    // A power is written out as a product, which is why it must be small.
    while (ok_ && rest_.starts_with("**")) {
      rest_.remove_prefix(2);
      Term power = primary(), value = base;
      ok_ &= power.kind == Term::Number && power.number >= 1 && power.number <= 8;
      for (int64_t i = 1; ok_ && i < power.number; ++i)
        value = of(Calc::Mul, std::move(value), base);
      base = std::move(value);
    }
    return base;
  }
  Term primary() {
    skipBlanks();
    Term value;
    // Parentheses hold sums, since lengths are no truth values.
    if (take('(')) {
      value = sum();
      ok_ &= take(')');
    } else if (!rest_.empty() && isDigit(rest_.front())) {
      auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.number);
      // A number that does not fit makes the text no expression, instead of another number.
      ok_ &= error == std::errc();
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      skipBlanks();
    } else if (!rest_.empty() && isLetter(rest_.front())) {
      size_t size = 0;
      while (size < rest_.size() && (isLetter(rest_[size]) || isDigit(rest_[size])))
        ++size;
      value.kind = Term::Name;
      value.name = rest_.substr(0, size);
      rest_.remove_prefix(size);
      skipBlanks();
      // A name that is followed by a parenthesis is a function.
      if (take('('))
        value = call(value.name);
    } else {
      ok_ = false;
    }
    return value;
  }
  Term call(std::string_view name) {
    constexpr std::pair<std::string_view, Calc> functions[] = {
        {"min", Calc::Min}, {"max", Calc::Max}, {"cdiv", Calc::CeilDiv},
        {"and", Calc::And}, {"or", Calc::Or},   {"not", Calc::Compare}};
    const auto *function = std::find_if(std::begin(functions), std::end(functions),
                                        [&](const auto &each) { return each.first == name; });
    // A name that is no function here is one that the checker knows and this reader does not; the
    // length is an input then.
    ok_ &= function != std::end(functions);
    Term value = relation();
    // More than two operands are folded from the left.
    while (ok_ && take(','))
      value = of(function->second, std::move(value), relation());
    if (name == "not") { // equal to 0
      value = of(Calc::Compare, std::move(value), Term());
      value.number = static_cast<int64_t>(mlir::arith::CmpIPredicate::eq);
    }
    ok_ &= take(')');
    return value;
  }

  std::string_view rest_;
  bool ok_ = true;
};

} // namespace

uint32_t computeLength(std::string_view name, uint32_t op, std::vector<Step> &steps,
                       llvm::function_ref<uint32_t(std::string_view name)> registerOf,
                       llvm::function_ref<uint32_t()> fresh) {
  std::optional<Term> whole = Parser(name).parse();
  // A plain name is an input of its own.
  if (!whole || whole->kind == Term::Name)
    return kNone;
  // Operands are computed before the operation, so the steps are in post-order.
  auto emit = [&](const Term &term, auto &&self) -> uint32_t {
    if (term.kind == Term::Name)
      return registerOf(term.name);
    Step step(StepKind::Calc, term.calc);
    step.op = op;
    step.imm = term.number;
    for (const Term &operand : term.operands)
      step.args.push_back(self(operand, self));
    step.dst = fresh();
    steps.push_back(std::move(step));
    return steps.back().dst;
  };
  return emit(*whole, emit);
}

} // namespace ptl::prove
