// A search for a way that works, from the one that is wanted most to the one that asks for least: a
// list of changes, each with when it may help, what it does, and words for it. After a failure the
// first change that may help is made. Standard library only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ptl {

/// One thing that can be done otherwise. A state holds what is tried and what is known of why that
/// failed.
template <typename State> struct Change {
  bool (*mayHelp)(const State &);
  void (*make)(State &);
  /// In words, how far it is made; empty where it is not.
  std::string (*text)(const State &);
};

/// Goes through the ways, of which `state` is the next to be tried. Each row of the list is to come
/// to an end: after some changes it does not help any more, unless a later row has begun it anew.
template <typename State> class Search {
public:
  using Changes = std::span<const Change<State>>;

  Search(Changes changes, State first)
      : state(std::move(first)), changes_(changes), tried_(changes.size()) {
    note();
  }

  /// After a failure, which the state knows of: makes the next change. False: none may help.
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

  /// Takes the last change back, which turned out to be none that can be made: it was not tried.
  void takeBack() {
    if (!before_)
      return;
    state = std::move(before_->first);
    tried_ = std::move(before_->second);
    before_.reset();
  }

  /// What was done otherwise in some attempt, each as far as that went last, in the order of the
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
