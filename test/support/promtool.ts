// Runs promtool, the checker that comes with Prometheus, and says if it is missing.
import { execFileSync } from 'node:child_process';

/** The reason why promtool cannot run; undefined if it can. */
export function promtoolIsMissing(): string | undefined {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'promtool is not installed (Debian: apt-get install -y --no-install-recommends prometheus)';
  }
}

/** @returns its output @throws Error with its output if a check fails */
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
