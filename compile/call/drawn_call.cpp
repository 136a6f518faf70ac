#include "compile/call/drawn_call.h"

#include "compile/call/arguments.h"
#include "compile/call/call_views.h"

#include <algorithm>

namespace ptl {

/// Whole tiles and pieces of them, of the sizes that tiles usually have.
static constexpr int64_t kLengths[] = {37, 64, 100, 128, 16, 8, 1};

static bool isGiven(const std::vector<std::string> &words, const std::string &name) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string &word) { return word.starts_with(name + "="); });
}

/// Completes the arguments that are left out: lengths of `size`, arrays of random numbers, ones.
static std::vector<std::string> completed(const rt::Entry &entry, std::vector<std::string> words,
                                          int64_t length) {
  auto add = [&](const std::string &name, const std::string &value) {
    if (!isGiven(words, name))
      words.push_back(name + "=" + value);
  };
  for (const rt::Dim &dim : entry.dims)
    add(dim.name, std::to_string(length));
  for (const rt::Param &param : entry.params)
    if (param.kind != PTL_PARAM_OUTPUT)
      add(param.name, param.isArray() ? "random" : "1");
  return words;
}

bool callDrawn(CompiledExecutor &executor, const CallableDecl &decl, const ManifestVariant &variant,
               const std::map<std::string, int64_t> &tunables, std::vector<std::string> words) {
  const rt::Entry &entry = executor.describe(decl);
  for (const auto &[name, value] : variant.statics)
    if (!isGiven(words, name))
      words.push_back(name + "=" + std::to_string(value));
  for (size_t i = 0; i < variant.elems.size(); ++i)
    words.push_back(entry.types[i] + "=" + std::string(elemName(variant.elems[i])));
  for (int64_t length : kLengths) {
    RunInputs inputs;
    if (!resolveRunArguments(decl, entry, completed(entry, words, length), /*seed=*/1,
                             /*convert=*/false, inputs)
             .empty())
      continue;
    CallViews views(inputs);
    CallResult result = executor.call(decl, views.arguments(), tunables);
    if (!result.compiled || !result.failure)
      return true;
  }
  return false;
}

} // namespace ptl
