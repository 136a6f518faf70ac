// Calls, and what starts a run.
#include "codegen/reference/entry_sizes.h"
#include "codegen/reference/machine.h"

#include <new>
#include <stdexcept>
#include <utility>

namespace ptl::reference {

Machine::Machine(const CheckedProgram &program, const SourceManager &sources,
                 const RunOptions &options)
    : program_(program), sources_(sources), options_(options) {}

std::string unsupportedReason(const CallableDecl &decl) {
  if (decl.hasErrors)
    return "`" + decl.name + "` has errors";
  if (decl.isBlockLevel || decl.kind == DeclKind::ManualKernel)
    return "`" + decl.name + "` is written at block level, which target `reference` cannot run";
  if (decl.kind == DeclKind::ExternKernel || !decl.body)
    return "`" + decl.name + "` is an `extern` kernel, which target `reference` cannot run";
  return {};
}

static void requireSupported(const CallableDecl &decl, Span span) {
  if (std::string reason = unsupportedReason(decl); !reason.empty())
    stop(RunStatus::Unsupported, reason, span.file == kNoFile ? decl.nameSpan : span);
}

// ---- Binding a call ----------------------------------------------------------------------------

/// Dimensions are computed in the caller, then belong to the callee: no declaration is active
/// twice.
Frame Machine::bindCall(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  Frame frame(callee);
  frame.caller = frame_;
  for (const Elem &elem : expr.elemArgs)
    frame.elems.push_back(elemOf(elem));
  // A prefix of the caller is passed on as a whole.
  if (expr.prefixHasPrefix)
    frame.prefix = frame_->prefix;
  for (const Extent &extent : expr.prefixArgs)
    frame.prefix.push_back(dimValue(extent.length, expr.span));
  // Dimensions may speak of those of the caller, so they are computed before any is bound.
  std::vector<int64_t> dims;
  for (size_t i = 0; i < callee.dims.size() && i < expr.dimArgs.size(); ++i)
    dims.push_back(dimValue(expr.dimArgs[i], expr.span));
  std::vector<Value> values(expr.args.size());
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const CallArg &arg = expr.args[i];
    // A default may speak of other parameters, so it is evaluated in the callee.
    bool isDefault = i < callee.paramDefaults.size() && callee.paramDefaults[i] == arg.value;
    if (!isDefault && !arg.isInout)
      values[i] = eval(*arg.value);
  }
  // Values come first, because they may read a variable that an `inout` argument takes away.
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const CallArg &arg = expr.args[i];
    if (!arg.isInout)
      continue;
    // A whole variable moves into the callee and back; part of one is copied.
    if (arg.value->kind == ExprKind::Index)
      values[i] = evalIndex(cast<IndexExpr>(*arg.value));
    else
      values[i] = std::exchange(place(*arg.value), Value());
  }
  // From here on the symbols stand for the callee's dimensions.
  for (size_t i = 0; i < dims.size(); ++i)
    bindSymbol(callee.dims[i].symbol, dims[i]);
  Frame *caller = std::exchange(frame_, &frame);
  bindDimLocals(callee);
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const CallArg &arg = expr.args[i];
    // This is a default, evaluated with the parameters before it bound.
    if (values[i].isNone())
      values[i] = eval(*arg.value);
    bindLocal(*arg.param, std::move(values[i]));
  }
  frame_ = caller;
  return frame;
}

void Machine::returnInouts(const CallExpr &expr, Frame &callee) {
  for (const CallArg &arg : expr.args) {
    if (!arg.isInout)
      continue;
    Value &result = callee.locals[arg.param->index];
    // A whole variable was moved away, so it is moved back without a copy.
    if (arg.value->kind != ExprKind::Index) {
      place(*arg.value) = std::move(result);
      continue;
    }
    // The index is evaluated again, in the caller.
    const auto &index = cast<IndexExpr>(*arg.value);
    Value &target = place(*index.base);
    Region region = regionOf(index, target.shape(), true);
    writeRegion(target.mutableArray(), region, result, AssignMode::Set, arg.value->span);
  }
}

