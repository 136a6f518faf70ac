// Commands of `ptlc`, one after the other in one process: what starts hundreds of them, such as a
// build of many kernels or a test, does not start a process for each.
#pragma once

namespace ptl {

/// Reads requests from standard input until it ends, and answers each on standard output.
///
/// A request is a line of JSON: `arguments` (of `ptlc`, without its name) and `folder` (absolute; in
/// which the command runs). An answer is a line of JSON with the exit `code` and the numbers of
/// bytes `out` and `err`, followed by what the command printed to standard output and to standard
/// error. `{"unserved": true}` answers what needs a process of its own: commands that are not of
/// the compiler, wrong command lines, help, standard input, a number of threads, programs on ranks.
///
/// A command that crashes ends this process, as it would end its own. So does a request of another
/// form, which standard error explains. Gives the exit code.
int serveCommands();

} // namespace ptl
