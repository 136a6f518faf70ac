// Carries the comments of a source over to the text that is generated for it.
#pragma once

#include "codegen/source/origins.h"
#include "frontend/sema/checked_tree.h"

namespace ptl {

/// Inserts the comments in the body of the entry, and in the bodies of what it calls in the same
/// file, before or after the first line that came from the statement to which they belong; their
/// order is kept. None is lost: if a statement has left no line, its comments move to the next
/// statement that has one. The locations of lines are source ranges. `name` is the name of the
/// entry in the text.
void keepComments(const CheckedProgram &program, const CallableDecl &entry, const std::string &name,
                  source::OriginLines &text);

} // namespace ptl
