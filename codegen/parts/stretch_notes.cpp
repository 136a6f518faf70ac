// What computed a program on parts, as a text for its author.
#include "codegen/parts/parts_run.h"

#include <map>

namespace ptl::parts {

/// By `LeftBecause`.
constexpr std::string_view leftTexts[] = {
    "compiling it would take longer",
    "an array has no elements, or some without a value",
    "it is not said in the language alone, or stops",
    "compiled code cannot compute it, or stops",
};

/// Where a stretch begins in the source.
static std::string placeOf(const PlacedProgram &placed, const SourceManager &sources, ValueId id) {
  const Expr *expr = placed.values[id].expr;
  return sources.place(expr ? expr->span : placed.decl->nameSpan);
}

static std::string times(uint64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

void PartsStretches::noteStretches(const SourceManager &sources) const {
  if (!options_.note)
    return;
  // Several stretches may begin at one place, such as both results of an operation.
  std::map<std::pair<std::string, std::string>, uint64_t> counts;
  for (size_t number = 0; number < progress_.size(); ++number) {
    const StretchProgress &progress = progress_[number];
    std::string place = placeOf(placed_, sources, compiled_.stretches[number].own.front());
    if (progress.compiled > 0)
      counts[{place, ""}] += progress.compiled;
    for (size_t why = 0; why < progress.left.size(); ++why)
      if (progress.left[why] > 0)
        counts[{place, std::string(leftTexts[why])}] += progress.left[why];
  }
  for (const auto &[what, count] : counts) {
    const auto &[place, why] = what;
    options_.note(place + ": computed by " +
                  (why.empty() ? "compiled code, " : "the reference executor, ") + times(count) +
                  (why.empty() ? "" : ", because " + why));
  }
}

} // namespace ptl::parts
