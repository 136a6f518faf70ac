#include "compile/call/arguments.h"
#include "compile/call/call_views.h"
#include "compile/call/compiled_handler.h"
#include "compile/call/packed_arrays.h"
#include "driver/defines.h"
#include "driver/ir/checkpoints.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"
#include "driver/ir/part_files.h"
#include "driver/ir/pending_results.h"
#include "driver/ir/run_parts.h"
#include "driver/ir/show_array.h"
#include "driver/ir/variants.h"
#include "runtime/schedule/pool.h"
#include "runtime/trace/run_trace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace ptl {

namespace {

/// A result with its name: outputs, then `inout`s.
struct NamedResult {
  std::string name;
  rt::OwnedArray array;
  bool isInout = false;
  std::optional<ElemKind> packed = {}; ///< the elements that bytes hold
};

/// The path that `-o` gives for a result, by its name; an empty name is for the only output.
std::string pathFor(const Options &options, const std::string &name, bool onlyOne) {
  std::string path;
  for (const std::string &word : options.values(OptionId::Output)) {
    size_t equals = word.find('=');
    // A path without a name is for the only output.
    if (equals == word.npos && onlyOne)
      path = word;
    else if (word.substr(0, equals) == name && equals != word.npos)
      path = word.substr(equals + 1);
  }
  return path;
}

/// Makes all results ready to be put where they belong.
bool deliver(Session &session, std::vector<NamedResult> &results, PendingResults &pending) {
  const Options &options = session.options();
  auto outputs = std::count_if(results.begin(), results.end(),
                               [](const NamedResult &result) { return !result.isInout; });
  for (NamedResult &result : results) {
    std::string path = pathFor(options, result.name, outputs == 1 && !result.isInout);
    if (options.has(OptionId::Convert))
      // NumPy has no type for some short floats.
      result.array = widened(unpackedArray(std::move(result.array), result.packed));
    if (path.empty()) {
      bool isOfBytes = result.packed && !options.has(OptionId::Convert);
      pending.print(isOfBytes ? showPacked(result.name, std::move(result.array), *result.packed)
                              : showArray(result.name, result.array));
      continue;
    }
    if (!pending.write(session, path, std::move(result.array)))
      return false;
  }
  return true;
}

/// What `-o` can name: results and `inout`s, as `c`, `d`.
std::string writtenNames(const rt::Entry &entry) {
  std::vector<std::string> names;
  for (const rt::Param &param : entry.params)
    if (param.isWritten())
      names.push_back("`" + param.name + "`");
  return llvm::join(names, ", ");
}

/// Why `word` says nothing that is written; empty where it does. Without a name it is the only result.
std::string wrongOutput(const rt::Entry &entry, const std::string &word) {
  size_t equals = word.find('=');
  if (equals == word.npos) {
    if (entry.outputCount == 1)
      return "";
    return "`-o " + word + "` is for a single result; `-o NAME=" + word + "` names one of " +
           writtenNames(entry);
  }
  std::string name = word.substr(0, equals);
  bool isWritten = llvm::any_of(entry.params, [&](const rt::Param &param) {
    return param.isWritten() && param.name == name;
  });
  return isWritten ? ""
                   : "`" + entry.name + "` has no result `" + name + "`; it writes " +
                         writtenNames(entry);
}

/// Every name in `-o name=path` must be a result.
bool checkOutputNames(Session &session, const rt::Entry &entry) {
  for (const std::string &word : session.options().values(OptionId::Output)) {
    if (std::string why = wrongOutput(entry, word); !why.empty()) {
      session.sink().report(DiagId::BadRunArgument, kNoSpan, {"-o " + word, why});
      return false;
    }
  }
  return true;
}

/// The resolved call of one run.
struct Run {
  Session &session;
  const CheckedProgram &program;
  const CallableDecl &decl;
  const rt::Entry &entry;
  RunInputs inputs;
  PendingResults &pending;
};

/// The results by name, in the order of the entry's parameters. `inouts` are the final values of
/// these parameters.
std::vector<NamedResult> nameResults(const rt::Entry &entry, std::vector<rt::OwnedArray> outputs,
                                     std::vector<rt::OwnedArray> inouts) {
  std::vector<NamedResult> results;
  size_t output = 0, inout = 0;
  for (const rt::Param &param : entry.params)
    if (param.kind == PTL_PARAM_OUTPUT)
      results.push_back({param.name, std::move(outputs[output++]), false, packedKind(param)});
    else if (param.kind == PTL_PARAM_INOUT)
      results.push_back({param.name, std::move(inouts[inout++]), true, packedKind(param)});
  return results;
}

/// Where timelines are wanted, what ran when is recorded.
class Timelines {
public:
  explicit Timelines(const Options &options) : options_(options) {
    if (wanted())
      // The runtime looks for the recorder of the thread that calls it.
      rt::Recorder::ofThread() = &recorder_.emplace(rt::ThreadPool::shared().threadCount());
  }
  ~Timelines() { rt::Recorder::ofThread() = nullptr; }
  Timelines(const Timelines &) = delete;

