// Comments of a source in the text that is written out for it.
#pragma once

#include "codegen/source/origins.h"
#include "frontend/sema/checked_tree.h"

namespace ptl {

/// Puts the comments in the body of the entry, and in those of what it calls in the same file,
/// before or behind the first line that came from the statement at which they stand; all in the
/// order in which they stood there. None is lost: where a statement has left no line, its comments
/// stand at the next one that has. Lines have their locations as source ranges.
/// `name`: that the entry has in the text.
void keepComments(const CheckedProgram &program, const CallableDecl &entry, const std::string &name,
                  source::OriginLines &text);

} // namespace ptl
