// svc-admin init: sets up an instance for a trial, up to the first exchanged token, and prints the next commands.
import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { printable } from '../administration/table.js';
import { UserOperations } from '../administration/users/users.operations.js';
import { LICENSE_WORDS } from '../config/license-words.js';
import type { Environment } from '../config/load-config.js';
import { ConfigurationError, readEnvFile } from '../config/load-config.js';
import { checkStartup } from '../instance/prepare-startup.js';
import { refuseForeignDirectory } from '../platform/database/embedded/data-directory.js';
import type { Algorithm } from '../token-exchange/instance.js';
import { ALGORITHMS } from '../token-exchange/instance.js';
import { OWNER_ROLE } from '../users/role.js';
import { addCommand, usableKid } from './command.js';
import { InPlaceError } from './command-answers.js';
import type { CommandContext } from './command-context.js';
import { CommandSettings } from './command-context.js';
import { writeFiles } from './files.js';
import type { NextCommand } from './first-requests.js';
import { firstRequests, nextInWords, word } from './first-requests.js';
import type { InitAnswers } from './init-answers.js';
import { QUESTIONS } from './init-answers.js';
import type { InitPaths, PartnerKey, PlannedFile } from './init-files.js';
import {
  environmentOf,
  filesInPlace,
  initPaths,
  moveAside,
  planFiles,
  sealingKeysIn,
  variableOf,
} from './init-files.js';
import { perform, readPages } from './operation-call.js';
import { answersTo } from './questions.js';
import { withProgress } from './terminal.js';

const KID = 'partner-1';

interface InitOptions extends Partial<InitAnswers> {
  readonly dir: string;
  readonly alg: Algorithm;
  readonly kid: string;
  readonly yes?: true;
  readonly force?: true;
}

export function addInitCommand(program: Command, context: CommandContext): void {
  const about = 'set up an instance for a trial; writes settings, licence, keys, a partner and the owner';
  const command = addCommand(program, 'init', about, EXAMPLE, MORE);
  command.option('--dir <folder>', 'folder for all files', '.');
  for (const { flag, about } of QUESTIONS) command.option(flag, about);
  command
    .addOption(
      new Option('--alg <name>', "algorithm of the partner's key").choices(ALGORITHMS).default('ES256'),
    )
    .option('--kid <kid>', "id of the partner's key (`kid`)", usableKid, KID)
    .option('--yes', 'ask nothing: use the options and the defaults, as without a terminal')
    .option(
      '--force',
      'move the files of an earlier init to a folder; keep the sealing key and own lines of .env',
    )
    .action((options: InitOptions) => init(options, command, context));
}

const MORE = `It creates .env, instance/ (licence, keys, trusted keys), partner/ (the private key of a partner) and the owner. If one of these files
exists, it changes nothing and exits with 3.`;
const EXAMPLE = `init --yes --owner-email owner@example.com
  svc-admin init --yes --owner-email owner@example.com --base-url https://instance.example`;

async function init(options: InitOptions, command: Command, context: CommandContext): Promise<void> {
  const { workingDirectory, terminal, answers } = context;
  const directory = resolve(workingDirectory, options.dir);
  const inside = { ...context, workingDirectory: directory };
  if (context.settings.startupSources.envFile !== undefined)
    command.error('error: init writes .env in the folder of --dir: leave --env-file out');
  const paths = initPaths(directory);
  const seen = (path: string) => pathFrom(workingDirectory, path);
  const inPlace = filesInPlace(paths);
  if (inPlace.length > 0 && options.force !== true)
    throw new InPlaceError(
      'These files exist, so nothing was changed. --force moves them aside and creates new ones:',
      inPlace.map(seen),
    );
  const settings = new CommandSettings(inside, () => undefined);
  const person = options.yes || answers.isJson ? undefined : terminal;
  const answered = await answersTo(QUESTIONS, {
    given: options,
    settings,
    terminal: person,
    refuse: (message) => command.error(`error: ${message}`),
  });
  const environment = environmentOf(answered, paths, readEnvFile(paths.environment, false));
  const key = { alg: options.alg, kid: options.kid };
  const sealingKeys = sealingKeysOf(settings, paths);
  const planned = planFiles(answered, key, paths, { sealingKeys, environment });
  if (answered.databaseUrl === '') refuseForeignData(paths.data);
  const backup = inPlace.length === 0 ? undefined : seen(moveAside(directory, inPlace));
  const surroundings = asStarted(environment, inside);
  const { owner, warnings } = await settle(planned, answered.ownerEmail, surroundings);
  const files = planned.map(({ path, purpose }) => ({ path: seen(path), purpose }));
  const next = nextCommands(answered, key, paths, workingDirectory);
  const settled = { files, backup, owner, warnings, next };
  answers.give(settled, textOf(settled));
}

