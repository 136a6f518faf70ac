#include "driver/target.h"

namespace ptl {

std::optional<Target> findTarget(Session &session, std::string_view name) {
  const MachineSet &machines = *session.machines();
  bool isRead = machines.ownFiles().size() == session.options().values(OptionId::Machine).size();
  // The reason has been reported.
  if (!isRead || !machines.invalid().empty())
    return std::nullopt;
  if (name == "reference")
    return Target{"reference", std::nullopt};
  if (name.empty())
    name = machines.lastOwn() ? std::string_view(machines.lastOwn()->name) : "cpu";
  if (const Machine *machine = machines.find(name))
    return Target{std::string(name), *machine};
  std::string known = "`reference`";
  for (const std::string &one : machines.names())
    known += ", `" + one + "`";
  session.sink()
      .report(DiagId::UnknownTarget, kNoSpan, {std::string(name)})
      .help("there are " + known);
  return std::nullopt;
}

std::optional<Target> chosenTarget(Session &session) {
  std::optional<Target> target = findTarget(session, session.options().value(OptionId::Target));
  if (!target || !target->machine || !target->machine->cores.empty())
    return target;
  session.sink().report(DiagId::TargetCannotRun, kNoSpan,
                        {target->name, "its file says what moving costs, and nothing of what "
                                       "computes; `ptlc sim` times movements there"});
  return std::nullopt;
}

} // namespace ptl
