// svc-admin config: prints the configuration as the service would read it, the source of each value, its problems, and
// its state for each point of docs/operator/going-live.md.
import type { Command } from 'commander';
import { CommandError } from '../administration/operation.js';
import { findingLines, renderTable } from '../administration/table.js';
import { VARIABLES } from '../config/environment.js';
import { License } from '../config/license.js';
import type { EnvironmentVariable } from '../config/variable.js';
import { endOf, explanationOf, unavailableBecause } from '../instance/availability.js';
import { frameAncestorsOf } from '../instance/frame-ancestors.js';
import type { CheckedStartup, VariableState } from '../instance/prepare-startup.js';
import { checkStartup, sourceNames, variableStates } from '../instance/prepare-startup.js';
import { Clock } from '../platform/clock.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-context.js';
import { storedEntries } from './keys.command.js';

const HEADINGS = ['VARIABLE', 'VALUE', 'FROM'];
/** Longer values, such as keys, would make the table too wide. */
const MAX_SHOWN_CHARACTERS = 80;

/** One variable, as `--json` shows it. */
interface SourcedVariable extends VariableState {
  /** The name that was set, the source that had it, and the file that holds the value. */
  readonly as?: string;
  readonly source?: string;
  readonly file?: string;
}

export function addConfigCommands(program: Command, context: CommandContext): void {
  addCommand(
    program.command('config').description('check the configuration'),
    'check',
    'print every variable with its source, and all problems; also what is left before going live; exits with 1 if there is a problem',
    '--env-file production.env config check',
  ).action(() => checkConfiguration(context));
}

/** Checks what the start would check, and the stored entries if it finds a database. */
async function checkConfiguration(context: CommandContext): Promise<void> {
  const { startupSources } = context.settings;
  const startup = await checkStartup(startupSources);
  const variables = sourcedVariables(startup, sourceNames(startupSources));
  const points = goingLivePoints(startup, await storedEntries(context));
  context.answers.give(shownOf(startup, variables, points), textOf(startup, variables, points));
  const { problems } = startup;
  if (problems.length === 0) return;
  throw new CommandError(
    `The service would not start with this configuration; problems: ${problems.length}.`,
  );
}

function textOf(
  startup: CheckedStartup,
  variables: readonly SourcedVariable[],
  points: readonly GoingLivePoint[],
): string {
  return [
    ...findingLines(startup),
    ...exchangeLines(startup).map((line) => `${line}\n`),
    `Licence: ${licenseInWords(startup)}\n\n`,
    renderTable(HEADINGS, variables.map(rowOf)),
    `\n${goingLiveText(points)}`,
  ].join('');
}

function shownOf(
  startup: CheckedStartup,
  variables: readonly SourcedVariable[],
  goingLive: readonly GoingLivePoint[],
) {
  const { license, problems, warnings } = startup;
  const held = license === License.NONE ? null : { until: endOf(license), features: [...license.features] };
  return {
    problems,
    warnings,
    tokenExchange: exchangeState(startup),
    license: held,
    goingLive,
    variables,
  };
}

/** Whether token exchange would be available, why it would not, and which flows are enabled. */
function exchangeState(startup: CheckedStartup) {
  const reason = unavailableBecause(startup, new Clock().nowMs());
  const { embedLoginEnabled: embedLogin, exchangeEnabled: exchange } = startup.config;
  if (reason === undefined) return { available: true, embedLogin, exchange };
  return { available: false, reason, explanation: explanationOf(reason, startup) };
}

/** The feature as a whole and each flow that can be disabled. */
function exchangeLines(startup: CheckedStartup): string[] {
  const { available, explanation = '' } = exchangeState(startup);
  if (!available) return [`Token exchange and embedded login are off: ${explanation}`];
  const { embedLoginEnabled, exchangeEnabled, idAssertionEnabled } = startup.config;
  return [
    `Token exchange: ${switchInWords(exchangeEnabled, VARIABLES.exchangeEnabled)}`,
    `Embedded login: ${switchInWords(embedLoginEnabled, VARIABLES.embedLoginEnabled)}`,
    ...(idAssertionEnabled ? ['Identity assertions: on'] : []),
  ];
}

function switchInWords(isOn: boolean, { name }: Pick<EnvironmentVariable, 'name'>): string {
  return isOn ? 'on' : `off, and answers 501: ${name} is not true`;
}

function licenseInWords({ license }: CheckedStartup): string {
  if (license === License.NONE) return 'none';
  return `until ${endOf(license)}; ${[...license.features].join(', ') || 'no feature'}`;
}

function sourcedVariables(startup: CheckedStartup, sources: readonly string[]): SourcedVariable[] {
  return variableStates(startup).map((variable) => {
    const given = startup.given.get(variable.name);
    const { as, path: file } = given ?? {};
    return { ...variable, as, source: given && sources[given.source], file };
  });
}

function rowOf({ name, value, state, secret, as = name, source = '', file }: SourcedVariable): string[] {
  const renamed = as === name || as === `${name}_FILE` ? '' : ` as ${as}`;
  const from =
    state === 'default' ? 'default' : `${source}${renamed}${file === undefined ? '' : `, file ${file}`}`;
  return [name, shown(value, state, secret), from];
}

