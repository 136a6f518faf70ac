#include "ir/tblgen/backends.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ptl::tblgen {

/// The enumerator, or what stands for none.
static std::string named(StringRef type, const std::string &name, const char *none) {
  return name.empty() ? none : (type + "::" + name).str();
}

void emitOpLowering(const std::vector<Op> &ops, raw_ostream &os) {
  os << "static constexpr OpLowering opLowerings[] = {\n";
  for (const Op &op : ops) {
    const Lowering &lowering = op.lowering;
    auto another = [](const std::string &name) { return named("OpId", name, "std::nullopt"); };
    std::vector<std::string> forms;
    for (const std::string &form : lowering.forms)
      forms.push_back(named("InstructionId", form, "std::nullopt"));
    os << "    {" << another(lowering.combiner) << ", "
       << named("Identity", lowering.identity, "Identity::None") << ", "
       << another(lowering.onNumbers) << ", " << another(lowering.swapped) << ",\n     {"
       << join(forms, ", ") << ", " << (lowering.onBits ? "true" : "false") << "},\n     "
       << lowering.cpuCost << ", \"";
    printEscapedString(lowering.hostCpp, os);
    os << "\"}, // " << op.id << "\n";
  }
  os << "};\n";
}

} // namespace ptl::tblgen
