// A plugin for clang-tidy that makes its checks visit our declarations alone, and not those of the
// library headers that a file includes. Findings in these are never shown, but visiting the headers
// of LLVM and MLIR takes three quarters of the time, and makes precompiled headers useless, because
// all of their declarations would be read. (clang-tidy does this itself from version 21 on.)
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

#include <memory>
#include <string>
#include <vector>

namespace {

/// Collects the declarations as they are parsed, so that those of a precompiled header are not
/// among them, and restricts later visitors to them.
class OwnDeclarations : public clang::ASTConsumer {
public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    declarations_.insert(declarations_.end(), group.begin(), group.end());
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext &context) override {
    std::erase_if(declarations_, [&](const clang::Decl *declaration) {
      clang::SourceLocation at = declaration->getLocation();
      return at.isValid() && context.getSourceManager().isInSystemHeader(at);
    });
    context.setTraversalScope(declarations_);
  }

private:
  std::vector<clang::Decl *> declarations_;
};

/// Runs before the checks of clang-tidy, which are the main action.
class RestrictToOwn : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &,
                                                        llvm::StringRef) override {
    return std::make_unique<OwnDeclarations>();
  }
  bool ParseArgs(const clang::CompilerInstance &, const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<RestrictToOwn>
    registration("own-declarations", "checks visit no declarations of library headers");

} // namespace
