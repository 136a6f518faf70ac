#include "driver/ir/command_options.h"

#include "driver/bundle.h"

#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cstdlib>

namespace ptl {

/// Gives what is said of the bundle.
static std::string keepAsBundle(const SourceManager &sources, const Fault &fault) {
  if (const char *wanted = std::getenv("PTL_BUNDLE"); wanted && std::string_view(wanted) == "off")
    return "no reproducer is kept: PTL_BUNDLE is `off`";
  std::string folder = bundleFolder();
  std::string reason = writeBundle(folder, sources, fault);
  return reason.empty() ? "`" + folder + "` contains what is needed to reproduce this error"
                        : "`" + folder + "` cannot be written: " + reason;
}

CompilerOptions compilerOptions(const Options &options, const Target &target) {
  CompilerOptions compiler;
  compiler.level = static_cast<int>(options.number(OptionId::Optimize).value_or(2));
  compiler.unchecked = options.has(OptionId::Unchecked);
  compiler.verifyEach = options.has(OptionId::VerifyEach);
  compiler.keepsStages = target.chip() && options.value(OptionId::VerifyEach) == "run";
  compiler.timePasses = options.has(OptionId::TimePasses);
  compiler.keepFault = keepAsBundle;
  compiler.dumpFolder = options.value(OptionId::DumpPhases);
  compiler.chip = target.chip();
  if (options.has(OptionId::Processor))
    compiler.processor = cpu::Processor::named(std::string(options.value(OptionId::Processor)));
  // The key of the cache does not have the text of the user's own machine files.
  if (!options.has(OptionId::NoCache) && !options.has(OptionId::Machine))
    compiler.cache = DiskCache::ofUser();
  for (OptionId id : {OptionId::Define, OptionId::Include, OptionId::Warning})
    for (const std::string &value : options.values(id))
      // These options change what a source means, so they are part of the key.
      compiler.cacheSalt += std::to_string(static_cast<int>(id)) + value + std::string(1, '\0');
  // So does the order of atomic updates, which the checker decides.
  if (options.has(OptionId::Deterministic))
    compiler.cacheSalt += "deterministic";
  return compiler;
}

std::optional<ExitCode> processorProblem(Session &session, const Target *target, bool runs) {
  if (!session.options().has(OptionId::Processor))
    return std::nullopt;
  if (target && (target->isChip() || target->isReference()))
    return usageError("`--cpu` chooses a processor for the target `cpu`, not for `" + target->name +
                      "`");
  std::string name(session.options().value(OptionId::Processor));
  if (std::string problem = cpu::Processor::problemOf(name); !problem.empty())
    return usageError("`--cpu " + name + "`: " + problem +
                      "; the levels x86-64-v2, x86-64-v3 and x86-64-v4 are names, and features "
                      "follow with + or -");
  std::vector<std::string> lacking = cpu::Processor::named(name).lackingHere();
  if (!runs || lacking.empty())
    return std::nullopt;
  session.sink().report(
      DiagId::TargetCannotRun, kNoSpan,
      {name, "this processor lacks " + llvm::join(lacking, ", ") +
                 "; choose features that it has, for example `--cpu x86-64-v2`, or omit `--cpu`"});
  return session.finish(ExitCode::Missing);
}

Wanted wantedOf(const Options &options) {
  Wanted wanted;
  for (const std::string &define : options.values(OptionId::Define))
    if (size_t equals = define.find('='); equals != define.npos)
      wanted[define.substr(0, equals)] = define.substr(equals + 1);
  return wanted;
}

ExampleSizes exampleSizes(const Options &options, const CallableDecl &decl) {
  return sizesWanted(decl, wantedOf(options));
}

} // namespace ptl