  bool wanted() const { return options_.has(OptionId::Trace) || options_.has(OptionId::Lanes); }
  bool write(Run &run) const;

private:
  const Options &options_;
  std::optional<rt::Recorder> recorder_;
};

bool Timelines::write(Run &run) const {
  struct View {
    OptionId option;
    std::string (*write)(const rt::trace::RecordedRun &);
  };
  constexpr View views[] = {{OptionId::Trace, rt::trace::writeRunChrome},
                            {OptionId::Lanes, rt::trace::writeRunLanes}};
  rt::trace::RecordedRun recorded{
      run.entry.name, "cpu", {run.inputs.dims.begin(), run.inputs.dims.end()}, &*recorder_};
  for (const View &view : views) {
    std::string path(options_.value(view.option));
    if (!path.empty() && !run.session.write(path, view.write(recorded)))
      return false;
  }
  return true;
}

ExitCode runCompiled(Run &run, CompiledExecutor &executor) {
  CallViews views(run.inputs);
  Timelines timelines(run.session.options());
  std::map<std::string, int64_t> tunables = tunablesGiven(run.session, run.decl);
  if (run.session.failed())
    return ExitCode::SourceErrors;
  CallResult result = run.session.timed(
      "compile and run", [&] { return executor.call(run.decl, views.arguments(), tunables); });
  if (!result.compiled)
    return executor.hadInternalError() ? ExitCode::Internal : ExitCode::SourceErrors;
  if (executor.hadInternalError())
    return ExitCode::Internal;
  if (result.failure) {
    reportStop(run.session, result.failure);
    return ExitCode::ProgramStopped;
  }
  if (timelines.wanted() && !timelines.write(run))
    return ExitCode::SourceErrors;
  std::vector<rt::OwnedArray> inouts;
  size_t array = 0;
  for (const rt::Param &param : run.entry.params) {
    if (param.kind == PTL_PARAM_INOUT)
      // These were changed in place.
      inouts.push_back(std::move(run.inputs.arrays[array]));
    array += param.kind == PTL_PARAM_INOUT || param.kind == PTL_PARAM_ARRAY;
  }
  std::vector<NamedResult> results =
      nameResults(run.entry, std::move(result.outputs), std::move(inouts));
  return deliver(run.session, results, run.pending) ? ExitCode::Fine : ExitCode::SourceErrors;
}

/// The files that ranks write in parts, one per output: what is converted is written as a whole.
std::vector<std::string> pathsInParts(const Run &run) {
  std::vector<std::string> paths;
  const Options &options = run.session.options();
  for (const rt::Param &param : run.entry.params)
    if (param.kind == PTL_PARAM_OUTPUT)
      paths.push_back(options.has(OptionId::Convert)
                          ? std::string()
                          : pathFor(options, param.name, run.entry.outputCount == 1));
  for (const rt::Param &param : run.entry.params)
    if (param.kind == PTL_PARAM_INOUT)
      paths.push_back(options.has(OptionId::Convert) ? std::string()
                                                     : pathFor(options, param.name, false));
  return paths;
}

ExitCode runOnReference(Run &run, const Target &target, const std::optional<RunShape> &shape) {
  reference::RunOptions options;
  std::vector<reference::Value> args;
  size_t array = 0, scalar = 0;
  for (const rt::Param &param : run.entry.params) {
    if (param.kind == PTL_PARAM_OUTPUT)
      continue;
    if (param.isArray()) {
      bool isLater = run.inputs.files[array] != nullptr;
      const rt::OwnedArray &given = run.inputs.arrays[array++];
      args.push_back(isLater ? shapeOnly(given) : valueOf(given, param));
      continue;
    }
    ElemKind kind =
        elemKindByName(rt::elemName(param.elem.value_or(PTL_F32))).value_or(ElemKind::F32);
    args.push_back(reference::Value::scalar(kind, loadElem(&run.inputs.scalars[scalar++], kind)));
  }
  options.dims.insert(run.inputs.givenDims.begin(), run.inputs.givenDims.end());
  options.tunables = tunablesGiven(run.session, run.decl);
  if (run.session.failed())
    return ExitCode::SourceErrors;
  std::optional<RunFiles> files;
  if (shape && shape->ranks)
    files.emplace(run.inputs, run.entry, pathsInParts(run), run.pending);
  reference::RunResult result = run.session.timed("interpret", [&] {
    if (shape)
      return runOnShape(run.session, target, run.program, run.decl, std::move(args), options,
                        *shape, shape->ranks ? &*files : nullptr);
    return reference::runEntry(run.program, run.session.sources(), run.decl, std::move(args),
                               options);
  });
  bool isShared = result.status == reference::RunStatus::Arguments ||
                  result.status == reference::RunStatus::Where;
  if (shape && !shape->hasResults() && isShared)
    return ExitCode::ProgramStopped; // The first rank says it.
  if (shape && !shape->hasResults() && result.ok())
    return ExitCode::Fine;
  // This is a fault of the interpreter, not of the program.
  if (result.status == reference::RunStatus::Fault) {
    run.session.sink().report(DiagId::CompilerFault, result.span, {"reference", result.message});
    return ExitCode::Internal;
  }
  if (!result.ok()) {
    std::string name = "`" + run.decl.name + "`";
    bool named = result.message.find(name) != result.message.npos;
    run.session.sink().report(DiagId::ProgramStopped, result.span,
                              {named ? result.message : name + ": " + result.message});
    return ExitCode::ProgramStopped;
  }
  std::vector<rt::OwnedArray> outputs, inouts;
  for (size_t i = 0; i < result.outputs.size(); ++i)
    outputs.push_back(files && files->writes(i) ? rt::OwnedArray() : arrayOf(result.outputs[i]));
  size_t first = result.outputs.size();
  for (size_t i = 0; i < result.inouts.size(); ++i)
    inouts.push_back(files && files->writes(first + i) ? rt::OwnedArray()
                                                       : arrayOf(result.inouts[i]));
  std::vector<NamedResult> results = nameResults(run.entry, std::move(outputs), std::move(inouts));
  // What ranks have written is on its way already.
  if (files) {
    size_t output = 0, inout = first;
    std::erase_if(results, [&](const NamedResult &result) {
      return files->writes(result.isInout ? inout++ : output++);
    });
  }
  return deliver(run.session, results, run.pending) ? ExitCode::Fine : ExitCode::SourceErrors;
}

ExitCode runEntryOn(Session &session, const Target &target, const CheckedProgram &program,
                    const CallableDecl &decl, std::vector<std::string> words,
                    const std::optional<RunShape> &shape, PendingResults &pending) {
  const Options &options = session.options();
  CompiledExecutor executor(program, session.sources(), compilerOptions(options, target),
                            session.sink());
  // The reference executor, too, gets its description from the manifest.
  Run run{session, program, decl, executor.describe(decl), {}, pending};
  uint64_t seed = static_cast<uint64_t>(options.number(OptionId::Seed).value_or(0));
  if (shape)
    llvm::append_range(words, countWords(program, decl, *shape, words));
  // Ranks read what they have of arrays in files, and who starts them needs the shapes only.
  RunNeeds needs = shape && !shape->inProcess ? RunNeeds::Parts : RunNeeds::Values;
  for (const RunArgumentError &error : resolveRunArguments(
           decl, run.entry, words, seed, options.has(OptionId::Convert), run.inputs, needs))
    session.sink().report(DiagId::BadRunArgument, kNoSpan, {error.name, error.reason});
  // A wrong name is told before a run that may take long.
  if (session.failed() || !checkOutputNames(session, run.entry))
    return ExitCode::SourceErrors;
  if (shape && shape->isToStart()) {
    run.inputs = {}; // The ranks have them.
    return startRanks(session, program, decl, *shape);
  }
  return target.isReference() || shape ? runOnReference(run, target, shape)
                                       : runCompiled(run, executor);
}

} // namespace

