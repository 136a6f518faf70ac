// Binds the arguments of an entry without running its body.
#pragma once

#include "codegen/reference/interpreter.h"

#include <map>

namespace ptl::reference {

/// Binds the arguments as `runEntry` does and checks every `where`. The result has no outputs;
/// `sizes` gets the values of the dimensions, and of the parameters that dimensions may refer to.
RunResult bindSizes(const CheckedProgram &program, const SourceManager &sources,
                    const CallableDecl &decl, std::vector<Value> args, const RunOptions &options,
                    std::map<SymbolId, int64_t> &sizes);

} // namespace ptl::reference
