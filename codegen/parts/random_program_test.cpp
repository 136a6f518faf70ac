// Grows random programs; `random_programs_test.cpp` executes them.
#include "codegen/parts/random_program_test_util.h"
#include "common/words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

namespace ptl::parts {

static const std::vector<std::string> kLevels = {"host", "chip"};

RandomProgram::RandomProgram(uint64_t seed, bool selects, bool ofParts)
    : random_(seed), selects_(selects), ofParts_(ofParts) {
  for (size_t i = 0, count = 2 + random_() % 3; i < count; ++i)
    addArgument();
}

void RandomProgram::addArgument() {
  std::string name(1, static_cast<char>('a' + shapes.size()));
  std::vector<std::string> dims = {"M", "N", "K"}, shape;
  std::ranges::shuffle(dims, random_);
  size_t rank = chance(8) ? 0 : chance(4) ? 3 : chance(4) ? 1 : 2;
  shape.assign(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(rank));
  header_ += name + ": " + drawnPlace(shape) + ", ";
  shapes.push_back(shape);
  values_.push_back({.name = name, .shape = shape, .bound = 3});
}

std::string RandomProgram::drawnAxis(const std::vector<std::string> &shape) {
  return shape.empty() ? "M" : pick(shape);
}

std::string RandomProgram::drawnPlace(const std::vector<std::string> &shape) {
  std::string type = shape.empty() ? "f32" : "f32[" + joined(shape, ", ") + "]";
  if (shape.empty())
    return type;
  switch (random_() % 9) {
  case 0:
    return type + " partial(" + pick(std::vector<std::string>{"+", "max", "min"}) + ") over " +
           pick(std::vector<std::string>{"host", "chip", "host, chip"});
  case 1: {
    bool isSecond = chance(3);
    speaksOfPart1 |= isSecond;
    return type + " at " + level() + (isSecond ? " 1" : " 0");
  }
  case 2: {
    std::string other = level() == "host" ? "chip" : "host";
    return type + " over " + other + " by " + drawnAxis(shape) + " partial(+) over " +
           (other == "chip" ? "host" : "chip");
  }
  default:
    return placedOver(joined(shape, ", "), chance(2) ? drawnAxis(shape) : "",
                      chance(2) ? drawnAxis(shape) : "");
  }
}

std::string RandomProgram::program(const std::string &place, const std::string &value) const {
  std::string text =
      "import std.experts: combine, dispatch\n"
      "fn chosen[A, B](x: f32[A, B]) -> i32[A, B] { return i32(clamp(x, -1.0, 3.0), round: .down) "
      "}\n"
      "fn stepped[A, B](x: f32[A, B], y: f32[A, B]) -> f32[A, B] { let t = x * 2.0\n return "
      "max(t, y) - y }\n"
      "fn early[A, B](x: f32[A, B], y: f32[A, B]) -> f32[A, B] { if A > 3 { if B == 2 { return "
      "max(x, y) }\n return x + y }\n return x - y }\n"
      "fn both[A, B](x: f32[A, B]) -> (f32[A, B], f32[B, A]) { return (x * 2.0, x.T) }\n"
      "fn turned[A, B](x: f32[A, B]) -> f32[A, B] { let (y, z) = both(x)\n return z.T - y }\n"
      "fn apart[A, B](x: f32[A, 2 * B]) -> f32[A, B] { let (even, odd) = deinterleave(x)\n return "
      "even - odd }\n"
      "fn centred[A, B](x: f32[A, B]) -> f32[A, B] { return x - max(x, axis: -1) }\n"
      "program p[M, N, K](" +
      header_ + "sizes: f32[M, N, K] over host by N, chip by M) -> (y: " + place +
      ") at pod {\n    let _s = sizes\n";
  for (const std::string &let : lets_)
    text += let;
  return text + "    y = " + value + "\n}\n";
}

std::string RandomProgram::typeText(const RandomValue &value, bool isPlaced) const {
  std::string text(elemName(value.elem));
  if (!value.shape.empty())
    text += "[" + joined(value.shape, ", ") + "]";
  if (!isPlaced)
    return text;
  PlacedProgram one;
  DimContext dims;
  for (const std::string &level : kLevels)
    one.levels.push_back({level, level, std::nullopt});
  PlacedValue placed;
  placed.placement = value.placement;
  placed.elem = value.elem;
  for (const std::string &extent : value.shape)
    placed.shape.push_back(dims.symbolDim(dims.addSymbol(extent, SymbolKind::DimensionParam)));
  one.values.push_back(std::move(placed));
  return text + placementText(dims, one, 0);
}

std::optional<RandomValue> RandomProgram::tried(const std::string &name, const Drawn &drawn) {
  lets_.push_back(drawn.before + "    let " + name + " = " + drawn.text + "\n");
  CheckedText checked(program("f32[M, N, K] over host by N, chip by M", "sizes"));
  const CallableDecl *decl = checked.ok() ? checked.find("p") : nullptr;
  auto placed = decl ? checked.placed(*decl) : std::optional<PlacedProgram>();
  if (placed)
    for (const auto &[local, id] : placed->locals)
      if (local->name == name) {
        const PlacedValue &value = placed->values[id];
        RandomValue made{name,          {},         drawn.bound,    drawn.unitBits,
                         drawn.isExact, value.elem, value.placement};
        for (Dim dim : value.shape)
          made.shape.push_back(checked.program->dims->toString(dim));
        return made;
      }
  lets_.pop_back();
  return std::nullopt;
}

void RandomProgram::grow(size_t statements) {
  for (size_t tries = 0; tries < 12 * statements && lets_.size() < statements; ++tries) {
    Drawn drawn = statement();
    bool isHeld = drawn.bound < (1 << 22) && drawn.unitBits < 8;
    if (drawn.text.empty() || (drawn.isExact && !isHeld))
      continue;
    auto made = tried("v" + std::to_string(lets_.size()), drawn);
    // Summands that are rounded have a sum that is rounded otherwise.
    if (made && !made->isExact && std::ranges::any_of(made->placement, &LevelPlacement::isPartial))
      lets_.pop_back();
    else if (made)
      values_.push_back(std::move(*made));
    else
      ++refused;
  }
}

/// A value with movements around it that make it the same everywhere; over level `leaveOut` nothing.
std::string RandomProgram::gathered(const RandomValue &value, size_t leaveOut) const {
  std::string text = value.name;
  for (size_t level = kLevels.size(); level-- > 0;) {
    const LevelPlacement &at = value.placement[level];
    if (at.isWhole() || level == leaveOut)
      continue;
    text = (at.isPartial() ? "all_reduce("
            : at.isCut()   ? "all_gather("
                           : "broadcast(") +
           text + ", over: " + kLevels[level] + ")";
  }
  return text;
}

bool RandomProgram::finish() {
  if (lets_.empty())
    return false;
  isExact = std::ranges::all_of(values_, &RandomValue::isExact);
  const RandomValue &last = values_.back();
  bool isHere = chance(2) && isAccepted(typeText(last, true), last.name);
  return isHere || isAccepted(typeText(last, false), gathered(last, kLevels.size()));
}

// ---- Statements ----------------------------------------------------------------------------------

RandomProgram::Drawn RandomProgram::statement() {
  const RandomValue &a = chance(3) ? values_.back() : pick(values_), &b = pick(values_);
  switch (random_() % ((selects_ ? 15 : 13) + (ofParts_ ? 2 : 0))) {
  case 0:
  case 1:
    return elementwise(a, b);
  case 2:
    return unary(a);
  case 3:
    return reduction(a);
  case 4:
    return shaped(a);
  case 5:
    if (a.shape.size() < 2 || b.shape.empty() || !a.isExact || !b.isExact)
      return {};
    return {a.name + " @ " + b.name, a.bound * b.bound * positionsOf(a.shape.back()),
            a.unitBits + b.unitBits};
  case 6:
    return rows(a);
  case 7:
    return choice(a, b);
  case 8:
    return pages(a, b);
  case 9:
    return leaving(a, b);
  case 10:
    return tasks(a, b);
  case 11:
  case 12:
    return selects_ ? selected(a) : movement(a);
  case 13:
  case 14:
    return selects_ || !ofParts_ ? movement(a) : ownRanges(a, b);
  case 15:
  case 16:
    return ownRanges(a, b);
  default:
    return movement(a);
  }
}

/// Rows of `a` by a pool, twice, so that the second time all of them are found.
RandomProgram::Drawn RandomProgram::pages(const RandomValue &a, const RandomValue &b) {
  std::vector<std::string> page(a.shape.empty() ? a.shape.begin() : a.shape.begin() + 1,
                                a.shape.end());
  if (page.empty() || a.elem != ElemKind::F32 || b.elem != ElemKind::F32)
    return {};
  bool isPage = b.shape == page;
  std::string number = std::to_string(lets_.size());
  std::string rows = "rows" + number, pool = "pool" + number, all = "all" + number;
  Drawn drawn{all, 0, isPage ? std::max(a.unitBits, b.unitBits) : a.unitBits,
              a.isExact && (b.isExact || !isPage)};
  drawn.bound = std::ldexp(8, drawn.unitBits);
  std::string made = chance(2) ? rows + "[p] * 2.0" : rows + "[p] * " + pick(values_).name;
  drawn.isExact &= made.ends_with("2.0");
  std::string whole = a.placement.empty() ? a.name : gathered(a, kLevels.size());
  const std::vector<std::string> rooms = {"4KiB", "64, over: host", "200, over: chip",
                                          "1KiB, over: " + level()};
  const std::string &room = pick(rooms);
  drawn.before = "    let " + rows + " = " + whole + "\n    let " + pool + " = pool(f32[" +
                 joined(page, ", ") + "], memory: " + room + ")\n    var " + all + " = " +
                 (isPage ? b.name : "zeros(f32[" + joined(page, ", ") + "])") +
                 "\n    for _r in 0..2 {\n        for p in 0..(" + a.shape[0] + ") {\n" +
                 "            let page = if p < find(" + pool + ", " + rows + ") { " + pool +
                 "[p] } else { keep(" + pool + ", " + made + ") }\n            " + all +
                 " = clamp(" + all + " + page, -8.0, 8.0)\n        }\n    }\n";
  return drawn;
}

/// A call that one part computes, or one in each round of a loop.
RandomProgram::Drawn RandomProgram::tasks(const RandomValue &a, const RandomValue &b) {
  if (a.shape.size() != 2 || a.elem != ElemKind::F32)
    return {};
  std::string over = level();
  std::string whole = a.placement.empty() || chance(4) ? a.name : gathered(a, kLevels.size());
  auto task = [&](const std::string &call) {
    std::string submitted = "submit(" + call + ", over: " + over + ")";
    return chance(4)   ? submitted
           : chance(3) ? "send(" + submitted + ", over: " + over + ", to: 0)"
                       : "broadcast(" + submitted + ", over: " + over + ")";
  };
  if (chance(2) || b.shape != a.shape || b.elem != ElemKind::F32)
    return {task("centred(" + whole + ")"), a.bound * 2, a.unitBits, a.isExact};
  std::string name = "done" + std::to_string(lets_.size());
  Drawn drawn{name, 0, std::max(a.unitBits, b.unitBits), a.isExact && b.isExact};
  drawn.bound = std::ldexp(8, drawn.unitBits);
  std::string first = b.placement.empty() || chance(3) ? b.name : gathered(b, kLevels.size());
  std::string other = chance(2) ? name : whole;
  drawn.before = "    let given" + name + " = " + whole + "\n    var " + name + " = clamp(" +
                 first + ", -8.0, 8.0)\n    for i in 1..6 step 2 {\n        " + name + " = clamp(" +
                 name + " + " + task("stepped(given" + name + ", " + other + ")") +
                 " - f32(i), -8.0, 8.0)\n" + "    }\n";
  return drawn;
}

/// What each part of a level makes of its own range of an axis.
RandomProgram::Drawn RandomProgram::ownRanges(const RandomValue &a, const RandomValue &b) {
  if (a.shape.empty() || a.elem != ElemKind::F32 || b.elem != ElemKind::F32)
    return {};
  size_t axis = random_() % a.shape.size();
  std::string over = level(), other = over == "host" ? "chip" : "host";
  // Ranges of one level, or those of chips within those of their hosts.
  bool isOfBoth = chance(3);
  if (isOfBoth)
    over = "[host, chip]";
  std::string number = std::to_string(lets_.size()), name = "own" + number, r = "r" + number;
  auto at = [&](const std::string &position) {
    std::vector<std::string> items(a.shape.size(), ":");
    items[axis] = position;
    return "[" + joined(items, ", ") + "]";
  };
  std::string own = name + at(r), along = std::to_string(random_() % a.shape.size());
  bool isAlike = b.shape == a.shape && chance(2);
  auto clamped = [&](const std::string &text) { return "clamp(" + text + ", -8.0, 8.0)"; };
  auto set = [&](const std::string &text) { return own + " = " + clamped(text) + "\n"; };
  std::string positions = "f32(index(" + r + "))", body;
  for (size_t i = axis + 1; i < a.shape.size(); ++i)
    positions += i == axis + 1 ? "[:, new]" : "[:, :, new]";
  // No level is left to add over inside the ranges of both.
  switch (random_() % (isOfBoth ? 3 : 6)) {
  case 0:
    body = chance(2)
               ? "for i in 0.." + r + ".len {\n            " + name + at(r + ".start + i") + " = " +
                     clamped(name + at(r + ".start + i") + " + f32(i - " + r + ".start)")
               : "for i in tiles(" + r + ", 2) {\n            " + name + at("i") + " = " +
                     clamped(name + at("i") + " + f32(i.start - i.count)");
    body += "\n        }\n";
    break;
  case 1:
    body = "if " + r + ".start > 2 { " + set(own + " * 2.0 - " + positions) + " }\n";
    break;
  case 2:
    body = "if max(" + own + ", axis: 0)" +
           (a.shape.size() == 1   ? "[0]"
            : a.shape.size() == 2 ? "[0, 0]"
                                  : "[0, 0, 0]") +
           " > 1.0 { " + set("-" + own) + " } else { " + set(own + " + 1.0") + " }\n";
    break;
  case 3:
    body = "let most = all_reduce(max(" + own + ", axis: " + along + "), over: " + other +
           ")\n        " + set(own + " - most");
    break;
  case 4:
    body = set(isAlike ? own + " + " + b.name + at(r)
                       : own + " + cummax(" + own + ", axis: " + along + ")");
    break;
  default:
    body = "let most = max(" + own + ", axis: " + along + ")\n        " +
           set("most - " + own + " * f32(" + r + ".len)");
  }
  Drawn drawn{name, 0, std::max(a.unitBits, isAlike ? b.unitBits : 0),
              a.isExact && (b.isExact || !isAlike)};
  drawn.bound = std::ldexp(8, drawn.unitBits);
  std::string first =
      chance(2) ? a.name
                : "reshard(" + a.name + ", over: " + over + ", by: " +
                      (isOfBoth ? "[" + std::to_string(axis) + ", " + std::to_string(axis) + "]"
                                : std::to_string(axis)) +
                      ")";
  drawn.before = "    var " + name + " = " + clamped(first) + "\n    parallel " + r + " in parts(" +
                 a.shape[axis] + ", over: " + over + ") {\n        " + body + "    }\n";
  return drawn;
}

/// A loop that is left, and rounds that are.
RandomProgram::Drawn RandomProgram::leaving(const RandomValue &a, const RandomValue &b) {
  if (a.elem != ElemKind::F32 || b.elem != ElemKind::F32)
    return {};
  std::string name = "left" + std::to_string(lets_.size());
  Drawn drawn{name, 0, std::max(a.unitBits, b.unitBits), a.isExact && b.isExact};
  drawn.bound = std::ldexp(8, drawn.unitBits);
  std::vector<std::string> conditions = {"i == 2", "i >= N", "M > 3 and i == 1", "K < i"};
  for (const RandomValue &value : values_)
    if (value.shape.empty())
      conditions.push_back(value.name + " > f32(i)");
  auto leave = [&](const std::string &word) {
    std::string inArm = chance(2) ? name + " = max(" + name + ", 0.0)\n            " : "";
    return "        if " + pick(conditions) + " {\n            " + inArm + word + "\n        }\n";
  };
  drawn.before = "    var " + name + " = clamp(" + b.name + ", -8.0, 8.0)\n    for i in 0..4 {\n" +
                 (chance(2) ? leave("continue") : "") + "        " + name + " = clamp(" + name +
                 " * 2.0 + " + a.name + ", -8.0, 8.0)\n" + leave(chance(3) ? "continue" : "break") +
                 "        " + name + " = " + name + " + 0.0\n    }\n";
  return drawn;
}

/// Rows of `a` to four experts and back, as the rows of another value choose and weigh, or its own.
RandomProgram::Drawn RandomProgram::rows(const RandomValue &a) {
  auto fits = [&](const RandomValue &b) {
    return b.shape.size() == 2 && b.shape[0] == a.shape[0] && b.isExact && b.elem == ElemKind::F32;
  };
  if (a.shape.size() != 2 || !fits(a))
    return {};
  const RandomValue &drawn = pick(values_), &b = fits(drawn) ? drawn : a;
  std::string level = pick(std::vector<std::string>{"host", "chip", "[host, chip]"});
  std::string over = ", over: " + level;
  std::string by = level[0] == '[' ? "[" + a.shape[0] + ", " + a.shape[0] + "]" : a.shape[0];
  auto cut = [&](const RandomValue &value) {
    return chance(4) ? value.name : "reshard(" + value.name + over + ", by: " + by + ")";
  };
  std::string moved = cut(a), choosing = cut(b);
  std::string cap = "(" + b.shape[0] + ") * (" + b.shape[1] + ") + 1";
  std::string sent = "dispatch(" + moved + ", chosen(" + choosing + "), 4, " + cap + over + ")";
  return {"combine(" + sent + " * 2.0, chosen(" + choosing + "), " + choosing + over + ")",
          2 * a.bound * b.bound * positionsOf(b.shape[1]), a.unitBits + b.unitBits};
}

/// One of two values, by sizes or by a number, which the checker has to find the same everywhere.
RandomProgram::Drawn RandomProgram::choice(const RandomValue &a, const RandomValue &b) {
  std::vector<std::string> conditions = {"M > 3", "N % 2 == 0", "M >= K or K == 3",
                                         "M > 0 and not (K > 3)"};
  for (const RandomValue &value : values_)
    if (value.shape.empty())
      conditions.push_back(value.name + " > 1.0");
  auto arm = [&]() -> Drawn {
    switch (random_() % 5) {
    case 0:
      return movement(a);
    case 1:
      return elementwise(a, b);
    case 2:
      return {b.name, b.bound, b.unitBits, b.isExact};
    case 3:
      return {a.name, a.bound, a.unitBits, a.isExact};
    default:
      return unary(a);
    }
  };
  Drawn then = arm(), otherwise = arm();
  int unit = std::max(then.unitBits, otherwise.unitBits);
  Drawn drawn{"if " + pick(conditions) + " { " + then.text + " } else { " + otherwise.text + " }",
              std::max(std::ldexp(then.bound, unit - then.unitBits),
                       std::ldexp(otherwise.bound, unit - otherwise.unitBits)),
              unit, then.isExact && otherwise.isExact};
  if (then.text.empty() || otherwise.text.empty() || chance(2))
    return drawn;
  // The same as a variable that an arm changes.
  std::string name = "c" + std::to_string(lets_.size());
  drawn.before = "    var " + name + " = " + otherwise.text + "\n    if " + pick(conditions) +
                 " { " + name + " = " + then.text + " }\n";
  drawn.text = name;
  return drawn;
}

RandomProgram::Drawn RandomProgram::elementwise(const RandomValue &a, const RandomValue &b) {
  int unit = std::max(a.unitBits, b.unitBits);
  double boundA = std::ldexp(a.bound, unit - a.unitBits),
         boundB = std::ldexp(b.bound, unit - b.unitBits);
  bool isExact = a.isExact && b.isExact;
  auto of = [&](const std::string &text, double bound) {
    return Drawn{text, bound, unit, isExact};
  };
  double larger = std::max(boundA, boundB);
  switch (random_() % 9) {
  case 8:
    return of("early(" + a.name + ", " + b.name + ")", boundA + boundB);
  case 0:
    return of(a.name + " + " + b.name, boundA + boundB);
  case 1:
    return of(a.name + " - " + b.name, boundA + boundB);
  case 2:
    return {a.name + " * " + b.name, a.bound * b.bound, a.unitBits + b.unitBits, isExact};
  case 3:
    return of("max(" + a.name + ", " + b.name + ")", larger);
  case 4:
    return of("min(" + a.name + ", " + b.name + ")", larger);
  case 5:
    return of("select(" + a.name + " < " + b.name + ", " + a.name + ", " + b.name + ")", larger);
  case 6:
    return of("stepped(" + a.name + ", " + b.name + ")", 2 * boundA + 2 * boundB);
  default:
    return of("clamp(" + a.name + ", -2.0, 2.0) + " + b.name, boundA + boundB);
  }
}

RandomProgram::Drawn RandomProgram::unary(const RandomValue &a) {
  auto of = [&](const std::string &text, double bound, int unitBits = 0) {
    return Drawn{text, bound, a.unitBits + unitBits, a.isExact};
  };
  double one = std::ldexp(1, a.unitBits);
  switch (random_() % (ofParts_ ? 11 : 10)) {
  case 10:
    return of(a.name + " * f32(chips)", a.bound * 16);
  case 0:
    return of("max(" + a.name + ", 0.0)", a.bound);
  case 1:
    return of(a.name + " * 2.0", 2 * a.bound);
  case 2:
    return of(a.name + " / 2.0", a.bound, 1);
  case 3:
    return of("-" + a.name, a.bound);
  case 4:
    return of("abs(" + a.name + ")", a.bound);
  case 5:
    return of(a.name + " + 1.0", a.bound + one);
  case 6:
    return of("f32(i32(" + a.name + "))", a.bound);
  case 7:
    return of("centred(" + a.name + ")", 2 * a.bound);
  case 8:
    return of(a.name + " * f32(N)", a.bound * kLongest);
  default:
    return {"sqrt(abs(" + a.name + "))", 0, 0, false};
  }
}

RandomProgram::Drawn RandomProgram::reduction(const RandomValue &a) {
  static const std::vector<std::string> all = {"sum",    "max",    "min",  "sum",  "argmax", "mean",
                                               "cumsum", "cummax", "prod", "sort", "argsort"};
  std::string name = pick(all);
  std::string axis = std::to_string(a.shape.empty() ? 0 : random_() % a.shape.size());
  bool isAlongOne = name == "cumsum" || name == "cummax" || name.find("sort") != std::string::npos;
  if (a.shape.size() == 2 && chance(4) && !isAlongOne && name != "argmax")
    axis = "[0, 1]";
  std::string text = name + "(" + a.name + ", axis: " + axis + ")";
  double positions = 1;
  for (size_t i = 0; i < a.shape.size(); ++i)
    if (axis == "[0, 1]" || axis == std::to_string(i))
      positions *= positionsOf(a.shape[i]);
  if (name == "mean")
    return {text, 0, 0, false};
  if (name == "argmax" || name == "argsort")
    return {"f32(" + text + ")", kLongest, 0};
  if ((name == "sum" || name == "cumsum" || name == "prod") && !a.isExact)
    return {};
  if (name == "prod")
    return {text, std::pow(std::max(a.bound, 1.0), positions), a.unitBits ? 99 : 0};
  bool adds = name == "sum" || name == "cumsum";
  return {text, adds ? a.bound * positions : a.bound, a.unitBits, a.isExact};
}

RandomProgram::Drawn RandomProgram::movement(const RandomValue &a) {
  auto over = [&](const std::string &name, const std::string &behind = "") {
    std::stringstream words{std::string(findMovement(name)->algorithms)};
    std::vector<std::string> ways;
    for (std::string way; words >> way;)
      ways.push_back(way);
    std::string how = chance(2) ? "" : ", how: " + pick(ways);
    return name + "(" + a.name + ", over: " + level() + behind + how + ")";
  };
  auto of = [&](const std::string &text, double times = 1) {
    return Drawn{text, a.bound * times, a.unitBits, a.isExact};
  };
  std::string axis = drawnAxis(a.shape);
  // Summands of parts are not known one by one, but their sum is bounded already.
  switch (random_() % 8) {
  case 0:
    // The number of a run is bound in front of the statement.
    return of(over("shift",
                   ", by: " + (chance(3) ? std::string("(M & 3) - 1")
                                         : std::to_string(static_cast<int>(random_() % 7) - 3))));
  case 1:
    return of(over("broadcast"));
  case 2: {
    bool isSecond = chance(3);
    Drawn drawn = of(over("send", isSecond ? ", to: 1" : ", to: 0"));
    speaksOfPart1 |= isSecond;
    return drawn;
  }
  case 3:
    return of(chance(2) ? over("reshard", ", by: " + axis)
                        : "reshard(" + a.name + ", over: [host, chip], by: [" + axis + ", " +
                              drawnAxis(a.shape) + "])");
  case 4:
    return of(over("reduce_scatter", ", by: " + axis));
  case 5:
    return of(over("all_to_all", ", by: " + axis));
  case 6:
    return of(over("all_reduce"));
  default:
    return of(over("all_gather"));
  }
}

// ---- Wrong programs ------------------------------------------------------------------------------

std::vector<std::string> RandomProgram::altered() const {
  std::vector<std::string> all;
  for (const char *name :
       {"all_reduce(", "all_gather(", "reduce_scatter(", "all_to_all(", "shift(", "reshard("})
    for (size_t at = 0; (at = text.find(name, at)) != text.npos; ++at)
      for (const char *other : {"all_reduce(", "all_gather("})
        if (std::string(name) != other)
          all.push_back(text.substr(0, at) + other + text.substr(at + std::strlen(name)));
  for (auto [from, to] : {std::pair("over: chip", "over: host"),
                          {"over: host", "over: chip"},
                          {"over chip by", "over host by"},
                          {"over host by", "over chip by"}})
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; ++at)
      all.push_back(text.substr(0, at) + to + text.substr(at + std::strlen(from)));
  return all;
}

