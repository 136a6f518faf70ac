// Checks emitted text with external tools, and reports their errors at lines of the source.
#pragma once

#include "codegen/pto/line_map.h"

#include <string>
#include <vector>

namespace ptl::pto {

struct Verification {
  bool ran = false;      ///< false: the tool could not be started; `problem` says why
  bool accepted = false; ///< the tool found no error
  std::string problem;
  std::vector<Finding> findings;
};

/// Compiles C++ (the syntax only) with `clang++` in CPU-simulation mode, on the headers of the
/// PTO-ISA library in `folder`, or in `folder`/include. An error inside a header is reported at the
/// line of the text that caused it. `compiler` is a path; empty stands for the newest clang++ on
/// the PATH.
Verification verifyCpp(const Emitted &text, const std::string &folder,
                       const std::string &compiler = {});

/// Runs the PTOAS at `path` on `.pto`. `arch` is the value of `--pto-arch`.
Verification verifyPto(const Emitted &text, const std::string &path, const std::string &arch);

} // namespace ptl::pto
