// Sends the diagnostics of open files, between messages: a file is checked piece by piece, so that a
// message never waits for the check of a whole file.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace ptl::ide {
struct File;
}

namespace ptl::lsp {

class Server;

/// The files whose diagnostics the client does not have. A client that asks for diagnostics itself
/// is sent none, but its files are checked all the same.
class Publisher {
public:
  explicit Publisher(Server &server) : server_(server) {}

  /// A file may have other diagnostics than the client has.
  void due(const std::string &path);
  /// The same of a file whose text has not changed, so that a client which asks has to be told.
  void changed(const std::string &path);
  /// Texts or settings have changed in a way that concerns all answers about open files.
  void allChanged();
  /// A file was closed: the client shows no diagnostics of it any more.
  void closed(const std::string &path);
  /// Somebody types. What is kept back meanwhile (`Typing`) is said after a pause.
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
  std::set<std::string> published_; ///< files that the client knows diagnostics of
  bool refreshes_ = false;          ///< when nothing is due any more
  bool isRestDue_ = false;          ///< a timer waits for a pause in the typing
  uint64_t typedAt_ = 0;            ///< in ms of the loop
};

} // namespace ptl::lsp
