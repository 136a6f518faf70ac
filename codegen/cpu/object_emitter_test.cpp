#include "codegen/cpu/object_emitter.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

namespace ptl::cpu {
namespace {

/// Functions with loops, calls, stacks, constants in memory and jumps by tables.
const char *const kModules[] = {
    R"(
declare void @other(ptr)
define float @sum(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %s = phi <8 x float> [ <float 1.0, float 2.0, float 3.0, float 4.0, float 5.0, float 6.0, float 7.0, float 8.0>, %entry ], [ %t, %loop ]
  %a = getelementptr float, ptr %p, i64 %i
  %v = load <8 x float>, ptr %a, align 4
  %t = fadd <8 x float> %s, %v
  %j = add i64 %i, 8
  %more = icmp slt i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  %f = extractelement <8 x float> %t, i64 3
  call void @other(ptr %p)
  ret float %f
})",
    R"(
define i32 @chosen(i32 %x) {
  %room = alloca [64 x i32], align 64
  switch i32 %x, label %no [ i32 0, label %a  i32 1, label %b  i32 2, label %c  i32 3, label %d ]
a:
  ret i32 17
b:
  store i32 5, ptr %room
  %l = load volatile i32, ptr %room
  ret i32 %l
c:
  ret i32 -4
d:
  ret i32 99
no:
  ret i32 0
})",
    R"(
@table = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
define double @looked(i64 %i) {
  %a = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %d = load double, ptr %a
  %r = fmul double %d, 0x400921FB54442D18
  ret double %r
}
define internal void @nothing() noinline {
  ret void
})"};

std::string objectOf(const char *text, llvm::function_ref<std::string(llvm::Module &)> emit,
                     llvm::TargetMachine &machine) {
  // Each module has a context of its own, which is gone when the next one comes.
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  auto module = llvm::parseAssemblyString(text, wrong, context);
  EXPECT_TRUE(module) << wrong.getMessage().str();
  optimise(*module, machine, 2);
  return emit(*module);
}

TEST(ObjectEmitter, GivesWhatANewGeneratorGives) {
  for (CodeQuality quality : {CodeQuality::Quick, CodeQuality::Full}) {
    auto make = [&] { return llvm::cantFail(makeTargetMachine(Processor::host(), quality)); };
    ObjectEmitter emitter(make());
    for (int round = 0; round < 3; ++round)
      for (const char *text : kModules) {
        auto machine = make();
        std::string fresh = objectOf(
            text,
            [&](llvm::Module &module) {
              return llvm::cantFail(emitOutput(module, *machine, OutputKind::Object));
            },
            *machine);
        std::string again = objectOf(
            text, [&](llvm::Module &module) { return llvm::cantFail(emitter.emit(module)); },
            emitter.machine());
        EXPECT_GT(fresh.size(), 200u);
        EXPECT_EQ(fresh, again) << "round " << round << text;
      }
  }
}

} // namespace
} // namespace ptl::cpu
