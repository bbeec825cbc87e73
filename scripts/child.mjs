// Runs another program to its end, and passes on the signals that ask this one to stop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 500;

/**
 * Returns the program's exit code and whether a signal interrupted it or this process.
 * If a signal ended the program, the exit code is 128 + the signal's number, as in shells.
 */
export async function run(file, args, options) {
  const child = spawn(file, args, options);
  let interrupted = false;
  const forward = (signal) => {
    interrupted = true;
    // A terminal sends Ctrl-C to the child too. A second SIGINT would cut its shutdown short.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  forwardedSignals.forEach((signal) => process.on(signal, forward));
  const parentCheck = whenNpmIsGone(() => forward('SIGTERM'));
  try {
    const [code, signal] = await once(child, 'exit');
    return { exitCode: code ?? 128 + constants.signals[signal], interrupted: interrupted || signal !== null };
  } finally {
    clearInterval(parentCheck);
    forwardedSignals.forEach((signal) => process.off(signal, forward));
  }
}

/**
 * Calls `stop` when npm's shell has ended. A SIGTERM to `npm start` ends that shell but does not reach this process.
 * The service would keep running, with its port and its data directory. Without npm, the parent's end is ignored.
 */
function whenNpmIsGone(stop) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    stop();
  }, PARENT_CHECK_MS);
  return check;
}
