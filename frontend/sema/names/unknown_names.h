// Names that nothing declares: what is said of them, and what is offered.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Reports an unknown name, with the nearest known spelling as a fix.
void reportUnknownValue(Context &ctx, std::string_view name, Span span);
void reportUnknownCallable(Context &ctx, std::string_view name, Span span);
void reportUnknownType(Context &ctx, std::string_view name, Span span);
/// `nn.silu` where `nn` is no name but a module of the library: reports that it is not imported;
/// likewise `np.exp`, with a module of another library. False if there is no such module.
bool reportUnknownModule(Context &ctx, std::string_view module, std::string_view member, Span span,
                         Span whole);
/// Finds the nearest of many names by edit distance; most are told to be far by a look at their
/// characters.
class NearestName {
public:
  explicit NearestName(std::string_view name);
  void offer(std::string_view candidate);
  /// Empty if none is near. Of several at one distance the first by its letters, in whatever order
  /// they were offered.
  const std::string &best() const { return best_; }

private:
  std::string_view name_;
  uint64_t characters_; ///< of the name
  size_t bestDistance_;
  std::string best_;
};
/// Nearest of the candidates by edit distance, empty if none is near.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);
/// Adds the nearest candidate as the fix that replaces `span`; false if none is near. `prefix` stands
/// before the name in the source, as the dot does before the value of an enumeration.
bool suggestNearest(DiagnosticBuilder &builder, Span span, std::string_view name,
                    const std::vector<std::string> &candidates, std::string_view prefix = "");

} // namespace ptl