/** Runs before anything is written. @throws CommandError if the folder of the embedded database belongs to another account */
function refuseForeignData(directory: string): void {
  try {
    refuseForeignDirectory(directory);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

/** Paths are relative to the folder in which the command was typed. */
interface Settled {
  readonly files: readonly Pick<PlannedFile, 'path' | 'purpose'>[];
  /** The folder that the earlier files were moved to. */
  readonly backup?: string;
  readonly owner: Owner;
  /** Warnings that the service will log. */
  readonly warnings: readonly string[];
  readonly next: readonly NextCommand[];
}

/** The owner of the instance. */
interface Owner {
  readonly id: string;
  readonly email: string;
  readonly state: 'created' | 'kept';
}

/** The configured keys, which seal what the database holds. */
function sealingKeysOf(settings: CommandSettings, paths: InitPaths): readonly Buffer[] {
  const { encryptionKeys } = settings.read('encryptionKeys');
  return encryptionKeys.length > 0 ? encryptionKeys : sealingKeysIn(paths);
}

/** Writes the files and creates the owner. `.env` comes last, so an interrupted init leaves none. */
async function settle(planned: readonly PlannedFile[], ownerEmail: string, surroundings: CommandContext) {
  writeFiles(surroundings, planned.slice(0, -1), { withFolder: true });
  const { problems, warnings } = await checkStartup(surroundings.settings.startupSources);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const settling = settledOwner(ownerEmail, surroundings);
  const owner = await withProgress(surroundings, 'Preparing the database', settling);
  writeFiles(surroundings, planned.slice(-1), { withFolder: true });
  return { owner, warnings };
}

/** The variables that the service will read: its environment overrides .env, by a value or by a file. */
function asStarted(values: Environment, context: CommandContext): CommandContext {
  const given = new Set(Object.keys(context.environment).map(variableOf));
  const others = Object.entries(values).filter(([name]) => !given.has(variableOf(name)));
  const environment = { ...Object.fromEntries(others), ...context.environment };
  const started = { ...context, environment };
  return { ...started, settings: new CommandSettings(started, () => undefined) };
}

/** Keeps an existing owner: an instance has at most one. */
async function settledOwner(email: string, context: CommandContext): Promise<Owner> {
  for await (const page of readPages(context, UserOperations, 'list', {})) {
    const owner = page.find(({ role }) => role === OWNER_ROLE);
    if (owner !== undefined) return { id: owner.id, email: owner.email, state: 'kept' };
  }
  const newUser = { email, givenName: '', familyName: '', role: OWNER_ROLE } as const;
  return { ...(await perform(context, UserOperations, 'create', newUser)), state: 'created' };
}

/** Returns a relative path if it is below the folder in which the command was typed. */
function pathFrom(workingDirectory: string, path: string): string {
  const short = relative(workingDirectory, path);
  return short.startsWith('..') ? path : short;
}

function textOf({ files, backup, owner, warnings, next }: Settled): string {
  const width = Math.max(...files.map(({ path }) => path.length));
  const lines = [
    ...files.map(({ path, purpose }) => `created   ${path.padEnd(width)}  ${purpose}`),
    ...(backup === undefined ? [] : [`moved     ${backup.padEnd(width)}  the earlier files`]),
    `${owner.state.padEnd(8)}  ${'owner'.padEnd(width)}  ${owner.email}`,
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
    LICENSE_WORDS,
    ...nextInWords(next),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/** @param workingDirectory the folder in which the commands will be typed */
function nextCommands(
  { port, baseUrl, partnerIssuer, partnerEmailDomain }: InitAnswers,
  { kid }: PartnerKey,
  paths: InitPaths,
  workingDirectory: string,
): NextCommand[] {
  const seen = (absolute: string) => pathFrom(workingDirectory, absolute);
  // The service reads `.env` of the working folder without an option.
  const isHere = relative(workingDirectory, paths.environment) === '.env';
  const envFile = isHere ? '' : ` --env-file ${word(seen(paths.environment))}`;
  return [
    {
      command: `npx embedded-token-exchange${envFile}`,
      does: 'start the service; the rest in another terminal',
    },
    { command: `npx svc-admin${envFile} keys check`, does: 'list the trusted keys and what each may do' },
    ...firstRequests({
      keyFile: seen(paths.partnerPrivate),
      kid,
      issuer: partnerIssuer,
      audience: baseUrl,
      emailDomain: partnerEmailDomain,
      address: `http://localhost:${port}`,
    }),
  ];
}
