// The table of stages, that is, of the forms in which a program can be shown, for `ptlc build
// --emit=` and for editors.
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

/// The level to which a program must be compiled for a stage, in order.
enum class StageLevel : uint8_t { Source, Checked, Variants, Tensor, Tile, Block, Vector, Llvm };

/// The kind of machine that a stage is for.
enum class StageMachine : uint8_t { Cpu, Any, Chip };

/// The name of a stage in `--emit=`, and of its files. Empty texts mean those of the row.
struct EmittedAs {
  bool isEmitted = false;
  std::string_view name = {}, extension = {};
};

/// The name of a stage in editors; if it is empty, they do not show the stage.
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
  /// The name in `--emit=` of a stage that can be emitted, and the file-name extension.
  constexpr std::string_view emittedName() const {
    return emitted.name.empty() ? name : emitted.name;
  }
  constexpr std::string_view emittedExtension() const {
    return emitted.extension.empty() ? extension : emitted.extension;
  }
};

/// Constants for the last two columns of the rows.
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

/// The stage with that name in editors.
constexpr std::optional<StageId> stageByName(std::string_view name) {
  for (const StageInfo &info : stageInfos)
    if (info.isShown() && info.name == name)
      return info.id;
  return std::nullopt;
}

} // namespace ptl
