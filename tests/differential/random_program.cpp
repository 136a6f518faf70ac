#include "tests/differential/random_program.h"

#include <array>
#include <random>
#include <vector>

namespace ptl::differential {

namespace {

/// A shape by its axes: `R`, `C` or `1`.
struct Shape {
  std::string rows, columns;
  bool operator==(const Shape &) const = default;
};

struct Named {
  std::string name;
  Shape shape;
};

class Writer {
public:
  Writer(uint64_t seed, std::string rows, std::string columns)
      : random_(seed), rows_(std::move(rows)), columns_(std::move(columns)) {}

  void add(std::string name, Shape shape) {
    values_.push_back({std::move(name), std::move(shape)});
  }
  /// Appends statements that define further values.
  void statements(size_t count, const std::string &indent);
  /// An expression of shape `rows x columns`.
  std::string result();
  std::string text;

private:
  size_t below(size_t limit) { return random_() % limit; }
  const Named &any() { return values_[below(values_.size())]; }
  const Named *withShape(const Shape &shape);
  void statement(const std::string &indent);
  std::string unary(const std::string &x);
  std::string binary(const std::string &a, const std::string &b);
  void loop(const std::string &indent);

  std::mt19937_64 random_;
  std::string rows_, columns_;
  std::vector<Named> values_;
  unsigned next_ = 0;
};

const Named *Writer::withShape(const Shape &shape) {
  std::vector<const Named *> fitting;
  for (const Named &value : values_)
    if (value.shape == shape)
      fitting.push_back(&value);
  return fitting.empty() ? nullptr : fitting[below(fitting.size())];
}

/// Bounded functions only: results stay within about -8..8.
std::string Writer::unary(const std::string &x) {
  static constexpr std::array<const char *, 12> forms = {"tanh($)",
                                                         "sin($)",
                                                         "cos($)",
                                                         "sigmoid($)",
                                                         "erf($)",
                                                         "abs($)",
                                                         "-$",
                                                         "exp(min($, 1.0))",
                                                         "sqrt(abs($))",
                                                         "log1p(abs($))",
                                                         "clamp($, -1.0, 1.5)",
                                                         "rsqrt(1.0 + $ * $)"};
  std::string form = forms[below(forms.size())];
  for (size_t at; (at = form.find('$')) != form.npos;)
    form.replace(at, 1, x);
  return form;
}

std::string Writer::binary(const std::string &a, const std::string &b) {
  switch (below(7)) {
  case 0:
    return a + " + " + b;
  case 1:
    return a + " - " + b;
  case 2:
    return "tanh(" + a + ") * " + b;
  case 3:
    return "max(" + a + ", " + b + ")";
  case 4:
    return "min(" + a + ", " + b + ")";
  case 5:
    return a + " / (2.0 + abs(" + b + "))";
  default:
    return "select(" + a + " > " + b + ", " + a + ", " + b + ")";
  }
}

static bool broadcasts(const std::string &a, const std::string &b) {
  return a == b || a == "1" || b == "1";
}
static std::string wider(const std::string &a, const std::string &b) { return a == "1" ? b : a; }

/// A variable that a loop changes.
void Writer::loop(const std::string &indent) {
  const Named start = any();
  std::string name = "v" + std::to_string(next_++);
  text += indent + "var " + name + " = " + start.name + "\n";
  text += indent + "for n in 0.." + std::to_string(below(4)) + " {\n";
  text +=
      indent + "    " + name + " = tanh(" + name + ") * 0.5 + " + unary(start.name) + " * 0.25\n";
  if (below(2))
    text += indent + "    if n == 1 { " + name + " = -" + name + " }\n";
  text += indent + "}\n";
  values_.push_back({name, start.shape});
}

void Writer::statement(const std::string &indent) {
  size_t kind = below(12);
  if (kind == 0)
    return loop(indent);
  const Named x = any();
  Named made{"v" + std::to_string(next_), x.shape};
  std::string value;
  if (kind <= 3) {
    value = unary(x.name);
  } else if (kind <= 7) {
    const Named y = any();
    if (!broadcasts(x.shape.rows, y.shape.rows) || !broadcasts(x.shape.columns, y.shape.columns))
      return;
    made.shape = {wider(x.shape.rows, y.shape.rows), wider(x.shape.columns, y.shape.columns)};
    value = binary(x.name, y.name);
  } else if (kind == 8) {
    static constexpr std::array<const char *, 4> names = {"max", "min", "mean", "sum"};
    made.shape.columns = "1";
    value = std::string(names[below(names.size())]) + "(tanh(" + x.name + "), axis: 1)";
    if (x.shape.columns == columns_)
      value = "tanh(" + value + ")";
  } else if (kind == 9) {
    value = "cumsum(" + x.name + " * 0.01, axis: 1)";
  } else if (kind == 10) {
    value = x.name + "[:, new, :][:, 0, :]";
  } else {
    if (x.shape.columns != columns_ || x.shape.rows != rows_)
      return;
    made.shape = {rows_, "1"};
    value = "sum(" + x.name + " * f32(index(0.." + columns_ + ") % 3) * 0.1, axis: 1)";
    value = "tanh(" + value + ")";
  }
  ++next_;
  text += indent + "let " + made.name + " = " + value + "\n";
  values_.push_back(made);
}

void Writer::statements(size_t count, const std::string &indent) {
  for (size_t i = 0; i < count; ++i)
    statement(indent);
}

std::string Writer::result() {
  // The youngest values together, so that little of the program is dead.
  std::string sum = values_.front().name;
  for (size_t i = values_.size() > 4 ? values_.size() - 3 : 1; i < values_.size(); ++i)
    sum += " + " + values_[i].name;
  return sum;
}

} // namespace

std::string randomCallable(const std::string &name, uint64_t seed) {
  std::mt19937_64 random(seed);
  bool isKernel = random() % 2;
  static constexpr std::array<int, 5> rowTiles = {1, 3, 8, 16, 50};
  size_t count = 3 + random() % 10;
  if (!isKernel) {
    Writer writer(random(), "R", "C");
    writer.add("x", {"R", "C"});
    writer.add("w", {"R", "1"});
    writer.add("b", {"1", "C"});
    writer.statements(count, "    ");
    return "fn " + name + "[R, C](x: f32[R, C], w: f32[R, 1], b: f32[1, C]) -> f32[R, C] {\n" +
           writer.text + "    return " + writer.result() + "\n}\n";
  }
  Writer writer(random(), "r", "C");
  writer.add("t", {"r", "C"});
  writer.add("u", {"r", "1"});
  writer.add("c", {"1", "C"});
  writer.statements(count, "        ");
  int tile = rowTiles[random() % rowTiles.size()];
  return "kernel " + name +
         "[R, C](x: f32[R, C], w: f32[R, 1], b: f32[1, C]) -> (y: f32[R, C])\nwhere C <= 512\n{\n" +
         "    parallel r in tiles(R, " + std::to_string(tile) +
         ") {\n        let t = x[r, :]\n        let u = w[r, :]\n" + "        let c = b[:, :]\n" +
         writer.text + "        y[r, :] = " + writer.result() + "\n    }\n}\n";
}

} // namespace ptl::differential