ExitCode runRun(const Options &options) {
  Session session(options);
  std::optional<Target> target = chosenTarget(session);
  if (!target)
    return session.finish(ExitCode::Usage);
  if (target->isChip() != options.has(OptionId::Simulate)) {
    const char *why =
        target->isChip()
            ? "no such chip is attached; add `--sim` to simulate one"
            : "`--sim` simulates a chip: name it, as in `--target a3`, or leave out `--sim`";
    session.sink().report(DiagId::TargetCannotRun, kNoSpan, {target->name, why});
    return session.finish(ExitCode::Missing);
  }
  if (std::optional<ExitCode> code = processorProblem(session, &*target, true))
    return *code;
  std::optional<RunShape> shape = shapeOfRun(session);
  if (session.failed())
    return session.finish(ExitCode::Usage);
  bool isTimed = options.has(OptionId::Trace) || options.has(OptionId::Lanes);
  if (isTimed && (shape || target->isChip() || target->isReference())) {
    const char *why = shape              ? "`ptlc sim --shape` writes timelines of parts"
                      : target->isChip() ? "`ptlc sim` writes timelines of chips"
                                         : "only runs on the CPU have a timeline";
    session.sink().report(DiagId::TargetCannotRun, kNoSpan, {target->name, why});
    return session.finish(ExitCode::Missing);
  }
  auto [program, decl] = checkEntry(session);
  if (!decl)
    return session.finish();
  if (!checkpointsAreMet(session, *decl, shape.has_value()))
    return session.finish(ExitCode::Usage);
  std::vector<std::string> words = callWords(options, *decl);
  PendingResults pending([&](const std::string &path) {
    if (shape && shape->ranks)
      shape->ranks->makes(path);
  });
  ExitCode code =
      session.finish(runEntryOn(session, *target, *program, *decl, words, shape, pending));
  auto commit = [&] { return pending.commit(session) ? ExitCode::Fine : session.finish(); };
  if (shape && shape->ranks)
    return shape->ranks->end(code, session.sink().all().empty(), commit);
  return code == ExitCode::Fine ? commit() : code;
}

} // namespace ptl
