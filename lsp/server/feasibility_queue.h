// Asks the worker for verdicts about the kernels of open files. It sends one request at a time, so
// that a preview waits for at most one of them; edited files come first.
#pragma once

#include "lsp/server/feasibility.h"

#include <uv.h>

#include <deque>
#include <map>
#include <string>

namespace ptl::lsp {

class Server;

class FeasibilityQueue {
public:
  explicit FeasibilityQueue(Server &server) : server_(server) {}

  /// Records that a file, or one that it imports, was opened or edited.
  void edited(const ide::File &file);
  /// Records that the chips, or the values for previews, have changed, so that everything is asked
  /// again.
  void settingsChanged();
  /// The number of answers still to come; 0 when all verdicts belong to the present texts.
  size_t pending() const {
    return edited_.size() + due_.size() + later_.size() + (isAsking_ ? 1 : 0);
  }
  /// How many of them concern declarations that have changed, for which the user waits.
  size_t pendingChanges() const { return edited_.size() + due_.size() + (isAskingDue_ ? 1 : 0); }

private:
  struct Task {
    std::string path, entry, target;
    bool helps = false;  ///< also look for values that would fit; takes longer
    bool hints = false;  ///< also look for the main costs; takes longer
    bool advice = false; ///< also look for changes that make it faster; takes seconds
    bool isSame(const Task &other) const {
      return path == other.path && entry == other.entry && target == other.target;
    }
  };
  void wakeIn(uint64_t milliseconds);
  void collect();
  void add(std::deque<Task> &tasks, Task task);
  void pump();
  void ask(Task task);
  void skip();
  void later(const Task &task);
  void take(const Task &task, const ide::Document &document, const ChipEntry &entry, json result);
  void askForMore(const Task &task, const ChipVerdict &verdict);

  Server &server_;
  std::map<std::string, uint64_t> edited_; ///< files by path, and since when, in ms of the loop
  std::deque<Task> due_;                   ///< for declarations that have changed
  std::deque<Task> later_;                 ///< for declarations whose answer may differ
  bool isAsking_ = false, isAskingDue_ = false, isWaiting_ = false, lensesChanged_ = false,
       hintsChanged_ = false;
};

} // namespace ptl::lsp
