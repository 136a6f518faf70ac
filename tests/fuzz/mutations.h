// Mutations of programs by token: words are removed, doubled, swapped and replaced, lines move,
// numbers become others; line ends, comments and brackets come and go.
#pragma once

#include "frontend/base/source.h"

#include <random>
#include <string>
#include <vector>

namespace ptl::fuzz {

/// A text cut into tokens and trivia.
std::vector<std::string> piecesOf(const SourceFile &file);

/// One mutation of the pieces, which are at least one.
void mutateOnce(std::vector<std::string> &pieces, std::minstd_rand &random);

/// One that leaves more programs right: another number, another name of the program, a line moved,
/// doubled or left out.
void mutateGently(std::vector<std::string> &pieces, std::minstd_rand &random);

} // namespace ptl::fuzz
