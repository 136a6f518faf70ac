#include "codegen/reference/call.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/bind.h"
#include "codegen/reference/dim_values.h"
#include "codegen/reference/eval.h"
#include "codegen/reference/eval_index.h"
#include "codegen/reference/exec.h"
#include "codegen/reference/ops_shape.h"
#include "codegen/reference/place.h"
#include "codegen/reference/requirements.h"
#include "codegen/reference/written.h"

namespace ptl::reference {

namespace {

// ---- Binding a call ----------------------------------------------------------------------------

/// Dimensions are computed in the caller, then belong to the callee: no declaration is active
/// twice.
Frame bindCall(RunState &run, const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  Frame frame(callee);
  frame.caller = &run.frame();
  for (const Elem &elem : expr.elemArgs)
    frame.elems.push_back(elemOf(run, elem));
  // A prefix of the caller is passed on as a whole.
  if (expr.prefixHasPrefix)
    frame.prefix = run.frame().prefix;
  for (const Extent &extent : expr.prefixArgs)
    frame.prefix.push_back(dimValue(run, extent.length, expr.span));
  // Dimensions may speak of those of the caller, so they are computed before any is bound.
  std::vector<int64_t> dims;
  for (size_t i = 0; i < callee.dims.size() && i < expr.dimArgs.size(); ++i)
    dims.push_back(dimValue(run, expr.dimArgs[i], expr.span));
  std::vector<Value> values(expr.args.size());
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const CallArg &arg = expr.args[i];
    // A default may speak of other parameters, so it is evaluated in the callee.
    bool isDefault = i < callee.paramDefaults.size() && callee.paramDefaults[i] == arg.value;
    if (!isDefault && !arg.isInout)
      values[i] = eval(run, *arg.value);
  }
  // Values come first, because they may read a variable that an `inout` argument takes away.
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const CallArg &arg = expr.args[i];
    if (!arg.isInout)
      continue;
    // A whole variable moves into the callee and back; part of one is copied.
    if (arg.value->kind == ExprKind::Index)
      values[i] = evalIndex(run, cast<IndexExpr>(*arg.value));
    else
      values[i] = std::exchange(place(run, *arg.value), Value());
  }
  // From here on the symbols stand for the callee's dimensions.
  for (size_t i = 0; i < dims.size(); ++i)
    run.bindSymbol(callee.dims[i].symbol, dims[i]);
  FrameScope scope(run, frame);
  bindDimLocals(run, callee);
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const CallArg &arg = expr.args[i];
    // This is a default, evaluated with the parameters before it bound.
    if (values[i].isNone())
      values[i] = eval(run, *arg.value);
    bindLocal(run, *arg.param, std::move(values[i]));
  }
  return frame;
}

void returnInouts(RunState &run, const CallExpr &expr, Frame &callee) {
  for (const CallArg &arg : expr.args) {
    if (!arg.isInout)
      continue;
    Value &result = callee.locals[arg.param->index];
    // A whole variable was moved away, so it is moved back without a copy.
    if (arg.value->kind != ExprKind::Index) {
      place(run, *arg.value) = std::move(result);
      continue;
    }
    // The index is evaluated again, in the caller.
    const auto &index = cast<IndexExpr>(*arg.value);
    Value &target = place(run, *index.base);
    Region region = regionOf(run, index, target.shape(), true);
    writeRegion(target.mutableArray(), region, result, AssignMode::Set, arg.value->span);
  }
}

// ---- Executing it ------------------------------------------------------------------------------

/// Outputs start as unwritten memory, or with their initial value.
void startOutputs(RunState &run, const CallableDecl &decl) {
  for (size_t i = 0; i < decl.outputs.size(); ++i) {
    const Local &output = *decl.outputs[i];
    // Every element is marked as not written, which reading checks.
    Value value = undefinedOf(run, *output.type);
    const Expr *init = i < decl.outputInits.size() ? decl.outputInits[i] : nullptr;
    if (init)
      value = value.isArray()
                  ? broadcastValue(eval(run, *init), {value.shape().begin(), value.shape().end()})
                  : eval(run, *init);
    bindLocal(run, output, std::move(value));
  }
}

