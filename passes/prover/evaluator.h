// Evaluates scalar code of a kernel without running the kernel, to find how lengths determine its
// loops and branches.
#pragma once

#include "passes/prover/calculate.h"
#include "passes/prover/trace.h"

#include <set>

namespace ptl::prove {

/// Evaluates scalar code outside any run, with loop variables at their first iteration.
class Evaluator {
public:
  Evaluator(const Function &function) : function_(function), definitions_(function.registers) {
    for (const Body &body : function.bodies)
      for (const Step &step : body.steps)
        define(step);
  }

  int64_t value(uint32_t index, const Inputs &inputs) {
    if (stamp_ == 0 || inputs != last_) {
      ++stamp_;
      last_ = inputs;
      known_.resize(function_.registers);
    }
    return evaluate(index, inputs).value;
  }
  /// The inputs that a value depends on.
  std::set<uint32_t> inputsOf(uint32_t index) {
    std::set<uint32_t> found;
    std::set<uint32_t> seen;
    collect(index, found, seen);
    return found;
  }

private:
  struct Definition {
    const Step *step = nullptr;
    uint32_t same = kNone; ///< another register with the same value at the first iteration
  };
  void define(const Step &step) {
    bool loop = step.kind == StepKind::For, whileLoop = step.kind == StepKind::While;
    if (loop || whileLoop) {
      const auto &parameters = function_.bodies[step.body].parameters;
      size_t skip = loop ? 1 : 0, from = loop ? 3 : 0;
      if (loop)
        definitions_[parameters[0]].same = step.args[0];
      for (size_t i = skip; i < parameters.size(); ++i)
        definitions_[parameters[i]].same = step.args[from + i - skip];
      for (size_t i = 0; i < step.results.size() && from + i < step.args.size(); ++i)
        definitions_[step.results[i]].same = step.args[from + i];
    }
    if (step.kind == StepKind::Calc || step.kind == StepKind::Input)
      definitions_[step.dst].step = &step;
  }
  Scalar evaluate(uint32_t index, const Inputs &inputs) {
    auto &[stamp, result] = known_[index];
    if (stamp == stamp_)
      return result;
    stamp = stamp_;
    result = {};
    Definition definition = definitions_[index];
    Scalar found;
    if (definition.same != kNone) {
      found = evaluate(definition.same, inputs);
    } else if (definition.step && definition.step->kind == StepKind::Input) {
      found = {inputs[static_cast<size_t>(definition.step->imm)], false};
    } else if (definition.step) {
      Scalar operands[3];
      for (size_t i = 0; i < definition.step->args.size() && i < 3; ++i)
        operands[i] = evaluate(definition.step->args[i], inputs);
      found = calculate(*definition.step, &operands[0], &operands[1], &operands[2]);
    }
    known_[index].second = found;
    return found;
  }
  void collect(uint32_t index, std::set<uint32_t> &found, std::set<uint32_t> &seen) {
    if (!seen.insert(index).second)
      return;
    Definition definition = definitions_[index];
    if (definition.same != kNone)
      collect(definition.same, found, seen);
    else if (definition.step && definition.step->kind == StepKind::Input)
      found.insert(static_cast<uint32_t>(definition.step->imm));
    else if (definition.step)
      for (uint32_t argument : definition.step->args)
        collect(argument, found, seen);
  }

  const Function &function_;
  std::vector<Definition> definitions_;
  std::vector<std::pair<uint64_t, Scalar>> known_;
  Inputs last_; ///< the inputs for which `known_` is valid, since `stamp_`
  uint64_t stamp_ = 0;
};

/// A loop or a branch that inputs determine.
struct Decision {
  Evaluator *evaluator;
  const Step *step;
  std::set<uint32_t> inputs;
  int64_t rotation = 1; ///< of a loop

  int64_t measure(const Inputs &values) const {
    if (step->kind != StepKind::For)
      return evaluator->value(step->args[0], values) != 0;
    int64_t lower = evaluator->value(step->args[0], values),
            upper = evaluator->value(step->args[1], values);
    int64_t by = evaluator->value(step->args[2], values);
    return by > 0 && upper > lower ? (upper - lower - 1) / by + 1 : 0;
  }
};

} // namespace ptl::prove
