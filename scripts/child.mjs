// Runs another program to its end, and passes on the signals that ask this one to stop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 500;

/**
 * Answers the program's exit code (128 + the number of the signal that ended it, as shells do), and whether
 * something asked this process to stop meanwhile.
 */
export async function run(file, args, options) {
  const child = spawn(file, args, options);
  let interrupted = false;
  const forward = (signal) => {
    interrupted = true;
    // The interrupt key of a terminal reaches the child itself; two of them would be a hurried stop.
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
 * `npm start` runs us through a shell, and a SIGTERM to npm ends that shell without reaching us: the service would
 * live on, holding its port and its data directory. Started without npm, losing the parent means nothing.
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
