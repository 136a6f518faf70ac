// `ptlc check --target a3`: beside what is wrong with the program, what keeps it from the chip.
// Without a target: what the prover says of manual kernels.
#include "driver/check.h"
#include "driver/ir/commands.h"
#include "driver/ir/feasibility.h"
#include "driver/ir/prove_manual.h"

namespace ptl {

/// The targets of `--target a2,a3`; what is none is reported.
static std::vector<Target> targetsOf(Session &session) {
  std::vector<Target> targets;
  std::string_view names = session.options().value(OptionId::Target);
  for (size_t begin = 0; begin <= names.size();) {
    size_t end = std::min(names.find(',', begin), names.size());
    if (std::optional<Target> target = findTarget(session, names.substr(begin, end - begin)))
      targets.push_back(std::move(*target));
    begin = end + 1;
  }
  return targets;
}

static Wanted wantedOf(const Options &options) {
  Wanted wanted;
  for (const std::string &define : options.values(OptionId::Define))
    if (size_t equals = define.find('='); equals != define.npos)
      wanted[define.substr(0, equals)] = define.substr(equals + 1);
  return wanted;
}

ExitCode runCheckForChips(const Options &options) {
  bool isWell = true;
  ExitCode code = runCheck(options, [&](Session &session, const CheckedProgram &program) {
    if (!options.has(OptionId::Target) && !options.has(OptionId::Machine)) {
      if (!session.failed())
        isWell &= proveManual(session, program, wantedOf(options));
      return;
    }
    for (const Target &target : targetsOf(session))
      if (target.isChip())
        isWell &= checkForChip(program, session.sources(), compilerOptions(options, target),
                               wantedOf(options), session.sink());
  });
  return isWell ? code : ExitCode::Internal;
}

} // namespace ptl
