// Ends a test run with one line that a program can read: "N passed, N failed", with ", N skipped" where there are any.
const { writeFileSync } = require('node:fs');
const { relative } = require('node:path');

/**
 * A Jest reporter. It also lists the skipped tests, with the reasons that their files printed, and writes the files in which
 * something failed, a line each, to the file that TEST_FAILED_FILES names.
 */
module.exports = class SummaryReporter {
  constructor({ rootDir, testNamePattern, json }) {
    this.rootDir = rootDir;
    // Whoever picks tests by name knows that the others do not run.
    this.listsSkipped = !testNamePattern;
    // With --json standard output holds one JSON document and nothing else.
    this.output = json ? process.stderr : process.stdout;
    this.skippedLists = [];
    this.failedFilesList = process.env.TEST_FAILED_FILES;
    this.closingLine = undefined;
    // Jest puts its own summary after every other reporter: only the end of the process is later.
    process.once('exit', () => this.printClosingLine());
  }

  onTestResult(_test, { testFilePath, testResults, console: printed }) {
    const skipped = testResults.filter(({ status }) => status === 'pending' || status === 'todo');
    if (!this.listsSkipped || skipped.length === 0) return;
    const reasons = (printed ?? []).map(({ message }) => message).filter((text) => /\bskipped\b/i.test(text));
    const titles = skipped.map(({ fullName }) => fullName);
    const heading = `Skipped in ${relative(this.rootDir, testFilePath)}:`;
    this.skippedLists.push([heading, ...reasons, ...titles].join('\n  '));
  }

  onRunComplete(_contexts, results) {
    for (const list of this.skippedLists) process.stderr.write(`\n${list}\n`);
    if (this.failedFilesList) writeFileSync(this.failedFilesList, this.failedFiles(results).join('\n'));
    const { numPassedTests: passed, numFailedTests, numRuntimeErrorTestSuites } = results;
    // A file that does not even load has no tests to count: it counts as one failure itself.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    this.closingLine = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  }

  failedFiles({ testResults }) {
    const failed = testResults.filter((file) => file.numFailingTests > 0 || file.testExecError);
    return failed.map(({ testFilePath }) => relative(this.rootDir, testFilePath));
  }

  printClosingLine() {
    if (this.closingLine !== undefined) this.output.write(`${this.closingLine}\n`);
  }
};
