// Kernels: grids, what they load, and how they store.
#include "tests/differential/generate/callables.h"

#include <algorithm>
#include <array>

namespace ptl::differential {

namespace {

class KernelMaker {
public:
  KernelMaker(const std::string &name, uint64_t seed) : m_(seed) { signature_.name = name; }
  Signature make();

private:
  void chooseGrid();
  void chooseWhole(const char *name);
  void addParam(ElemKind elem, const std::vector<int> &axes);
  void addNeighbours(const std::string &name, ElemKind elem, const std::vector<int> &axes);
  void addLengths();
  void addTable();
  void addTableOfPairs();
  void addSlots();
  void addCounter();
  void addInout();
  std::optional<Variable> loadOf(const Signature::Array &param, size_t cut, const std::string &by,
                                 const Axis &part) const;
  size_t tiledAxis() const;
  void storeSlots();
  void cutAlong(const Axis &axis);
  Bound store(const std::string &name, const Type &type, const std::string &at);
  void storeInouts();
  void stores(size_t count);
  void atomics();
  void makeGrids();
  std::string header() const;

  /// An axis of the arguments and how the grid reads it.
  struct Place {
    Axis inArguments, inTile;
    std::string at;       ///< index: `i`, `:`
    bool dropped = false; ///< a single position: the tile has no such axis
  };
  Type tileOf(ElemKind elem, const std::vector<int> &axes) const;
  std::string indexOf(const std::vector<int> &axes) const;

