#include "codegen/source/expression.h"

#include "frontend/base/word_char.h"
#include "frontend/lex/token.h"

#include <algorithm>
#include <cctype>

namespace ptl::source {

Expression binary(const Expression &a, std::string_view spelling, const Expression &b) {
  Precedence own = precedenceOf(spelling);
  // Comparisons do not chain, and powers group to the right.
  Precedence left = own == Precedence::Comparison || own == Precedence::Power ? tighter(own) : own;
  Precedence right = own == Precedence::Power ? own : tighter(own);
  return {a.as(left) + " " + std::string(spelling) + " " + b.as(right), own};
}

/// Where the name, number, call or parenthesis at the end of a text begins.
static size_t startOfFactor(std::string_view text) {
  size_t begin = text.size();
  unsigned depth = 0;
  while (begin > 0) {
    char c = text[begin - 1];
    depth += c == ')';
    if (depth == 0 && !isWordChar(c) && c != '.')
      break;
    depth -= c == '(';
    --begin;
  }
  return begin;
}

Expression dimension(std::string_view text) {
  Expression result;
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += c == '(';
    depth -= c == ')';
    bool spaced = i > 0 && text[i - 1] == ' ';
    bool isBinary = i > 0 && std::string_view("*/%").find(c) != std::string_view::npos && !spaced;
    if (isBinary && text.substr(i, 2) == "**") { // a power is a product, which all levels have
      std::string factor = result.text.substr(startOfFactor(result.text));
      size_t power = 0;
      for (i += 2; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i)
        power = 10 * power + static_cast<size_t>(text[i] - '0');
      --i;
      for (; power > 1; --power)
        result.text += " * " + factor;
    } else if (isBinary)
      result.text += std::string(" ") + c + " ";
    else
      result.text += c;
    if (depth > 0)
      continue;
    if (spaced && (c == '+' || c == '-'))
      result.bind = Precedence::Sum;
    else if (isBinary && result.bind == Precedence::Postfix)
      result.bind = Precedence::Product;
    else if (i == 0 && c == '-')
      result.bind = Precedence::Sum;
  }
  return result;
}

std::string quoted(std::string_view text) {
  constexpr std::pair<char, std::string_view> escapes[] = {
      {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}, {'\0', "\\0"}};
  std::string result = "\"";
  for (char c : text) {
    const auto *escape = std::find_if(std::begin(escapes), std::end(escapes),
                                      [&](const auto &each) { return each.first == c; });
    if (escape != std::end(escapes))
      result += escape->second;
    else
      result += c;
  }
  return result + "\"";
}

std::set<std::string> identifiersOf(std::string_view text) {
  std::set<std::string> found;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    while (i < text.size() && isWordChar(text[i]))
      ++i;
    // Fields and functions have name spaces of their own, so their words name no value.
    bool isField = begin > 0 && text[begin - 1] == '.';
    bool isCall = i < text.size() && text[i] == '(';
    // Lengths of tiles have names that no source has, such as `t1.0`, and are not those of a `t1`.
    bool isTile = i + 1 < text.size() && text[i] == '.' &&
                  std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
    std::string word(text.substr(begin, i - begin));
    if (!isField && !isCall && !isTile && isIdentifier(word))
      found.insert(word);
    // A character that begins no word is passed over, so that the loop always goes on.
    i += i == begin;
  }
  return found;
}

std::string renamed(const std::string &text, const std::map<std::string, std::string> &names) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    while (i < text.size() && isWordChar(text[i]))
      ++i;
    if (i == begin) {
      result += text[i++];
      continue;
    }
    std::string word = text.substr(begin, i - begin);
    auto found = names.find(word);
    result += found == names.end() ? word : found->second;
  }
  return result;
}

size_t weightOf(std::string_view text) {
  constexpr size_t kName = 3;
  size_t weight = 0;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    while (i < text.size() && isWordChar(text[i]))
      ++i;
    std::string_view word = text.substr(begin, i - begin);
    bool isCall = i < text.size() && text[i] == '(';
    // Names count alike however long they are: what matters is how much there is to read, not how
    // it is spelled.
    weight += isIdentifier(word) && !isCall ? kName : word.size();
    if (i == begin)
      weight += text[i++] != ' ';
  }
  return weight;
}

/// Whether a position is behind the `//` of its line.
static bool isInComment(std::string_view text, size_t at) {
  size_t line = at == 0 ? text.npos : text.rfind('\n', at - 1);
  size_t begin = line == text.npos ? 0 : line + 1;
  return text.substr(begin, at - begin).find("//") != text.npos;
}

size_t firstUse(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    // Behind one dot stands a field, behind two the end of a range.
    bool isField = at > 0 && text[at - 1] == '.' && (at == 1 || text[at - 2] != '.');
    bool begins = at == 0 || (!isWordChar(text[at - 1]) && !isField);
    size_t end = at + name.size();
    if (begins && (end == text.size() || !isWordChar(text[end])) && !isInComment(text, at))
      return at;
  }
  return text.npos;
}

bool isIdentifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0)
    return false;
  for (char c : text)
    if (!isWordChar(c))
      return false;
  return true;
}

std::string Names::fresh(std::string_view wanted) {
  std::string base(wanted);
  if (!isIdentifier(base) || base == "_")
    base = "t";
  std::string name = base;
  for (unsigned number = 2; used_.count(name) != 0 || wordKind(name) != TokenKind::Identifier;
       ++number)
    name = base + "_" + std::to_string(number);
  used_.insert(name);
  return name;
}

} // namespace ptl::source
