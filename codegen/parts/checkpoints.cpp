#include "codegen/parts/checkpoints.h"

#include "codegen/parts/elements.h"
#include "frontend/sema/checked_tree.h"
#include "runtime/checkpoint/durable_files.h"

#include <algorithm>
#include <chrono>
#include <unistd.h>

namespace ptl::parts {

using checkpoint::Manifest;
using checkpoint::Variable;
using movement::Box;

// ---- The state of a program ---------------------------------------------------------------------

static std::optional<int64_t> numberOf(Dim dim, const Sizes &sizes) {
  return evaluate(dim, [&](SymbolId symbol) -> std::optional<int64_t> {
    auto size = sizes.find(symbol);
    return size == sizes.end() ? std::nullopt : std::optional(size->second);
  });
}

std::optional<std::vector<Variable>> stateOf(const PlacedProgram &placed, const PlacedLoop &loop,
                                             const Sizes &sizes) {
  std::vector<Variable> state;
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    const PlacedValue &value = placed.values[loop.first + i];
    Variable &variable = state.emplace_back(
        Variable{loop.carried[i].local->name, std::string(elemName(value.elem)), {}});
    for (Dim dim : value.shape) {
      std::optional<int64_t> extent = numberOf(dim, sizes);
      if (!extent)
        return std::nullopt;
      variable.shape.push_back(*extent);
    }
  }
  return state;
}

/// All sizes of a program that have a name: its dimensions and its parameters that are sizes.
static std::map<std::string, SymbolId> sizeNames(const PlacedProgram &placed) {
  std::map<std::string, SymbolId> names;
  // How many parts there are is up to each run, also to one that resumes.
  for (const DimParam &dim : placed.decl->dims)
    if (!dim.isCount())
      names.emplace(dim.name, dim.symbol);
  for (const Local *param : placed.decl->params)
    if (param->symbol)
      names.emplace(param->name, *param->symbol);
  return names;
}

std::map<std::string, int64_t> namedSizes(const PlacedProgram &placed, const Sizes &sizes) {
  std::map<std::string, int64_t> named;
  for (const auto &[name, symbol] : sizeNames(placed))
    if (auto size = sizes.find(symbol); size != sizes.end())
      named[name] = size->second;
  return named;
}

Sizes sizesNamed(const PlacedProgram &placed, const std::map<std::string, int64_t> &names) {
  Sizes sizes;
  for (const auto &[name, symbol] : sizeNames(placed))
    if (auto size = names.find(name); size != names.end())
      sizes[symbol] = size->second;
  return sizes;
}

// ---- Whether it fits ---------------------------------------------------------------------------

/// The difference between the state of a loop and that of a checkpoint; empty if they are equal.
static std::string stateDiffers(const std::vector<Variable> &wanted,
                                const std::vector<Variable> &saved) {
  for (const Variable &variable : wanted) {
    auto found = std::ranges::find(saved, variable.name, &Variable::name);
    if (found == saved.end())
      return "the loop carries `" + checkpoint::toString(variable) + "`, which it does not have";
    if (*found != variable)
      return "the loop carries `" + checkpoint::toString(variable) + "`, and it has `" +
             checkpoint::toString(*found) + "`";
  }
  for (const Variable &variable : saved)
    if (std::ranges::find(wanted, variable.name, &Variable::name) == wanted.end())
      return "it has `" + checkpoint::toString(variable) + "`, which the loop does not carry";
  return {};
}

/// Why the loop never reaches the iteration that a checkpoint continues with, as far as its bounds
/// are known; empty if it does.
static std::string iterationDiffers(const PlacedLoop &loop, const Manifest &manifest,
                                    const Sizes &sizes) {
  std::optional<int64_t> lo = numberOf(loop.lo, sizes), step = numberOf(loop.step, sizes),
                         hi = numberOf(loop.hi, sizes);
  if (!lo || !step || *step < 1)
    return {};
  std::string at = "`" + manifest.loop + "` = " + std::to_string(manifest.next);
  // A checkpoint is never written before the first iteration has ended.
  if (manifest.next <= *lo || (manifest.next - *lo) % *step != 0)
    return "it goes on with " + at + ", which the loop does not come to";
  if (hi && manifest.next - *step >= *hi)
    return "it has come to " + at + ", and the loop ends at " + std::to_string(*hi);
  return {};
}

