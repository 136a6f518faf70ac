// The context of building one entry: places, numbers, and what is reported.
#include "ir/build/build_context.h"
#include "frontend/sema/limits.h"
#include "ir/dialect/source_range.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

BuildContext::BuildContext(MLIRContext &context, const CheckedProgram &program,
                           const SourceManager &sources, const EntryBinding &binding,
                           DiagnosticSink &sink)
    : context(context), program(program), sources(sources), binding(binding), sink(sink),
      b(&context), place(location(binding.decl->nameSpan)), mostBuilt(kMostWrittenOut),
      dims(*program.dims), names(dims) {
  for (const auto &module : program.modules)
    mostBuilt += module->tree->nodeCount();
}

mlir::Value BuildContext::index(int64_t value) {
  return b.create<arith::ConstantIndexOp>(place, value);
}

Location BuildContext::location(Span span) {
  if (span.file >= sources.size())
    return place;
  const SourceFile &file = sources.file(span.file);
  LineColumn at = file.lineColumn(span.begin);
  auto line = FileLineColLoc::get(&context, file.path(), at.line, at.column);
  if (!binding.ranges)
    return line;
  Location ranged = rangeLocation(line, span);
  return frame && frame->call ? CallSiteLoc::get(ranged, *frame->call) : ranged;
}

Bound BuildContext::fail(DiagId id, Span span, std::vector<std::string> args) {
  sink.report(id, span, std::move(args));
  return {};
}

bool BuildContext::isTooLarge(Span span, const std::string &what) {
  if (built <= mostBuilt)
    return false;
  if (!tooLarge)
    sink.report(DiagId::WrittenOutTooLarge, span, {what, std::to_string(mostBuilt)})
        .note("a `static for` is unrolled completely, and a `fn` is inlined at each call");
  return tooLarge = true;
}

} // namespace ptl::ir
