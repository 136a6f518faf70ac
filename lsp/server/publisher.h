// Sends the diagnostics of open files, between messages: a file is checked piece by piece, so that
// a message never waits for the check of a whole file.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace ptl::ide {
struct File;
}

namespace ptl::lsp {

class Server;

/// The files whose present diagnostics the client lacks. A client that pulls diagnostics is sent
/// none, but its files are checked in advance all the same.
class Publisher {
public:
  explicit Publisher(Server &server) : server_(server) {}

  /// Records that the diagnostics of a file may have changed.
  void due(const std::string &path);
  /// The same for a file whose text has not changed, so that a client that pulls diagnostics must
  /// be notified.
  void changed(const std::string &path);
  /// Records a change of texts or settings that affects all answers about open files.
  void allChanged();
  /// Records that a file was closed: the client's diagnostics of it are cleared.
  void closed(const std::string &path);
  /// Records that the user is typing. Findings that are held back meanwhile (`Typing`) are sent
  /// after a pause.
  void typed();

  /// Does the next piece of work; false when there is none.
  bool step();
  /// The number of files that are due.
  size_t pending() const { return due_.size(); }

private:
  void publish(ide::File &file);
  void restLater(uint64_t milliseconds);
  void sayHeld();

  Server &server_;
  std::set<std::string> due_;
  std::set<std::string> published_; ///< files for which the client has diagnostics
  bool refreshes_ = false;          ///< when nothing is due any more
  bool isRestDue_ = false;          ///< a timer waits for a pause in typing
  uint64_t typedAt_ = 0;            ///< in ms of the loop
};

} // namespace ptl::lsp
