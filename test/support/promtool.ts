// Runs promtool, the checker that comes with Prometheus, and tells where it is missing.
import { execFileSync } from 'node:child_process';

/** Undefined where promtool can be run, else why not. */
export function promtoolIsMissing(): string | undefined {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'promtool is not installed (Debian: apt-get install -y --no-install-recommends prometheus)';
  }
}

/** @returns what it printed @throws Error with what it printed, where it is not content */
export function promtool(
  args: readonly string[],
  { cwd, input }: { cwd?: string; input?: string } = {},
): string {
  try {
    return execFileSync('promtool', args, { cwd, input, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error });
  }
}
