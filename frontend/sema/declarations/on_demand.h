// Looking up declarations: all of them are there when a whole file is checked; when a chunk is
// (check_chunk.h), they are made from the index of their file.
#pragma once

#include "frontend/sema/check_chunk.h"
#include "frontend/sema/program_state.h"

#include <functional>
#include <unordered_map>

namespace ptl {

/// The state of a check that makes declarations when they are looked up.
struct OnDemand {
  const Tree &target;        ///< the chunk that is checked
  DiagnosticSink quiet = {}; ///< takes what is wrong with other declarations
  std::vector<Dependency> dependencies = {};
  bool readsAllNames = false;
  std::vector<PlacedAsFar> placed = {}; ///< the programs of the chunk whose headers place arrays
  std::unordered_map<const ModuleIndex *, CheckedModule *> modules = {};
};

/// The module of an index, made on first use.
CheckedModule *moduleOf(ProgramState &state, const ModuleIndex &index);

/// The declarations of a file, complete enough to be used; null where there is none.
CallableDecl *findCallable(ProgramState &state, ModuleScope &scope, std::string_view name);
StructDecl *findStruct(ProgramState &state, ModuleScope &scope, std::string_view name);
TypeAliasDecl *findAlias(ProgramState &state, ModuleScope &scope, std::string_view name);
ConstDecl *findConst(ProgramState &state, ModuleScope &scope, std::string_view name);
/// What a name was imported as; marks it used.
const CheckedModule *findImportedModule(ProgramState &state, ModuleScope &scope,
                                        std::string_view name);
const CheckedModule *findImportedName(ProgramState &state, ModuleScope &scope,
                                      std::string_view name);

/// The names of one space that a file declares, in no order.
std::vector<std::string> declaredNames(ProgramState &state, const ModuleScope &scope,
                                       DeclSpace space);
/// The same one by one: a file may have a thousand.
void forEachDeclared(ProgramState &state, const ModuleScope &scope, DeclSpace space,
                     const std::function<void(std::string_view)> &visit);
/// The names that imports bind, in no order.
std::vector<std::string> importedModules(ProgramState &state, const ModuleScope &scope);
void forEachImportedName(ProgramState &state, const ModuleScope &scope,
                         const std::function<void(std::string_view)> &visit);

/// Checks the body of a callable if it is not checked yet.
void checkBodyOf(ProgramState &state, const CallableDecl &decl);
/// The labels of a callable's body; nothing else of it concerns whoever asks.
const std::vector<LabelInfo> &labelsOf(ProgramState &state, const CallableDecl &decl);

} // namespace ptl
