#include "driver/defines.h"

#include "frontend/base/explain.h"
#include "frontend/base/given_value.h"
#include "frontend/sema/example_names.h"

#include <algorithm>

namespace ptl {

/// `attention.BK=256` as `attention`, `BK`, `256`; the first is empty in `BK=256`.
namespace {
struct Define {
  std::string entry, name, value;
  explicit Define(const std::string &text) {
    size_t equals = std::min(text.find('='), text.size()), dot = text.substr(0, equals).find('.');
    entry = dot == text.npos ? "" : text.substr(0, dot);
    name = dot == text.npos ? text.substr(0, equals) : text.substr(dot + 1, equals - dot - 1);
    value = equals < text.size() ? text.substr(equals + 1) : "";
  }
};
} // namespace

std::string defineProblem(const Options &options) {
  for (const std::string &text : options.values(OptionId::Define)) {
    Define define(text);
    if (define.name.empty())
      return "`-D " + text + "` has no name; it takes NAME=VALUE";
    std::string problem = text.find('=') == text.npos ? std::string() : givenProblem(define.value);
    if (!problem.empty())
      return "`-D " + text + "`: " + problem;
  }
  return {};
}

static std::vector<std::string> typesOf(const CallableDecl &decl) {
  std::vector<std::string> names;
  for (const TypeParam *param : decl.typeParams)
    names.push_back(param->name);
  return names;
}

/// What stands for numbers.
static std::vector<std::string> numbersOf(const CallableDecl &decl) {
  std::vector<std::string> names;
  for (const DimParam &dim : decl.dims)
    names.push_back(dim.name);
  for (const Tunable &tunable : decl.tunables)
    names.push_back(tunable.local->name);
  if (decl.hasPrefix)
    names.push_back("..");
  for (const Local *param : decl.params)
    // Arrays have no value on the command line.
    if (holdsInteger(*param))
      names.push_back(param->name);
  for (std::string &name : exampleNames(decl))
    names.push_back(std::move(name));
  return names;
}

/// All that a define could mean, as it would be written: `N`, or `entry.N` where it has an entry.
struct Known {
  std::vector<std::string> numbers, types;
  Known(const Define &define, const CheckedProgram &program) {
    if (define.entry.empty())
      // Only constants of the root file can be set from outside.
      for (const ConstDecl *constant : program.modules.front()->consts)
        numbers.push_back(constant->name);
    auto add = [&](std::vector<std::string> &to, const CallableDecl &decl,
                   const std::vector<std::string> &names) {
      for (const std::string &name : names)
        to.push_back(define.entry.empty() ? name : decl.name + "." + name);
    };
    for (const std::unique_ptr<CheckedModule> &module : program.modules)
      for (const CallableDecl *decl : module->callables) {
        add(numbers, *decl, numbersOf(*decl));
        add(types, *decl, typesOf(*decl));
      }
  }
};

/// Why a value does not suit what its name stands for; empty if it does. Its form is right
/// (`defineProblem`). A name may stand for a number here and for an element type there.
static std::string mismatch(const Define &define, bool isNumber, bool isType) {
  std::string_view rest = define.value;
  while (!rest.empty()) {
    std::string value(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), value.size() + 1));
    if (!isType && !givenNumber(value))
      return "`" + value + "` is not a value for it: it is a number";
    if (!isNumber && givenNumber(value))
      return "`" + value + "` is not a value for it: it is an element type, such as f32";
  }
  return {};
}

void reportUnknownDefines(const Options &options, const CheckedProgram &program,
                          DiagnosticSink &sink) {
  // With several files each has names of its own, so nothing is reported.
  auto isSource = [](const std::string &word) { return word.ends_with(".ptl"); };
  if (std::ranges::count_if(options.positional(), isSource) > 1)
    return;
  for (const std::string &text : options.values(OptionId::Define)) {
    Define define(text);
    std::string wanted = define.entry.empty() ? define.name : define.entry + "." + define.name;
    Known known(define, program);
    bool isNumber = std::ranges::count(known.numbers, wanted) > 0,
         isType = std::ranges::count(known.types, wanted) > 0;
    if (isNumber || isType) {
      if (std::string why = mismatch(define, isNumber, isType); !why.empty())
        sink.report(DiagId::BadRunArgument, kNoSpan, {"-D " + text, why});
      continue;
    }
    std::vector<std::string> names = known.numbers;
    names.insert(names.end(), known.types.begin(), known.types.end());
    auto distance = [&](const std::string &name) { return editDistance(name, wanted); };
    auto best = std::min_element(names.begin(), names.end(), [&](const auto &a, const auto &b) {
      return distance(a) < distance(b);
    });
    // A third of the letters may be wrong, or the suggestion is of no help.
    bool isNear = best != names.end() && distance(*best) <= std::max<size_t>(1, wanted.size() / 3);
    sink.report(DiagId::UnknownDefine, kNoSpan,
                {wanted, isNear ? "; did you mean `" + *best + "`?" : ""});
  }
}

std::map<std::string, int64_t> examplesGiven(const Options &options, const CallableDecl &decl) {
  std::map<std::string, int64_t> examples;
  for (const std::string &text : options.values(OptionId::Define)) {
    Define define(text);
    std::optional<int64_t> number = givenNumber(define.value);
    if ((define.entry.empty() || define.entry == decl.name) && number &&
        isExampleName(decl, define.name))
      examples[define.name] = *number;
  }
  return examples;
}

std::vector<std::string> callWords(const Options &options, const CallableDecl &entry) {
  std::vector<std::string> words(options.positional().begin() + 1, options.positional().end());
  for (const std::string &text : options.values(OptionId::Define)) {
    Define define(text);
    auto isIt = [&](const DimParam &dim) { return dim.name == define.name; };
    auto isParam = [&](const Local *param) {
      return holdsInteger(*param) && param->name == define.name;
    };
    auto isGiven = [&](const std::string &word) { return word.starts_with(define.name + "="); };
    if ((define.entry.empty() || define.entry == entry.name) &&
        (std::ranges::any_of(entry.dims, isIt) || std::ranges::any_of(entry.params, isParam)) &&
        std::none_of(words.begin(), words.end(), isGiven))
      words.push_back(define.name + "=" + define.value);
  }
  return words;
}

} // namespace ptl
