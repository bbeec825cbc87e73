// svc-admin init: sets an instance up for trying out, up to the first exchanged token, and says what to type next.
import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CREATE_USER, LIST_USERS } from '../administration/users.operations.js';
import type { Environment } from '../config/load-config.js';
import { ConfigurationError } from '../config/load-config.js';
import { checkStartup } from '../instance/startup.js';
import type { Algorithm } from '../token-exchange/plain.js';
import { ALGORITHMS, TOKEN_EXCHANGE_GRANT, TOKEN_PATH } from '../token-exchange/plain.js';
import { OWNER_ROLE } from '../users/role.js';
import { perform, readPages } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { CommandSettings } from './command-settings.js';
import { InPlaceError } from './answers.js';
import type { InitAnswers } from './init-answers.js';
import { AnswerError, QUESTIONS, answersTo } from './init-answers.js';
import type { InitPaths, PlannedFile, PartnerKey } from './init-files.js';
import { closePrivate, environmentOf, initPaths, planFiles, writePlanned } from './init-files.js';
import { withProgress } from './progress.js';
import { printable } from './table.js';

const KID = 'partner-1';

interface InitOptions extends Partial<InitAnswers> {
  readonly dir: string;
  readonly alg: Algorithm;
  readonly kid: string;
  readonly yes?: true;
  readonly force?: true;
}

interface SettledFile {
  /** As seen from where the command was typed. */
  readonly path: string;
  readonly purpose: string;
  readonly state: 'created' | 'kept' | 'replaced';
  readonly backup?: string;
  /** A kept private file that others could read or change until now. */
  readonly wasOpen?: true;
}

/** The owner of the instance. */
interface SettledOwner {
  readonly id: string;
  readonly email: string;
  readonly state: 'created' | 'kept';
}

interface Settled {
  readonly files: readonly SettledFile[];
  readonly owner: SettledOwner;
  /** What the service will warn of. */
  readonly warnings: readonly string[];
  readonly next: readonly NextCommand[];
}

export function addInitCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('init')
    .description('set up an instance for a trial: settings, licence, keys, a partner, the owner')
    .option('--dir <folder>', 'folder for all files', '.');
  for (const { flag, about } of QUESTIONS) command.option(flag, about);
  command
    .addOption(
      new Option('--alg <name>', "algorithm of the partner's key").choices(ALGORITHMS).default('ES256'),
    )
    .option('--kid <kid>', "what the partner's key is called", KID)
    .option('--yes', 'ask nothing: options and defaults decide, as they do without a terminal')
    .option('--force', 'replace files that do not fit; each old one is kept beside the new one')
    .addHelpText('after', HELP)
    .action((options: InitOptions) => init(options, command, context));
}

const HELP = `
It makes .env, instance/ (licence, keys, trusted keys), partner/ (the private key of a partner) and the owner. What is there and fits
is kept, so it may be run again; what does not fit is named, nothing is changed, and it exits with 3.

Example:
  svc-admin init --yes --owner-email owner@example.com
  svc-admin init --yes --owner-email owner@example.com --base-url https://instance.example`;

async function init(options: InitOptions, command: Command, context: CommandContext): Promise<void> {
  const directory = resolve(context.workingDirectory, options.dir);
  const inside = { ...context, workingDirectory: directory };
  if (context.settings.startupSources.envFile !== undefined)
    command.error('error: init writes .env in the folder of --dir: leave --env-file out');
  const answers = await answered(options, new CommandSettings(inside, () => undefined), command, context);
  const paths = initPaths(directory);
  const key = { alg: options.alg, kid: options.kid };
  const planned = await planFiles(answers, key, paths);
  if (options.force !== true) refuseMisfits(planned, context);
  const settled = await settle(planned, answers, paths, inside);
  const next = nextCommands(answers, key, paths, context.workingDirectory);
  const shown = settled.files.map((file) => shownFrom(context.workingDirectory, file));
  const answer: Settled = { ...settled, files: shown, next };
  context.answers.give(answer, textOf(answer));
}

/** A fault of the command line: an answer that is missing or wrong. */
async function answered(
  options: InitOptions,
  settings: CommandSettings,
  command: Command,
  { terminal, answers: { isJson } }: CommandContext,
): Promise<InitAnswers> {
  try {
    return await answersTo(options, settings, options.yes || isJson ? undefined : terminal);
  } catch (error) {
    if (error instanceof AnswerError) command.error(`error: ${error.message}`);
    throw error;
  }
}

/** @throws InPlaceError before anything was written */
function refuseMisfits(planned: readonly PlannedFile[], context: CommandContext): void {
  const misfits = planned.filter(({ state }) => state === 'in the way');
  if (misfits.length === 0) return;
  throw new InPlaceError(
    'What exists already does not fit; nothing was changed. --force replaces it, and keeps the old files under another name:',
    misfits.map(({ path, reason = '' }) => `${pathFrom(context.workingDirectory, path)}: ${reason}`),
  );
}

/**
 * Does what was decided. The settings come last: as long as they are not there nothing has begun, and to run the command again
 * goes on where it ended.
 */
