#include "frontend/sema/dump/dump.h"

#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/dump/dump_impl.h"

namespace ptl {

// ---- Statements ---------------------------------------------------------------------------------

std::string Dumper::loop(const LoopHead &head) const {
  std::string text = (head.var ? head.var->name : "-") + " in " + expr(head.iterable);
  if (head.range && head.range->capacity)
    text += " cap " + dim(head.range->capacity);
  return text;
}

std::string Dumper::modifiers(const LoopModifiers &modifiers) const {
  std::string text;
  if (!modifiers.label.empty())
    text += " as " + modifiers.label;
  if (modifiers.pipelineExpr)
    text += " pipeline " + expr(modifiers.pipelineExpr);
  else if (modifiers.pipeline)
    text += " pipeline " + std::to_string(modifiers.pipeline);
  if (modifiers.unroll)
    text +=
        modifiers.unrollFactor ? " unroll " + std::to_string(modifiers.unrollFactor) : " unroll";
  return text;
}

void Dumper::block(const Block *block) {
  if (!block)
    return;
  ++depth_;
  for (const Stmt *stmt : block->stmts) {
    place_ = stmt->span;
    visit(*stmt);
  }
  if (block->value) {
    place_ = block->value->span;
    line("=> " + expr(block->value));
  }
  --depth_;
}

void Dumper::braced(const std::string &head, const Block *block) {
  Span place = place_;
  line(head + " {");
  this->block(block);
  place_ = place;
  line("}");
}

void Dumper::visitAssign(const AssignStmt &stmt) {
  constexpr const char *modes[] = {" = ", " atomic += ", " atomic max= ", " atomic min= "};
  std::string target = stmt.place ? expr(stmt.place) : stmt.target ? stmt.target->name : "?";
  line((stmt.isStore ? "store " : "set ") + target + modes[static_cast<size_t>(stmt.mode)] +
       expr(stmt.value));
}

void Dumper::visitIf(const IfStmt &stmt) {
  Span place = place_;
  line(std::string(stmt.isStatic ? "static " : "") + "if " + expr(stmt.condition) + " {");
  block(stmt.thenBlock);
  if (stmt.elseBlock) {
    place_ = place;
    line("} else {");
    block(stmt.elseBlock);
  }
  place_ = place;
  line("}");
}

void Dumper::visitLet(const LetStmt &stmt) {
  std::string names;
  for (const Local *local : stmt.locals)
    names += (names.empty() ? "" : ", ") + (local->name.empty() ? "_" : local->name) + ": " +
             type(local->type);
  line((stmt.isVar ? "var " : "let ") + names + " = " + expr(stmt.value));
}

void Dumper::visitFor(const ForStmt &stmt) {
  std::string checkpoint;
  if (const CheckpointClause *clause = stmt.checkpoint)
    checkpoint = " checkpoint \"" + clause->folder + "\" every " + expr(clause->every) + " keep " +
                 std::to_string(clause->keep);
  braced(std::string(stmt.isStatic ? "static " : "") + "for " + loop(stmt.head) +
             modifiers(stmt.modifiers) + checkpoint,
         stmt.body);
}

void Dumper::visitParallel(const ParallelStmt &stmt) {
  std::string heads;
  for (const LoopHead &head : stmt.heads)
    heads += (heads.empty() ? "" : ", ") + loop(head);
  braced("parallel " + heads, stmt.body);
}

// ---- Declarations -------------------------------------------------------------------------------

std::string Dumper::header(const CallableDecl &decl) const {
  std::string text = std::string(decl.isPub ? "pub " : "") + std::string(declKindName(decl.kind)) +
                     " " + decl.name;
  std::string generics;
  for (const DimParam &param : decl.dims)
    generics +=
        (generics.empty() ? "" : ", ") + std::string(param.isStatic ? "static " : "") + param.name;
  for (const TypeParam *param : decl.typeParams)
    generics += (generics.empty() ? "" : ", ") + param->name + ": " +
                std::string(constraintName(param->constraint));
  if (!generics.empty())
    text += "[" + generics + "]";
  text += "(";
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Local &param = *decl.params[i];
    text +=
        (i ? ", " : "") + param.name + ": " + (param.isInout ? "inout " : "") + type(param.type);
    if (decl.paramDefaults[i])
      text += " = " + expr(decl.paramDefaults[i]);
  }
  text += ")";
  if (decl.outputs.empty())
    return decl.returnType && decl.returnType->kind != TypeKind::Void
               ? text + " -> " + type(decl.returnType)
               : text;
  text += " -> (";
  for (size_t i = 0; i < decl.outputs.size(); ++i) {
    text += (i ? ", " : "") + decl.outputs[i]->name + ": " + type(decl.outputs[i]->type);
    if (decl.outputInits[i])
      text += " = " + expr(decl.outputInits[i]);
  }
  return text + ")";
}

