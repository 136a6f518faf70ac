// `ptlc lower`: what is inferred, as source.
#include "compile/source/explicit_source.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"
#include "driver/ir/variants.h"
#include "driver/target.h"

namespace ptl {

/// The variants of an entry that has several are named after what they were made for.
static std::string nameOf(const ManifestEntry &entry, const ManifestVariant &variant) {
  std::string name = entry.decl->name;
  if (entry.variants.size() == 1)
    return name;
  for (ElemKind elem : variant.elems)
    name += "_" + std::string(elemName(elem));
  for (const auto &[dim, value] : variant.statics)
    name += "_" + dim + std::to_string(value);
  return name;
}

static std::optional<std::string> lowerAll(Session &session, const CheckedProgram &program,
                                           const CompileContext &context, ExplicitLevel level) {
  std::string text;
  for (const ManifestEntry &entry : chooseVariants(session, program)) {
    if (entry.variants.empty() && !session.failed())
      session.sink().report(DiagId::NoVariant, entry.decl->nameSpan,
                            {entry.decl->name, missingDefines(*entry.decl)});
    for (const ManifestVariant &variant : entry.variants) {
      ir::EntryBinding binding = bindingOf(session, entry, variant);
      if (session.failed())
        break;
      std::optional<ExplicitText> one =
          explicitSource(context, binding, nameOf(entry, variant), level);
      if (one)
        text += (text.empty() ? "" : "\n") + one->text;
    }
  }
  if (session.failed())
    return std::nullopt;
  return text;
}

ExitCode runLower(const Options &options) {
  if (options.positional().size() != 1)
    return usageError("give one file: `ptlc lower FILE --to tile`");
  std::string_view to = options.value(OptionId::To);
  if (to != "tile" && to != "manual")
    return usageError("choose the form with `--to`: `tile` or `manual`");
  ExplicitLevel level = to == "tile" ? ExplicitLevel::Tile : ExplicitLevel::Manual;
  Session session(options);
  std::optional<Target> target = chosenTarget(session);
  if (!target)
    return session.finish(ExitCode::Usage);
  if (level == ExplicitLevel::Manual && !target->isChip())
    return usageError("buffers and events depend on the chip: name it with `--target`");
  std::unique_ptr<CheckedProgram> program = session.check(options.positional().front());
  if (!program || session.failed())
    return session.finish();
  CompilerOptions compilerOptions = ptl::compilerOptions(options, *target);
  // The text is written from the places in the source that operations stand for.
  compilerOptions.ranges = true;
  const CompileContext context(*program, session.sources(), std::move(compilerOptions),
                               session.sink());
  if (std::optional<std::string> text = lowerAll(session, *program, context, level)) {
    std::string output(options.value(OptionId::Output));
    session.write(output.empty() ? "-" : output, *text);
  }
  return session.finish(context.log().hadInternalError() ? ExitCode::Internal : ExitCode::Fine);
}

} // namespace ptl
