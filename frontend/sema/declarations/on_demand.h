// Looks up declarations. In a check of a whole file all of them exist; in a check of a chunk
// (check_chunk.h) they are created from the index of their file.
#pragma once

#include "frontend/sema/check_chunk.h"
#include "frontend/sema/program_state.h"

#include <functional>
#include <unordered_map>

namespace ptl {

/// The state of a check that creates declarations when they are looked up.
struct OnDemand {
  const Tree &target;        ///< the chunk that is checked
  DiagnosticSink quiet = {}; ///< takes the diagnostics of other declarations
  std::vector<Dependency> dependencies = {};
  bool readsAllNames = false;
  std::vector<PlacedAsFar> placed = {}; ///< the programs of the chunk whose headers place arrays
  std::unordered_map<const ModuleIndex *, CheckedModule *> modules = {};
};

/// The module of an index, created on first use.
CheckedModule *moduleOf(ProgramState &state, const ModuleIndex &index);

/// These find the declarations of a file, complete enough to be used; null if there is none.
CallableDecl *findCallable(ProgramState &state, ModuleScope &scope, std::string_view name);
StructDecl *findStruct(ProgramState &state, ModuleScope &scope, std::string_view name);
TypeAliasDecl *findAlias(ProgramState &state, ModuleScope &scope, std::string_view name);
ConstDecl *findConst(ProgramState &state, ModuleScope &scope, std::string_view name);
/// The import that a name refers to; marks it as used.
const CheckedModule *findImportedModule(ProgramState &state, ModuleScope &scope,
                                        std::string_view name);
const CheckedModule *findImportedName(ProgramState &state, ModuleScope &scope,
                                      std::string_view name);

/// Whether an import was to bind a name and failed, which has been reported.
bool isFailedImport(const ModuleScope &scope, std::string_view name);

/// The names that a file declares in one name space, in no particular order.
std::vector<std::string> declaredNames(ProgramState &state, const ModuleScope &scope,
                                       DeclSpace space);
/// Calls a function for each of them, without building a list: a file may have a thousand.
void forEachDeclared(ProgramState &state, const ModuleScope &scope, DeclSpace space,
                     const std::function<void(std::string_view)> &visit);
/// The names that imports bind, in no particular order.
std::vector<std::string> importedModules(ProgramState &state, const ModuleScope &scope);
void forEachImportedName(ProgramState &state, const ModuleScope &scope,
                         const std::function<void(std::string_view)> &visit);

/// Checks the body of a callable unless it has been checked.
void checkBodyOf(ProgramState &state, const CallableDecl &decl);
/// The labels of a callable's body, which is checked for that purpose alone.
const std::vector<LabelInfo> &labelsOf(ProgramState &state, const CallableDecl &decl);

} // namespace ptl