// ---- Running a body ----------------------------------------------------------------------------

/// Outputs start as unwritten memory, or with their initial value.
void Machine::startOutputs(const CallableDecl &decl) {
  for (size_t i = 0; i < decl.outputs.size(); ++i) {
    const Local &output = *decl.outputs[i];
    // Every element is marked as not written, which reading checks.
    Value value = undefinedOf(*output.type);
    const Expr *init = i < decl.outputInits.size() ? decl.outputInits[i] : nullptr;
    if (init)
      value = value.isArray()
                  ? broadcastValue(eval(*init), {value.shape().begin(), value.shape().end()})
                  : eval(*init);
    bindLocal(output, std::move(value));
  }
}

Value Machine::collectOutputs(const CallableDecl &decl) {
  Value::Parts outputs;
  for (const Local *output : decl.outputs) {
    Value &value = local(*output);
    // An output must be written completely. The reference is made only for the message.
    if (value.hasUndefined()) {
      LocalRefExpr ref;
      ref.span = output->span;
      readable(value, ref);
    }
    // Elements are all defined, so the marks can go.
    if (value.isArray() && !value.asArray().defined.empty())
      value.mutableArray().defined.clear();
    outputs.push_back(std::move(value));
  }
  if (outputs.size() == 1)
    return outputs[0];
  return outputs.empty() ? Value() : Value::parts(std::move(outputs));
}

/// Runs the body of what `frame_` holds, tunables and parameters bound.
Value Machine::runCallee(const CallableDecl &decl, Span span) {
  checkShapes(decl);
  checkWheres(decl, span);
  noteCall(decl);
  if (decl.kind == DeclKind::Fn) {
    frame_->returned = {};
    // A `fn` ends by `return` or with the value of its body.
    if (exec(*decl.body) != Flow::Return && decl.body->value)
      return evalBlockValue(*decl.body->value);
    return frame_->returned;
  }
  startOutputs(decl);
  exec(*decl.body);
  return collectOutputs(decl);
}

static std::vector<Value> resultsOf(const CallableDecl &decl, Value value) {
  size_t count =
      decl.kind == DeclKind::Fn
          // Any number above 1 stands for a tuple, whose parts say how many.
          ? decl.returnType && decl.returnType->kind == TypeKind::Tuple ? 2 : !value.isNone()
          : decl.outputs.size();
  if (count == 0)
    return {};
  return count == 1 ? std::vector<Value>{std::move(value)} : value.asParts();
}

std::optional<Value> Machine::callElsewhere(const CallExpr &expr, Frame &callee,
                                            const std::map<std::string, int64_t> &tunables) {
  // Only the calls of a test are compared between executors; calls within those run here.
  if (!inTestBody_ || !options_.handler)
    return std::nullopt;
  CallRequest request;
  request.callee = expr.callee;
  for (const CallArg &arg : expr.args)
    request.args.push_back(callee.locals[arg.param->index]);
  for (const DimParam &dim : expr.callee->dims)
    request.dims.push_back(symbolValue(dim.symbol).value_or(0));
  request.elems = callee.elems;
  request.prefix = callee.prefix;
  request.tunables = tunables;
  request.span = expr.span;
  std::optional<RunResult> result = options_.handler(request);
  if (!result)
    return std::nullopt;
  // A failure elsewhere ends the test as one here would.
  if (!result->ok())
    throw Stop{result->status, result->message,
               result->span.file == kNoFile ? expr.span : result->span, result->calls};
  // Arrays that the callee changed come back in the order of the parameters.
  size_t next = 0;
  for (const CallArg &arg : expr.args)
    if (arg.isInout && next < result->inouts.size())
      callee.locals[arg.param->index] = std::move(result->inouts[next++]);
  if (result->outputs.empty())
    return Value();
  return result->outputs.size() == 1 ? result->outputs[0]
                                     : Value::parts(std::move(result->outputs));
}