Value collectOutputs(RunState &run, const CallableDecl &decl) {
  Value::Parts outputs;
  for (const Local *output : decl.outputs) {
    Value &value = run.local(*output);
    // An output must be written completely.
    checkWritten(run, value, output->span);
    // Elements are all defined, so the marks can go.
    if (value.isArray() && !value.asArray().defined.empty())
      value.mutableArray().defined.clear();
    outputs.push_back(std::move(value));
  }
  if (outputs.size() == 1)
    return outputs[0];
  return outputs.empty() ? Value() : Value::parts(std::move(outputs));
}

std::optional<Value> callElsewhere(RunState &run, const CallExpr &expr, Frame &callee,
                                   const std::map<std::string, int64_t> &tunables) {
  // Only the calls of a test are compared between executors; calls within those run here.
  if (!run.isInTestBody() || !run.options().handler)
    return std::nullopt;
  CallRequest request;
  request.callee = expr.callee;
  for (const CallArg &arg : expr.args)
    request.args.push_back(callee.locals[arg.param->index]);
  for (const DimParam &dim : expr.callee->dims)
    request.dims.push_back(run.symbolValue(dim.symbol).value_or(0));
  request.elems = callee.elems;
  request.prefix = callee.prefix;
  request.tunables = tunables;
  request.span = expr.span;
  std::optional<RunResult> result = run.options().handler(request);
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

/// Executes the callee, whose frame is the run's: elsewhere if the options say so, else here.
Value executeCall(RunState &run, const CallExpr &expr,
                  const std::map<std::string, int64_t> &tunables) {
  const CallableDecl &callee = *expr.callee;
  bindTunables(run, callee, tunables);
  // `runCallee` checks these when the call runs here; another executor need not.
  if (run.isInTestBody() && run.options().handler) {
    checkShapes(run, callee);
    checkWheres(run, callee, expr.span);
  }
  // Another executor gets the first chance; without one the reference runs the call.
  if (auto elsewhere = callElsewhere(run, expr, run.frame(), tunables))
    return std::move(*elsewhere);
  requireSupported(callee, expr.span);
  BodyScope body(run, BodyScope::Kind::Callee);
  try {
    return runCallee(run, callee, expr.span);
  } catch (Stop &why) {
    // A failure of the call as such names the call already.
    if (!(why.span == expr.span))
      why.calls.push_back(expr.span);
    throw;
  }
}

} // namespace

Value runCallee(RunState &run, const CallableDecl &decl, Span span) {
  checkShapes(run, decl);
  checkWheres(run, decl, span);
  run.noteCall(decl);
  if (decl.kind == DeclKind::Fn) {
    run.frame().returned = {};
    // A `fn` ends by `return` or with the value of its body.
    if (exec(run, *decl.body) != Flow::Return && decl.body->value)
      return evalBlockValue(run, *decl.body->value);
    return run.frame().returned;
  }
  startOutputs(run, decl);
  exec(run, *decl.body);
  return collectOutputs(run, decl);
}

Value evalCall(RunState &run, const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  if (callee.hasErrors) // Another executor may have what this one lacks, but not for errors.
    requireSupported(callee, expr.span);
  // The check excludes recursion, so this only guards the stack against very long chains.
  if (run.depth() > 200)
    stop(RunStatus::Fault, "calls are nested too deeply", expr.span);
  std::map<std::string, int64_t> overrides;
  // Values for tunables are computed in the caller.
  for (const auto &[tunable, value] : expr.tunables)
    overrides[tunable->name] = evalInt(run, *value);
  Frame frame = bindCall(run, expr);
  Value result;
  {
    FrameScope scope(run, frame);
    result = executeCall(run, expr, overrides);
  }
  returnInouts(run, expr, frame);
  return result;
}

} // namespace ptl::reference
