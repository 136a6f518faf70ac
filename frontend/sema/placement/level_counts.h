// The numbers of parts of a program's levels as dimensions: `chips`, `hosts` …, and the axes of a mesh by their own names.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// The dimension that counts the parts of a level: `chips`; an axis of a mesh counts its own.
std::string countName(std::string_view level);

/// Whether a name is the number of parts of a level of the machine in programs that place arrays over it.
bool isCountName(std::string_view name);

/// Declares those numbers of parts that a program on parts mentions, or whose level a `parts` of it names. They are symbols that every
/// run knows, and follow the dimensions of the header in `CallableDecl::dims`; what is fixed by the header, or follows from other
/// counts (`chips` of a mesh), is a dimension without a parameter. A name that the program or its file gives to something else stays that.
/// To be called between the generics and the parameters, which may use both.
void declareLevelCounts(Context &ctx);

} // namespace ptl
