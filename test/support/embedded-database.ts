// Makes fresh embedded databases, as copies of one data directory that is migrated once and kept between runs.
import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { appendFile, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { SCHEMA } from '../../src/instance/schema.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import type { FreshDatabase } from './databases.js';
import { lastingFolder } from './run-folder.js';

const PROJECT = join(__dirname, '..', '..');
const MIGRATIONS = ['instance', 'token-exchange'].map((module) => join(PROJECT, 'src', module, 'migrations'));
const ENGINE = join(PROJECT, 'node_modules', '@electric-sql', 'pglite', 'package.json');
/** A run opens hundreds of these databases: each would clear memory for a service of months. */
const SMALL_MEMORY = 'shared_buffers = 16MB\n';
const DAY_MS = 86_400_000;
/** Accounts share no folders: those that root makes are closed to the others. */
const PREFIX = `svc-test-${process.getuid?.() ?? 'user'}-template-`;

/** A copy opens in a quarter of the time that a new directory takes, and it is a directory like any other. */
export async function createEmbeddedDatabase(): Promise<FreshDatabase> {
  const template = await ensureTemplate();
  const directory = await mkdtemp(join(tmpdir(), 'embedded-'));
  await copyFolder(template, directory);
  return {
    settings: { kind: 'embedded', directory },
    environment: { SVC_DATA_DIR: directory },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function ensureTemplate(): Promise<string> {
  const template = join(lastingFolder(), templateName());
  if (!existsSync(template)) await makeTemplate(template);
  return template;
}

/** Workers may do this at the same moment: each fills a draft of its own, and the first gives it the name. */
async function makeTemplate(template: string): Promise<void> {
  await removeOldTemplates();
  const draft = await mkdtemp(`${template}-`);
  try {
    const database = await openDatabase({ kind: 'embedded', directory: draft }, SCHEMA);
    await database.close();
    await appendFile(join(draft, 'database', 'postgresql.conf'), SMALL_MEMORY);
    await rename(draft, template);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(template)) throw error;
  }
}

/**
 * One name for each state of the migrations and version of the engine. The day is part of it, because some systems
 * sweep their temporary folder by age, file by file, and would leave a damaged template.
 */
function templateName(): string {
  const hash = createHash('sha256').update(readFileSync(ENGINE)).update(SMALL_MEMORY);
  for (const folder of MIGRATIONS)
    for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  const day = new Date().toISOString().slice(0, 10);
  return `${PREFIX}${day}-${hash.digest('hex').slice(0, 16)}`;
}

/** All files at once: a thousand small ones take `fs.cp`, which copies one after the other, three times as long. */
async function copyFolder(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const paths = (isWanted: (entry: Dirent) => boolean) =>
    entries.filter(isWanted).map((entry) => relative(from, join(entry.parentPath, entry.name)));
  for (const path of paths((entry) => entry.isDirectory())) await mkdir(join(to, path), { recursive: true });
  await Promise.all(
    paths((entry) => entry.isFile()).map((path) => copyFile(join(from, path), join(to, path))),
  );
}

/** Removes the templates of earlier days. */
async function removeOldTemplates(): Promise<void> {
  for (const name of readdirSync(lastingFolder()).filter((each) => each.startsWith(PREFIX))) {
    const path = join(lastingFolder(), name);
    if (isOlderThanADay(path)) await rm(path, { recursive: true, force: true });
  }
}

function isOlderThanADay(path: string): boolean {
  const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return changedAt !== undefined && Date.now() - changedAt > DAY_MS;
}
