// The table of stages: what a program can be looked at as, for `ptlc build --emit=`, for editors,
// and for those who list the names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptl {

enum class StageId : uint8_t {
#define STAGE(ID, NAME, EXTENSION, LEVEL, MACHINE, EMITTED, SHOWN) ID,
#include "compile/stages.def"
};

/// How far a program has to be compiled for a stage, in order.
enum class StageLevel : uint8_t { Source, Checked, Variants, Tensor, Tile, Block, Vector, Llvm };

/// What a stage is made for.
enum class StageMachine : uint8_t { Cpu, Any, Chip };

/// What `--emit=` calls a stage. Empty texts: as the row says.
struct EmittedAs {
  bool isEmitted = false;
  std::string_view name = {}, extension = {};
};

/// How editors show a stage. Empty texts: not at all.
struct ShownAs {
  std::string_view title = {}, language = {};
};

/// One row of `stages.def`.
struct StageInfo {
  StageId id;
  std::string_view name, extension;
  StageLevel level;
  StageMachine machine;
  EmittedAs emitted;
  ShownAs shown;

  constexpr bool isShown() const { return !shown.title.empty(); }
  constexpr bool isEmitted() const { return emitted.isEmitted; }
  /// Of what is emitted the name in `--emit=`, and what its files end in.
  constexpr std::string_view emittedName() const {
    return emitted.name.empty() ? name : emitted.name;
  }
  constexpr std::string_view emittedExtension() const {
    return emitted.extension.empty() ? extension : emitted.extension;
  }
};

/// What the last two columns of the rows say.
namespace stage_row {
inline constexpr EmittedAs NotEmitted{}, ByName{true};
constexpr EmittedAs As(std::string_view name, std::string_view extension = {}) {
  return {true, name, extension};
}
inline constexpr ShownAs NotShown{};
constexpr ShownAs Shown(std::string_view title, std::string_view language) {
  return {title, language};
}
} // namespace stage_row

/// All stages, by number and in order of the table.
inline constexpr std::array stageInfos = [] {
  using namespace stage_row;
  return std::array{
#define STAGE(ID, NAME, EXTENSION, LEVEL, MACHINE, EMITTED, SHOWN)                                 \
  StageInfo{StageId::ID, NAME, EXTENSION, StageLevel::LEVEL, StageMachine::MACHINE, EMITTED, SHOWN},
#include "compile/stages.def"
  };
}();

constexpr size_t numberOf(StageId id) { return static_cast<size_t>(id); }
constexpr const StageInfo &stageInfo(StageId id) { return stageInfos[numberOf(id)]; }

/// The stage that editors show by that name.
constexpr std::optional<StageId> stageByName(std::string_view name) {
  for (const StageInfo &info : stageInfos)
    if (info.isShown() && info.name == name)
      return info.id;
  return std::nullopt;
}

} // namespace ptl
