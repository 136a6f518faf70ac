#include "tests/differential/soak/shrink.h"

#include "frontend/reduce/search.h"
#include "frontend/reduce/smaller.h"

#include <algorithm>
#include <cctype>

namespace ptl::differential {

namespace {

/// Of the lengths of a call, one smaller.
std::vector<Case> shorter(const Case &program) {
  std::vector<Case> made;
  for (const auto &[name, value] : program.extents)
    for (int64_t next : {int64_t(1), int64_t(2), int64_t(8), int64_t(16), value / 2, value - 1})
      if (next > 0 && next < value) {
        made.push_back(program);
        made.back().extents[name] = next;
      }
  return made;
}

/// First the shorter lengths, then the smaller texts.
class Smaller {
public:
  explicit Smaller(const Case &program)
      : program_(program), shorter_(shorter(program)), rewrites_(smallerForms(program.text)) {}
  size_t size() const { return shorter_.size() + rewrites_.size(); }
  Case make(size_t index) const {
    if (index < shorter_.size())
      return shorter_[index];
    Case made = program_;
    made.text = rewritten(program_.text, rewrites_[index - shorter_.size()]);
    return made;
  }

private:
  const Case &program_;
  std::vector<Case> shorter_;
  std::vector<Rewrite> rewrites_;
};

} // namespace

std::string causeOf(const Observation &seen) {
  std::string text(kindName(seen.kind));
  text += seen.executor.starts_with("cpu") ? " cpu: "
          : seen.executor.starts_with("a") ? " chip: "
                                           : " " + seen.executor + ": ";
  if (seen.kind == Kind::Wrong || seen.kind == Kind::Hang)
    return text;
  for (size_t i = 0; i < seen.text.size();) {
    if (!std::isalnum(static_cast<unsigned char>(seen.text[i])) && seen.text[i] != '_') {
      text += seen.text[i++];
      continue;
    }
    size_t end = i;
    bool hasDigit = false;
    for (; end < seen.text.size() &&
           (std::isalnum(static_cast<unsigned char>(seen.text[end])) || seen.text[end] == '_');
         ++end)
      hasDigit |= std::isdigit(static_cast<unsigned char>(seen.text[end])) != 0;
    text += hasDigit ? "#" : seen.text.substr(i, end - i);
    i = end;
  }
  return text.substr(0, 160);
}

static const Observation *sameIn(const Outcome &outcome, const Observation &shown) {
  for (const Observation &seen : outcome.seen)
    if (seen.kind == shown.kind && seen.executor == shown.executor &&
        causeOf(seen) == causeOf(shown))
      return &seen;
  return nullptr;
}

Case shrink(Pool &pool, Case program, const Observation &shown, int budget) {
  program.extents = shown.extents;
  program.seed = shown.seed;
  std::vector<std::string> executors = {shown.executor};
  if (!sameIn(pool.all({program}, executors).front(), shown))
    return program;
  int left = 10 * budget;
  auto judge = [&](const std::vector<Case> &batch) {
    std::vector<bool> same;
    if (left <= 0)
      return same;
    for (const Outcome &outcome : pool.all(batch, executors)) {
      // A candidate that is no valid program costs next to nothing.
      left -= !outcome.seen.empty() && outcome.seen.front().kind == Kind::Invalid ? 1 : 10;
      same.push_back(sameIn(outcome, shown) != nullptr);
    }
    return same;
  };
  return smallestAccepted(
      std::move(program), static_cast<size_t>(2 * pool.jobs()),
      [](const Case &each) { return Smaller(each); }, judge);
}

} // namespace ptl::differential
