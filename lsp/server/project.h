// Finds and reads the `.ptl` files in the folders of the workspace, in the background.
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
  /// during a listing share its result. Meanwhile `Session::workspaceFiles` does not list folders.
  void whenKnown(Callback<> then);
  /// Reads files that have changed on disk; `then` is called when the workspace knows their texts.
  void changed(std::vector<std::string> paths, Callback<> then);
  /// Adds one file that was read, or continues one waiting caller; false if there is neither.
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
  std::vector<Callback<>> next_;   ///< callers that wait for the present listing
  std::vector<std::string> paths_; ///< result of the last listing
  std::deque<std::pair<std::string, std::string>> texts_; ///< files to be added
  std::deque<Callback<>> ready_;                          ///< callers that wait for these texts
};

/// The `.ptl` files in folders and below, by normal path, at most some thousands of entries deep.
std::set<std::string> filesIn(const std::vector<std::string> &folders);

} // namespace ptl::lsp
