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

/// How far a program has to be compiled for a stage, in order.
enum class StageLevel : uint8_t { Source, Checked, Variants, Tensor, Tile, Block, Vector, Llvm };

/// What a stage is made for.
enum class StageMachine : uint8_t { Cpu, Any, Chip };

/// How `--emit=` names a stage and its files. Empty texts stand for those of the row.
struct EmittedAs {
  bool isEmitted = false;
  std::string_view name = {}, extension = {};
};

/// How editors show a stage; with empty texts they do not show it.
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
  /// The name in `--emit=` of a stage that can be emitted, and the ending of its files.
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

/// The stage that editors show under that name.
constexpr std::optional<StageId> stageByName(std::string_view name) {
  for (const StageInfo &info : stageInfos)
    if (info.isShown() && info.name == name)
      return info.id;
  return std::nullopt;
}

} // namespace ptl