  Maker m_;
  Signature signature_;
  std::vector<Place> places_;
  std::vector<std::string> dims_, wheres_, grid_, starts_;
  std::vector<std::pair<std::string, std::string>> after_; ///< stores that follow: `atomic` …
  std::string first_, counter_;           ///< statements that the grid's body begins with
  std::optional<Signature::Array> slots_; ///< an output by places that differ
};

void KernelMaker::chooseWhole(const char *name) {
  static constexpr std::array<int64_t, 8> constants = {1, 4, 8, 16, 16, 32, 33, 64};
  static constexpr std::array<int64_t, 3> limits = {16, 32, 64};
  size_t how = m_.below(10);
  Axis axis = constantAxis(m_.any(constants));
  if (how < 4) {
    axis = dimAxis(name, m_.any(limits));
    dims_.push_back(how == 0 ? "static " + axis.name : axis.name);
    wheres_.push_back(axis.name + " >= 1");
    wheres_.push_back(axis.name + " <= " + std::to_string(axis.most));
  }
  places_.push_back({axis, axis, ":", false});
}

void KernelMaker::chooseGrid() {
  static constexpr std::array<int64_t, 9> tiles = {1, 4, 8, 16, 16, 32, 32, 64, 20};
  size_t how = m_.below(10);
  auto tiled = [&](const char *name, const char *variable) {
    Axis whole = dimAxis(name, kMostExtent);
    int64_t tile = m_.any(tiles);
    dims_.push_back(name);
    std::string from = name;
    if (m_.chance(8)) { // tiles of parts
      from = "g" + std::string(variable);
      grid_.push_back(from + " in tiles(" + name + ", " + std::to_string(tile + 20) + ")");
    }
    grid_.push_back(std::string(variable) + " in tiles(" + from + ", " + std::to_string(tile) +
                    ")");
    places_.push_back({whole, rangeAxis(variable, tile), variable, false});
  };
  auto single = [&](const char *name, const char *variable) {
    Axis whole = dimAxis(name, 9);
    dims_.push_back(name);
    grid_.push_back(std::string(variable) + " in 0.." + name);
    places_.push_back({whole, constantAxis(1), variable, true});
  };
  if (how < 5)
    tiled("M", "i");
  else if (how < 7) {
    tiled("M", "i");
    tiled("N", "j");
  } else if (how < 8) {
    single("B", "b");
    tiled("M", "i");
  } else if (how < 9) {
    single("B", "b");
  } else {
    grid_.push_back("i in tiles(1, 1)"); // one point: whole arrays
    chooseWhole("M");
  }
  chooseWhole("C");
  if (m_.chance(50))
    chooseWhole("D");
}

Type KernelMaker::tileOf(ElemKind elem, const std::vector<int> &axes) const {
  Type type{elem, {}};
  for (int axis : axes)
    if (!places_[static_cast<size_t>(axis)].dropped)
      type.shape.push_back(places_[static_cast<size_t>(axis)].inTile);
  return type;
}

std::string KernelMaker::indexOf(const std::vector<int> &axes) const {
  std::string text;
  for (int axis : axes)
    text += (text.empty() ? "[" : ", ") + places_[static_cast<size_t>(axis)].at;
  return text + "]";
}

void KernelMaker::addParam(ElemKind elem, const std::vector<int> &axes) {
  std::string name = "x" + std::to_string(signature_.params.size());
  Type type{elem, {}};
  for (int axis : axes)
    type.shape.push_back(places_[static_cast<size_t>(axis)].inArguments);
  signature_.params.push_back({name, type, false});
  m_.variables.push_back({name + indexOf(axes), tileOf(elem, axes), kArgument, false});
  if (m_.chance(12))
    addNeighbours(name, elem, axes);
}

/// The tile beside the present one by one position, with zeros beyond the edge.
void KernelMaker::addNeighbours(const std::string &name, ElemKind elem,
                                const std::vector<int> &axes) {
  std::string index = indexOf(axes);
  const char *by = m_.chance(50) ? " - 1" : " + 1";
  for (int axis : axes) {
    const Place &place = places_[static_cast<size_t>(axis)];
    if (place.at == ":")
      continue;
    index.replace(index.find(place.at) + place.at.size(), 0, by);
    m_.variables.push_back(
        {"load(" + name + index + ", outside: " + (isFloat(elem) ? "0.0)" : "0)"),
         tileOf(elem, axes), kArgument, false});
    return;
  }
}

/// Adds a length that an array holds for each point of a grid, and loads of that many positions of
/// an axis.
void KernelMaker::addLengths() {
  if (!places_[0].dropped || places_.back().at != ":")
    return;
  const Axis whole = places_.back().inArguments;
  signature_.params.push_back({"count", {ElemKind::I32, {places_[0].inArguments}}, false});
  first_ = "let n = max(min(int(count[" + places_[0].at + "]), min(" + whole.length + ", " +
           std::to_string(whole.most) + ")), 1)";
  Axis part{"n", "n", "0..n", whole.most, std::nullopt};
  m_.axes.push_back(part);
  for (const Signature::Array &param : signature_.params)
    for (size_t axis = 0; axis < param.type.shape.size(); ++axis)
      if (param.type.shape[axis] == whole && !param.isInout)
        if (std::optional<Variable> load = loadOf(param, axis, "0:n", part))
          m_.variables.push_back(std::move(*load));
}

/// The part of an array that belongs to the grid's point, except for one axis that is cut
/// otherwise.
std::optional<Variable> KernelMaker::loadOf(const Signature::Array &param, size_t cut,
                                            const std::string &by, const Axis &part) const {
  std::string index;
  Type type{param.type.elem, {}};
  for (size_t i = 0; i < param.type.shape.size(); ++i) {
    index += i ? ", " : "[";
    if (i == cut) {
      index += by;
      type.shape.push_back(part);
      continue;
    }
    auto place = std::find_if(places_.begin(), places_.end(), [&](const Place &each) {
      return each.inArguments == param.type.shape[i];
    });
    if (place == places_.end())
      return std::nullopt;
    index += place->at;
    if (!place->dropped)
      type.shape.push_back(place->inTile);
  }
  return Variable{param.name + index + "]", type, kArgument, false};
}

/// Rows of a table by positions in an array, which are atomic targets too.
void KernelMaker::addTable() {
  static constexpr std::array<ElemKind, 5> kinds = {ElemKind::I32, ElemKind::I32, ElemKind::U8,
                                                    ElemKind::I64, ElemKind::I16};
  size_t row = tiledAxis();
  if (row == places_.size() || places_.back().at != ":")
    return;
  ElemKind kind = m_.any(kinds);
  signature_.params.push_back({"ids", {kind, {places_[row].inArguments}}, false});
  if (isSigned(kind))
    wheres_.push_back("all(ids >= 0)");
  wheres_.push_back("all(ids < 8)");
  const Place &columns = places_.back();
  if (m_.chance(70)) {
    signature_.params.push_back(
        {"table", {ElemKind::F32, {constantAxis(8), columns.inArguments}}, false});
    m_.variables.push_back({"table[ids[" + places_[row].at + "], :]",
                            {ElemKind::F32, {places_[row].inTile, columns.inTile}},
                            kArgument,
                            false});
  }
  if (m_.chance(50)) {
    signature_.outputs.push_back(
        {"h", {ElemKind::F32, {constantAxis(8), columns.inArguments}}, false});
    starts_.push_back("h");
    after_.push_back({"h[ids[" + places_[row].at + "], :]",
                      Type{ElemKind::F32, {places_[row].inTile, columns.inTile}}.text()});
  }
}

/// The first axis that tiles go along; `places_.size()` if there is none.
size_t KernelMaker::tiledAxis() const {
  size_t row = 0;
  while (row < places_.size() && (places_[row].dropped || places_[row].at == ":"))
    ++row;
  return row;
}

/// Rows of a table by positions in an array of two axes.
void KernelMaker::addTableOfPairs() {
  size_t row = tiledAxis();
  if (row == places_.size() || places_.back().at != ":")
    return;
  Axis pair = constantAxis(m_.chance(50) ? 1 : 3);
  const Place &columns = places_.back();
  signature_.params.push_back({"at", {ElemKind::I32, {places_[row].inArguments, pair}}, false});
  wheres_.push_back("all(at >= 0)");
  wheres_.push_back("all(at < 8)");
  signature_.params.push_back(
      {"pairs", {ElemKind::F32, {constantAxis(8), columns.inArguments}}, false});
  m_.variables.push_back({"pairs[at[" + places_[row].at + ", :], :]",
                          {ElemKind::F32, {places_[row].inTile, pair, columns.inTile}},
                          kArgument,
                          false});
}

/// Rows go where an array says whose values differ.
void KernelMaker::addSlots() {
  size_t row = tiledAxis();
  if (row == places_.size() || places_.back().at != ":" || places_[0].dropped || grid_.size() > 1)
    return;
  const Axis &rows = places_[row].inArguments;
  signature_.params.push_back({"slot", {ElemKind::I32, {rows}}, false});
  for (const char *fact : {"unique(slot)", "all(slot >= 0)"})
    wheres_.push_back(fact);
  wheres_.push_back("all(slot < " + rows.length + ")");
  slots_ = Signature::Array{"u", {ElemKind::F32, {rows, places_.back().inArguments}}, false};
}

void KernelMaker::storeSlots() {
  if (!slots_)
    return;
  const Place &row = places_[tiledAxis()];
  Term value = m_.expression({ElemKind::F32, {row.inTile, places_.back().inTile}}, 2);
  m_.line(slots_->name + "[slot[" + row.at + "], :] = " + value.text);
  slots_->bound = value.bound;
  signature_.outputs.push_back(*slots_);
  slots_.reset();
}

/// Each point has a number of its own, which it reads and raises.
void KernelMaker::addCounter() {
  if (!places_[0].dropped || grid_.size() > 1)
    return;
  static constexpr std::array<const char *, 3> updates = {"fetch_add", "fetch_max", "fetch_min"};
  signature_.params.push_back({"number", {ElemKind::I32, {places_[0].inArguments}}, true});
  Variable old{m_.fresh("f"), {ElemKind::I32, {}}, {40, 0, true}, false};
  counter_ = "let " + old.name + " = " + m_.any(updates) + "(inout number[" + places_[0].at +
             "], " + std::to_string(m_.below(5)) + ")";
  m_.variables.push_back(old);
}

void KernelMaker::cutAlong(const Axis &axis) {
  std::vector<std::pair<const Signature::Array *, size_t>> found;
  for (const Signature::Array &param : signature_.params)
    for (size_t at = 0; at < param.type.shape.size(); ++at)
      // An array that a point changes is read by no other point.
      if (param.type.shape[at] == axis && param.name != "ids" && !param.isInout &&
          loadOf(param, at, "", axis))
        found.emplace_back(&param, at);
  if (found.empty())
    return;
  m_.cuts.push_back({axis, [this, found](const Axis &range) {
                       std::vector<Variable> loads;
                       for (const auto &[param, at] : found)
                         loads.push_back(*loadOf(*param, at, range.name, range));
                       return loads;
                     }});
}

void KernelMaker::addInout() {
  std::vector<int> axes;
  for (size_t i = 0; i < places_.size(); ++i)
    axes.push_back(static_cast<int>(i));
  Type type{ElemKind::F32, {}};
  for (int axis : axes)
    type.shape.push_back(places_[static_cast<size_t>(axis)].inArguments);
  signature_.params.push_back({"c", type, true});
  m_.variables.push_back({"c" + indexOf(axes), tileOf(ElemKind::F32, axes), kArgument, false});
}

/// One store of everything, by halves, or one that is read and changed again.
Bound KernelMaker::store(const std::string &name, const Type &type, const std::string &at) {
  Term value = m_.expression(type, m_.depth - static_cast<int>(m_.below(2)));
  m_.line(name + at + " = " + value.text);
  Bound bound = value.bound;
  auto also = [&](const Bound &other) {
    bound = {std::max(bound.most, other.most), std::max(bound.bits, other.bits),
             bound.exact && other.exact};
  };
  if (!m_.chance(30))
    return bound;
  value = m_.within({name + at, value.bound}, type.elem, 8, 2);
  m_.variables.push_back({value.text, type, value.bound, false});
  if (m_.chance(40)) {
    m_.block("for " + m_.fresh("k") + " in 0..2", [&] {
      Term next = m_.within(m_.expression(type, 2), type.elem, value.bound.most, value.bound.bits);
      if (next.bound.exact || !value.bound.exact) {
        m_.line(name + at + " = " + next.text);
        also(next.bound);
      }
    });
    return bound;
  }
  Term next = m_.expression(type, 2);
  m_.line(name + at + " = " + next.text);
  also(next.bound);
  return bound;
}

void KernelMaker::storeInouts() {
  for (const Signature::Array &param : signature_.params)
    if (param.isInout && param.name != "number") {
      std::vector<int> axes;
      for (const Axis &axis : param.type.shape)
        for (size_t i = 0; i < places_.size(); ++i)
          if (places_[i].inArguments == axis &&
              (axes.empty() || axes.back() != static_cast<int>(i))) {
            axes.push_back(static_cast<int>(i));
            break;
          }
      store(param.name, tileOf(param.type.elem, axes), indexOf(axes));
    }
}

void KernelMaker::stores(size_t count) {
  for (; count > 0; --count) {
    // All axes of the grid, then some of the others.
    std::vector<int> axes;
    for (size_t i = 0; i < places_.size(); ++i) {
      bool inGrid = places_[i].at != ":";
      if (inGrid || m_.chance(75) || (i + 1 == places_.size() && axes.empty()))
        axes.push_back(static_cast<int>(i));
    }
    ElemKind elem = m_.chance(80) ? ElemKind::F32 : m_.any(m_.elems);
    size_t known = signature_.outputs.size();
    Signature::Array output{"y" + std::to_string(known), {elem, {}}, false};
    for (int axis : axes)
      output.type.shape.push_back(places_[static_cast<size_t>(axis)].inArguments);
    // A length that is reduced away before it is stored.
    output.bound = store(output.name, tileOf(elem, axes), indexOf(axes));
    signature_.outputs.push_back(output);
  }
}

void KernelMaker::atomics() {
  for (const auto &[target, typeText] : after_) {
    Type type{ElemKind::F32, {places_[tiledAxis()].inTile, places_.back().inTile}};
    Term value = m_.within(m_.expression(type, 2), ElemKind::F32, 4, 1);
    m_.line("atomic " + target + " += " + value.text);
  }
  if (!m_.chance(20) || places_.back().at != ":")
    return;
  // Each point adds to, or raises, the same row.
  signature_.outputs.push_back(
      {"s", {ElemKind::F32, {constantAxis(1), places_.back().inArguments}}, false});
  starts_.push_back("s");
  Type type{ElemKind::F32, {constantAxis(1), places_.back().inTile}};
  Term value = m_.within(m_.expression(type, 3), ElemKind::F32, 16, 1);
  m_.line("atomic s[:, :] " +
          std::string(m_.chance(70)   ? "+="
                      : m_.chance(50) ? "max="
                                      : "min=") +
          " " + value.text);
}

std::string KernelMaker::header() const {
  std::string text = "kernel " + signature_.name;
  for (size_t i = 0; i < dims_.size(); ++i)
    text += (i ? ", " : "[") + dims_[i];
  text += dims_.empty() ? "(" : "](";
  for (size_t i = 0; i < signature_.params.size(); ++i) {
    const Signature::Array &param = signature_.params[i];
    text +=
        (i ? ", " : "") + param.name + ": " + (param.isInout ? "inout " : "") + param.type.text();
  }
  text += ")";
  for (size_t i = 0; i < signature_.outputs.size(); ++i) {
    const Signature::Array &output = signature_.outputs[i];
    bool starts = std::find(starts_.begin(), starts_.end(), output.name) != starts_.end();
    text +=
        (i ? ", " : " -> (") + output.name + ": " + output.type.text() + (starts ? " = 0.0" : "");
  }
  text += signature_.outputs.empty() ? "\n" : ")\n";
  for (size_t i = 0; i < wheres_.size(); ++i)
    text += (i ? ", " : "where ") + wheres_[i];
  return text + (wheres_.empty() ? "{\n" : "\n{\n");
}

void KernelMaker::makeGrids() {
  // A grid in the tiles of another one, or all ranges in one.
  bool isNested = grid_[0].starts_with("g") && m_.chance(50);
  std::string heads;
  for (const std::string &range : grid_)
    heads += (heads.empty()                               ? "parallel "
              : heads.find('{') == heads.npos && isNested ? " { parallel "
                                                          : ", ") +
             range;
  auto grid = [&](const std::function<void()> &inside) {
    m_.block(heads, inside);
    if (isNested)
      m_.line("}");
  };
  grid([&] {
    for (const std::string &statement : {first_, counter_})
      if (!statement.empty())
        m_.line(statement);
    m_.statements(static_cast<int>(m_.below(m_.depth == 3 ? 6 : 3)), m_.depth);
    storeInouts();
    stores(m_.chance(30) ? 2 : 1);
    storeSlots();
    atomics();
  });
  if (m_.chance(8) && first_.empty() && counter_.empty()) // another launch
    grid([&] {
      m_.statements(static_cast<int>(m_.below(3)), m_.depth - 1);
      storeInouts();
      stores(1);
    });
}

Signature KernelMaker::make() {
  static constexpr std::array<ElemKind, 14> kinds = {
      ElemKind::F32, ElemKind::F32, ElemKind::F32, ElemKind::F32,  ElemKind::F32,
      ElemKind::F16, ElemKind::F16, ElemKind::F16, ElemKind::BF16, ElemKind::BF16,
      ElemKind::I32, ElemKind::I8,  ElemKind::I16, ElemKind::I32};
  chooseGrid();
  m_.depth = m_.chance(45) ? 3 : m_.chance(60) ? 2 : 1; // small ones are refused less often
  m_.mayRound = m_.chance(35);
  m_.hasOrders = m_.chance(12);
  m_.hasProducts = m_.chance(65);
  for (size_t i = 0, count = 2 + m_.below(3); i < count; ++i) {
    ElemKind elem = i == 0 ? ElemKind::F32 : m_.any(kinds);
    std::vector<int> axes;
    for (size_t axis = 0; axis < places_.size(); ++axis)
      if (m_.chance(i == 0 ? 85 : 60))
        axes.push_back(static_cast<int>(axis));
    if (axes.empty() || axes.size() > 3)
      axes = {0, static_cast<int>(places_.size() - 1)};
    if (i == 0) // fixes all dimensions
      for (size_t axis = 0; axis < places_.size(); ++axis)
        if (!places_[axis].inArguments.constant &&
            std::find(axes.begin(), axes.end(), static_cast<int>(axis)) == axes.end())
          axes.push_back(static_cast<int>(axis));
    if (axes.size() == 2 && m_.chance(20))
      std::swap(axes[0], axes[1]);
    addParam(elem, axes);
    if (isFloat(elem) || elem == ElemKind::I32 || elem == ElemKind::I16)
      m_.elems.push_back(elem);
  }
  if (m_.chance(15))
    addTable();
  if (m_.chance(8))
    addTableOfPairs();
  if (m_.chance(8))
    addSlots();
  if (m_.chance(20))
    addCounter();
  if (m_.chance(15) && grid_.back() != "i in tiles(1, 1)") // whose points are not known to be one
    addInout();
  if (m_.chance(35))
    addLengths();
  for (const Place &place : places_)
    if (!place.dropped)
      m_.axes.push_back(place.inTile);
  // The second range of a grid is no axis that products sum over, but whole ones are.
  for (const Place &place : places_)
    cutAlong(place.inArguments);
  m_.indent = "    ";
  makeGrids();
  signature_.text = header() + m_.body + "}\n";
  for (const Place &place : places_)
    if (!place.inArguments.constant)
      signature_.dims.push_back(place.inArguments);
  return signature_;
}

} // namespace

Signature randomKernel(const std::string &name, uint64_t seed) {
  return KernelMaker(name, seed).make();
}

} // namespace ptl::differential
