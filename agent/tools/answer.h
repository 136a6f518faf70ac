// A call of a tool, and the answer that its handler fills in. Answers are short: longer texts
// become documents that the answer refers to, and possible next calls are listed as steps with
// their expected gain.
#pragma once

#include "agent/roots.h"
#include "agent/tool_table.h"
#include "frontend/base/diagnostic.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::agent {

/// The expected gain of a step, as text and, if it is a time, in microseconds.
struct Gain {
  std::string text; ///< "22732.59 us -> 199.27 us"
  double us = 0;    ///< 0: the gain is not a time, or unknown
};

struct Call {
  const ToolInfo &tool;
  Arguments arguments;
  Roots roots;
  /// Reports progress to the client; a `total` of 0 means that it is unknown.
  std::function<void(double done, double total, const std::string &what)> progress;
};

class Answer {
public:
  /// The members of this answer in addition to `summary`, `next` and `more`.
  Json body = Json::object();
  std::string summary; ///< one or two lines

  /// Marks the call as failed, with the reason. What has been added to the answer before stays.
  void refuse(const std::string &why);
  bool isRefused() const { return isRefused_; }

  /// Adds a call that the agent could make next.
  void next(const char *tool, Json arguments, const std::string &why, const Gain &gain);
  /// Keeps a document, which the answer lists under `more`. Returns its address.
  std::string keep(const std::string &name, const std::string &what, std::string text,
                   const char *type = "application/json");
  /// Keeps a change of files and returns its id. `again` is the call that makes sense once the
  /// change has been applied.
  std::string fix(const Call &call, const SourceManager &sources, const std::string &title,
                  const std::vector<TextEdit> &edits, Json again);

  /// The message for the server; the answer is empty afterwards.
  Json take();

private:
  Json next_ = Json::array(), more_ = Json::array();
  Json documents_ = Json::array(), fixes_ = Json::array();
  bool isRefused_ = false;
};

/// The arguments of a call, restricted to those in `kept`.
Json argumentsFor(const Call &call, ArgumentSet kept);

} // namespace ptl::agent