async function settle(
  planned: readonly PlannedFile[],
  answers: InitAnswers,
  paths: InitPaths,
  context: CommandContext,
): Promise<Omit<Settled, 'next'>> {
  const isSettings = ({ path }: PlannedFile) => path === paths.environment;
  const files = planned.filter((file) => !isSettings(file)).map(settledFile);
  const surroundings = asStarted(environmentOf(answers, paths), context);
  const { problems, warnings } = await checkStartup(surroundings.settings.startupSources);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const settling = settledOwner(answers.ownerEmail, surroundings);
  const owner = await withProgress(context, 'Preparing the database', settling);
  return { files: [...files, ...planned.filter(isSettings).map(settledFile)], owner, warnings };
}

function settledFile(planned: PlannedFile): SettledFile {
  const { path, purpose, state } = planned;
  const backup = writePlanned(planned);
  const wasOpen = closePrivate(planned);
  return {
    path,
    purpose,
    state: state === 'kept' ? state : backup === undefined ? 'created' : 'replaced',
    backup,
    ...(wasOpen && { wasOpen }),
  };
}

/** What the service will see: its environment wins over .env, be it by a value or by a file. */
function asStarted(values: Environment, context: CommandContext): CommandContext {
  const variableOf = (name: string) => name.replace(/_FILE$/, '');
  const given = new Set(Object.keys(context.environment).map(variableOf));
  const others = Object.entries(values).filter(([name]) => !given.has(variableOf(name)));
  const environment = { ...Object.fromEntries(others), ...context.environment };
  const started = { ...context, environment };
  return { ...started, settings: new CommandSettings(started, () => undefined) };
}

/** There is at most one, and it stays. */
async function settledOwner(email: string, context: CommandContext): Promise<SettledOwner> {
  for await (const page of readPages(context, LIST_USERS, {})) {
    const owner = page.find(({ role }) => role === OWNER_ROLE);
    if (owner !== undefined) return { id: owner.id, email: owner.email, state: 'kept' };
  }
  const newUser = { email, givenName: '', familyName: '', role: OWNER_ROLE } as const;
  return { ...(await perform(context, CREATE_USER, newUser)), state: 'created' };
}

function shownFrom(folder: string, { path, backup, ...file }: SettledFile): SettledFile {
  const moved = backup === undefined ? {} : { backup: pathFrom(folder, backup) };
  return { path: pathFrom(folder, path), ...file, ...moved };
}

/** Short where it lies below the folder in which the command was typed. */
function pathFrom(workingDirectory: string, path: string): string {
  const short = relative(workingDirectory, path);
  return short.startsWith('..') ? path : short;
}

function textOf({ files, owner, warnings, next }: Settled): string {
  const width = Math.max(...files.map(({ path }) => path.length));
  const lines = [
    ...files.map((file) => fileLine(file, width)),
    `${owner.state.padEnd(8)}  ${'owner'.padEnd(width)}  ${owner.email}`,
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
    'Next:',
    ...next.flatMap(({ command, does }) => ['', `  # ${does}`, `  ${command}`]),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function fileLine({ path, purpose, state, backup, wasOpen }: SettledFile, width: number): string {
  const moved = backup === undefined ? '' : ` (what was there is in ${backup})`;
  const closed = wasOpen === true ? ' (others could read it; now only its owner can)' : '';
  return `${state.padEnd(8)}  ${path.padEnd(width)}  ${purpose}${moved}${closed}`;
}

/** The commands after `svc-admin init`, up to the first call of the API with an exchanged token. */
export interface NextCommand {
  readonly command: string;
  readonly does: string;
}

/** Text that a shell needs no quotes for. */
const PLAIN = /^[\w./:@%+=,-]+$/;

/** @param workingDirectory the folder in which they will be typed */
export function nextCommands(
  { port, baseUrl, partnerIssuer, partnerEmailDomain }: InitAnswers,
  { kid }: PartnerKey,
  paths: InitPaths,
  workingDirectory: string,
): NextCommand[] {
  const path = (absolute: string) => word(pathFrom(workingDirectory, absolute));
  // In this folder it is found without being named.
  const isHere = relative(workingDirectory, paths.environment) === '.env';
  const envFile = isHere ? '' : ` --env-file ${path(paths.environment)}`;
  const admin = `npx svc-admin${envFile}`;
  const local = `http://localhost:${port}`;
  const who = `--subject customer-1 --email ${word(`customer-1@${partnerEmailDomain}`)} --email-verified`;
  const signing = `--key ${path(paths.partnerPrivate)} --kid ${word(kid)} --issuer ${word(partnerIssuer)} --audience ${word(baseUrl)}`;
  return [
    {
      command: `npm start${isHere ? '' : ` --${envFile}`}`,
      does: 'start the service; the rest in another terminal',
    },
    { command: `${admin} keys check`, does: 'list the trusted keys and what each may do' },
    {
      command: `JWT=$(npx svc-admin token sign ${signing} ${who})`,
      does: 'sign a token as the partner does; it is valid for 60 seconds',
    },
    {
      command:
        `ACCESS_TOKEN=$(curl -s ${local}${TOKEN_PATH} --data-urlencode grant_type=${TOKEN_EXCHANGE_GRANT} ` +
        `--data-urlencode "subject_token=$JWT" | node -pe 'JSON.parse(fs.readFileSync(0)).access_token')`,
      does: 'exchange it for an access token',
    },
    {
      command: `curl -s ${local}/api/v1/workflows -H "Authorization: Bearer $ACCESS_TOKEN"`,
      does: 'call the API with that',
    },
  ];
}

function word(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
