// Coverage as the editor takes it.

import * as vscode from "vscode";

import { branchesOf, CoveredFile, Entry, Point, Sum, sums, titleOf } from "./coverage";

export function coverageOf(file: CoveredFile): vscode.FileCoverage {
  const { statements, branches, entries } = sums(file);
  const count = ({ covered, total }: Sum): vscode.TestCoverageCount => new vscode.TestCoverageCount(covered, total);
  return new vscode.FileCoverage(vscode.Uri.file(file.file), count(statements), count(branches), count(entries));
}

export function detailsOf(file: CoveredFile): vscode.FileCoverageDetail[] {
  return file.entries.filter((entry) => entry.skipped === undefined).flatMap(entryDetails);
}

function entryDetails(entry: Entry): vscode.FileCoverageDetail[] {
  const branches = branchesOf(entry);
  return [
    new vscode.DeclarationCoverage(titleOf(entry), entry.count, rangeOf(entry.at)),
    ...entry.statements.map((statement, i) => {
      const arms = branches[i]!.flatMap((branch) =>
        branch.arms.map(({ name, count }) => new vscode.BranchCoverage(count, rangeOf(branch), name)),
      );
      return new vscode.StatementCoverage(statement.count, rangeOf(statement), arms);
    }),
  ];
}

function rangeOf({ begin, end }: { begin: Point; end: Point }): vscode.Range {
  return new vscode.Range(begin.line - 1, begin.column - 1, end.line - 1, end.column - 1);
}
