// Holds back diagnostics while the user is typing. A half-written word is an unknown name, and an
// incomplete kernel writes no output: the user knows that. So errors that an edit causes are held
// back until the user pauses, or continues elsewhere.
#pragma once

#include "lsp/server/finding.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ptl::lsp {

/// Decides which errors and warnings a client gets. The place of typing is that of the last edit,
/// because the protocol does not report the cursor.
class Typing {
public:
  /// The pause in ms after which everything is shown.
  static constexpr uint64_t kRest = 800;

  /// Records that the client is about to change a range: errors of a line or declaration that the
  /// typing leaves are not held back any more.
  void begin(const ide::File &file, ide::Range range, std::string_view text);
  /// Records that the change of the last `begin` has been made.
  void end(const ide::File &file, ide::Range range, std::string_view text);
  /// Shows everything until the next change, because the user has paused. Findings that are shown
  /// only for that reason are held back again when the user continues at the same place.
  void rest() { isResting_ = true; }
  /// Shows everything for good, because the text was changed in another way than by typing.
  void forget();

  /// Forgets a file that the client has closed.
  void closed(const std::string &path);

  /// Those findings of a file that are shown at present. Findings on other lines that the client
  /// has already received are kept as long as they are true.
  std::vector<PlacedFinding> shown(const ide::File &file, std::vector<PlacedFinding> findings);

  bool isAt(const ide::File &file) const { return file.path() == path_; }
  /// The files of which findings are held back.
  const std::unordered_set<std::string> &holding() const { return holding_; }

private:
  /// A diagnostic of the last check in the file that is being edited.
  struct Found {
    PlacedFinding finding;
    size_t identity;
    bool isDone; ///< it counts as soon as the user leaves its line
  };
  /// An error that has been or will be shown, in the declaration that is being edited. While
  /// another statement there is broken, a check does not report it.
  struct Told {
    PlacedFinding finding;
    std::string lineText;
    size_t identity;
  };
  /// The text that is being typed: a statement, or a line of it.
  struct Region {
    uint32_t first = 0, last = 0;
    bool isEmpty = true;
    bool contains(uint32_t line) const { return !isEmpty && first <= line && line <= last; }
  };
  bool isInDeclaration(const ide::File &file, uint32_t offset) const;
  /// The word that is being typed, if it is not a prefix of any known name: whatever is typed next,
  /// it stays unknown. Empty: it may still become a name.
  std::string hopelessWord(const ide::File &file) const;
  void leaveLine(const ide::File &file);
  void leaveDeclaration(const ide::File &file, uint32_t offset);
  void moveTold(const ide::File &file, ide::Range range, std::string_view text);
  void addTold(const ide::File &file, const std::unordered_set<size_t> &found,
               std::vector<PlacedFinding> &list) const;
  void remember(const ide::File &file, const PlacedFinding &finding, size_t identity);

  bool isResting_ = true;
  std::string path_; ///< empty: the user is not typing
  /// The declarations before and behind the place of typing; where they meet, both count.
  std::weak_ptr<const ide::Chunk> before_, behind_;
  uint32_t cursor_ = 0;
  uint32_t first_ = 0, line_ = 0; ///< first and current line of the text that is being typed
  Region region_;
  bool isLeft_ = true; ///< nothing has been typed since the last place was left
  std::vector<Found> found_;
  std::vector<Told> told_;
  std::unordered_set<size_t> released_; ///< of `path_`
  /// received by the client, by path
  std::unordered_map<std::string, std::unordered_set<size_t>> known_;
  std::unordered_set<std::string> holding_;
};

} // namespace ptl::lsp
