#include "lsp/server/callback.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace ptl::lsp {

RequestError currentProblem() {
  try {
    throw;
  } catch (const RequestError &problem) {
    return problem;
  } catch (const std::exception &problem) {
    return {kInternalError, problem.what()};
  } catch (...) {
    return {kInternalError, "an exception without a message"};
  }
}

RequestError problemOfParams() {
  try {
    throw;
  } catch (const nlohmann::json::exception &problem) {
    // The library's text names the member that is missing or of another type.
    return {kInvalidParams, problem.what()};
  } catch (...) {
    return currentProblem();
  }
}

RequestError problemOfAnswer() {
  try {
    throw;
  } catch (const nlohmann::json::exception &problem) {
    return {kRequestFailed, std::string("the compiler's answer cannot be read: ") + problem.what()};
  } catch (...) {
    return currentProblem();
  }
}

void reportProblem(const RequestError &problem) {
  std::fprintf(stderr, "ptl-lsp: error: a step failed: %s\n", problem.message.c_str());
}

void passProblem(const OnProblem &onProblem, RequestError (*asProblem)()) noexcept {
  try {
    RequestError problem = asProblem();
    onProblem ? onProblem(problem) : reportProblem(problem);
  } catch (...) {
    std::fputs("ptl-lsp: error: a step failed, and so did reporting it\n", stderr);
  }
}

} // namespace ptl::lsp
