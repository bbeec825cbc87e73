// Finds the reasons why a repository's current state cannot be released with its version.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Matches the changelog's unreleased changes and the newest release's version. */
const TOP = /^## \[Unreleased\]$([^]*?)^## \[([^\]]+)\] - \d{4}-\d{2}-\d{2}$/m;

/** @returns a line for each reason */
export function releaseObstacles(root, version) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const [, unreleased = '', newest] = TOP.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) ?? [];
  const tag = `v${version}`;
  const isElsewhere =
    git('tag', '--list', tag) !== '' && !git('tag', '--points-at').split('\n').includes(tag);
  return [
    [git('status', '--porcelain') !== '', 'there are changes that are not committed: see git status'],
    [
      newest !== version,
      `package.json has ${version}, and the newest release of CHANGELOG.md is ${newest ?? 'none'}`,
    ],
    [unreleased.trim() !== '', `CHANGELOG.md lists as unreleased what would go out with ${version}`],
    [isElsewhere, `${tag} is another commit: check that one out`],
  ].flatMap(([isThere, obstacle]) => (isThere ? [obstacle] : []));
}