std::string whyNotFrom(const PlacedProgram &placed, const Manifest &manifest, const Sizes *sizes) {
  const PlacedLoop *loop = placed.savedLoop();
  if (!loop)
    return "`" + placed.decl->name + "` has no loop with checkpoints";
  if (manifest.program != placed.decl->name)
    return "it belongs to the program `" + manifest.program + "`, not of `" + placed.decl->name +
           "`";
  Sizes known = sizes ? *sizes : sizesNamed(placed, manifest.sizes);
  std::optional<std::vector<Variable>> state = stateOf(placed, *loop, known);
  if (!state)
    return "it does not contain all dimensions of `" + placed.decl->name + "`";
  if (std::string why = stateDiffers(*state, manifest.state); !why.empty())
    return why;
  return iterationDiffers(*loop, manifest, known);
}

// ---- Which part saves what ---------------------------------------------------------------------

LoopCheckpoints::LoopCheckpoints(const PlacedProgram &placed, const PlacedLoop &loop,
                                 const Grid &grid, const Sizes &sizes,
                                 const CheckpointOptions &options, OwnPart *own)
    : placed_(placed), loop_(loop), grid_(grid), sizes_(sizes), options_(options), own_(own),
      folder_(loop.stmt->checkpoint->folder) {}

Box LoopCheckpoints::boxAt(size_t variable, uint32_t part) const {
  return grid_.boxOf(placed_.values[loop_.first + variable].placement, plan_.state[variable].shape,
                     part);
}

static std::string fileName(uint32_t part) {
  return "part-" + std::to_string(part) + ".safetensors";
}

/// Parts that hold the same box share its saving: each saves a block of the box along its first
/// axis.
void LoopCheckpoints::addPieces(size_t variable) {
  const Placement &placement = placed_.values[loop_.first + variable].placement;
  std::map<std::string, std::vector<uint32_t>> holders;
  for (uint32_t part = 0; part < grid_.count(); ++part)
    if (grid_.holds(placement, part))
      holders[movement::toString(boxAt(variable, part))].push_back(part);
  for (const auto &[text, parts] : holders)
    for (size_t i = 0; i < parts.size(); ++i) {
      Box box = boxAt(variable, parts[i]);
      // A box without axes is one element, which cannot be shared: the first part saves it.
      if (box.empty() && i > 0)
        continue;
      if (!box.empty()) {
        movement::Interval block = movement::blockOf(
            box[0].length(), static_cast<int64_t>(parts.size()), static_cast<int64_t>(i));
        // Each part writes a block of what all of them hold, so that together they write it once.
        box[0] = {box[0].begin + block.begin, box[0].begin + block.end};
      }
      if (movement::elementCount(box) > 0)
        plan_.pieces.push_back({variable, parts[i], plan_.state[variable].name, box});
    }
}

// ---- Between parts -----------------------------------------------------------------------------

namespace {
/// Thrown when a part that is waited for sends nothing within the time limit.
struct NothingCame {
  uint32_t part;
};
} // namespace

static constexpr size_t kMostText = 2048;

static std::vector<uint8_t> padded(const std::string &text) {
  std::vector<uint8_t> bytes(kMostText);
  std::copy_n(text.begin(), std::min(text.size(), kMostText - 1), bytes.begin());
  return bytes;
}

static std::string received(movement::Port &port, uint32_t part) {
  // Messages of parts have one length, because a receiver must know it in advance.
  std::vector<uint8_t> bytes(kMostText);
  if (!port.receive(part, bytes))
    throw NothingCame{part};
  return std::string(bytes.begin(), std::ranges::find(bytes, 0));
}

