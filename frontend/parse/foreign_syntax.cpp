#include "frontend/parse/foreign_syntax.h"

namespace ptl {
namespace {

/// A form of another language. `tokens` are those around the error, with `|` before the token where
/// it is reported. `NAME` stands for any identifier, `TYPE` for an element type, `WORD` for either
/// and `STRING` for a string literal. `expected` is how the first argument of the message begins.
struct ForeignForm {
  DiagId id;
  std::string_view expected;
  std::string_view tokens;
  const char *help;
};

constexpr const char *kBody = "a body is written between `{` and `}`, not by indentation";
constexpr const char *kChoice =
    "write a choice as `if c { a } else { b }`, or elementwise as `select(c, a, b)`";
constexpr const char *kEqual = "compare with `==` or `!=`";
constexpr const char *kMember =
    "there is no operator `in`: compare elements, as in `any(x == value)`";
constexpr const char *kFixedParameters =
    "a function has a fixed list of parameters, each with a name and a type, as in `x: f32[N]`";
constexpr const char *kTypeOfParameter = "every parameter has a type, as in `x: f32[N]`";
constexpr const char *kTypeAfterName = "the type follows the name, as in `x: f32`";
constexpr const char *kNoPointers = "there are no pointers: an array is a value, as in `x: "
                                    "f32[N]`, and a parameter that is changed "
                                    "is marked `inout`";
constexpr const char *kOneShape = "a type has one list with all extents, as in `f32[M, N]`";
constexpr const char *kNoFormat =
    "strings have no prefix, and values are not formatted into them; `print(x)` prints a value";
constexpr const char *kDocumentation =
    "a comment begins with `//`, and the documentation of a declaration with `///` before it";
constexpr const char *kNoComprehension =
    "operators compute whole arrays, as in `x * 2.0`, so no element is named";
constexpr const char *kNoLambda = "a function needs a name: declare a `fn` at the top level";
constexpr const char *kDeclareName =
    "declare a name with `let x = …`, or with `var x = …` if its value changes";
constexpr const char *kFunction = "declare a function as `fn name[N](x: f32[N]) -> f32[N] { … }`";
constexpr const char *kConstant = "at the top level, declare a constant as `const NAME = value`";
constexpr const char *kStatement =
    "a statement must be in the body of a `fn`, `kernel`, `program` or `test`";
constexpr const char *kGenerics =
    "dimensions and element types are declared in brackets, as in `fn f[N, T: float](x: T[N])`";
constexpr const char *kTuple = "put several values in parentheses to make a tuple: `(a, b)`";
constexpr const char *kSeveralNames = "name the parts of a tuple in parentheses: `let (a, b) = …`";

constexpr const char *kOpenEnd =
    "an end that is left open is written with `:`, as in `x[1:]` and `x[:3]`";

constexpr const char *kRangeEach =
    "every variable of a loop has a range, as in `parallel i in 0..M, j in 0..N`";

constexpr ForeignForm kForms[] = {
    {DiagId::ExpectedToken, "`{`", "| :", kBody},
    {DiagId::ExpectedToken, "`{`", "| is", kEqual},
    {DiagId::ExpectedToken, "`{`", "| not in", kMember},
    {DiagId::ExpectedToken, "`{`", "| in", kMember},
    {DiagId::ExpectedToken, "`(`", "| <", kGenerics},
    {DiagId::ExpectedToken, "`(`", "assert |", "write `assert(condition, \"message\")`"},
    {DiagId::ExpectedToken, "`:`", "| ,", kTypeOfParameter},
    {DiagId::ExpectedToken, "`:`", "| )", kTypeOfParameter},
    {DiagId::ExpectedToken, "`:`", "| =", kTypeOfParameter},
    {DiagId::ExpectedToken, "`:`", "| NAME", kTypeAfterName},
    {DiagId::ExpectedToken, "`in`", "NAME | ,", kRangeEach},
    {DiagId::ExpectedToken, "`=`", "NAME | ,", kSeveralNames},
    {DiagId::ExpectedToken, "`=`", "mut | NAME",
     "a name whose value changes is declared with `var x = …`"},
    {DiagId::ExpectedToken, "`=`", "] | [", kOneShape},
    {DiagId::ExpectedToken, "`,` or", "NAME | STRING", kNoFormat},
    {DiagId::ExpectedToken, "`,` or", "| for", kNoComprehension},
    {DiagId::ExpectedToken, "`,` or", "| if", kChoice},
    {DiagId::ExpectedToken, "`,` or", "lambda |", kNoLambda},
    {DiagId::ExpectedToken, "`,` or `)`", "] | [", kOneShape},
    {DiagId::ExpectedToken, "`,` or `)`", "WORD | *", kNoPointers},
    {DiagId::ExpectedToken, "`,` or `)`", "WORD | &", kNoPointers},
    {DiagId::ExpectedType, "", "| *", kNoPointers},
    {DiagId::ExpectedType, "", "| &", kNoPointers},
    {DiagId::ExpectedName, "a parameter", "| *", kFixedParameters},
    {DiagId::ExpectedName, "a parameter", "| **", kFixedParameters},
    {DiagId::ExpectedToken, "`,` or `]`", "[ .. |", kOpenEnd},
    {DiagId::ExpectedExpression, "", ".. | ]", kOpenEnd},
    {DiagId::ExpectedExpression, "", "| **", "arguments are given one by one"},
    {DiagId::ExpectedExpression, "", "| *", "arguments are given one by one"},
    {DiagId::ExpectedExpression, "", "| &", kNoPointers},
    {DiagId::ExpectedStatementEnd, "", "STRING | STRING", kDocumentation},
    {DiagId::ExpectedStatementEnd, "", "NAME | STRING", kNoFormat},
    {DiagId::ExpectedStatementEnd, "", "lambda |", kNoLambda},
    {DiagId::ExpectedStatementEnd, "", "WORD | WORD =", kDeclareName},
    {DiagId::ExpectedStatementEnd, "", "( TYPE ) |", "convert a value with a call, as in `i32(x)`"},
    {DiagId::ExpectedStatementEnd, "", "| is", kEqual},
    {DiagId::ExpectedStatementEnd, "", "| not in", kMember},
    {DiagId::ExpectedStatementEnd, "", "| in", kMember},
    {DiagId::ExpectedStatementEnd, "", "| if", kChoice},
    {DiagId::ExpectedStatementEnd, "", "expect |", "write `expect(condition)`"},
    {DiagId::ExpectedStatementEnd, "", "NAME | , NAME =", kSeveralNames},
    {DiagId::ExpectedStatementEnd, "", "| ,", kTuple},
    {DiagId::ExpectedDeclaration, "", "| @",
     "PTL has no decorators: declare a kernel as `kernel name[N](x: f32[N]) -> (y: f32[N])`"},
    {DiagId::ExpectedDeclaration, "", "| template", kGenerics},
    {DiagId::ExpectedDeclaration, "", "| let", kConstant},
    {DiagId::ExpectedDeclaration, "", "| var", kConstant},
    {DiagId::ExpectedDeclaration, "", "| NAME =", kConstant},
    {DiagId::ExpectedDeclaration, "", "| NAME :", kConstant},
    {DiagId::ExpectedDeclaration, "", "| WORD NAME =", kConstant},
    {DiagId::ExpectedDeclaration, "", "| WORD NAME (", kFunction},
    {DiagId::ExpectedDeclaration, "", "| NAME WORD NAME", kFunction},
    {DiagId::ExpectedDeclaration, "", "| for", kStatement},
    {DiagId::ExpectedDeclaration, "", "| if", kStatement},
    {DiagId::ExpectedDeclaration, "", "| while", kStatement},
    {DiagId::ExpectedDeclaration, "", "| return", kStatement},
    {DiagId::ExpectedDeclaration, "", "| assert", kStatement},
    {DiagId::ExpectedDeclaration, "", "| parallel", kStatement},
    {DiagId::ExpectedDeclaration, "", "| NAME (", kStatement},
    {DiagId::ExpectedDeclaration, "", "| NAME [", kStatement},
    {DiagId::ExpectedDeclaration, "", "| NAME .", kStatement},
    {DiagId::ExpectedDeclaration, "", "| NAME +=", kStatement},
};

} // namespace

static bool matchesWord(const Parser &p, TokenIndex token, std::string_view word) {
  TokenKind kind = p.tree.tokenKind(token);
  bool isName = kind == TokenKind::Identifier, isType = isElementType(kind);
  if (word == "NAME")
    return isName;
  if (word == "TYPE")
    return isType;
  if (word == "WORD")
    return isName || isType;
  if (word == "STRING")
    return kind == TokenKind::StringLiteral;
  return p.tree.tokenText(token) == word;
}

static bool matches(const Parser &p, std::string_view tokens) {
  size_t bar = tokens.find('|');
  uint32_t before = static_cast<uint32_t>(std::count(tokens.begin(), tokens.begin() + bar, ' '));
  if (p.position < p.itemStart + before)
    return false;
  TokenIndex token = p.position - before;
  for (size_t at = 0; at < tokens.size();) {
    size_t end = std::min(tokens.find(' ', at), tokens.size());
    std::string_view word = tokens.substr(at, end - at);
    at = end + 1;
    if (word == "|")
      continue;
    // `look` records how far the parse of this item depends on tokens.
    TokenIndex seen = token < p.position ? token : p.look(token - p.position);
    if (!matchesWord(p, seen, word))
      return false;
    ++token;
  }
  return true;
}

const char *foreignFormHelp(const Parser &p, DiagId id, std::string_view expected) {
  for (const ForeignForm &form : kForms)
    if (form.id == id && expected.substr(0, form.expected.size()) == form.expected &&
        matches(p, form.tokens))
      return form.help;
  return nullptr;
}

uint32_t indentationOf(const Parser &p, TokenIndex token) {
  std::string_view text = p.tree.fileText();
  size_t begin = text.substr(0, p.tree.token(token).begin).rfind('\n') + 1;
  size_t end = begin;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t'))
    ++end;
  return static_cast<uint32_t>(end - begin);
}

} // namespace ptl
