// The smaller forms of a program's text: what a reducer tries one after the other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// Bytes `[begin, end)` of a text, and what stands there instead.
struct Edit {
  size_t begin, end;
  std::string by;
};

/// The edits that make one smaller text. They do not overlap and come in the order of the text.
using Rewrite = std::vector<Edit>;

/// The text after the edits.
std::string rewritten(std::string_view text, const Rewrite &edits);

/// The rewrites of a text that leave out or simplify one thing each: a declaration, statements, a
/// parameter, a result with what writes it, a loop round its body, an operand, a number. Those that
/// remove most come first. Many of the texts are not valid programs. Lines are left out
/// last, and tokens of a short text that does not parse.
std::vector<Rewrite> smallerForms(std::string_view text);

} // namespace ptl
