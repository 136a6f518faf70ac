// Pieces of PTL source: expressions with their precedence, and unique names.
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

  /// The text, in parentheses if its precedence is lower than `least`.
  std::string as(Precedence least) const { return bind < least ? "(" + text + ")" : text; }
};

/// `a + b`, with parentheses where they are needed. A right operand of equal precedence gets them.
Expression binary(const Expression &a, std::string_view spelling, const Expression &b);

/// A dimension as the compiler prints it (`3*D`, `D/H - 1`), with the spacing of the formatter.
Expression dimension(std::string_view text);

/// `"…"`, with the escapes of the language.
std::string quoted(std::string_view text);

/// The identifiers in such a text, except for names of callables.
std::set<std::string> identifiersOf(std::string_view text);

/// The text with whole identifiers replaced.
std::string renamed(const std::string &text, const std::map<std::string, std::string> &names);

bool isIdentifier(std::string_view text);

/// The length of an expression to a reader, independent of the names in it.
size_t weightOf(std::string_view text);

/// The position of a name's first occurrence; `npos` if there is none.
size_t firstUse(std::string_view text, std::string_view name);

/// The names of one declaration: each is unique, and none is a reserved word.
class Names {
public:
  /// `wanted`, or `wanted` with the smallest number appended that makes it unused.
  std::string fresh(std::string_view wanted);
  void reserve(const std::string &name) { used_.insert(name); }
  void release(const std::string &name) { used_.erase(name); }

private:
  std::set<std::string> used_;
};

} // namespace ptl::source
