#include "driver/ir/command_options.h"

#include "driver/bundle.h"

namespace ptl {

/// Gives what is said of the bundle.
static std::string keepAsBundle(const SourceManager &sources, const Fault &fault) {
  std::string folder = bundleFolder();
  std::string reason = writeBundle(folder, sources, {fault.stage, fault.message, fault.ir});
  return reason.empty() ? "`" + folder + "` has what shows this again"
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
  return compiler;
}

} // namespace ptl
