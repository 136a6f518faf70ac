// Makes random expressions and statements of given types. The forms stand in tables, one file per
// theme: elementwise.cpp, moves.cpp, folds.cpp, products.cpp, statements.cpp.
#pragma once

#include "tests/differential/generate/term.h"

#include <functional>
#include <random>
#include <span>

namespace ptl::differential {

class Maker;

/// A way to make an expression of a type: nothing where it has no such form.
struct Form {
  const char *name;
  int weight;
  std::optional<Term> (*make)(Maker &maker, const Type &want, int depth);
};

/// A way to make a statement; false where there is nothing that it could be about.
struct StatementForm {
  const char *name;
  int weight;
  bool (*make)(Maker &maker, int depth);
};

std::span<const Form> elementwiseForms();
std::span<const Form> moveForms();
std::span<const Form> foldForms();
std::span<const Form> productForms();
std::span<const Form> orderForms();
std::span<const StatementForm> statementForms();
/// The functions that expressions of the text fold with.
std::string declarationsFor(const std::string &text);

class Maker {
public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  // --- chance
  size_t below(size_t limit) { return random_() % limit; }
  bool chance(int percent) { return static_cast<int>(below(100)) < percent; }
  template <typename List> const auto &any(const List &list) { return list[below(list.size())]; }

  // --- expressions
  /// Of exactly this type; `depth` operations at most lie inside of each other.
  Term expression(const Type &want, int depth);
  /// A name, a load or a constant.
  Term leaf(const Type &want);
  /// The same brought below `most`, with no more than `bits` bits behind the point.
  Term within(Term term, ElemKind elem, double most, int bits);
  /// Brought to where values of the type are exact.
  Term fitted(Term term, ElemKind elem);
  /// A scalar `bool` that data decides, or numbers do.
  Term condition(int depth);
  /// A small `int`: a constant, or the variable of a loop.
  std::string smallInt();
  /// A name for the value of an expression in front of the present statement.
  Variable named(const Type &type, int depth);

  // --- statements
  void statements(int count, int depth);
  void statement(int depth);
  void line(const std::string &text) { body += indent + text + "\n"; }
  /// `head {`, what `inside` writes in a scope of its own, `}`.
  void block(const std::string &head, const std::function<void()> &inside);
  std::string fresh(const char *prefix) { return prefix + std::to_string(next_++); }

  std::string body, indent;
  std::vector<Variable> variables; ///< in scope, with what can be loaded as if it had a name
  std::vector<Axis> axes;          ///< that types may have here
  std::vector<std::string> ints;   ///< `int`s in scope
  std::vector<ElemKind> elems = {ElemKind::F32};
  bool isTile = true; ///< inside of a kernel
  bool hasProducts = true, hasOrders = false, mayRound = true;
  int depth = 3; ///< of the expressions and statements of the whole
  int loops = 0; ///< around the present statement
  /// What can be read at a range that a loop has cut from the named axis: by its name, the loads.
  struct Cut {
    Axis axis;
    std::function<std::vector<Variable>(const Axis &range)> loads;
  };
  std::vector<Cut> cuts;

private:
  std::optional<Term> attempt(const Type &want, int depth);
  std::optional<Term> derived(const Type &want);

  std::mt19937_64 random_;
  unsigned next_ = 0;
};

/// `x` for one element of a scalar, `x[:, a:b]` for a box along one axis of several.
std::string indexed(const std::string &x, size_t rank, size_t axis, const std::string &index);

} // namespace ptl::differential
