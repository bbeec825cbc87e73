#!/usr/bin/env node
// Reports which installed packages have known vulnerabilities, as the registry tells them. A report: it never fails.
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const LIMITS = ['--fetch-retries=0', '--fetch-timeout=20000'];
const PATIENCE_MS = 60_000;
const LARGEST_REPORT_BYTES = 64 * 1024 * 1024;

const [all, ofService] = await Promise.all([audit(), audit('--omit=dev')]);
process.stdout.write(`${linesOf(all, ofService).join('\n')}\n`);

/** What `npm audit` says; undefined where it gets no answer. It exits with 1 where it has found something. */
async function audit(...options) {
  const args = ['audit', '--json', ...LIMITS, ...options];
  const surroundings = { cwd: root, timeout: PATIENCE_MS, maxBuffer: LARGEST_REPORT_BYTES };
  const shell = process.platform === 'win32';
  const { stdout } = await promisify(execFile)('npm', args, { ...surroundings, shell }).catch(
    (error) => error,
  );
  try {
    return JSON.parse(stdout).vulnerabilities;
  } catch {
    return undefined;
  }
}

function linesOf(found, foundInService) {
  // Without a network, or with a registry that has no advisories, nothing is known; the answer may name its address.
  if (found === undefined || foundInService === undefined)
    return ['Known vulnerabilities: not asked, the registry cannot be reached or tells of none to anybody'];
  const names = Object.keys(found).sort();
  if (names.length === 0) return ['Known vulnerabilities: none in any locked package'];
  return [
    `Known vulnerabilities: ${names.length} packages, ${Object.keys(foundInService).length} of them installed with the service`,
    ...names.map((name) => lineOf(found[name], name in foundInService)),
  ];
}

function lineOf({ name, severity, range, via }, isInService) {
  const where = isInService ? 'installed with the service' : 'development only';
  const causes = via.map((cause) =>
    typeof cause === 'string' ? `by ${cause}` : `${cause.title} (${cause.url})`,
  );
  return `  ${name} ${range}, ${severity}, ${where}: ${causes.join('; ')}`;
}
