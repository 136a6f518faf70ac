// Compares two forms of an entry by running them.
#include "compile/tune/give_the_same.h"

#include "codegen/reference/agreement.h"
#include "codegen/reference/interpreter.h"
#include "compile/call/arguments.h"
#include "compile/call/compiled_handler.h"
#include "compile/entry/manifest.h"
#include "runtime/elem.h"

#include <algorithm>

namespace ptl {

namespace {

/// The drawn arguments of a call of an entry.
struct DrawnArguments {
  std::vector<reference::Value> values; ///< one per parameter
  std::map<std::string, int64_t> dims;
  ElemKind shortest = ElemKind::F64; ///< the shortest of the float types of arrays
};

} // namespace

/// Lengths of the first dimension, the second, and so on: partial tiles, several whole tiles, and
/// lengths that satisfy requirements such as `K % 64 == 0`.
static constexpr int64_t kDrawnLengths[][4] = {
    {37, 51, 45, 3}, {150, 139, 161, 2}, {128, 192, 160, 2}, {256, 128, 384, 2}, {16, 32, 48, 4}};

static rt::Manifest manifestOf(const TrialSource &source, const ir::EntryBinding &binding) {
  ManifestVariant variant{"ptl_drawn", binding.statics, binding.elems, binding.prefixRank};
  std::string problem,
      text = emitManifest(*source.program, source.sources, {{source.decl, {variant}}}, false);
  return rt::parseManifest(text, problem).value_or(rt::Manifest{});
}

static void noteElem(DrawnArguments &drawn, ElemKind elem) {
  if (isFloat(elem) && elemBits(elem) < elemBits(drawn.shortest))
    drawn.shortest = elem;
}

static std::optional<DrawnArguments> draw(const rt::Entry &entry, const TrialSource &source,
                                          const ir::EntryBinding &binding,
                                          const int64_t (&lengths)[4]) {
  std::vector<std::string> words;
  for (size_t i = 0; i < entry.dims.size(); ++i) {
    auto fixed = binding.statics.find(entry.dims[i].name);
    int64_t length = fixed == binding.statics.end() ? lengths[i % 4] : fixed->second;
    words.push_back(entry.dims[i].name + "=" + std::to_string(length));
  }
  for (size_t i = 0; i < binding.elems.size() && i < entry.types.size(); ++i)
    words.push_back(entry.types[i] + "=" + std::string(elemName(binding.elems[i])));
  for (const rt::Param &param : entry.params)
    if (param.kind != PTL_PARAM_OUTPUT)
      // Zeros would hide differences.
      words.push_back(param.name + (param.isArray() ? "=random" : "=1"));
  RunInputs inputs;
  if (!resolveRunArguments(*source.decl, entry, words, /*seed=*/1, /*convert=*/false, inputs)
           .empty())
    return std::nullopt;
  DrawnArguments drawn;
  size_t array = 0, scalar = 0;
  for (const rt::Param &param : entry.params) {
    ElemKind kind =
        elemKindByName(rt::elemName(param.elem.value_or(PTL_F32))).value_or(ElemKind::F32);
    if (param.kind == PTL_PARAM_OUTPUT) {
      noteElem(drawn, kind);
    } else if (param.isArray()) {
      drawn.values.push_back(valueOf(inputs.arrays[array++], param));
      noteElem(drawn, drawn.values.back().elem());
    } else {
      drawn.values.push_back(
          reference::Value::scalar(kind, loadElem(&inputs.scalars[scalar++], kind)));
    }
  }
  drawn.dims.insert(inputs.dims.begin(), inputs.dims.end());
  return drawn;
}

static reference::RunResult runDrawn(const TrialSource &source, const DrawnArguments &drawn,
                                     const ir::EntryBinding &binding) {
  reference::RunOptions options;
  options.dims = drawn.dims;
  options.tunables = binding.tunables;
  // The user must not see what the program prints here.
  options.print = [](const std::string &) {};
  // The interpreter is slow, so large arrays are refused.
  options.mostElements = 1 << 22;
  return reference::runEntry(*source.program, source.sources, *source.decl, drawn.values, options);
}

static reference::RefArray arrayOfValue(const reference::Value &value) {
  return value.isArray() ? value.asArray()
                         : reference::arrayFromMemory(value.elem(), {}, arrayOf(value).data());
}

static bool agree(const std::vector<reference::Value> &one,
                  const std::vector<reference::Value> &other, ElemKind shortest) {
  return one.size() == other.size() &&
         std::equal(one.begin(), one.end(), other.begin(), [&](const auto &a, const auto &b) {
           return std::ranges::equal(a.shape(), b.shape()) && a.elem() == b.elem() &&
                  // The tolerance of the comparison follows from the shortest type.
                  reference::firstDifference(arrayOfValue(a), arrayOfValue(b), {shortest}).empty();
         });
}

std::optional<bool> giveTheSame(const TrialSource &one, const TrialSource &other,
                                const ir::EntryBinding &binding) {
  rt::Manifest manifest = manifestOf(one, binding);
  if (manifest.entries.empty())
    return std::nullopt;
  size_t compared = 0;
  for (const auto &lengths : kDrawnLengths) {
    std::optional<DrawnArguments> drawn = draw(manifest.entries.front(), one, binding, lengths);
    if (!drawn)
      continue;
    reference::RunResult before = runDrawn(one, *drawn, binding);
    // Lengths that a requirement excludes say nothing about the change.
    if (!before.ok())
      continue;
    reference::RunResult after = runDrawn(other, *drawn, binding);
    if (!after.ok() || !agree(before.outputs, after.outputs, drawn->shortest) ||
        !agree(before.inouts, after.inouts, drawn->shortest))
      return false;
    // Two sets of lengths that run are enough; each takes two runs of the interpreter.
    if (++compared == 2)
      break;
  }
  return compared ? std::optional(true) : std::nullopt;
}

} // namespace ptl
