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
  if (!options.has(OptionId::InProcess))
    return fails("parts run in this process only so far: add `--in-process`");
  std::string text(options.value(OptionId::Shape));
  RunShape shape;
  if (size_t equals = text.find('='); equals != text.npos) {
    shape.level = text.substr(0, equals);
    text.erase(0, equals + 1);
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), shape.parts);
  if (error != std::errc() || end != text.data() + text.size() || shape.parts < 1 ||
      shape.parts > kMostParts)
    return fails("it takes a level and how many parts there are, from 1 to " +
                 std::to_string(kMostParts) + ": `chip=4`");
  return shape;
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
  if (!shape.level.empty() && shape.level != placed->level)
    return fails("the arrays of `" + decl.name + "` lie over `" + placed->level + "`, not over `" +
                 shape.level + "`");
  parts::PartsOptions how;
  how.parts = shape.parts;
  how.seed = static_cast<uint64_t>(session.options().number(OptionId::Seed).value_or(0));
  how.entry = options;
  return parts::runOnParts(program, session.sources(), *placed, std::move(args), how);
}

} // namespace ptl