std::string LoopCheckpoints::told(const std::string &text) {
  if (own_ && own_->part > 0)
    return received(own_->port, 0);
  for (uint32_t part = 1; own_ && part < grid_.count(); ++part)
    own_->port.send(part, padded(text));
  return text;
}

std::vector<std::string> LoopCheckpoints::heard(const std::string &mine) {
  std::vector<std::string> all = {mine};
  if (own_ && own_->part > 0)
    own_->port.send(0, padded(mine));
  for (uint32_t part = 1; own_ && own_->part == 0 && part < grid_.count(); ++part)
    all.push_back(received(own_->port, part));
  return all;
}

// ---- From where to go on -----------------------------------------------------------------------

// What the first part tells the others: `fails WHY`, `begins`, `tries NEXT` or `takes`.
static constexpr std::string_view kFails = "fails ", kTries = "tries ", kBegins = "begins",
                                  kTakes = "takes";

std::string LoopCheckpoints::firstWord(std::string &token) {
  std::string why;
  // Two runs on one folder would remove each other's unfinished files.
  lock_ = checkpoint::FolderLock::take(folder_, why);
  if (!lock_)
    return std::string(kFails) + why;
  checkpoint::removeUnfinished(folder_);
  // The token distinguishes files of this run from those that a killed run left behind.
  token = std::to_string(std::chrono::system_clock::now().time_since_epoch().count()) + "-" +
          std::to_string(::getpid());
  if (why = checkpoint::writeFile(folder_ + "/.run", token); !why.empty())
    return std::string(kFails) + why;
  candidates_ = checkpoint::checkpointsIn(folder_);
  if (!options_.resumes && !candidates_.empty())
    return std::string(kFails) + "`" + folder_ +
           "` has checkpoints of an earlier run, the last of " +
           checkpoint::nameOf(candidates_[0]) +
           "; go on from it with `--resume`, or remove the folder";
  return nextWord();
}

std::string LoopCheckpoints::nextWord() {
  if (tried_ < candidates_.size())
    return std::string(kTries) + std::to_string(candidates_[tried_]);
  if (candidates_.empty()) {
    if (options_.resumes)
      options_.note("`" + folder_ + "` has no checkpoint yet: the run begins at its beginning");
    return std::string(kBegins);
  }
  return std::string(kFails) + "no checkpoint in `" + folder_ + "` is whole";
}

/// What is wrong with this part's share of a checkpoint; empty if it can be used.
std::string LoopCheckpoints::verdict(const std::string &name) {
  std::string why;
  fromFolder_ = folder_ + "/" + name;
  std::optional<Manifest> manifest = checkpoint::readManifest(fromFolder_, why);
  if (!manifest)
    return why;
  from_ = std::move(*manifest);
  return checkpoint::verify(fromFolder_, from_, own_ ? own_->part : 0, own_ ? grid_.count() : 1);
}

/// Creates the saver. Returns why this part does not see the same folder as the first one; else
/// empty.
std::string LoopCheckpoints::seesFolder(const std::string &token) {
  std::string text, name = folder_ + "/.run";
  if (!isFirst() && (!checkpoint::readFile(name, text).empty() || text != token))
    return grid_.name(own_->part) + " does not see the folder `" + folder_ + "` of " +
           grid_.name(0) + ": checkpoints lie where all parts see the same files";
  saver_ = std::make_unique<checkpoint::Saver>(folder_, token, isFirst(),
                                               static_cast<size_t>(loop_.stmt->checkpoint->keep));
  return {};
}

