// Kernels: grids, what they load, and how they store.
#include "tests/differential/generate/callables.h"

#include <algorithm>
#include <array>

namespace ptl::differential {

namespace {

constexpr Bound kArgument{6, 0, true};

class KernelMaker {
public:
  KernelMaker(const std::string &name, uint64_t seed) : m_(seed) { signature_.name = name; }
  Signature make();

private:
  void chooseGrid();
  void chooseWhole(const char *name);
  void addParam(ElemKind elem, const std::vector<int> &axes);
  void addTable();
  void addInout();
  void cutAlong(const Axis &axis);
  void store(const std::string &name, const Type &type, const std::string &at);
  void stores();
  void atomics();
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
    grid_.push_back(std::string(variable) + " in tiles(" + name + ", " + std::to_string(tile) +
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
}

/// Rows of a table by positions in an array, which are atomic targets too.
void KernelMaker::addTable() {
  static constexpr std::array<ElemKind, 5> kinds = {ElemKind::I32, ElemKind::I32, ElemKind::U8,
                                                    ElemKind::I64, ElemKind::I16};
  size_t row = 0;
  while (row < places_.size() && (places_[row].dropped || places_[row].at == ":"))
    ++row;
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

void KernelMaker::cutAlong(const Axis &axis) {
  std::vector<std::pair<std::string, Place>> loads; // `x0[$, :]`
  std::vector<std::tuple<std::string, ElemKind, std::vector<Axis>, size_t>> found;
  for (const Signature::Array &param : signature_.params) {
    if (param.name == "ids" || param.name == "table")
      continue;
    for (size_t at = 0; at < param.type.shape.size(); ++at) {
      if (!(param.type.shape[at] == axis))
        continue;
      std::string index = param.name + "[";
      Shape shape;
      size_t position = 0;
      bool fits = true;
      for (size_t i = 0; i < param.type.shape.size(); ++i) {
        index += i ? ", " : "";
        if (i == at) {
          index += "$";
          position = shape.size();
          shape.push_back(axis);
          continue;
        }
        auto place = std::find_if(places_.begin(), places_.end(), [&](const Place &each) {
          return each.inArguments == param.type.shape[i];
        });
        fits &= place != places_.end();
        if (!fits)
          break;
        index += place->at;
        if (!place->dropped)
          shape.push_back(place->inTile);
      }
      if (fits)
        found.emplace_back(index + "]", param.type.elem, shape, position);
    }
  }
  if (found.empty())
    return;
  m_.cuts.push_back({axis, [found](const Axis &range) {
                       std::vector<Variable> loads;
                       for (const auto &[index, elem, shape, position] : found) {
                         Variable load{index, {elem, shape}, kArgument, false};
                         load.name.replace(load.name.find('$'), 1, range.name);
                         load.type.shape[position] = range;
                         loads.push_back(load);
                       }
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
void KernelMaker::store(const std::string &name, const Type &type, const std::string &at) {
  Term value = m_.expression(type, m_.depth - static_cast<int>(m_.below(2)));
  m_.line(name + at + " = " + value.text);
  if (!m_.chance(30))
    return;
  value = m_.within({name + at, value.bound}, type.elem, 8, 2);
  m_.variables.push_back({value.text, type, value.bound, false});
  if (m_.chance(40)) {
    m_.block("for " + m_.fresh("k") + " in 0..2", [&] {
      Term next = m_.within(m_.expression(type, 2), type.elem, value.bound.most, value.bound.bits);
      if (next.bound.exact || !value.bound.exact)
        m_.line(name + at + " = " + next.text);
    });
    return;
  }
  Term next = m_.expression(type, 2);
  m_.line(name + at + " = " + next.text);
}

void KernelMaker::stores() {
  for (const Signature::Array &param : signature_.params)
    if (param.isInout) {
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
  size_t count = 1 + (m_.chance(30) ? 1 : 0);
  for (size_t n = 0; n < count; ++n) {
    // All axes of the grid, then some of the others.
    std::vector<int> axes;
    for (size_t i = 0; i < places_.size(); ++i) {
      bool inGrid = places_[i].at != ":";
      if (inGrid || m_.chance(75) || (i + 1 == places_.size() && axes.empty()))
        axes.push_back(static_cast<int>(i));
    }
    ElemKind elem = m_.chance(80) ? ElemKind::F32 : m_.any(m_.elems);
    Signature::Array output{"y" + std::to_string(n), {elem, {}}, false};
    for (int axis : axes)
      output.type.shape.push_back(places_[static_cast<size_t>(axis)].inArguments);
    // A length that is reduced away before it is stored.
    signature_.outputs.push_back(output);
    store(output.name, tileOf(elem, axes), indexOf(axes));
  }
}

void KernelMaker::atomics() {
  for (const auto &[target, typeText] : after_) {
    size_t row = 0;
    while (places_[row].dropped || places_[row].at == ":")
      ++row;
    Type type{ElemKind::F32, {places_[row].inTile, places_.back().inTile}};
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

Signature KernelMaker::make() {
  static constexpr std::array<ElemKind, 8> kinds = {ElemKind::F32, ElemKind::F32, ElemKind::F32,
                                                    ElemKind::F16, ElemKind::F16, ElemKind::BF16,
                                                    ElemKind::I32, ElemKind::I8};
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
    if (isFloat(elem) || elem == ElemKind::I32)
      m_.elems.push_back(elem);
  }
  if (m_.chance(15))
    addTable();
  if (m_.chance(15) && grid_.back() != "i in tiles(1, 1)") // whose points are not known to be one
    addInout();
  for (const Place &place : places_)
    if (!place.dropped)
      m_.axes.push_back(place.inTile);
  // The second range of a grid is no axis that products sum over, but whole ones are.
  for (const Place &place : places_)
    cutAlong(place.inArguments);
  m_.indent = "    ";
  std::string heads;
  for (const std::string &range : grid_)
    heads += (heads.empty() ? "parallel " : ", ") + range;
  m_.block(heads, [&] {
    m_.statements(static_cast<int>(m_.below(m_.depth == 3 ? 6 : 3)), m_.depth);
    stores();
    atomics();
  });
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