Value Machine::evalCall(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  if (callee.hasErrors) // Another executor may have what this one lacks, but not for errors.
    requireSupported(callee, expr.span);
  // The check excludes recursion, so this only guards the stack against very long chains.
  if (depth_ > 200)
    stop(RunStatus::Fault, "calls are nested too deeply", expr.span);
  std::map<std::string, int64_t> overrides;
  // Values for tunables are computed in the caller.
  for (const auto &[tunable, value] : expr.tunables)
    overrides[tunable->name] = evalInt(*value);
  Frame frame = bindCall(expr);
  Frame *caller = std::exchange(frame_, &frame);
  bindTunables(callee, overrides);
  Value result;
  // `runCallee` checks these when the call runs here; another executor need not.
  if (inTestBody_ && options_.handler) {
    checkShapes(callee);
    checkWheres(callee, expr.span);
  }
  // Another executor gets the first chance; without one the reference runs the call.
  if (auto elsewhere = callElsewhere(expr, frame, overrides)) {
    result = std::move(*elsewhere);
  } else {
    requireSupported(callee, expr.span);
    bool wasInTest = std::exchange(inTestBody_, false);
    ++depth_;
    try {
      result = runCallee(callee, expr.span);
    } catch (Stop &why) {
      // A failure of the call as such names the call already.
      if (!(why.span == expr.span))
        why.calls.push_back(expr.span);
      throw;
    }
    --depth_;
    inTestBody_ = wasInTest;
  }
  frame_ = caller;
  returnInouts(expr, frame);
  return result;
}

// ---- Entry points ------------------------------------------------------------------------------

RunResult Machine::finish(const std::function<void(RunResult &)> &body) {
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
  result.failed = std::move(failed_);
  return result;
}

RunResult Machine::run(const CallableDecl &decl, std::vector<Value> args) {
  return finish([&](RunResult &result) {
    requireSupported(decl, kNoSpan);
    Frame frame(decl);
    frame_ = &frame;
    bindEntry(decl, args);
    // The caller's copies are released, so that arrays that change in place are not shared.
    args.clear();
    result.outputs = resultsOf(decl, runCallee(decl, kNoSpan));
    for (const Local *param : decl.params)
      if (param->isInout)
        result.inouts.push_back(std::move(local(*param)));
  });
}

RunResult Machine::runTestBody(const CallableDecl &decl) {
  return finish([&](RunResult &) {
    requireSupported(decl, kNoSpan);
    Frame frame(decl);
    frame_ = &frame;
    inTestBody_ = true;
    std::vector<Value> none;
    bindEntry(decl, none);
    checkWheres(decl, kNoSpan);
    noteCall(decl);
    exec(*decl.body);
  });
}

RunResult Machine::bindSizes(const CallableDecl &decl, std::vector<Value> args,
                             std::map<SymbolId, int64_t> &sizes) {
  return finish([&](RunResult &) {
    requireSupported(decl, kNoSpan);
    Frame frame(decl);
    frame_ = &frame;
    bindEntry(decl, args);
    checkShapes(decl);
    checkWheres(decl, kNoSpan);
    auto note = [&](SymbolId symbol) {
      if (auto value = symbolValue(symbol))
        sizes[symbol] = *value;
    };
    for (const DimParam &dim : decl.dims)
      note(dim.symbol);
    for (const Local *param : decl.params)
      if (param->symbol)
        note(*param->symbol);
  });
}

RunResult bindSizes(const CheckedProgram &program, const SourceManager &sources,
                    const CallableDecl &decl, std::vector<Value> args, const RunOptions &options,
                    std::map<SymbolId, int64_t> &sizes) {
  return Machine(program, sources, options).bindSizes(decl, std::move(args), sizes);
}

RunResult runEntry(const CheckedProgram &program, const SourceManager &sources,
                   const CallableDecl &decl, std::vector<Value> args, const RunOptions &options) {
  return Machine(program, sources, options).run(decl, std::move(args));
}

RunResult runBody(const CheckedProgram &program, const SourceManager &sources,
                  const CallableDecl &decl, const RunOptions &options) {
  return Machine(program, sources, options).runTestBody(decl);
}

} // namespace ptl::reference