std::optional<int64_t> LoopCheckpoints::begin(std::string &why, bool &isShared) {
  isShared = true;
  plan_.program = placed_.decl->name;
  plan_.loop = loop_.stmt->head.var->name;
  plan_.sizes = namedSizes(placed_, sizes_);
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    plan_.shape +=
        (level ? "," : "") + placed_.levels[level].name + "=" + std::to_string(grid_.count(level));
  plan_.state = *stateOf(placed_, loop_, sizes_);
  for (uint32_t part = 0; part < grid_.count(); ++part)
    plan_.files.push_back({fileName(part), 0, 0});
  for (size_t variable = 0; variable < plan_.state.size(); ++variable)
    addPieces(variable);
  try {
    std::string token, word = isFirst() ? firstWord(token) : std::string();
    // The first part proposes a checkpoint, every part says whether it can read its share of it,
    // and the first part takes it or proposes the previous one. So all parts continue from the
    // same checkpoint.
    for (word = told(word); word.starts_with(kTries); word = told(word)) {
      std::string name = checkpoint::nameOf(std::stoll(word.substr(kTries.size())));
      for (const std::string &wrong : heard(verdict(name)))
        if (!wrong.empty() && isFirst() && !word.empty()) {
          options_.note("the checkpoint `" + folder_ + "/" + name + "` is not used: " + wrong);
          word.clear();
        }
      if (!isFirst())
        continue;
      // A rejected proposal was cleared above.
      tried_ += word.empty();
      word = word.empty() ? nextWord() : std::string(kTakes);
    }
    if (word.starts_with(kFails)) {
      why = word.substr(kFails.size());
      return std::nullopt;
    }
    // A part that writes its files elsewhere would let the first one wait for them.
    std::string elsewhere;
    for (const std::string &wrong : heard(seesFolder(told(token))))
      elsewhere = elsewhere.empty() ? wrong : elsewhere;
    if (why = told(elsewhere); !why.empty())
      return std::nullopt;
    if (word == kBegins)
      return std::nullopt;
  } catch (NothingCame nothing) {
    isShared = false;
    why =
        grid_.name(own_->part) + " waits for " + grid_.name(nothing.part) + ", which sends nothing";
    return std::nullopt;
  }
  if (why = whyNotFrom(placed_, from_, &sizes_); !why.empty()) {
    why = "the run cannot resume from `" + fromFolder_ + "`: " + why;
    return std::nullopt;
  }
  // Only the first part moves damaged checkpoints away, and only when a good one was found.
  for (size_t damaged = 0; isFirst() && damaged < tried_; ++damaged)
    checkpoint::putAside(folder_, candidates_[damaged]);
  return from_.next;
}

reference::Value LoopCheckpoints::read(size_t variable, uint32_t part, std::string &why) const {
  auto saved = std::ranges::find(from_.state, plan_.state[variable].name, &Variable::name);
  std::vector<uint8_t> bytes;
  Box box = boxAt(variable, part);
  why = checkpoint::readBox(fromFolder_, from_, static_cast<size_t>(saved - from_.state.begin()),
                            box, bytes);
  if (!why.empty())
    return {};
  return valueOfBytes(placed_.values[loop_.first + variable].elem, shapeOfBox(box), bytes.data());
}

// ---- Saving ------------------------------------------------------------------------------------

void LoopCheckpoints::save(int64_t next, const ValueAt &valueAt, std::string &why) {
  checkpoint::Snapshot snapshot;
  snapshot.manifest = plan_;
  snapshot.manifest.next = next;
  for (uint32_t part = 0; part < grid_.count(); ++part) {
    // In a process of its own a part has only its own values.
    if (own_ && own_->part != part)
      continue;
    checkpoint::FileContents &file = snapshot.files.emplace_back();
    file.name = fileName(part);
    for (const checkpoint::Piece &piece : plan_.pieces)
      if (piece.file == part) {
        reference::Value mine =
            sliceOf(valueAt(piece.variable, part), boxAt(piece.variable, part), piece.box);
        file.arrays.push_back(
            {piece.name, plan_.state[piece.variable].elem, shapeOfBox(piece.box), bytesOf(mine)});
      }
  }
  why = saver_->begin(std::move(snapshot));
}

} // namespace ptl::parts
