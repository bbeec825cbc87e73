// Ends a test run with one line that a program can read: "N passed, N failed", with ", N skipped" where there are any.
const { relative } = require('node:path');
const { allowedSkip } = require('./skips.cjs');

/** A Jest reporter. It also says what was left out and why, and fails the run for a skipped test that nothing allows. */
module.exports = class SummaryReporter {
  constructor({ rootDir, testNamePattern, json }) {
    this.rootDir = rootDir;
    // A run that selects tests by name skips all others.
    this.checksSkips = !testNamePattern;
    // With --json standard output holds one JSON document and nothing else.
    this.output = json ? process.stderr : process.stdout;
    /** The files in which tests were left out, by the row of skips.cjs that allows it. */
    this.leftOut = new Map();
    this.notAllowed = [];
    this.closingLine = undefined;
    // Jest puts its own summary after every other reporter: only the end of the process is later.
    process.once('exit', () => this.printClosingLine());
  }

  onTestResult(_test, { testFilePath, testResults }) {
    if (!this.checksSkips) return;
    const file = relative(this.rootDir, testFilePath);
    for (const { status, fullName } of testResults)
      if (status === 'pending' || status === 'todo') this.note(file, fullName);
  }

  note(file, fullName) {
    const row = allowedSkip(fullName);
    if (row === undefined) this.notAllowed.push(`${file}: ${fullName}`);
    else this.leftOut.set(row, (this.leftOut.get(row) ?? new Set()).add(file));
  }

  onRunComplete(_contexts, results) {
    for (const [{ name, install }, files] of this.leftOut)
      this.print(`Left out, without ${name}${install ? ` (${install})` : ''}: ${[...files].join(', ')}`);
    for (const test of this.notAllowed)
      this.print(`Skipped without a reason of test/support/skips.cjs: ${test}`);
    const { numPassedTests: passed, numFailedTests, numRuntimeErrorTestSuites } = results;
    // A file that does not load has no tests to count: it counts as one failure itself.
    const failed = numFailedTests + numRuntimeErrorTestSuites + this.notAllowed.length;
    const skipped = results.numPendingTests + results.numTodoTests - this.notAllowed.length;
    this.closingLine = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  }

  /** Jest fails a run in which a reporter has an error. */
  getLastError() {
    if (this.notAllowed.length > 0)
      return new Error(`${this.notAllowed.length} tests are skipped without a reason`);
  }

  print(line) {
    process.stderr.write(`${line}\n`);
  }

  printClosingLine() {
    if (this.closingLine !== undefined) this.output.write(`${this.closingLine}\n`);
  }
};
