#include "lsp/ide/placed_movements.h"

namespace ptl::ide {

/// The movement of a check whose span `isMeant` accepts.
template <typename IsMeant>
static std::optional<PlacedMovement> findMovement(std::shared_ptr<const ChunkCheck> check,
                                                  FileId file, IsMeant isMeant) {
  for (const PlacedAsFar &placed : check->placed)
    for (ValueId id = 0; id < placed.program.values.size(); ++id) {
      const PlacedValue &value = placed.program.values[id];
      if (value.kind == PlacedKind::Move && value.expr->span.file == file &&
          isMeant(value.expr->span))
        return PlacedMovement{nullptr, std::move(check), &placed.program, id};
    }
  return std::nullopt;
}

std::optional<PlacedMovement> movementAt(Workspace &workspace, File &file, Range range) {
  size_t index = file.document.placeAt(range.begin);
  workspace.check(file, index);
  const Place &place = file.document.places()[index];
  return findMovement(place.check, place.chunk->id(), [&](const Span &span) {
    return place.begin + span.begin == range.begin && place.begin + span.end == range.end;
  });
}

std::optional<PlacedMovement> movementAfter(Workspace &workspace, File &file,
                                            const std::vector<FileEdit> &edits) {
  if (edits.empty() || edits.front().file != &file)
    return std::nullopt;
  size_t index = file.document.placeAt(edits.front().range.begin);
  const Place &place = file.document.places()[index];
  std::vector<Edit> own;
  for (const FileEdit &edit : edits) {
    bool isHere = edit.file == &file && edit.range.begin >= place.begin &&
                  edit.range.end <= place.begin + place.chunk->size();
    if (!isHere)
      return std::nullopt;
    own.push_back({{edit.range.begin - place.begin, edit.range.end - place.begin}, edit.text});
  }
  EditedCheck edited = checkEdited(workspace, file, index, own);
  std::optional<PlacedMovement> found =
      findMovement(edited.check, place.chunk->id(),
                   [&](const Span &span) { return span.begin == own.front().range.begin; });
  if (found)
    found->text = std::move(edited.text);
  return found;
}

} // namespace ptl::ide
