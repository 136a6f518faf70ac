#include "codegen/cpu/function_objects.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace ptl::cpu {
namespace {

constexpr const char *kProgram = R"(
define i32 @entry(i32 %x) {
  %y = call i32 @twice(i32 %x)
  %is = icmp eq i32 %y, 7
  br i1 %is, label %never, label %always
never:
  %z = call i32 @unused(i32 %y)
  ret i32 %z
always:
  ret i32 %y
}
define internal i32 @twice(i32 %x) noinline {
  %y = call i32 @next(i32 %x)
  %z = add i32 %x, %y
  ret i32 %z
}
define internal i32 @next(i32 %x) noinline {
  %y = add i32 %x, 1
  ret i32 %y
}
define internal i32 @unused(i32 %x) noinline {
  ret i32 %x
}
define internal <16 x float> @ofvectors(<16 x float> %x) noinline {
  ret <16 x float> %x
}
define void @keeps(ptr %p) {
  %x = load <16 x float>, ptr %p
  %y = call <16 x float> @ofvectors(<16 x float> %x)
  store <16 x float> %y, ptr %p
  ret void
}
)";

/// The program's object code, its functions taken out, and how often each of them was compiled.
class LazyCallsTest : public ::testing::Test {
protected:
  void SetUp() override {
    llvm::SMDiagnostic wrong;
    auto module = llvm::parseAssemblyString(kProgram, wrong, context_);
    ASSERT_TRUE(module) << wrong.getMessage().str();
    functions_ = takeFunctions(*module);
    machine_ = llvm::cantFail(makeTargetMachine(Processor::host()));
    optimise(*module, *machine_, 2);
    object_ = llvm::cantFail(emitOutput(*module, *machine_, OutputKind::Object));
  }

  JitCode::LazyFunction lazy(const SeparateFunction &function) {
    return {function.name, [this, function]() -> llvm::Expected<JitCode::LazyCode> {
              ++compiled_[function.name];
              JitCode::LazyCode code{llvm::cantFail(compileFunction(function, *machine_, 2)), {}};
              // What one calls is known when it is compiled, here to all that call it.
              for (const SeparateFunction &called : functions_)
                if (called.name == "next")
                  code.functions.push_back(lazy(called));
              return code;
            }};
  }

  JitCode link() {
    std::vector<JitCode::LazyFunction> known;
    for (const SeparateFunction &function : functions_)
      if (function.name != "next")
        known.push_back(lazy(function));
    return llvm::cantFail(JitCode::fromObject(object_, {}, std::move(known)));
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  SeparateFunctions functions_;
  std::string object_;
  std::map<std::string, std::atomic<int>> compiled_;
};

TEST_F(LazyCallsTest, FunctionsOfVectorsStay) {
  std::vector<std::string> names;
  for (const SeparateFunction &function : functions_)
    names.push_back(function.name);
  EXPECT_EQ(names, (std::vector<std::string>{"twice", "next", "unused"}));
}

TEST_F(LazyCallsTest, WhatIsCalledIsCompiledOnce) {
  JitCode code = link();
  auto entry = reinterpret_cast<int (*)(int)>(code.lookup("entry"));
  ASSERT_TRUE(entry);
  EXPECT_EQ(compiled_.size(), 0u) << "nothing was called";
  EXPECT_EQ(entry(20), 41);
  EXPECT_EQ(entry(5), 11);
  EXPECT_EQ(compiled_["twice"], 1);
  EXPECT_EQ(compiled_["next"], 1);
  EXPECT_EQ(compiled_.count("unused"), 0u);
  EXPECT_EQ(entry(3), 7);
  EXPECT_EQ(compiled_["unused"], 1);
}

TEST_F(LazyCallsTest, ThreadsMayCallAtOnce) {
  JitCode code = link();
  for (const char *name : {"twice", "next"})
    compiled_[name] = 0; // The functions then count without changing the map.
  auto entry = reinterpret_cast<int (*)(int)>(code.lookup("entry"));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 10; i < 18; ++i)
    threads.emplace_back([&, i] { right += entry(i) == 2 * i + 1; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(compiled_["twice"], 1);
  EXPECT_EQ(compiled_["next"], 1);
}

} // namespace
} // namespace ptl::cpu
