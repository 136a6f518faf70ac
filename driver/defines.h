// Relates `-D NAME=VALUE` to the declarations of a program.
#pragma once

#include "driver/options.h"
#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// What is wrong with the form of a `-D`, whatever the program is; empty if nothing is. A `-D` without a
/// value stands for 1.
std::string defineProblem(const Options &options);

/// Reports every `-D` that names nothing in the program: neither a constant of the root file, nor a
/// dimension, element type, tunable (`BK`, `attention.BK`) or example of something callable.
void reportUnknownDefines(const Options &options, const CheckedProgram &program,
                          DiagnosticSink &sink);

/// The examples that `-D` gives for values that depend on data (`exampleNames`), by name.
std::map<std::string, int64_t> examplesGiven(const Options &options, const CallableDecl &decl);

/// The arguments `name=value` of the command line, and the lengths of the entry's dimensions that
/// `-D` gives, unless an argument has the same name.
std::vector<std::string> callWords(const Options &options, const CallableDecl &entry);

} // namespace ptl
