#include "driver/ir/arguments.h"
#include "driver/ir/commands.h"
#include "driver/ir/cpu_executor.h"
#include "driver/ir/show_array.h"
#include "runtime/npy/npy.h"

#include <algorithm>
#include <cstdio>

namespace ptl {

namespace {

/// A result with its name: outputs, then `inout`s.
struct NamedResult {
  std::string name;
  rt::OwnedArray array;
  bool isInout = false;
};

/// What `-o` says: paths by result name; an empty name is the only output.
std::string pathFor(const Options &options, const std::string &name, bool onlyOne) {
  std::string path;
  for (const std::string &word : options.values(OptionId::Output)) {
    size_t equals = word.find('=');
    if (equals == word.npos && onlyOne)
      path = word;
    else if (word.substr(0, equals) == name && equals != word.npos)
      path = word.substr(equals + 1);
  }
  return path;
}

bool deliver(Session &session, std::vector<NamedResult> &results) {
  const Options &options = session.options();
  auto outputs = std::count_if(results.begin(), results.end(),
                               [](const NamedResult &result) { return !result.isInout; });
  for (NamedResult &result : results) {
    std::string path = pathFor(options, result.name, outputs == 1 && !result.isInout);
    if (options.has(OptionId::Convert))
      result.array = widened(std::move(result.array));
    if (path.empty()) {
      std::fputs(showArray(result.name, result.array).c_str(), stdout);
      continue;
    }
    if (rt::Failure failure = rt::saveNpy(path, result.array.view())) {
      session.sink().report(DiagId::CannotWriteFile, kNoSpan, {path, failure.message});
      return false;
    }
  }
  return true;
}

/// Every name in `-o name=path` must be a result.
bool checkOutputNames(Session &session, const rt::Entry &entry) {
  for (const std::string &word : session.options().values(OptionId::Output)) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    bool known = equals == word.npos ? entry.outputCount == 1
                                     : std::any_of(entry.params.begin(), entry.params.end(),
                                                   [&](const rt::Param &param) {
                                                     return param.isWritten() && param.name == name;
                                                   });
    if (!known) {
      session.sink().report(DiagId::BadRunArgument, kNoSpan,
                            {word, "`" + entry.name + "` has no result of this name"});
      return false;
    }
  }
  return true;
}

ExitCode runOnCpu(Session &session, const CheckedProgram &program, const CallableDecl &decl,
                  const std::vector<std::string> &words) {
  const Options &options = session.options();
  CpuExecutor executor(program, session.sources(), compilerOptions(options), session.sink());
  const rt::Entry &entry = executor.describe(decl);
  RunInputs inputs;
  uint64_t seed = static_cast<uint64_t>(options.number(OptionId::Seed).value_or(0));
  for (const RunArgumentError &error :
       resolveRunArguments(entry, words, seed, options.has(OptionId::Convert), inputs))
    session.sink().report(DiagId::BadRunArgument, kNoSpan, {error.name, error.reason});
  if (session.failed() || !checkOutputNames(session, entry))
    return ExitCode::SourceErrors;
  std::vector<PtlArray> views;
  for (const rt::OwnedArray &array : inputs.arrays)
    views.push_back(array.view());
  std::vector<const PtlArray *> arrays;
  for (const PtlArray &view : views)
    arrays.push_back(&view);
  std::vector<PtlDim> dims;
  for (const auto &[name, value] : inputs.dims)
    dims.push_back({name.c_str(), value});
  CallResult result = session.timed(
      "compile and run", [&] { return executor.call(decl, {arrays, inputs.scalars, dims}); });
  if (!result.compiled)
    return executor.compiler().hadInternalError() ? ExitCode::Internal : ExitCode::SourceErrors;
  if (result.failure) {
    reportStop(session, result.failure);
    return ExitCode::ProgramStopped;
  }
  std::vector<NamedResult> results;
  size_t output = 0, array = 0;
  for (const rt::Param &param : entry.params) {
    if (param.kind == PTL_PARAM_OUTPUT)
      results.push_back({param.name, std::move(result.outputs[output++]), false});
    else if (param.isArray() && param.kind == PTL_PARAM_INOUT)
      results.push_back({param.name, std::move(inputs.arrays[array++]), true});
    else if (param.isArray())
      ++array;
  }
  return deliver(session, results) ? ExitCode::Fine : ExitCode::SourceErrors;
}

} // namespace

ExitCode runRun(const Options &options) {
  Session session(options);
  std::string file = options.positional().front();
  std::unique_ptr<CheckedProgram> program = session.check(file);
  if (!program || session.failed())
    return session.finish();
  const CallableDecl *decl = chooseEntry(session, *program);
  if (!decl)
    return session.finish();
  std::vector<std::string> words(options.positional().begin() + 1, options.positional().end());
  return session.finish(runOnCpu(session, *program, *decl, words));
}

} // namespace ptl
