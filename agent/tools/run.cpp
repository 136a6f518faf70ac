#include "agent/tools/handlers.h"
#include "agent/tools/source.h"
#include "compile/call/arguments.h"
#include "compile/call/call_views.h"
#include "compile/call/compiled_handler.h"
#include "compile/call/packed_arrays.h"
#include "frontend/base/elem_convert.h"
#include "runtime/elem.h"
#include "runtime/format_value.h"

#include <algorithm>
#include <cmath>

namespace ptl::agent {

namespace {
struct RunResults {
  Json list = Json::array();
  void add(const std::string &name, const rt::OwnedArray &array);
};
} // namespace

static Json numberJson(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

void RunResults::add(const std::string &name, const rt::OwnedArray &array) {
  constexpr int64_t small = 64;
  ElemKind kind = elemKindByName(rt::elemName(array.elem())).value_or(ElemKind::F32);
  auto *data = static_cast<const char *>(array.data());
  double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
  int64_t notNumbers = 0;
  Json elements = Json::array();
  for (int64_t i = 0; i < array.count(); ++i) {
    Scalar scalar = loadElem(data + i * elemBytes(kind), kind);
    double value = isFloat(kind) ? scalar.f : static_cast<double>(scalar.i);
    if (array.count() <= small)
      elements.push_back(isFloat(kind) ? numberJson(value) : Json(scalar.i));
    notNumbers += std::isnan(value);
    // A NaN would make the minimum, the maximum and the mean NaN as well; it is counted apart.
    if (std::isnan(value))
      continue;
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  Json json = {{"name", name}, {"type", rt::elemName(array.elem())}, {"extents", array.extents()}};
  if (array.count() <= small)
    json["elements"] = std::move(elements);
  int64_t numbers = array.count() - notNumbers;
  if (numbers > 0) {
    json["least"] = numberJson(low);
    json["greatest"] = numberJson(high);
    json["mean"] = numberJson(sum / static_cast<double>(numbers));
  }
  json["nan"] = notNumbers;
  list.push_back(std::move(json));
}

/// The words of `ptlc run` for the inputs of a call; files have to be inside of the folders. Nothing after
/// refusing it.
static std::optional<std::vector<std::string>> wordsOf(const Call &call, const CallableDecl &decl,
                                                       Answer &answer) {
  std::vector<std::string> words;
  std::map<std::string, std::string> inputs = call.arguments.values(ArgumentId::Inputs);
  for (const auto &[name, value] : inputs) {
    std::string word = value;
    // A path is resolved by the rules of the folders before the compiler sees it.
    if (value.starts_with("@")) {
      std::string problem, path = call.roots.resolve(value.substr(1), &problem);
      if (path.empty()) {
        answer.refuse("`" + name + "`: " + problem);
        return std::nullopt;
      }
      word = "@" + path;
    }
    words.push_back(name + "=" + word);
  }
  for (const auto &[name, value] : sizesFor(call, decl)) {
    bool isDim = std::any_of(decl.dims.begin(), decl.dims.end(),
                             [&](const DimParam &dim) { return dim.name == name; });
    if (isDim && !inputs.contains(name))
      words.push_back(name + "=" + std::to_string(value));
  }
  // What nobody gave is random.
  for (const Local *param : decl.params) {
    bool isGiven = inputs.contains(param->name);
    bool isArray = std::any_of(words.begin(), words.end(), [&](const std::string &word) {
      return word.starts_with(param->name + "=");
    });
    if (!isGiven && !isArray)
      words.push_back(param->name + "=random");
  }
  return words;
}

static std::map<std::string, int64_t> tunablesOf(const Call &call, const CallableDecl &decl) {
  std::map<std::string, int64_t> tunables;
  ExampleSizes given = sizesFor(call, decl);
  for (const Tunable &tunable : decl.tunables)
    if (auto found = given.find(tunable.local->name); found != given.end())
      tunables[found->first] = found->second;
  return tunables;
}

static bool runOnReference(const CheckedProgram &program, Source &source, const CallableDecl &decl,
                           const rt::Entry &entry, RunInputs &inputs,
                           std::map<std::string, int64_t> tunables, RunResults &results,
                           std::string &printed, std::string &stop) {
  reference::RunOptions options;
  options.tunables = std::move(tunables);
  options.print = [&](const std::string &line) { printed += line; };
  // The interpreter is for small arrays: sizes meant for a chip would take all memory and hours.
  options.mostElements = int64_t(1) << 28;
  std::vector<reference::Value> args;
  size_t array = 0, scalar = 0;
  for (const rt::Param &param : entry.params) {
    if (param.kind == PTL_PARAM_OUTPUT)
      continue;
    if (param.isArray()) {
      args.push_back(valueOf(inputs.arrays[array++], param));
      continue;
    }
    ElemKind kind =
        elemKindByName(rt::elemName(param.elem.value_or(PTL_F32))).value_or(ElemKind::F32);
    args.push_back(reference::Value::scalar(kind, loadElem(&inputs.scalars[scalar++], kind)));
  }
  options.dims.insert(inputs.dims.begin(), inputs.dims.end());
  reference::RunResult result =
      reference::runEntry(program, source.sources, decl, std::move(args), options);
  if (!result.ok()) {
    std::string place = source.sources.place(result.span);
    stop = (place.empty() ? "" : place + ": ") + result.message;
    return false;
  }
  size_t output = 0, inout = 0;
  for (const rt::Param &param : entry.params)
    if (param.kind == PTL_PARAM_OUTPUT)
      results.add(param.name, unpackedArray(arrayOf(result.outputs[output++]), packedKind(param)));
    else if (param.kind == PTL_PARAM_INOUT)
      results.add(param.name, unpackedArray(arrayOf(result.inouts[inout++]), packedKind(param)));
  return true;
}

static bool runNative(const Call &call, const CallableDecl &decl, const rt::Entry &entry,
                      CompiledExecutor &executor, RunInputs &inputs, RunResults &results,
                      std::string &stop) {
  CallViews views(inputs);
  CallResult result = executor.call(decl, views.arguments(), tunablesOf(call, decl));
  if (result.failure) {
    stop = result.failure.file.empty()
               ? result.failure.message
               : result.failure.file + ":" + std::to_string(result.failure.line) + ": " +
                     result.failure.message;
    return false;
  }
  // Why it was not compiled stands among the diagnostics.
  if (!result.compiled)
    return false;
  size_t output = 0, array = 0;
  for (const rt::Param &param : entry.params) {
    if (param.kind == PTL_PARAM_OUTPUT)
      results.add(param.name,
                  unpackedArray(std::move(result.outputs[output++]), packedKind(param)));
    else if (param.kind == PTL_PARAM_INOUT)
      results.add(param.name, unpackedArray(std::move(inputs.arrays[array]), packedKind(param)));
    array += param.kind == PTL_PARAM_INOUT || param.kind == PTL_PARAM_ARRAY;
  }
  return true;
}

void runRun(Call &call, Answer &answer) {
  std::unique_ptr<Source> source = checkSource(call, answer, true);
  const CallableDecl *decl = source ? oneEntry(call, *source, answer) : nullptr;
  if (!decl)
    return;
  std::string target = call.arguments.text(ArgumentId::Target, "cpu");
  const Machine *machine = source->options.machines->find(target);
  if (!machine && target != "reference")
    return answer.refuse("there is no target `" + target +
                         "`; there are cpu, reference, and the chips, which are simulated");
  CompiledExecutor executor(
      *source->program, source->sources,
      optionsFor(*source, machine && !machine->executable ? std::optional(*machine) : std::nullopt),
      source->sink);
  const rt::Entry &entry = executor.describe(*decl);
  std::optional<std::vector<std::string>> words = wordsOf(call, *decl, answer);
  if (!words)
    return;
  RunInputs inputs;
  std::string problems;
  for (const RunArgumentError &error : resolveRunArguments(
           *decl, entry, *words, static_cast<uint64_t>(call.arguments.whole(ArgumentId::Seed, 0)),
           false, inputs))
    problems += (problems.empty() ? "" : "\n") + error.name + ": " + error.reason;
  if (!problems.empty())
    return answer.refuse(problems + "\n`values` gives lengths ({\"N\": 64}), `inputs` arguments");
  call.progress(0, 0, "running on " + target);
  RunResults results;
  std::string printed, stop;
  bool isFine = target == "reference"
                    ? runOnReference(*source->program, *source, *decl, entry, inputs,
                                     tunablesOf(call, *decl), results, printed, stop)
                    : runNative(call, *decl, entry, executor, inputs, results, stop);
  answer.body["entry"] = decl->name;
  answer.body["target"] = target;
  answer.body["results"] = results.list;
  if (!printed.empty())
    answer.body["printed"] = printed.substr(0, 4000);
  Json file = argumentsFor(call, of(ArgumentId::File) | of(ArgumentId::Text));
  if (!isFine && stop.empty()) {
    source->sink.sort();
    answer.refuse("it cannot be compiled: " + source->errors());
    return answer.next("check", file, "lists what is wrong", {"the file compiles"});
  }
  if (!isFine)
    return answer.refuse("the program stopped: " + stop);
  answer.summary = "`" + decl->name + "` ran on " + target;
  for (const Json &each : results.list)
    answer.summary += "; " + each["name"].get<std::string>() + ": " +
                      each["type"].get<std::string>() + each["extents"].dump();
  answer.next("test", file, "runs the tests of the file", {"whether its results are right"});
}

} // namespace ptl::agent
