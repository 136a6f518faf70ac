// A search for a configuration that works. It starts from the preferred one and has a list of
// changes; each has a condition under which it may help, an effect, and a description. After each
// failure the first change that may help is made. Uses only the standard library.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ptl {

/// One change of the configuration. A state holds the configuration that is tried next, and the
/// information about the last failure.
template <typename State> struct Change {
  bool (*mayHelp)(const State &);
  void (*make)(State &);
  /// Describes the extent of the change in a state; empty if it has not been made.
  std::string (*text)(const State &);
};

/// Iterates over configurations; `state` is the next to be tried. To guarantee termination, every
/// change must stop helping after some repetitions, unless a later change resets it.
template <typename State> class Search {
public:
  using Changes = std::span<const Change<State>>;

  Search(Changes changes, State first)
      : state(std::move(first)), changes_(changes), tried_(changes.size()) {
    note();
  }

  /// To be called after a failure, which has been recorded in the state: makes the next change.
  /// False if no change may help.
  bool next() {
    for (const Change<State> &each : changes_)
      if (each.mayHelp(state)) {
        before_ = {state, tried_};
        each.make(state);
        note();
        return true;
      }
    return false;
  }

  /// Undoes the last change, which turned out to be impossible and so was not tried.
  void takeBack() {
    if (!before_)
      return;
    state = std::move(before_->first);
    tried_ = std::move(before_->second);
    before_.reset();
  }

  /// Describes the changes made in any attempt, each at its latest extent, in the order of the
  /// list.
  std::vector<std::string> tried() const {
    std::vector<std::string> texts;
    for (const std::string &each : tried_)
      if (!each.empty())
        texts.push_back(each);
    return texts;
  }

  State state;

private:
  void note() {
    for (size_t row = 0; row < changes_.size(); ++row)
      if (std::string text = changes_[row].text(state); !text.empty())
        tried_[row] = std::move(text);
  }

  Changes changes_;
  std::vector<std::string> tried_; ///< by row
  std::optional<std::pair<State, std::vector<std::string>>> before_;
};

} // namespace ptl
