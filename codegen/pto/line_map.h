// Lines of emitted text and the places in the source they came from.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptl::pto {

/// A place in a source file; line and column count from 1.
struct SourcePlace {
  std::string file;
  unsigned line = 0, column = 0;
  /// That the line of text was printed for; lives as long as the kernel.
  mlir::Operation *operation = nullptr;
};

/// The innermost place that a location names, if any.
std::optional<SourcePlace> placeOf(mlir::Location location);
/// That of an operation.
std::optional<SourcePlace> placeOf(mlir::Operation *operation);

/// For each line of a text, counted from 1, where it came from.
class LineMap {
public:
  unsigned numLines() const { return static_cast<unsigned>(places_.size()); }
  /// Null for lines that stand for nothing in the source, and for those that the text does not
  /// have.
  const SourcePlace *at(unsigned line) const {
    return line > 0 && line <= places_.size() && places_[line - 1] ? &*places_[line - 1] : nullptr;
  }
  /// The lines of the text that came from a line of the source.
  std::vector<unsigned> linesOf(const std::string &file, unsigned sourceLine) const;
  void reserve(size_t numLines) { places_.reserve(numLines); }
  void add(std::optional<SourcePlace> place) { places_.push_back(std::move(place)); }

private:
  std::vector<std::optional<SourcePlace>> places_;
};

/// Something wrong with an emitted text, or that has no spelling in it.
struct Finding {
  std::optional<SourcePlace> place; ///< in the source
  unsigned line = 0;                ///< in the text; 0: not known
  std::string message;
  bool isError = true; ///< else a warning
};

/// An emitted text. It is always whole; where something could not be spelled, `findings` says so.
struct Emitted {
  std::string text;
  LineMap lines;
  std::vector<Finding> findings;
};

/// Collects lines of text with their places.
class TextLines {
public:
  void add(std::string text, std::optional<SourcePlace> place = std::nullopt) {
    text.insert(0, indent_, ' ');
    lines_.push_back({std::move(text), std::move(place)});
  }
  /// A line that begins at the margin.
  void addFlush(std::string text) { lines_.push_back({std::move(text), std::nullopt}); }
  void blank() { lines_.push_back({}); }
  void indent(unsigned by) { indent_ += by; }
  void dedent(unsigned by) { indent_ -= by; }
  void append(TextLines other) {
    if (lines_.empty())
      lines_ = std::move(other.lines_);
    else
      lines_.insert(lines_.end(), std::make_move_iterator(other.lines_.begin()),
                    std::make_move_iterator(other.lines_.end()));
  }
  bool empty() const { return lines_.empty(); }
  /// For lines that outlive what they were printed for: what stands for an operation instead, null
  /// for nothing.
  void mapOperations(llvm::function_ref<mlir::Operation *(mlir::Operation *)> to) {
    for (Line &line : lines_)
      if (line.place)
        line.place->operation = to(line.place->operation);
  }
  void forgetOperations() {
    mapOperations([](mlir::Operation *) { return nullptr; });
  }
  /// The text; the lines are taken from here.
  Emitted finish(std::vector<Finding> findings);

private:
  struct Line {
    std::string text;
    std::optional<SourcePlace> place;
  };
  std::vector<Line> lines_;
  unsigned indent_ = 0;
};

} // namespace ptl::pto
