#include "tests/differential/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ptl::differential {

using reference::RefArray;
using reference::Value;

static constexpr std::array<int64_t, 22> kExtents = {0,  1,  2,  3,  4,  5,  7,  8,   13,  15, 16,
                                                     17, 31, 33, 63, 64, 65, 96, 127, 129, 97, 257};
static constexpr std::array<int64_t, 6> kStaticExtents = {1, 2, 8, 16, 33, 64};
/// Interpreting larger arrays takes too long.
static constexpr int64_t kMaxElements = 40000;

std::string whyNotSampled(const CallableDecl &decl) {
  if (decl.hasErrors)
    return "has errors";
  if (!decl.body || decl.isBlockLevel || decl.kind == DeclKind::ManualKernel)
    return "is not at tensor or tile level";
  if (!decl.level.empty() && decl.level != "chip" && decl.level != "core")
    return "runs above the chip";
  for (const Local *param : decl.params)
    if (!param->type->isArray() && !param->type->isScalar())
      return "takes more than arrays and scalars";
  return "";
}

int64_t Sampler::drawExtent(bool isStatic) {
  if (isStatic)
    return kStaticExtents[random_() % kStaticExtents.size()];
  return kExtents[random_() % kExtents.size()];
}

Sample Sampler::draw() {
  Sample sample;
  // Many axes make large products, so the more dimensions the shorter each.
  if (values_ == ArgumentValues::Whole) {
    static constexpr std::array<int64_t, 24> extents = {
        1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 16, 17, 20, 24, 31, 32, 33, 40, 48, 64, 65, 70};
    for (size_t i = 0; i < decl_.dims.size(); ++i)
      sample.dims.push_back(random_() % 24 == 0 ? decl_.dims[i].isCount()
                                                : extents[random_() % extents.size()]);
  }
  int64_t limit = decl_.dims.size() > 4 ? 9 : decl_.dims.size() > 2 ? 70 : 300;
  for (size_t i = sample.dims.size(); i < decl_.dims.size(); ++i)
    sample.dims.push_back(decl_.dims[i].isCount()
                              ? 1 + std::min<int64_t>(drawExtent(false), 7)
                              : std::min(drawExtent(decl_.dims[i].isStatic), limit));
  std::vector<ElemKind> floats = {ElemKind::F32, ElemKind::F32, ElemKind::F16, ElemKind::BF16,
                                  ElemKind::F64};
  std::vector<ElemKind> integers = {ElemKind::I32, ElemKind::I8,  ElemKind::U8,
                                    ElemKind::I64, ElemKind::I16, ElemKind::U32};
  for (const TypeParam *param : decl_.typeParams) {
    bool wantsInteger = param->constraint == ElemConstraint::Integer ||
                        (param->constraint != ElemConstraint::Float && random_() % 2);
    const std::vector<ElemKind> &pool = wantsInteger ? integers : floats;
    sample.elems.push_back(pool[random_() % pool.size()]);
  }
  if (decl_.hasPrefix)
    for (uint64_t rank = random_() % 3; rank > 0; --rank)
      sample.prefix.push_back(static_cast<int64_t>(random_() % 5));
  sample.seed = random_();
  return sample;
}

Sample Sampler::draw(const std::vector<ElemKind> &elems) {
  Sample sample = draw();
  if (!elems.empty())
    sample.elems = elems;
  return sample;
}

ElemKind Sampler::elemOf(const Elem &elem, const Sample &sample) const {
  for (size_t i = 0; i < decl_.typeParams.size(); ++i)
    if (decl_.typeParams[i] == elem.param)
      return elem.acc ? accOf(sample.elems[i]) : sample.elems[i];
  return elem.kind;
}

/// Floats within -2..2, scales within 0.25..4; integers small, so that they may serve as positions.
static Scalar drawScalar(ElemKind elem, std::mt19937_64 &random, ArgumentValues values) {
  // Of scales, too, most are numbers: one that is not makes all results of its row NaN, where nothing can differ.
  if (elem == ElemKind::F8E8M0)
    return random() % 256 ? Scalar::real(std::ldexp(1, static_cast<int>(random() % 5) - 2))
                          : Scalar::real(std::numeric_limits<double>::quiet_NaN());
  if (isFloat(elem) && values == ArgumentValues::Whole)
    return Scalar::real(static_cast<double>(random() % 7) - 3);
  if (isFloat(elem))
    return Scalar::real(std::uniform_real_distribution<double>(-2, 2)(random));
  if (elem == ElemKind::Bool)
    return Scalar::boolean(random() % 2);
  return Scalar::integer(static_cast<int64_t>(random() % 7));
}

std::optional<Value> Sampler::argument(const Local &param, const Sample &sample,
                                       std::mt19937_64 &random) const {
  const Type &type = *param.type;
  ElemKind elem = elemOf(type.elem, sample);
  if (type.isScalar())
    return Value::scalar(elem, roundScalar(drawScalar(elem, random, values_), elem));
  std::vector<int64_t> shape;
  if (type.prefix)
    shape = sample.prefix;
  auto lookup = [&](SymbolId symbol) -> std::optional<int64_t> {
    for (size_t i = 0; i < decl_.dims.size(); ++i)
      if (decl_.dims[i].symbol == symbol)
        return sample.dims[i];
    return std::nullopt;
  };
  for (const Extent &extent : type.extents) {
    std::optional<int64_t> length = evaluate(extent.length, lookup);
    if (!length || *length < 0)
      return std::nullopt;
    shape.push_back(*length);
  }
  if (reference::elementCount(shape) > kMaxElements)
    return std::nullopt;
  RefArray array = reference::zeroArray(elem, shape);
  // Values that are to differ are drawn so.
  bool differ = std::any_of(decl_.wheres.begin(), decl_.wheres.end(), [&](const auto &where) {
    return where.text == "unique(" + param.name + ")";
  });
  if (differ && !isFloat(elem) && !shape.empty()) {
    int64_t count = array.count(), shift = static_cast<int64_t>(random() % 64);
    bool turns = random() % 2;
    for (int64_t i = 0; i < count; ++i)
      array.set(i, Scalar::integer(turns ? count - 1 - i : (i + shift) % count));
    return Value::array(std::move(array));
  }
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, roundScalar(drawScalar(elem, random, values_), elem));
  return Value::array(std::move(array));
}

std::optional<reference::CallRequest> Sampler::request(const Sample &sample) const {
  reference::CallRequest request;
  request.callee = &decl_;
  request.dims = sample.dims;
  request.elems = sample.elems;
  request.prefix = sample.prefix;
  request.span = decl_.nameSpan;
  std::mt19937_64 random(sample.seed);
  for (const Local *param : decl_.params) {
    std::optional<Value> value = argument(*param, sample, random);
    if (!value)
      return std::nullopt;
    request.args.push_back(std::move(*value));
  }
  return request;
}

std::vector<Sample> Sampler::smaller(const Sample &sample) {
  std::vector<Sample> samples;
  auto shrink = [&](std::vector<int64_t> Sample::*extents) {
    for (size_t i = 0; i < (sample.*extents).size(); ++i) {
      int64_t now = (sample.*extents)[i];
      for (int64_t next : {int64_t(0), int64_t(1), now / 2, now - 1})
        if (next >= 0 && next < now) {
          samples.push_back(sample);
          (samples.back().*extents)[i] = next;
        }
    }
  };
  shrink(&Sample::prefix);
  shrink(&Sample::dims);
  return samples;
}

} // namespace ptl::differential
