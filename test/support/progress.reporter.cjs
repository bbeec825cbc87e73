// Shows on a pipe how far a run is: a line every 15 seconds, and each failure the moment it happens.
const { relative } = require('node:path');

const INTERVAL_MS = 15_000;

/** A Jest reporter, in place of Jest's own where nobody looks at a terminal. */
module.exports = class ProgressReporter {
  constructor({ rootDir, json }) {
    this.rootDir = rootDir;
    // With --json standard output holds one JSON document and nothing else.
    this.output = json ? process.stderr : process.stdout;
    this.running = new Set();
    this.counts = { files: 0, tests: 0, failed: 0 };
  }

  onRunStart({ numTotalTestSuites }) {
    this.total = numTotalTestSuites;
    this.startedAt = Date.now();
    this.timer = setInterval(() => this.print(this.progress()), INTERVAL_MS);
  }

  onTestFileStart({ path }) {
    this.running.add(path);
  }

  onTestCaseResult({ path }, { status, fullName, failureMessages }) {
    if (status === 'passed' || status === 'failed') this.counts.tests += 1;
    if (status !== 'failed') return;
    this.counts.failed += 1;
    this.print(`FAILED ${this.nameOf(path)}: ${fullName}\n${failureMessages.join('\n')}`);
  }

  onTestFileResult({ path }, { testExecError, failureMessage }) {
    this.running.delete(path);
    this.counts.files += 1;
    if (testExecError === undefined || testExecError === null) return;
    this.counts.failed += 1;
    this.print(`FAILED ${this.nameOf(path)}\n${failureMessage ?? ''}`);
  }

  onRunComplete() {
    clearInterval(this.timer);
    this.print(this.progress());
  }

  progress() {
    const { files, tests, failed } = this.counts;
    const running = [...this.running].map((path) => this.nameOf(path)).join(', ');
    const seconds = Math.round((Date.now() - this.startedAt) / 1000);
    return `${seconds} s: ${files} / ${this.total} files, ${tests} tests, ${failed} failed${running && `; running ${running}`}`;
  }

  nameOf(path) {
    return relative(this.rootDir, path);
  }

  print(text) {
    this.output.write(`${text}\n`);
  }
};