function shown(value: string | null, state: VariableState['state'], secret: boolean): string {
  if (state === 'problem') return '(has a problem)';
  if (state === 'unset') return '(unset)';
  if (secret) return '(hidden)';
  const isShort = value !== null && value.length <= MAX_SHOWN_CHARACTERS && !value.includes('\n');
  return isShort ? value : `(${value?.length ?? 0} characters)`;
}

/** `check`: the configuration does not show it. docs/operator/going-live.md has the command that does. */
interface GoingLivePoint {
  readonly title: string;
  readonly state: 'good' | 'open' | 'check';
  readonly detail: string;
}

type Finding = Omit<GoingLivePoint, 'title'>;
type StoredEntries = Awaited<ReturnType<typeof storedEntries>>;

const good = (detail: string): Finding => ({ state: 'good', detail });
const open = (detail: string): Finding => ({ state: 'open', detail });
const check = (detail: string): Finding => ({ state: 'check', detail });

const POINTS: Readonly<Record<string, (startup: CheckedStartup, stored: StoredEntries) => Finding>> = {
  'Strict policy': ({ config }) =>
    config.strict
      ? good('entries allow only what they list')
      : open('entries allow everything that they do not restrict; set SVC_TOKEN_EXCHANGE_STRICT=true'),
  Audience({ config, trustedKeys }, stored) {
    const configured = trustedKeys.map(({ label, expectedAudience }) => ({ label, expectedAudience }));
    const entries = [...configured, ...acceptedAmong(stored)];
    const [which, none] =
      stored === undefined ? ['each configured entry', ' configured'] : ['each entry', ''];
    if (entries.length === 0) return check(`there is no${none} entry`);
    const unsaid = entries.filter(({ expectedAudience }) => expectedAudience === undefined);
    if (unsaid.length > 0) return open(`tokens for any audience are accepted by ${labelsOf(unsaid)}`);
    const others = entries.filter(({ expectedAudience }) => expectedAudience !== config.baseUrl);
    return others.length === 0
      ? good(`${which} expects the address of this instance`)
      : check(`${labelsOf(others)}: another audience than the address of this instance`);
  },
  Origins({ config, trustedKeys }) {
    const origins = frameAncestorsOf(config, trustedKeys);
    if (origins === undefined) return open('any site may frame the instance, unless a proxy forbids it');
    const plain = origins.filter((origin) => !origin.startsWith('https:'));
    return plain.length === 0
      ? good(origins.join(' ') || 'embedded login is off')
      : open(`without HTTPS: ${plain.join(' ')}`);
  },
  HTTPS: ({ config }) =>
    config.baseUrl.startsWith('https:')
      ? check(`${config.baseUrl} needs a valid certificate`)
      : open(`${config.baseUrl} is plain HTTP`),
  'Proxy hops': ({ config }) => check(`${config.proxyHops} trusted: that many proxies must be in front`),
  'Sealing key': ({ config }) =>
    config.encryptionKeys.length > 0
      ? check('it is configured; keep it apart from the backups')
      : open('it is in the data folder only; set SVC_ENCRYPTION_KEY_FILE'),
  Backup: () => check('restore one'),
  Alerts: ({ config }) =>
    config.metricsPort === 0
      ? open('there are no metrics: the port of metrics is 0')
      : check('raise a test alert'),
  Retention: ({ config }) =>
    config.auditRetentionDays > 0
      ? good(`the trail keeps events for ${config.auditRetentionDays} days`)
      : open('the trail grows for ever; set SVC_AUDIT_RETENTION_DAYS'),
  Throttle({ config, trustedKeys }) {
    const unlimited = trustedKeys.filter(({ perMinute }) => perMinute === undefined);
    if (unlimited.length > 0) return open(`counted by address: ${labelsOf(unlimited)}; set perMinute`);
    return config.throttleStore === 'database' ? good('counted for all instances') : check('per instance');
  },
  Clock: () => check("compare it with another machine's clock"),
  Log: () => check('look for a token in the logs of proxy and service'),
};

function acceptedAmong(stored: StoredEntries = []) {
  return stored
    .filter(({ state }) => state !== 'refused')
    .map(({ entry: label, audience }) => ({ label, expectedAudience: audience ?? undefined }));
}

function goingLivePoints(startup: CheckedStartup, stored: StoredEntries): GoingLivePoint[] {
  return Object.entries(POINTS).map(([title, find]) => ({ title, ...find(startup, stored) }));
}

function goingLiveText(points: readonly GoingLivePoint[]): string {
  const rows = points.map(({ title, state, detail }, index) => [`${index + 1}`, title, state, detail]);
  return `Before partners use the instance (docs/operator/going-live.md):\n${renderTable(['', 'POINT', 'STATE', 'BECAUSE'], rows)}`;
}

function labelsOf(entries: readonly { readonly label: string }[]): string {
  return entries.map(({ label }) => label).join(', ');
}
