#include "driver/ir/compiled_parts.h"

#include "compile/call/compiled_handler.h"
#include "driver/ir/command_options.h"

#include <algorithm>

namespace ptl {

using reference::Value;

/// A text, and its code. What it reports is dropped: the reference executor computes what cannot be compiled.
struct CompiledParts::Stretch {
  SourceManager sources;
  DiagnosticSink sink;
  std::unique_ptr<CheckedProgram> program;
  std::unique_ptr<CompiledExecutor> executor;
  bool isUsable = false;
  uint64_t used = 0; ///< when it was used last
};

CompiledParts::CompiledParts(Session &session, Target target, std::string file, double worth)
    : PartCode(worth), session_(session), target_(std::move(target)), file_(std::move(file)) {}
CompiledParts::~CompiledParts() = default;

CompiledParts::Stretch &CompiledParts::stretchOf(const std::string &text) {
  // A loop whose rounds all have other sizes makes code without end; what is dropped is still on the disk.
  constexpr size_t most = 256;
  if (stretches_.size() >= most && !stretches_.contains(text))
    stretches_.erase(std::ranges::min_element(stretches_, {},
                                              [](const auto &each) { return each.second->used; }));
  std::unique_ptr<Stretch> &known = stretches_[text];
  if (!known) {
    known = std::make_unique<Stretch>();
    FileId root = known->sources.add(file_, text);
    known->program = checkFile(known->sources, root, session_.checkOptions(), known->sink);
    known->isUsable = known->program && !known->sink.hasErrors() &&
                      !known->program->modules[0]->callables.empty() &&
                      entryProblem(*known->program->modules[0]->callables.back()).empty();
  }
  if (known->isUsable && !known->executor) {
    CompilerOptions options = compilerOptions(session_.options(), target_);
    options.dumpFolder.clear();
    known->executor = std::make_unique<CompiledExecutor>(*known->program, known->sources,
                                                         std::move(options), known->sink);
  }
  known->used = ++uses_;
  return *known;
}

std::optional<std::vector<Value>> CompiledParts::compute(const std::string &text,
                                                         const std::vector<Value> &inputs) {
  Stretch &stretch = stretchOf(text);
  if (!stretch.isUsable)
    return std::nullopt;
  const CallableDecl &decl = *stretch.program->modules[0]->callables.back();
  reference::CallRequest request;
  request.callee = &decl;
  request.args = inputs;
  request.span = decl.nameSpan;
  std::optional<reference::RunResult> result =
      compiledHandler(*stretch.executor, stretch.sources)(request);
  if (result && result->status == reference::RunStatus::Compile)
    stretch.isUsable = false;
  if (!result || !result->ok())
    return std::nullopt;
  return std::move(result->outputs);
}

} // namespace ptl
