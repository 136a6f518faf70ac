// One line of tokens, or several when it is too long; and the comments around it. Only for use inside `frontend/format`.
#pragma once

#include "frontend/format/output_line.h"
#include "frontend/format/spacing.h"

namespace ptl {

/// Writes lines one after the other. Ranges of tokens are half open.
class Layout {
public:
  Layout(const Tree &tree, const Spacing &spacing) : tree_(tree), spacing_(spacing) {}

  /// Breaks a group of tokens into one line or several.
  void line(TokenIndex a, TokenIndex b, unsigned indent);
  /// Writes the tokens as they are in the source, which is reported with the reason.
  void verbatim(TokenIndex a, TokenIndex b, unsigned indent, const char *reason);
  /// Prints the comments between tokens `first - 1` and `before`, and a blank line in front of the
  /// latter. The tokens between are separators: `;` is dropped, `,` joins the line of code.
  void comments(TokenIndex first, TokenIndex before, unsigned indent);

  std::vector<OutputLine> lines;
  std::vector<UntouchedRegion> untouched;
  size_t lastCode = 0; ///< the last line that is not a comment

private:
  void split(TokenIndex a, TokenIndex b, unsigned indent);
  bool splitAtOperators(TokenIndex a, TokenIndex b, unsigned indent);
  bool splitAtBracket(TokenIndex a, TokenIndex b, unsigned indent);
  void splitAtCommas(TokenIndex a, TokenIndex b, unsigned indent);
  void fill(TokenIndex a, const std::vector<TokenIndex> &ends, unsigned indent);
  void emit(TokenIndex a, TokenIndex b, unsigned indent);
  void addComment(const Trivia &trivia, unsigned indent, bool ownLine);
  void blankLine();

  const Tree &tree_;
  const Spacing &spacing_;
  TokenIndex lineFirst_ = 0; ///< first token of the line that is being laid out
};

} // namespace ptl
