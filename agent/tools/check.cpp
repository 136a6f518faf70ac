#include "agent/tools/handlers.h"
#include "agent/tools/source.h"
#include "compile/chip/feasibility.h"
#include "frontend/base/counted.h"
#include "frontend/base/fixes.h"
#include "frontend/base/render.h"
#include "frontend/base/render_json.h"
#include "frontend/format/format.h"
#include "frontend/parse/parse.h"

#include <algorithm>

namespace ptl::agent {

static size_t countOf(const Source &source, std::initializer_list<DeclKind> kinds) {
  size_t count = 0;
  for (const CallableDecl *decl : source.program->modules.front()->callables)
    count += std::find(kinds.begin(), kinds.end(), decl->kind) != kinds.end();
  return count;
}

void runCheck(Call &call, Answer &answer) {
  std::unique_ptr<Source> source = checkSource(call, answer, false);
  if (!source)
    return;
  std::string fits;
  // A program with errors is not compiled: more reports would follow from the first ones.
  if (call.arguments.has(ArgumentId::Target) && !source->sink.hasErrors()) {
    std::optional<Chip> chip = chipOf(call, *source, answer);
    if (!chip)
      return;
    size_t lowered = 0;
    call.progress(0, 0, "compiling for " + chip->machine.name);
    checkForChip(*source->program, source->sources, optionsFor(*source, chip->machine),
                 wantedOf(call), source->sink,
                 [&](const BoundEntry &, const ChipProgram &) { ++lowered; });
    source->sink.sort();
    fits = "; " + std::to_string(lowered) + (lowered == 1 ? " entry" : " entries") +
           " can run on " + chip->machine.name;
  }
  addDiagnostics(call, *source, answer);
  answer.keep("diagnostics.json",
              "all diagnostics with labels, notes and edits (docs/schemas/diagnostics.json)",
              renderJson(source->sources, source->sink.all()));
  size_t errors = source->sink.errorCount();
  answer.body["ok"] = errors == 0;
  answer.summary = source->path + ": " + counted(errors, "error") + ", " +
                   counted(answer.body["warnings"].get<size_t>(), "warning") + fits;
  // Where no fix is offered, the page of the code is the best way on; one is enough.
  for (const Diagnostic &each : source->sink.all())
    if (each.severity == Severity::Error && each.fixes.empty()) {
      answer.next("explain", {{"code", diagInfo(each.id).code}},
                  "no fix is available: " + each.message, {"the reason, and a repaired example"});
      break;
    }
  if (errors != 0)
    return;
  Json file = argumentsFor(call, of(ArgumentId::File) | of(ArgumentId::Text));
  if (size_t tests = countOf(*source, {DeclKind::Test, DeclKind::Property}))
    answer.next("test", file, counted(tests, "block") + " of tests",
                {"whether its results are right"});
  if (countOf(*source, {DeclKind::Kernel, DeclKind::ManualKernel, DeclKind::Program}))
    answer.next("cost",
                argumentsFor(call, of(ArgumentId::File) | of(ArgumentId::Text) |
                                       of(ArgumentId::Target) | of(ArgumentId::Values)),
                "predicts the time and tries changes", {"only known once they are tried"});
}

void runFormat(Call &call, Answer &answer) {
  std::unique_ptr<Source> source = openSource(call, answer);
  if (!source)
    return;
  const SourceFile &file = source->sources.file(source->file);
  Tree tree = parse(file, source->sink);
  FormatResult result = format(tree);
  answer.body["formatted"] = result.text == file.text();
  answer.body["untouched"] = Json::array();
  for (const UntouchedRegion &region : result.untouched)
    answer.body["untouched"].push_back(
        {{"at", source->sources.place(region.span)}, {"reason", region.reason}});
  if (result.text == file.text()) {
    answer.summary = source->path + " is formatted";
    return;
  }
  Json again = {{"tool", "check"}, {"arguments", argumentsFor(call, of(ArgumentId::File))}};
  std::string id = answer.fix(call, source->sources, "format " + source->path,
                              {editTo(file, result.text)}, again);
  answer.body["id"] = id;
  answer.keep("formatted.ptl", "the formatted text", result.text, "text/x-ptl");
  answer.summary = source->path + " is not formatted";
  answer.next("apply_fix", {{"id", id}}, "formats the file", {"the one style of the language"});
}

} // namespace ptl::agent
