#include "compile/entry/choose_entry.h"

namespace ptl {

bool isCallable(const CallableDecl &decl) {
  switch (decl.kind) {
  case DeclKind::Fn:
  case DeclKind::Kernel:
  case DeclKind::ManualKernel:
  case DeclKind::ExternKernel:
  case DeclKind::Program:
    return true;
  default:
    return false;
  }
}

std::string listedNames(const std::vector<const CallableDecl *> &decls) {
  std::string text;
  for (const CallableDecl *decl : decls)
    text += (text.empty() ? "`" : ", `") + decl->name + "`";
  return text.empty() ? "nothing" : text;
}

EntryChoice chooseEntry(const CheckedProgram &program, std::string_view name,
                        const std::string &option,
                        const std::function<bool(const CallableDecl &)> &accepts) {
  std::vector<const CallableDecl *> all, exported;
  for (const CallableDecl *decl : program.modules.front()->callables) {
    if (!isCallable(*decl) || !accepts(*decl))
      continue;
    if (decl->name == name)
      return {decl, ""};
    if (decl->kind == DeclKind::ExternKernel)
      continue; // it has no body to run
    all.push_back(decl);
    // A function that is exported is there for other modules; kernels and programs are what one
    // runs.
    if (decl->isPub && decl->kind != DeclKind::Fn)
      exported.push_back(decl);
  }
  if (!name.empty())
    return {nullptr, "there is no kernel, program or `fn` with the name `" + std::string(name) +
                         "`; the file has " + (all.empty() ? "nothing to call" : listedNames(all))};
  if (all.empty())
    return {nullptr, "the file has nothing to call"};
  const std::vector<const CallableDecl *> &likely = exported.empty() ? all : exported;
  if (exported.size() == 1 || all.size() == 1)
    return {exported.size() == 1 ? exported.front() : all.front(), ""};
  return {nullptr,
          "the file has several entries: choose one with " + option + ": " + listedNames(likely)};
}

} // namespace ptl
