// A call of a tool, and the answer that its handler fills in. An answer is small: what is longer are documents
// that it names, and what can be done next are steps with what they would gain.
#pragma once

#include "agent/roots.h"
#include "agent/tool_table.h"
#include "frontend/base/diagnostic.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::agent {

/// What a step would gain, in words and, where it is a time, in microseconds.
struct Gain {
  std::string text; ///< "22732.59 us -> 199.27 us"
  double us = 0;    ///< 0: it is no time, or not known
};

struct Call {
  const ToolInfo &tool;
  Arguments arguments;
  Roots roots;
  /// Tells the client how far it is; `total` 0: not known.
  std::function<void(double done, double total, const std::string &what)> progress;
};

class Answer {
public:
  /// The members of this answer beside `summary`, `next` and `more`.
  Json body = Json::object();
  std::string summary; ///< one or two lines

  /// The call cannot be answered, and why; what was said before stays.
  void refuse(const std::string &why);
  bool isRefused() const { return isRefused_; }

  /// What to do next.
  void next(const char *tool, Json arguments, const std::string &why, const Gain &gain);
  /// Keeps a document, which the answer names under `more`; gives its address.
  std::string keep(const std::string &name, const std::string &what, std::string text,
                   const char *type = "application/json");
  /// Keeps a change of files and gives its id. `again`: the call that makes sense once it is made.
  std::string fix(const Call &call, const SourceManager &sources, const std::string &title,
                  const std::vector<TextEdit> &edits, Json again);

  /// The message for the server.
  Json take();

private:
  Json next_ = Json::array(), more_ = Json::array();
  Json documents_ = Json::array(), fixes_ = Json::array();
  bool isRefused_ = false;
};

/// The arguments of a call without those that are not in `kept`.
Json argumentsFor(const Call &call, ArgumentSet kept);

} // namespace ptl::agent