std::vector<std::string> RandomProgram::wrong() {
  std::vector<std::string> all;
  for (const RandomValue &value : values_) {
    if (value.placement.empty() || value.shape.empty())
      continue;
    auto add = [&](const std::string &wrongValue) {
      all.push_back(program(typeText(value, false), wrongValue));
    };
    bool isWhole = std::ranges::all_of(value.placement, &LevelPlacement::isWhole);
    if (!isWhole)
      add(value.name); // The result would be the same everywhere.
    add("all_reduce(" + gathered(value, kLevels.size()) + ", over: chip)");
    add("all_gather(" + gathered(value, kLevels.size()) + ", over: host)");
    for (size_t level = 0; level < kLevels.size(); ++level) {
      const LevelPlacement &at = value.placement[level];
      if (at.isWhole())
        continue;
      add(gathered(value, level)); // Over one level it is not moved.
      if (at.isPartial())
        add("all_reduce(exp(" + gathered(value, level) + "), over: " + kLevels[level] + ")");
      if (at.isPartial() && value.elem == ElemKind::F32)
        add("all_reduce(" + gathered(value, level) + " + 1.0, over: " + kLevels[level] + ")");
      std::string other = at.isPartial() ? "all_gather(" : "all_reduce(";
      add(other + gathered(value, level) + ", over: " + kLevels[level] + ")");
    }
  }
  return all;
}

std::string asMesh(std::string text, uint32_t columns) {
  auto replaceWord = [&](const std::string &word, const std::string &with) {
    for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += with.size()) {
      bool isWord = !std::isalnum(static_cast<unsigned char>(text[at - 1])) &&
                    !std::isalnum(static_cast<unsigned char>(text[at + word.size()]));
      if (isWord)
        text.replace(at, word.size(), with);
    }
  };
  replaceWord("host", "rows");
  replaceWord("chip", "columns");
  size_t level = text.find(") at pod {");
  return text.replace(level, 10,
                      ") at host mesh chip as rows, columns: " + std::to_string(columns) + " {");
}

} // namespace ptl::parts
