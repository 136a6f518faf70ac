// Whether two executors' results agree.
#pragma once

#include "codegen/reference/interpreter.h"

#include <string>

namespace ptl::differential {

/// Empty when the results agree; else what differs first. Floats agree within the rounding of
/// `elem`s that took part (the shortest float of the call decides); integers exactly, or by one
/// where floats were rounded to them.
std::string difference(const reference::CallRequest &request, const reference::RunResult &expected,
                       const reference::RunResult &actual);

/// The same where every element is exact: none may differ. What is NaN may be anything.
std::string exactDifference(const reference::RunResult &expected,
                            const reference::RunResult &actual);

} // namespace ptl::differential
