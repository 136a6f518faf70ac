#include "frontend/sema/program_state.h"

#include "frontend/sema/declarations/on_demand.h"

namespace ptl {

ProgramState::ProgramState(SourceManager &sources, const CheckOptions &options,
                           DiagnosticSink &sink, CheckedProgram &program)
    : sources(sources), options(options), sink(sink), program(program), dims(*program.dims),
      scalarTypes(elemInfos.size()) {
  auto make = [&](TypeKind kind) {
    Type *type = program.make<Type>();
    type->kind = kind;
    return type;
  };
  errorType = make(TypeKind::Error);
  voidType = make(TypeKind::Void);
  stringType = make(TypeKind::String);
}

ProgramState::~ProgramState() = default;

bool ProgramState::isChecked(const Tree &tree) const {
  return !onDemand || &tree == &onDemand->target;
}

DiagnosticSink &ProgramState::sinkOf(const Tree &tree) {
  return isChecked(tree) ? sink : onDemand->quiet;
}

} // namespace ptl
