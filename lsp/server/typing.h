// What is said of a text while somebody types it. A half-written word is an unknown name, and a
// kernel whose end is not there yet writes no output: the one who types knows that. So what an edit
// makes wrong is kept back until the typing rests, or goes on elsewhere.
#pragma once

#include "lsp/server/finding.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ptl::lsp {

/// Decides which errors and warnings a client gets. The place of typing is where the last edit was;
/// the protocol does not say where the cursor is.
class Typing {
public:
  /// The pause in ms after which everything is said.
  static constexpr uint64_t kRest = 800;

  /// Notes a change that the client makes of one range, before it is made: the errors of a line, or
  /// of a declaration, that it leaves are not kept back any more.
  void begin(const ide::File &file, ide::Range range, std::string_view text);
  /// Notes that the change begun last has been made.
  void end(const ide::File &file, ide::Range range, std::string_view text);
  /// Everything is said from now on, until there is another change: nobody has typed for a while.
  /// What is said for that alone is kept back again when the typing goes on at the same place.
  void rest() { isResting_ = true; }
  /// Everything is said, and stays: the text was changed in another way.
  void forget();

  /// Forgets a file that the client has closed.
  void closed(const std::string &path);

  /// Those findings of a file that are said now. What the client knew of other lines stays as long as
  /// it is true.
  std::vector<PlacedFinding> shown(const ide::File &file, std::vector<PlacedFinding> findings);

  bool isAt(const ide::File &file) const { return file.path() == path_; }
  /// The files of which something was kept back.
  const std::unordered_set<std::string> &holding() const { return holding_; }

private:
  /// A diagnostic that was found last in the file where somebody types.
  struct Found {
    PlacedFinding finding;
    size_t identity;
    bool isDone; ///< it counts as soon as its line is left
  };
  /// An error that is told, or due, in the declaration where somebody types. A check says nothing
  /// of it while another statement there is broken.
  struct Told {
    PlacedFinding finding;
    std::string lineText;
    size_t identity;
  };
  /// What is being written: a statement, or a line of it.
  struct Region {
    uint32_t first = 0, last = 0;
    bool isEmpty = true;
    bool contains(uint32_t line) const { return !isEmpty && first <= line && line <= last; }
  };
  bool isInDeclaration(const ide::File &file, uint32_t offset) const;
  /// The word that is being written, if no name that is known here goes on like it: whatever is typed
  /// next, it will be unknown. Empty: it may still become a name.
  std::string hopelessWord(const ide::File &file) const;
  void leaveLine(const ide::File &file);
  void leaveDeclaration(const ide::File &file, uint32_t offset);
  void moveTold(const ide::File &file, ide::Range range, std::string_view text);
  void addTold(const ide::File &file, const std::unordered_set<size_t> &found,
               std::vector<PlacedFinding> &list) const;
  void remember(const ide::File &file, const PlacedFinding &finding, size_t identity);

  bool isResting_ = true;
  std::string path_; ///< empty: nobody types
  /// The declarations before and behind the place; both are meant where they meet.
  std::weak_ptr<const ide::Chunk> before_, behind_;
  uint32_t cursor_ = 0;
  uint32_t first_ = 0, line_ = 0; ///< of what is being written, up to the place
  Region region_;
  bool isLeft_ = true; ///< nothing has been written since a place was left
  std::vector<Found> found_;
  std::vector<Told> told_;
  std::unordered_set<size_t> released_;                               ///< of `path_`
  std::unordered_map<std::string, std::unordered_set<size_t>> known_; ///< to the client, by path
  std::unordered_set<std::string> holding_;
};

} // namespace ptl::lsp
