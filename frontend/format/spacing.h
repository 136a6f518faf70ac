// Spaces between the tokens of a line, and the columns that tokens take. Only for use inside `frontend/format`.
#pragma once

#include "frontend/format/format.h"

namespace ptl {

/// The spacing between a token and its neighbours; bits.
/// A trailing comma stands only where its list is broken one item per line.
enum TokenRole : uint8_t {
  kTightBefore = 1,
  kTightAfter = 2,
  kSliceColon = 4,
  kTrailingComma = 8,
  kInnerComma = 16, ///< no line ends behind it
};

/// Computed once for all tokens of a file, so that the width of any of them on one line is a difference of two numbers.
class Spacing {
public:
  explicit Spacing(const Tree &tree);

  /// Whether the token has this role.
  bool has(TokenIndex token, TokenRole role) const { return roles_[token] & role; }
  /// Columns of the tokens `[a, b)` on one line.
  uint32_t width(TokenIndex a, TokenIndex b) const {
    return a < b ? cumulative_[b] - cumulative_[a] - leading_[a] : 0;
  }
  bool fits(TokenIndex a, TokenIndex b, unsigned indent) const {
    return indent + width(a, b) <= kFormatColumns;
  }
  bool hasMalformed(TokenIndex a, TokenIndex b) const { return malformed_[b] != malformed_[a]; }
  /// Whether `[a, b)` contains a comment that needs a line of its own, or a malformed token.
  bool mustStayVerbatim(TokenIndex a, TokenIndex b) const {
    return a < b && (trouble_[b] != trouble_[a + 1] || hasMalformed(a, b));
  }
  /// The tokens `[a, b)` on one line.
  std::string flat(TokenIndex a, TokenIndex b) const;

private:
  void assignRoles();
  void assignRole(NodeId id);
  void markTrailingComma(const Node &list);
  bool spaceBefore(TokenIndex token) const;
  void measure();

  const Tree &tree_;
  std::vector<uint8_t> roles_;
  std::vector<uint32_t>
      cumulative_; ///< columns of all tokens before one, with their spaces and comments
  std::vector<uint32_t> leading_; ///< columns before a token: space and comments
  std::vector<uint32_t>
      trouble_; ///< tokens before one that follow a comment that cannot stand in a line
  std::vector<uint32_t> malformed_; ///< malformed tokens before one
};

} // namespace ptl
