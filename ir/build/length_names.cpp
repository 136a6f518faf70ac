#include "ir/build/length_names.h"

namespace ptl::ir {

Dim LengthNames::nameOf(Dim length) {
  DimContext &dims = facts_.context();
  std::vector<Dim> simpler;
  for (const DimTerm &term : length.terms())
    for (const DimFactor &factor : term.monomial->factors)
      if (factor.atom->kind == DimAtomKind::FloorDiv) {
        simpler.push_back(dims.atomDim(*factor.atom));
        simpler.push_back(factor.atom->operands[0]);
      }
  if (simpler.empty())
    return length;
  Dim reduced = facts_.reduce(length);
  for (Dim name : simpler)
    if (facts_.reduce(name) == reduced)
      return names_[reduced.id()] = name;
  return names_.try_emplace(reduced.id(), length).first->second;
}

} // namespace ptl::ir