void Dumper::callable(const CallableDecl &decl) {
  place_ = decl.nameSpan;
  line(header(decl));
  ++depth_;
  for (const WhereClause &where : decl.wheres) {
    place_ = where.span;
    line(std::string(where.onTunables ? "where tunables " : "where ") + expr(where.condition));
  }
  for (const Tunable &tunable : decl.tunables) {
    std::string domain;
    place_ = tunable.local->span;
    for (int64_t value : tunable.domain)
      domain += (domain.empty() ? ": [" : ", ") + std::to_string(value);
    line("tune " + tunable.local->name + (domain.empty() ? "" : domain + "]") + " = " +
         std::to_string(tunable.defaultValue));
  }
  place_ = decl.nameSpan;
  for (size_t i = 0; i < decl.sampleRanges.size(); ++i)
    line("sample " + decl.dims[i].name + " in " + std::to_string(decl.sampleRanges[i].first) +
         ".." + std::to_string(decl.sampleRanges[i].second));
  --depth_;
  if (decl.hasErrors)
    line("has errors");
  if (decl.body)
    braced(">", decl.body);
}

void Dumper::schedule(const ScheduleDecl &schedule) {
  line("schedule " + schedule.target->name +
       (schedule.machine.empty() ? "" : " on " + schedule.machine) +
       (schedule.when ? " when " + expr(schedule.when) : ""));
  ++depth_;
  for (const auto &[tunable, value] : schedule.tunables)
    line(tunable->name + " = " + std::to_string(value));
  for (const ScheduleModifier &each : schedule.pipelines)
    line("pipeline " + each.label + " " + std::to_string(each.number));
  for (const ScheduleModifier &each : schedule.unrolls)
    line("unroll " + each.label + " " + std::to_string(each.number));
  for (const ScheduleDirective &directive : schedule.directives) {
    std::string text = directive.label + ":";
    for (const auto &[axis, size] : directive.tiles)
      text += " tile " + axis + " by " + std::to_string(size);
    if (directive.place != Place::Inferred)
      text += " place @" + std::string(placeName(directive.place));
    if (directive.chunks)
      text += " chunks " + std::to_string(directive.chunks);
    if (!directive.how.empty())
      text += " how " + directive.how;
    for (size_t i = 0; i < directive.l0.size(); ++i)
      text += (i ? ", " : " l0 ") + std::to_string(directive.l0[i]);
    line(text);
  }
  auto names = [&](const char *word, const ScheduleLabels &labels) {
    std::string text = word;
    for (const std::string &label : labels.names)
      text += " " + label;
    line(text);
  };
  for (const ScheduleLabels &labels : schedule.fuses)
    names("fuse", labels);
  for (const ScheduleLabels &labels : schedule.orders)
    names("order", labels);
  if (!schedule.splitsAfter.names.empty())
    names("split after", schedule.splitsAfter);
  if (schedule.cores)
    line("cores " + std::to_string(schedule.cores));
  --depth_;
}

void Dumper::module(const CheckedModule &module) {
  for (const ConstDecl *decl : module.consts)
    line("const " + decl->name + " = " + expr(decl->value));
  for (const TypeAliasDecl *decl : module.aliases)
    line("type " + decl->name + " = " + type(decl->type));
  for (const StructDecl *decl : module.structs) {
    line("struct " + decl->name);
    ++depth_;
    for (const StructField &field : decl->fields)
      line(field.name + ": " + type(field.type));
    --depth_;
  }
  for (const CallableDecl *decl : module.callables)
    callable(*decl);
  for (const ScheduleDecl *decl : module.schedules)
    schedule(*decl);
}

std::string dumpExpr(const CheckedProgram &program, const Expr *expr) {
  return Dumper(program).expr(expr);
}

std::string dumpCallable(const CheckedProgram &program, const CallableDecl &decl,
                         std::vector<Span> *lines) {
  Dumper dumper(program);
  dumper.callable(decl);
  if (lines)
    *lines = dumper.spans();
  return dumper.text();
}

std::string dumpChecked(const CheckedProgram &program) {
  Dumper dumper(program);
  if (!program.modules.empty())
    dumper.module(*program.modules.front());
  return dumper.text();
}

} // namespace ptl
