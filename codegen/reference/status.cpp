#include "codegen/reference/status.h"

namespace ptl::reference {

std::string_view runStatusName(RunStatus status) {
  switch (status) {
  case RunStatus::Ok:
    return "ok";
  case RunStatus::Assert:
    return "assert";
  case RunStatus::Where:
    return "where";
  case RunStatus::Bounds:
    return "bounds";
  case RunStatus::Uninitialised:
    return "uninitialised";
  case RunStatus::Arithmetic:
    return "arithmetic";
  case RunStatus::Arguments:
    return "arguments";
  case RunStatus::Unsupported:
    return "unsupported";
  case RunStatus::Fault:
    return "fault";
  case RunStatus::Memory:
    return "memory";
  case RunStatus::Compile:
    return "compile";
  case RunStatus::Silent:
    return "silent";
  }
  return "";
}

void stop(RunStatus status, std::string message, Span span) {
  throw Stop{status, std::move(message), span, {}};
}

} // namespace ptl::reference
