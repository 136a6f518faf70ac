#include "compile/call/compiled_executor.h"

#include "compile/call/known_arguments.h"
#include "compile/chip/lower_to_chip.h"
#include "compile/entry/manifest.h"
#include "compile/simulate/kernel_lines.h"

#include <utility>

namespace ptl {

CompiledExecutor::CompiledExecutor(const CheckedProgram &program, const SourceManager &sources,
                                   CompilerOptions options, DiagnosticSink &sink)
    : program_(program), sources_(sources), context_(program, sources, std::move(options), sink),
      level_(context_.options().level), quality_(cpu::qualityAt(level_)) {}

const rt::Entry &CompiledExecutor::describe(const CallableDecl &decl) {
  std::unique_ptr<rt::Manifest> &known = described_[&decl];
  if (!known) {
    std::string problem;
    std::string text = emitManifest(program_, sources_, {{&decl, {}}}, false);
    known =
        std::make_unique<rt::Manifest>(rt::parseManifest(text, problem).value_or(rt::Manifest{}));
    if (known->entries.empty())
      known->entries.emplace_back();
  }
  return known->entries.front();
}

ir::EntryBinding CompiledExecutor::wanted(const CallableDecl &decl, const rt::Entry &entry,
                                          const rt::Binding &binding,
                                          const std::map<std::string, int64_t> &tunables) const {
  ir::EntryBinding result;
  result.tunables = tunables;
  result.checked = !context_.options().unchecked;
  result.decl = &decl;
  result.prefixRank = static_cast<uint32_t>(binding.leading.size());
  for (const std::optional<int32_t> &elem : binding.elems)
    result.elems.push_back(
        elemKindByName(rt::elemName(elem.value_or(PTL_F32))).value_or(ElemKind::F32));
  for (size_t i = 0; i < entry.dims.size(); ++i)
    if (entry.dims[i].isStatic)
      result.statics[entry.dims[i].name] = binding.dims[i].value_or(0);
  return result;
}

bool CompiledExecutor::compileForCpu(const ir::EntryBinding &concrete, Variant &variant) {
  const std::string symbol = "ptl_entry";
  if (context_.options().manyLevels) {
    variant.translated = translateEntry(context_, concrete, symbol);
    if (variant.translated)
      variant.code = compileTranslated(context_, *variant.translated, level_, quality_);
  } else {
    variant.code = compileEntry(context_, concrete, symbol);
  }
  if (!variant.code)
    return false;
  variant.manifest = emitManifest(
      program_, sources_,
      {{concrete.decl, {{symbol, concrete.statics, concrete.elems, concrete.prefixRank}}}},
      !concrete.checked);
  return load(variant);
}

/// Finds the entry in the code, which is dropped where it lacks what the manifest names: a call would find no function in it.
bool CompiledExecutor::load(Variant &variant) {
  PtlLookup lookup = [](void *code, const char *name) {
    return static_cast<cpu::JitCode *>(code)->lookup(name);
  };
  variant.opened.entries.clear();
  rt::Failure failure =
      rt::openManifest(variant.manifest.c_str(), lookup, &*variant.code, variant.opened);
  if (!failure)
    return true;
  context_.log().reportFault("native code", failure.message);
  variant.code.reset();
  return false;
}

void CompiledExecutor::useLevel(int level, cpu::CodeQuality quality) {
  if (level_ == level && quality_ == quality)
    return;
  level_ = level;
  quality_ = quality;
  for (auto &[key, variant] : variants_) {
    variant->code.reset();
    if (variant->translated)
      variant->code = compileTranslated(context_, *variant->translated, level, quality);
    if (variant->code)
      load(*variant);
  }
}

bool CompiledExecutor::compileForChip(const ir::EntryBinding &concrete, Variant &variant) {
  std::optional<BuiltEntry> built = buildEntry(context_, concrete, "ptl_" + concrete.decl->name);
  ChipResult lowered;
  if (built)
    lowered = lowerToChip(context_, *built);
  if (!lowered.program)
    return false;
  std::string error;
  variant.chip = ChipRunner::create(std::move(*lowered.program), *context_.options().chip, error);
  if (!variant.chip)
    context_.log().reportFault("simulator", error);
  variant.stages = std::move(lowered.stages);
  return variant.chip != nullptr;
}

/// Runs the program after every pass; what differs is the compiler's own fault.
bool CompiledExecutor::stagesAgree(const Variant &variant, const StageCall &call) {
  std::optional<StageDifference> found =
      findChange(*variant.stages, &*context_.options().chip, call);
  if (found)
    context_.log().reportFault(found->pass, found->text, found->module);
  return !found;
}

std::optional<rt::Failure>
CompiledExecutor::runOnChip(const Variant &variant, const rt::CallArguments &inputs,
                            const rt::Binding &binding,
                            const std::vector<const PtlArray *> &arrays) {
  StageCall call{arrays, {inputs.scalars.begin(), inputs.scalars.end()}, binding.leading};
  for (std::optional<int64_t> length : binding.dims)
    call.lengths.push_back(length.value_or(0));
  if (variant.stages && simulation.values && !stagesAgree(variant, call))
    return std::nullopt;
  KernelLines lines;
  ChipRun how = simulation;
  how.options.print = [&](const rt::sim::Printed &printed) { lines.add(printed); };
  rt::Failure failure = variant.chip->run(arrays, call.scalars, call.lengths, how);
  if (failure.code == PTL_ERROR_INTERNAL) {
    std::string at = failure.line ? failure.file + ":" + std::to_string(failure.line) + ": " : "";
    context_.log().reportFault("simulator", at + failure.message);
  }
  return failure;
}

const CompiledExecutor::Variant *
CompiledExecutor::variantFor(const CallableDecl &decl, const rt::Entry &entry,
                             const rt::Binding &binding,
                             const std::map<std::string, int64_t> &tunables) {
  std::string key = rt::describeWanted(entry, binding);
  for (const auto &[name, value] : tunables)
    key += " " + name + "=" + std::to_string(value);
  std::unique_ptr<Variant> &variant = variants_[{&decl, key}];
  // A variant without code has failed before, and its error has been reported.
  if (variant)
    return variant->code || variant->chip ? variant.get() : nullptr;
  variant = std::make_unique<Variant>();
  ir::EntryBinding concrete = wanted(decl, entry, binding, tunables);
  if (context_.options().chip)
    return compileForChip(concrete, *variant) ? variant.get() : nullptr;
  return compileForCpu(concrete, *variant) ? variant.get() : nullptr;
}

rt::Failure CompiledExecutor::allocate(const rt::Entry &entry, const rt::CallArguments &inputs,
                                       const rt::Binding &binding,
                                       std::vector<rt::OwnedArray> &outputs) {
  for (int i = 0; i < entry.outputCount; ++i) {
    rt::OutputShape shape;
    if (rt::Failure failure = rt::outputShape(entry, i, inputs, binding, shape))
      return failure;
    auto *make = simulation.values ? rt::OwnedArray::make : rt::OwnedArray::reserve;
    std::optional<rt::OwnedArray> array = make(static_cast<PtlElem>(shape.elem), shape.extents);
    if (!array)
      return {PTL_ERROR_MEMORY, "not enough memory for an output of `" + entry.name + "`", "", 0};
    outputs.push_back(std::move(*array));
  }
  return {};
}

/// Whether a requirement speaks of the elements of an array without values.
static bool isOfUnknown(const rt::Expr &expr, const rt::CallArguments &inputs,
                        const std::vector<const void *> &known) {
  using Op = rt::Expr::Op;
  if (expr.op == Op::All || expr.op == Op::Unique || expr.op == Op::Sorted)
    return !llvm::is_contained(known, inputs.arrays[static_cast<size_t>(expr.index)]->data);
  return llvm::any_of(expr.args,
                      [&](const rt::Expr &each) { return isOfUnknown(each, inputs, known); });
}

rt::Failure CompiledExecutor::bind(const rt::Entry &entry, const rt::CallArguments &inputs,
                                   const std::vector<ElemKind> &elems, rt::Binding &binding) {
  rt::Failure failure;
  if (simulation.timer && !simulation.values) { // what data would have to be like is granted
    rt::Entry granted = entry;
    llvm::erase_if(granted.wheres, [&](const rt::Where &where) {
      return isOfUnknown(where.expr, inputs, simulation.known);
    });
    failure = rt::bindInputs(granted, inputs, binding);
  } else {
    failure = rt::bindInputs(entry, inputs, binding);
  }
  for (size_t i = 0; !failure && i < elems.size() && i < binding.elems.size(); ++i)
    // What the arguments leave open is as the caller says.
    if (!binding.elems[i])
      binding.elems[i] = rt::elemFromName(elemName(elems[i]));
  return failure;
}

CallResult CompiledExecutor::call(const CallableDecl &decl, const rt::CallArguments &inputs,
                                  const std::map<std::string, int64_t> &tunables,
                                  const std::vector<ElemKind> &elems,
                                  std::vector<rt::OwnedArray> again) {
  CallResult result;
  const rt::Entry &entry = describe(decl);
  rt::Binding binding;
  if ((result.failure = bind(entry, inputs, elems, binding)))
    return result;
  result.outputs = std::move(again);
  if (result.outputs.empty() && (result.failure = allocate(entry, inputs, binding, result.outputs)))
    return result;
  const Variant *variant = variantFor(decl, entry, binding, tunables);
  if (!variant) {
    result.compiled = false;
    return result;
  }
  std::vector<PtlArray> views;
  for (const rt::OwnedArray &output : result.outputs)
    views.push_back(output.view());
  std::vector<const PtlArray *> arrays(inputs.arrays.begin(), inputs.arrays.end());
  for (const PtlArray &view : views)
    arrays.push_back(&view);
  if (variant->chip) {
    std::optional<rt::Failure> failure = runOnChip(*variant, inputs, binding, arrays);
    result.compiled = failure.has_value();
    result.failure = failure.value_or(rt::Failure());
    return result;
  }
  std::string missing;
  result.failure = rt::callEntry(variant->opened.entries.front(),
                                 {arrays, inputs.scalars, inputs.dims}, missing);
  return result;
}

/// The arguments of the function that an entry becomes: parameters, outputs, lengths.
static std::vector<KnownArgument> knownArguments(const CallableDecl &decl,
                                                 const rt::CallArguments &inputs,
                                                 const std::vector<rt::OwnedArray> &outputs,
                                                 const rt::Binding &binding) {
  std::vector<KnownArgument> known = knownParameters(decl, inputs.scalars, [&](size_t i) {
    const PtlArray &array = *inputs.arrays[i];
    return std::vector<int64_t>(array.extents, array.extents + array.rank);
  });
  for (const rt::OwnedArray &output : outputs)
    known.push_back({{output.extents().begin(), output.extents().end()}, {}});
  for (int64_t length : binding.leading)
    known.push_back({{}, length});
  for (std::optional<int64_t> length : binding.dims)
    known.push_back({{}, length});
  return known;
}

std::optional<Work> CompiledExecutor::work(const CallableDecl &decl,
                                           const rt::CallArguments &inputs,
                                           const std::map<std::string, int64_t> &tunables,
                                           const std::vector<ElemKind> &elems,
                                           const std::vector<rt::OwnedArray> &outputs) {
  const rt::Entry &entry = describe(decl);
  rt::Binding binding;
  if (bind(entry, inputs, elems, binding))
    return std::nullopt;
  std::optional<BuiltEntry> built =
      buildEntry(context_, wanted(decl, entry, binding, tunables), "ptl_entry");
  if (!built)
    return std::nullopt;
  return countWork(*built->tensor.module, knownArguments(decl, inputs, outputs, binding));
}

} // namespace ptl
