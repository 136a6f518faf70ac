// Asks the worker for verdicts about the kernels of open files. It sends one request at a time, so
// that a preview has to wait for one of them at most; files that were edited come first.
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

  /// Notes that a file, or one that it imports, was opened or edited.
  void edited(const ide::File &file);
  /// Notes that the chips, or the values for previews, have changed; everything is asked again.
  void settingsChanged();
  /// The number of answers still to come; 0 when all verdicts belong to the present texts.
  size_t pending() const {
    return edited_.size() + due_.size() + later_.size() + (isAsking_ ? 1 : 0);
  }
  /// How many of them are about declarations that have changed, which the user waits for.
  size_t pendingChanges() const { return edited_.size() + due_.size() + (isAskingDue_ ? 1 : 0); }

private:
  struct Task {
    std::string path, entry, target;
    bool helps = false;  ///< what would fit is looked for, too; takes longer
    bool hints = false;  ///< what would be faster, too; takes longer
    bool advice = false; ///< and changes with which it is; takes seconds
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
  std::deque<Task> due_;                   ///< of declarations that have changed
  std::deque<Task> later_;                 ///< that may read differently
  bool isAsking_ = false, isAskingDue_ = false, isWaiting_ = false, lensesChanged_ = false,
       hintsChanged_ = false;
};

} // namespace ptl::lsp
