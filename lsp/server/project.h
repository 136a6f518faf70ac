// Finds and reads the `.ptl` files in the folders of the workspace, beside the loop.
#pragma once

#include "lsp/server/background.h"
#include "lsp/server/session.h"

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace ptl::lsp {

class Project {
public:
  Project(uv_loop_t *loop, Session &session) : session_(session), lane_(loop) {}
  /// Called when `step` has something to do.
  Callback<> onWork;

  /// Lists the folders, and calls `then` when all files there are known to the workspace. Callers
  /// that come while it is listing share the result. `Session::workspaceFiles` does not list
  /// folders meanwhile.
  void whenKnown(Callback<> then);
  /// Reads files that have changed on disk; `then` is called when the workspace knows their texts.
  void changed(std::vector<std::string> paths, Callback<> then);
  /// Adopts one file that was read, or continues one caller that waits; false when there is
  /// neither.
  bool step();
  /// Waits until nothing is left to do.
  void finish();

private:
  struct Found {
    std::vector<std::string> paths;
    std::vector<std::pair<std::string, std::string>> texts; ///< of files that were not known
  };
  static Found look(const std::vector<std::string> &folders, const std::set<std::string> &known,
                    const Background::Stop &stop);
  void start();

  Session &session_;
  Background lane_;
  bool isLooking_ = false;
  std::vector<Callback<>> next_;   ///< who waits for what is being looked for
  std::vector<std::string> paths_; ///< that were found last
  std::deque<std::pair<std::string, std::string>> texts_; ///< to be taken in
  std::deque<Callback<>> ready_;                          ///< who waits for these texts
};

/// The `.ptl` files in folders and below, by normal path, at most some thousands of entries deep.
std::set<std::string> filesIn(const std::vector<std::string> &folders);

} // namespace ptl::lsp
