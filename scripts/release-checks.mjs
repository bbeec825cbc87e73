// Tells what keeps the present state of the repository from being the release that its version says it is.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What stands between the heading of what is to come and the first release. */
const UNRELEASED = /^## \[Unreleased\]$([^]*?)(?=^## )/m;
const NEWEST = /^## \[(\d[^\]]*)\] - \d{4}-\d{2}-\d{2}/m;

/**
 * A version is packed from one commit only: from the one that its tag names or, before there is a tag, from the one
 * that puts it into the changelog.
 */
export function releaseProblems(root, version) {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  return [...treeProblems(root), ...changelogProblems(changelog, version), ...commitProblems(root, version)];
}

function treeProblems(root) {
  const changed = git(root, 'status', '--porcelain').split('\n').filter(Boolean);
  if (changed.length === 0) return [];
  return [`there are changes that are not committed: ${changed.map((line) => line.slice(3)).join(', ')}`];
}

function changelogProblems(changelog, version) {
  const problems = [];
  const [, newest = 'nothing'] = NEWEST.exec(changelog) ?? [];
  if (newest !== version)
    problems.push(`package.json has version ${version}, and the newest release of CHANGELOG.md is ${newest}`);
  const [, unreleased] = UNRELEASED.exec(changelog) ?? [];
  if (unreleased === undefined) problems.push('CHANGELOG.md has no section [Unreleased] above its releases');
  else if (unreleased.trim() !== '')
    problems.push(`CHANGELOG.md lists changes as unreleased that would go out with ${version}`);
  return problems;
}

function commitProblems(root, version) {
  const tag = `v${version}`;
  const head = git(root, 'rev-parse', 'HEAD').trim();
  const tagged = tryGit(root, 'rev-parse', '--verify', '--quiet', `refs/tags/${tag}^{commit}`)?.trim();
  if (tagged === head) return [];
  if (tagged !== undefined) return [`${tag} is another commit (${tagged.slice(0, 12)}): check that one out`];
  const before = tryGit(root, 'show', 'HEAD^:CHANGELOG.md') ?? '';
  if (!before.includes(`\n## [${version}] - `)) return [];
  return [`an earlier commit released ${version}, without a tag; if this one is the release, tag it ${tag}`];
}

function git(root, ...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Answers undefined where there is no such thing. */
function tryGit(root, ...args) {
  try {
    return git(root, ...args);
  } catch {
    return undefined;
  }
}
