// Parses the signature text of a record; ir/ops/op_table.h has the grammar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptl::tblgen {

/// Mirrors `TypePattern`; enumerators are kept as text.
struct ParsedType {
  std::string elemKind = "Concrete"; ///< enumerator of `ElemPatternKind`
  unsigned elemVar = 0;
  std::string concrete = "Bool";    ///< enumerator of `ElemKind`
  std::string shapeKind = "Scalar"; ///< enumerator of `ShapePatternKind`
  bool hasRest = false;
  std::vector<unsigned> dims;
  bool optional = false;
  bool variadic = false;
  bool fromArrayArg = false;
};

struct ParsedSignature {
  std::string text;
  std::vector<std::pair<std::string, std::string>>
      elemVars; ///< name, enumerator of `ElemConstraint`
  std::vector<std::string> dimVars;
  std::vector<ParsedType> operands;
  std::vector<ParsedType> results;
};

/// Parses `text`. On failure `error` says what was expected and where, and the result is
/// incomplete.
ParsedSignature parseSignature(std::string_view text, std::string &error);

} // namespace ptl::tblgen
