// Expressions of random programs that change shapes, and select elements or put them beside each other.
#include "codegen/parts/random_program_test_util.h"
#include "common/words.h"

namespace ptl::parts {

RandomProgram::Drawn RandomProgram::shaped(const RandomValue &a) {
  auto of = [&](const std::string &text) { return Drawn{text, a.bound, a.unitBits, a.isExact}; };
  const std::vector<std::string> &shape = a.shape;
  if (shape.empty())
    return of("broadcast(" + a.name + ", [M, N])");
  switch (random_() % 9) {
  case 0:
    return of(a.name + (chance(2) ? "[new]" : shape.size() == 2 ? "[:, new]" : "[.., new]"));
  case 1: {
    // Two neighbours become one, and what one was before may come back.
    if (shape.size() < 2)
      return of("reshape(" + a.name + ", [1, " + shape[0] + "])");
    std::vector<std::string> merged = shape;
    size_t at = random_() % (shape.size() - 1);
    merged[at] = "(" + merged[at] + ") * (" + merged[at + 1] + ")";
    merged.erase(merged.begin() + static_cast<ptrdiff_t>(at) + 1);
    return of("reshape(" + a.name + ", [" + joined(merged, ", ") + "])");
  }
  case 2: {
    std::vector<std::string> turned = shape;
    std::ranges::shuffle(turned, random_);
    return of("reshape(" + a.name + ", [" + joined(turned, ", ") + "])");
  }
  case 3:
    return shape.size() == 3
               ? of("transpose(" + a.name + ", [" +
                    pick(std::vector<std::string>{"2, 0, 1", "1, 0, 2", "1, 2, 0"}) + "])")
               : of(a.name + ".T");
  case 4:
    return std::ranges::find(shape, "1") != shape.end()
               ? of(a.name + (shape[0] == "1" ? "[0]" : "[.., 0]"))
               : of("broadcast(" + a.name + ", [K, " + joined(shape, ", ") + "])");
  case 5:
    return std::ranges::find(shape, "1") != shape.end()
               ? of("broadcast(" + a.name + ", [M" + (shape.size() > 1 ? ", N" : "") +
                    (shape.size() > 2 ? ", K" : "") + "])")
               : of(a.name + ".T");
  case 6:
    return shape.size() > 1 ? of((chance(2) ? "tril(" : "triu(") + a.name + ", diagonal: 1)")
                            : of(a.name + ".T");
  case 7:
    return {a.name + " + f32(index(0.." + shape.back() + "))", a.bound + kLongest, a.unitBits,
            a.isExact};
  default:
    return of(a.name + ".T");
  }
}

/// Elements that are selected, or put beside each other.
RandomProgram::Drawn RandomProgram::selected(const RandomValue &a) {
  const std::vector<std::string> &shape = a.shape;
  if (shape.empty() || a.elem != ElemKind::F32)
    return {};
  auto of = [&](const std::string &text, double times = 1) {
    return Drawn{text, a.bound * times, a.unitBits, a.isExact};
  };
  size_t at = random_() % shape.size();
  std::string axis = std::to_string(at), along = ", axis: " + axis + ")";
  auto perAxis = [&](const std::string &other, const std::string &own) {
    std::string text;
    for (size_t i = 0; i < shape.size(); ++i)
      text += (text.empty() ? "" : ", ") + (i == at ? own : other);
    return text;
  };
  const RandomValue &b = pick(values_);
  if (!b.isExact || !a.isExact || b.shape.empty())
    return {};
  switch (random_() % 9) {
  case 0:
    return {"concat(" + a.name + ", " + b.name + along,
            std::ldexp(a.bound, std::max(b.unitBits - a.unitBits, 0)) +
                std::ldexp(b.bound, std::max(a.unitBits - b.unitBits, 0)),
            std::max(a.unitBits, b.unitBits)};
  case 1: {
    Drawn drawn =
        of("pad(" + a.name + ", " + (chance(2) ? "0.0" : "1.0") + ", before: [" +
           perAxis("0", "1") + "], after: [" + perAxis("0", chance(2) ? "0" : "1") + "])");
    drawn.bound += std::ldexp(1, a.unitBits);
    return drawn;
  }
  case 2:
    return of(a.name + "[" + perAxis(":", "0.." + shape[at] + (chance(2) ? " step 2" : "")) + "]");
  case 3:
    return of(a.name + "[" +
              perAxis(":", "i32(" + shape[at] + ") - 1 - index(0.." + shape[at] + ")") + "]");
  case 4:
    return of("gather(" + a.name + ", argsort(" + a.name + along + along);
  case 5:
    return of("scatter(" + (chance(2) ? a.name : "zeros(f32[" + joined(shape, ", ") + "])") +
                  ", argsort(" + a.name + along + ", " + a.name + ", combine: ." +
                  pick(std::vector<std::string>{"set", "add", "max", "min"}) + along,
              2);
  case 6:
    return shape.size() == 2 ? of("turned(" + a.name + ")", 3) : of(a.name + " + 0.0");
  case 7:
    return shape.size() == 2 ? of("apart(interleave(" + a.name + ", " + a.name + " * 2.0))", 3)
                             : of("interleave(" + a.name + ", " + a.name + ")");
  default:
    return shape.size() == 2 ? of("einsum(\"ab,ab->a\", " + a.name + ", sign(" + a.name + "))",
                                  positionsOf(shape[1]))
                             : of("select(" + b.name + " > 0.0, " + a.name + ", 0.0)");
  }
}

} // namespace ptl::parts
