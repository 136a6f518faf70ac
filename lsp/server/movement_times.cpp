#include "lsp/server/movement_times.h"

#include "codegen/parts/fabric_of.h"
#include "codegen/parts/time_parts.h"
#include "lsp/server/cost.h"

#include <algorithm>
#include <map>

namespace ptl::lsp {

/// Of which the simulation takes a few milliseconds.
static constexpr uint64_t kMostMessages = 20'000;

namespace {

/// The sizes of a program: those of the settings, others assumed.
class Sizes {
public:
  explicit Sizes(const json &given) : given_(given) {}

  std::string text; ///< ` for B = 4096 (assumed)`

  /// Of what decides a shape, named in `text` when it is first asked for.
  int64_t value(const DimContext &dims, SymbolId symbol) {
    auto [found, isNew] = values_.emplace(symbol, parts::kAssumedSize);
    if (!isNew)
      return found->second;
    const std::string &name = dims.symbol(symbol).name;
    auto given = given_.find(name);
    bool isGiven = given != given_.end() && given->is_number_integer();
    if (isGiven)
      found->second = given->get<int64_t>();
    text += (text.empty() ? " for " : ", ") + name + " = " + std::to_string(found->second) +
            (isGiven ? "" : " (assumed)");
    return found->second;
  }

private:
  const json &given_;
  std::map<SymbolId, int64_t> values_;
};

} // namespace

/// Of which round the time is; nothing where there is one.
static std::string_view roundText(const PlacedProgram &program, ValueId move) {
  bool isInLoop = false, differs = false;
  auto look = [&](ValueId id, const PlacedLoop &loop) {
    for (Dim dim : program.values[id].shape)
      differs |= loop.stmt && dim.mentions(loop.variable);
  };
  for (const PlacedLoop &loop : program.loops) {
    if (move < loop.first || move >= loop.end)
      continue;
    isInLoop = true;
    look(move, loop);
    for (std::optional<ValueId> operand : program.values[move].operands)
      if (operand)
        look(*operand, loop);
  }
  return differs ? " in the first round" : isInLoop ? " each time" : "";
}

static std::string timeOn(const Session &session, const MachineLevels &levels,
                          const ide::PlacedMovement &movement) {
  const PlacedProgram &program = *movement.program;
  const DimContext &dims = *movement.check->program->dims;
  std::string why;
  std::vector<uint32_t> counts =
      parts::countsOn(program.levels, parts::wholeShape(program.levels, levels), why);
  if (!why.empty())
    return {};
  parts::Grid grid(program.levels, counts);
  movement::Fabric fabric = parts::fabricOf(levels);
  std::vector<uint32_t> chips = parts::chipsOf(program.levels, grid, fabric, why);
  if (!why.empty())
    return {};
  Sizes sizes(session.settings.sizes);
  std::map<std::string, int64_t> ofMachine;
  parts::giveCounts(*program.decl, grid, ofMachine);
  auto size = [&](SymbolId symbol) -> std::optional<int64_t> {
    // The machine has its parts, whatever is assumed of sizes.
    auto count = std::ranges::find_if(program.decl->dims, [&](const DimParam &dim) {
      return dim.isCount() && dim.symbol == symbol;
    });
    return count == program.decl->dims.end() ? sizes.value(dims, symbol) : ofMachine[count->name];
  };
  parts::TimeQuestion question{program, grid, size, fabric, chips, {}};
  auto time = parts::timeOfMove(question, movement.value, kMostMessages, why);
  if (!time)
    return {};
  return timeText(time->alone * 1e6) + std::string(roundText(program, movement.value)) + sizes.text;
}

std::string movementTimes(const Session &session, const ide::PlacedMovement &movement) {
  std::string text;
  const MachineSet &machines = *session.workspace.options().machines;
  for (const std::string &target : session.settings.targets) {
    MachineLevels levels =
        findLevels(std::string_view(target).substr(0, target.find(':')), machines.ownFiles());
    if (std::string time = levels.known() ? timeOn(session, levels, movement) : ""; !time.empty())
      text += (text.empty() ? "" : "; ") + target + ": " + time;
  }
  return text;
}

std::string movementTimesAt(Session &session, ide::File &file, ide::Range range) {
  if (session.settings.targets.empty())
    return {};
  auto movement = ide::movementAt(session.workspace, file, range);
  return movement ? movementTimes(session, *movement) : std::string();
}

} // namespace ptl::lsp
