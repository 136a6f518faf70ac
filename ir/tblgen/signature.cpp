#include "ir/tblgen/signature.h"

#include "frontend/base/elem_type.h"

#include <algorithm>

namespace ptl::tblgen {
namespace {

/// Enumerator of an element type, from the same table that makes the enumeration.
std::string elemEnumerator(ElemKind kind) {
  static constexpr std::string_view names[] = {
#define ELEM(NAME, SPELLING, CLASS, BITS, BYTES, ACC, MANTISSA, EXPONENT) #NAME,
#include "frontend/base/elem_types.def"
  };
  return std::string(names[static_cast<size_t>(kind)]);
}

class Parser {
public:
  Parser(std::string_view text, std::string &error) : text_(text), error_(error) {}

  ParsedSignature parse() {
    signature_.text = text_;
    if (accept("["))
      parseVars();
    expect("(");
    if (!accept(")")) {
      do
        signature_.operands.push_back(parseType(/*isResult=*/false));
      while (accept(","));
      expect(")");
    }
    expect("->");
    if (!accept("()"))
      do
        signature_.results.push_back(parseType(/*isResult=*/true));
      while (accept(","));
    skipSpace();
    if (at_ != text_.size())
      fail("the end");
    return std::move(signature_);
  }

private:
  void parseVars() {
    do {
      std::string name = word();
      expect(":");
      std::string constraint = word();
      if (constraint == "bool")
        signature_.elemVars.emplace_back(name, "Bool");
      else if (!constraintByName(constraint))
        fail("a kind of element type");
      else {
        constraint[0] = static_cast<char>(constraint[0] - 'a' + 'A');
        signature_.elemVars.emplace_back(name, constraint);
      }
    } while (accept(","));
    expect("]");
  }

  ParsedType parseType(bool isResult) {
    ParsedType type;
    std::string name = word();
    if (isResult && name == "type") {
      type.fromArrayArg = true;
      return type;
    }
    parseElem(name, type);
    if (accept("["))
      parseShape(type, isResult);
    if (!isResult) {
      type.variadic = accept("...");
      type.optional = accept("?");
    }
    return type;
  }

  void parseElem(const std::string &name, ParsedType &type) {
    if (name == "acc") {
      expect("(");
      type.elemKind = "Acc";
      type.elemVar = elemVar(word());
      expect(")");
    } else if (name == "elem")
      type.elemKind = "Named";
    else if (name == "any")
      type.elemKind = "Any";
    else if (auto kind = elemKindByName(name))
      type.concrete = elemEnumerator(*kind);
    else {
      type.elemKind = "Variable";
      type.elemVar = elemVar(name);
    }
  }

  void parseShape(ParsedType &type, bool isResult) {
    type.shapeKind = "Dims";
    if (accept("*"))
      type.shapeKind = "Broadcast";
    else if (accept("?"))
      type.shapeKind = "Custom";
    else {
      type.hasRest = accept("..");
      bool more = !type.hasRest || accept(",");
      while (more) {
        std::string name = word();
        if (isResult && name == "reduced")
          type.shapeKind = "Reduced";
        else
          type.dims.push_back(dimVar(name));
        more = accept(",");
      }
    }
    expect("]");
  }

  unsigned elemVar(const std::string &name) {
    for (unsigned i = 0; i < signature_.elemVars.size(); ++i)
      if (signature_.elemVars[i].first == name)
        return i;
    fail("a declared element variable instead of `" + name + "`");
    return 0;
  }
  unsigned dimVar(const std::string &name) {
    auto found = std::find(signature_.dimVars.begin(), signature_.dimVars.end(), name);
    if (found == signature_.dimVars.end()) {
      signature_.dimVars.push_back(name);
      return static_cast<unsigned>(signature_.dimVars.size() - 1);
    }
    return static_cast<unsigned>(found - signature_.dimVars.begin());
  }

  void skipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool accept(std::string_view token) {
    skipSpace();
    if (text_.substr(at_, token.size()) != token)
      return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token))
      fail("`" + std::string(token) + "`");
  }
  std::string word() {
    skipSpace();
    size_t begin = at_;
    while (at_ < text_.size() &&
           (isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (begin == at_)
      fail("a name");
    return std::string(text_.substr(begin, at_ - begin));
  }
  void fail(const std::string &expected) {
    if (error_.empty())
      error_ = "expected " + expected + " at position " + std::to_string(at_) + " of signature `" +
               std::string(text_) + "`";
    at_ = text_.size();
  }

  std::string_view text_;
  std::string &error_;
  size_t at_ = 0;
  ParsedSignature signature_;
};

} // namespace

ParsedSignature parseSignature(std::string_view text, std::string &error) {
  return Parser(text, error).parse();
}

} // namespace ptl::tblgen
