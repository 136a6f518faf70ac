#include "driver/ir/command_options.h"

#include "driver/bundle.h"

#include <charconv>

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

Wanted wantedOf(const Options &options) {
  Wanted wanted;
  for (const std::string &define : options.values(OptionId::Define))
    if (size_t equals = define.find('='); equals != define.npos)
      wanted[define.substr(0, equals)] = define.substr(equals + 1);
  return wanted;
}

ExampleSizes exampleSizes(const Options &options, const CallableDecl &decl) {
  ExampleSizes sizes;
  for (const auto &[name, value] : wantedBy(decl, wantedOf(options))) {
    int64_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc())
      sizes[name] = number;
  }
  return sizes;
}

} // namespace ptl
