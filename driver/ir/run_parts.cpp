#include "driver/ir/run_parts.h"

#include "codegen/parts/run_parts.h"

#include <charconv>

namespace ptl {

/// More would be a slip of the pen; all of them have memory in this process.
static constexpr uint32_t kMostParts = 4096;

std::optional<RunShape> shapeOfRun(Session &session) {
  const Options &options = session.options();
  if (!options.has(OptionId::Shape))
    return std::nullopt;
  auto fails = [&](std::string why) {
    session.sink().report(DiagId::BadRunArgument, kNoSpan, {"--shape", std::move(why)});
    return std::nullopt;
  };
  std::string_view rest = options.value(OptionId::Shape);
  RunShape run;
  run.inProcess = options.has(OptionId::InProcess);
  uint64_t all = 1;
  for (bool isLast = false; !isLast;) {
    size_t comma = rest.find(',');
    isLast = comma == rest.npos;
    std::string_view text = rest.substr(0, comma);
    size_t equals = text.find('=');
    std::string level(equals == text.npos ? "" : text.substr(0, equals));
    std::string_view digits = equals == text.npos ? text : text.substr(equals + 1);
    uint32_t count = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    bool isNumber = error == std::errc() && end == digits.data() + digits.size();
    all *= count;
    if (!isNumber || count < 1 || count > kMostParts || all > kMostParts ||
        !run.shape.emplace(level, count).second)
      return fails("it takes levels and how many parts each has, at most " +
                   std::to_string(kMostParts) + " in all: `chip=4`, `host=2,chip=4`");
    rest.remove_prefix(isLast ? 0 : comma + 1);
  }
  if (!run.inProcess && Ranks::isOne()) {
    std::string why;
    run.ranks =
        Ranks::join(static_cast<double>(options.number(OptionId::Patience).value_or(60)), why);
    if (!run.ranks)
      return fails(why);
  }
  return run;
}

reference::RunResult runOnShape(Session &session, const CheckedProgram &program,
                                const CallableDecl &decl, std::vector<reference::Value> args,
                                const reference::RunOptions &options, const RunShape &shape) {
  reference::RunResult result;
  auto fails = [&](std::string why) {
    result.status = reference::RunStatus::Arguments;
    result.message = std::move(why);
    result.span = decl.nameSpan;
    return result;
  };
  const Tree &tree = *decl.module->tree;
  if (decl.kind != DeclKind::Program || !isPlaced(tree, decl.syntax))
    return fails("`" + decl.name + "` is no program whose header says where its arrays lie");
  DiagnosticSink quiet; // The checker has reported what is wrong.
  std::optional<PlacedProgram> placed = placeProgram(program, tree, decl, quiet);
  if (!placed)
    return fails("`" + decl.name + "` cannot be placed");
  parts::PartsOptions how;
  how.shape = shape.shape;
  // `--shape 4`: of the only level that there is.
  if (auto unnamed = how.shape.extract(""); !unnamed.empty()) {
    unnamed.key() = placed->levels.back().machineLevel;
    how.shape.insert(std::move(unnamed));
  }
  how.seed = static_cast<uint64_t>(session.options().number(OptionId::Seed).value_or(0));
  how.entry = options;
  std::string why;
  parts::Grid grid(placed->levels, parts::countsOn(placed->levels, how.shape, why));
  if (!why.empty())
    return fails(why);
  if (!shape.inProcess && !shape.ranks)
    return fails(Ranks::start(grid.count()));
  std::optional<parts::OwnPart> own;
  if (shape.ranks) {
    if (shape.ranks->count() != grid.count())
      return fails("the shape has " + std::to_string(grid.count()) + " parts, and there are " +
                   std::to_string(shape.ranks->count()) + " ranks");
    own.emplace(parts::OwnPart{shape.ranks->rank(), *shape.ranks});
    how.own = &*own;
  }
  return parts::runOnParts(program, session.sources(), *placed, std::move(args), how);
}

} // namespace ptl
