// The working state of the formatter; inside `frontend/format` and for its fuzzer only.
#pragma once

#include "frontend/format/format.h"

#include <optional>

namespace ptl {

/// The parts of a text that formatting preserves: all tokens but `;` and trailing commas, then all
/// comments, without white space.
std::string essence(std::string_view text, const TokenList &list);

/// One line of output. Texts of comments may hold line ends.
struct OutputLine {
  unsigned indent = 0;
  std::string text;
  std::string comment;    ///< behind the text
  bool isComment = false; ///< the text itself is a comment
  bool closed = false;    ///< ends in a line comment: nothing may follow
  uint32_t anchor = 0;    ///< byte of `text` that may be aligned with the lines around, 0 for none
  uint32_t sourceAnchor = 0;  ///< its column in the source
  uint32_t sourceComment = 0; ///< column of the comment in the source
};

/// The spacing between a token and its neighbours; bits.
/// A trailing comma stands only where its list is broken one item per line.
enum TokenRole : uint8_t {
  kTightBefore = 1,
  kTightAfter = 2,
  kSliceColon = 4,
  kTrailingComma = 8,
  kInnerComma = 16, ///< no line ends behind it
};

/// A list of items between braces, or the file.
struct Container {
  NodeId node = kNoNode;
  std::span<const NodeId> items;
  TokenIndex open = 0;
  TokenIndex close = 0;
};

class Formatter {
public:
  explicit Formatter(const Tree &tree);
  FormatResult run();

private:
  // spacing.cpp
  void assignRoles();
  void assignRole(NodeId id);
  void markTrailingComma(const Node &list);
  bool spaceBefore(TokenIndex token) const;
  void measure();
  /// Columns of the tokens `[a, b)` on one line.
  uint32_t width(TokenIndex a, TokenIndex b) const {
    return a < b ? cumulative_[b] - cumulative_[a] - leading_[a] : 0;
  }
  std::string flat(TokenIndex a, TokenIndex b) const;

  // structure.cpp: groups tokens into lines.
  void items(const Container &container, unsigned indent);
  void item(NodeId id, unsigned indent);
  size_t joinedItems(const Container &container, size_t first, unsigned indent) const;
  void headerAndBodies(NodeId id, const std::vector<Container> &bodies, unsigned indent);
  void header(NodeId id, TokenIndex end, bool hasBody, unsigned indent);
  std::vector<Container> bodiesOf(NodeId id) const;
  void collectBodies(NodeId id, std::vector<Container> &out) const;
  bool isInline(NodeId id, const std::vector<Container> &bodies, unsigned indent) const;
  bool isBroken(NodeId id) const;
  bool errorWithin(TokenIndex first, TokenIndex last) const;
  Container containerOf(NodeId id) const;

  // layout.cpp: breaks a group of tokens into one line or several.
  void line(TokenIndex a, TokenIndex b, unsigned indent);
  void split(TokenIndex a, TokenIndex b, unsigned indent);
  bool splitAtOperators(TokenIndex a, TokenIndex b, unsigned indent);
  bool splitAtBracket(TokenIndex a, TokenIndex b, unsigned indent);
  void splitAtCommas(TokenIndex a, TokenIndex b, unsigned indent);
  void fill(TokenIndex a, const std::vector<TokenIndex> &ends, unsigned indent);
  void emit(TokenIndex a, TokenIndex b, unsigned indent);
  bool fits(TokenIndex a, TokenIndex b, unsigned indent) const {
    return indent + width(a, b) <= kFormatColumns;
  }
  /// Whether `[a, b)` contains a comment that needs a line of its own, or a malformed token.
  bool mustStayVerbatim(TokenIndex a, TokenIndex b) const {
    return a < b && (trouble_[b] != trouble_[a + 1] || malformed_[b] != malformed_[a]);
  }
  void verbatim(TokenIndex a, TokenIndex b, unsigned indent, const char *reason);
  /// Prints the comments between tokens `first - 1` and `before`, and a blank line in front of the
  /// latter. The tokens between are separators: `;` is dropped, `,` joins the line of code.
  void comments(TokenIndex first, TokenIndex before, unsigned indent);
  void addComment(const Trivia &trivia, unsigned indent, bool ownLine);
  void blankLine();

  // align.cpp
  void setAnchor(NodeId id, size_t lineIndex);
  void align();
  /// The start of the line that contains an offset; nothing for lines that are too long to search.
  std::optional<uint32_t> lineStart(uint32_t offset) const;
  uint32_t sourceColumn(uint32_t offset) const;
  std::string textOf(uint32_t begin, uint32_t end) const;

  const Tree &tree_;
  std::vector<uint8_t> roles_;
  std::vector<uint32_t>
      cumulative_; ///< columns of all tokens before one, with their spaces and comments
  std::vector<uint32_t> leading_; ///< columns before a token: space and comments
  std::vector<uint32_t>
      trouble_; ///< tokens before one that follow a comment that cannot stand in a line
  std::vector<uint32_t> malformed_; ///< malformed tokens before one
  std::vector<OutputLine> lines_;
  size_t lastCode_ = 0;
  TokenIndex lineFirst_ = 0; ///< first token of the line that is being laid out
  std::vector<UntouchedRegion> untouched_;
};

} // namespace ptl
