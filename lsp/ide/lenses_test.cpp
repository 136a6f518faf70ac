#include "lsp/ide/lenses.h"
#include "lsp/ide/workspace.h"

#include <gtest/gtest.h>

namespace ptl::ide {
namespace lenses_test {

std::string all(const std::string &text) {
  Workspace workspace;
  File &file = workspace.open("/test.ptl", text, 1);
  std::string result;
  for (const Place &place : file.document.places())
    for (const Lens &lens : lenses(*place.chunk))
      result += std::to_string(file.document.position(place.begin + lens.range.begin).line) + " " +
                std::string(lensInfo(lens.kind).title) + " " + lens.name + "\n";
  return result;
}

TEST(Lenses, OfEachKindOfDeclaration) {
  EXPECT_EQ(all("const N = 4\n"
                "fn f(x: f32) -> f32 { return x }\n\n"
                "extern kernel e(x: f32[4]) -> (y: f32[4])\n"
                "pub kernel k(x: f32[4]) -> (y: f32[4])\n{\n}\n"
                "test \"a \\\"b\\\"\" {\n}\n"
                "property \"p\"[R: 0..3] {\n}\n"
                "bench \"c\" {\n}\n"),
            "1 Show IR f\n1 references f\n3 references e\n4 chip k\n4 Show IR k\n4 timeline k\n"
            "4 graph k\n4 references k\n"
            "7 Run test a \"b\"\n9 Run test p\n11 Run bench c\n");
}

TEST(Lenses, OfLengths) {
  EXPECT_EQ(all("kernel k[N](x: f32[N]) -> (y: f32[N])\n{\n    y[:] = x\n}\n"),
            "0 chip k\n0 sizes k\n0 Show IR k\n0 timeline k\n0 graph k\n0 references k\n");
}

TEST(Lenses, BrokenFiles) {
  EXPECT_EQ(all("kernel (x: f32[4]\nfn g(x: f32) -> {\ntest {\nbench \"open\n"),
            "1 Show IR g\n1 references g\n");
}

} // namespace lenses_test
} // namespace ptl::ide
