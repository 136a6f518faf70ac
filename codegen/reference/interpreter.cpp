#include "codegen/reference/interpreter.h"

#include "codegen/reference/bind_entry.h"
#include "codegen/reference/call.h"
#include "codegen/reference/entry_sizes.h"
#include "codegen/reference/exec.h"
#include "codegen/reference/requirements.h"

#include <new>
#include <stdexcept>

namespace ptl::reference {

namespace {

/// Turns what stops `body` into the result of the run.
RunResult resultOf(RunState &run, const std::function<void(RunResult &)> &body) {
  RunResult result;
  try {
    body(result);
  } catch (Stop &why) {
    result.status = why.status;
    result.message = std::move(why.message);
    result.span = why.span;
    result.calls = std::move(why.calls);
    // Results of a failed run mean nothing.
    result.outputs.clear();
  } catch (const std::bad_alloc &) {
    result.status = RunStatus::Memory;
    result.message = "not enough memory";
  } catch (const std::length_error &) {
    // The standard library reports a size beyond its limit this way.
    result.status = RunStatus::Memory;
    result.message = "an array would be larger than any memory";
  }
  result.failed = run.takeFailed();
  return result;
}

/// The results of an entry, one by one.
std::vector<Value> resultsOf(const CallableDecl &decl, Value value) {
  size_t count =
      decl.kind == DeclKind::Fn
          // Any number above 1 stands for a tuple, whose parts say how many.
          ? decl.returnType && decl.returnType->kind == TypeKind::Tuple ? 2 : !value.isNone()
          : decl.outputs.size();
  if (count == 0)
    return {};
  return count == 1 ? std::vector<Value>{std::move(value)} : value.asParts();
}

} // namespace

std::string unsupportedReason(const CallableDecl &decl) {
  if (decl.hasErrors)
    return "`" + decl.name + "` has errors";
  if (decl.isBlockLevel || decl.kind == DeclKind::ManualKernel)
    return "`" + decl.name + "` is written at block level, which target `reference` cannot run";
  if (decl.kind == DeclKind::ExternKernel || !decl.body)
    return "`" + decl.name + "` is an `extern` kernel, which target `reference` cannot run";
  return {};
}

RunResult runEntry(const CheckedProgram &program, const SourceManager &sources,
                   const CallableDecl &decl, std::vector<Value> args, const RunOptions &options) {
  RunState run(program, sources, options);
  return resultOf(run, [&](RunResult &result) {
    requireSupported(decl, kNoSpan);
    Frame frame(decl);
    FrameScope scope(run, frame);
    bindEntry(run, decl, args);
    // The caller's copies are released, so that arrays that change in place are not shared.
    args.clear();
    result.outputs = resultsOf(decl, runCallee(run, decl, kNoSpan));
    for (const Local *param : decl.params)
      if (param->isInout)
        result.inouts.push_back(std::move(run.local(*param)));
  });
}

RunResult runBody(const CheckedProgram &program, const SourceManager &sources,
                  const CallableDecl &decl, const RunOptions &options) {
  RunState run(program, sources, options);
  return resultOf(run, [&](RunResult &) {
    requireSupported(decl, kNoSpan);
    Frame frame(decl);
    FrameScope scope(run, frame);
    BodyScope body(run, BodyScope::Kind::Test);
    std::vector<Value> none;
    bindEntry(run, decl, none);
    checkWheres(run, decl, kNoSpan);
    run.noteCall(decl);
    exec(run, *decl.body);
  });
}

RunResult bindSizes(const CheckedProgram &program, const SourceManager &sources,
                    const CallableDecl &decl, std::vector<Value> args, const RunOptions &options,
                    std::map<SymbolId, int64_t> &sizes) {
  RunState run(program, sources, options);
  return resultOf(run, [&](RunResult &) {
    requireSupported(decl, kNoSpan);
    Frame frame(decl);
    FrameScope scope(run, frame);
    bindEntry(run, decl, args);
    checkShapes(run, decl);
    checkWheres(run, decl, kNoSpan);
    auto note = [&](SymbolId symbol) {
      if (auto value = run.symbolValue(symbol))
        sizes[symbol] = *value;
    };
    for (const DimParam &dim : decl.dims)
      note(dim.symbol);
    for (const Local *param : decl.params)
      if (param->symbol)
        note(*param->symbol);
  });
}

} // namespace ptl::reference
