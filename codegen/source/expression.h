// Pieces of PTL source: expressions that know how tightly they bind, and names that are used once.
#pragma once

#include "frontend/lex/operator.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace ptl::source {

struct Expression {
  std::string text;
  Precedence bind = Precedence::Postfix;

  /// The text, in parentheses where it binds looser than `least`.
  std::string as(Precedence least) const { return bind < least ? "(" + text + ")" : text; }
};

/// `a + b`, with parentheses where they are needed. The right operand of equal binding gets them.
Expression binary(const Expression &a, std::string_view spelling, const Expression &b);

/// A dimension as the compiler spells it (`3*D`, `D/H - 1`), in the spacing of the formatter.
Expression dimension(std::string_view text);

/// The identifiers of such a text, callables apart.
std::set<std::string> identifiersOf(std::string_view text);

/// The text with whole words replaced.
std::string renamed(const std::string &text, const std::map<std::string, std::string> &names);

bool isIdentifier(std::string_view text);

/// How long an expression is to a reader, whatever the names in it are.
size_t weightOf(std::string_view text);

/// Where a name occurs first; `npos`: nowhere.
size_t firstUse(std::string_view text, std::string_view name);

/// Names of one declaration: each is given once, and none is a reserved word.
class Names {
public:
  /// `wanted`, or with the least number behind it that makes it free.
  std::string fresh(std::string_view wanted);
  void reserve(const std::string &name) { used_.insert(name); }
  void release(const std::string &name) { used_.erase(name); }

private:
  std::set<std::string> used_;
};

} // namespace ptl::source
