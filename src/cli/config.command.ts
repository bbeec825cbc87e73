// svc-admin config: the configuration as the service would take it, where each value comes from, and what is wrong with it.
import type { Command } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { VARIABLES } from '../config/environment.js';
import { License } from '../config/license.js';
import type { Config, Given } from '../config/load-config.js';
import { labelOf } from '../config/load-config.js';
import type { EnvironmentVariable } from '../config/variable.js';
import type { UnavailableReason } from '../start/availability.js';
import { endOf, explanationOf, unavailableBecause } from '../start/availability.js';
import type { Judgement } from '../start/startup.js';
import { judge, sourceNames } from '../start/startup.js';
import { Clock } from '../token-exchange/foundation/clock.js';
import type { CommandContext } from './command-context.js';
import { renderTable } from './table.js';

const HEADINGS = ['VARIABLE', 'VALUE', 'FROM'];
/** Longer values, such as keys, would push the rest of the table away. */
const MAX_SHOWN_CHARACTERS = 80;

/** One variable, as `--json` tells it. */
interface VariableState {
  readonly name: string;
  /** As it counts; null where there is none, it is secret, or has a problem. */
  readonly value: string | null;
  readonly state: 'set' | 'default' | 'unset' | 'problem';
  readonly secret: boolean;
  /** The name that was set, the source that had it, and the file that holds the value. */
  readonly as?: string;
  readonly source?: string;
  readonly file?: string;
}

/** Whether token exchange would be there, and if not, why. */
interface ExchangeState {
  readonly available: boolean;
  readonly reason?: UnavailableReason;
  readonly explanation?: string;
}

export function addConfigCommands(program: Command, context: CommandContext): void {
  program
    .command('config')
    .description('look at the configuration')
    .command('check')
    .description(
      'tell every variable with its value and source, and every problem; exits with 1 if there is one',
    )
    .addHelpText('after', '\nExample:\n  svc-admin --env-file production.env config check')
    .action(() => check(context));
}

/** Opens no database and asks nobody: what is told is what the start would judge. */
async function check(context: CommandContext): Promise<void> {
  const { startupSources } = context.settings;
  const judgement = await judge(startupSources);
  const variables = variableStates(judgement, sourceNames(startupSources));
  context.answers.give(toldOf(judgement, variables), textOf(judgement, variables));
  const { problems } = judgement;
  if (problems.length === 0) return;
  throw new CommandError(
    `The service would not start with this configuration; problems: ${problems.length}.`,
  );
}

function textOf(judgement: Judgement, variables: readonly VariableState[]): string {
  const { problems, warnings, notes } = judgement;
  const lines = [
    ...problems.map((problem) => `problem: ${problem}`),
    ...warnings.map((warning) => `warning: ${warning}`),
    ...notes.map((note) => `note: ${note}`),
    `Token exchange: ${exchangeInWords(judgement)}`,
    `Licence: ${licenseInWords(judgement)}`,
  ];
  return `${lines.join('\n')}\n\n${renderTable(HEADINGS, variables.map(rowOf))}`;
}

function toldOf(judgement: Judgement, variables: readonly VariableState[]) {
  const { license, problems, warnings, notes } = judgement;
  const held = license === License.NONE ? null : { until: endOf(license), features: [...license.features] };
  return {
    problems,
    warnings,
    notes,
    tokenExchange: exchangeState(judgement),
    license: held,
    variables,
  };
}

function exchangeState(judgement: Judgement): ExchangeState {
  const reason = unavailableBecause(judgement, new Clock().nowMs());
  if (reason === undefined) return { available: true };
  return { available: false, reason, explanation: explanationOf(reason, judgement) };
}

function exchangeInWords(judgement: Judgement): string {
  const { available, explanation = '' } = exchangeState(judgement);
  if (!available) return `off: ${explanation}`;
  const { embedLoginEnabled, exchangeEnabled } = judgement.config;
  const [embed, exchange] = [embedLoginEnabled, exchangeEnabled].map((isOn) => (isOn ? 'on' : 'off'));
  return `there; embedded login ${embed}, token exchange ${exchange}`;
}

function licenseInWords({ license }: Judgement): string {
  if (license === License.NONE) return 'none';
  return `until ${endOf(license)}; ${[...license.features].join(', ') || 'no feature'}`;
}

function variableStates(judgement: Judgement, sources: readonly string[]): VariableState[] {
  const rows = Object.entries(VARIABLES) as [keyof typeof VARIABLES, EnvironmentVariable][];
  return rows.map(([key, variable]) => {
    const given = judgement.given.get(variable.name);
    const state = stateOf(variable, given, judgement);
    const secret = variable.isSecret === true;
    const value = secret || state === 'problem' ? null : valueOf(judgement.config[key]);
    const { name } = variable;
    const { as, path: file } = given ?? {};
    return { name, value, state, secret, as, source: given && sources[given.source], file };
  });
}

function stateOf(
  variable: EnvironmentVariable,
  given: Given | undefined,
  { given: all, problems, config }: Judgement,
): VariableState['state'] {
  if (given === undefined)
    return isComputed(variable, config) || variable.default !== undefined ? 'default' : 'unset';
  const labels = [`${labelOf(variable, all)}: `, `${variable.name}: `, `${given.as}: `];
  return problems.some((problem) => labels.some((label) => problem.startsWith(label))) ? 'problem' : 'set';
}

/** The base address has a default that follows from others. */
function isComputed({ name }: EnvironmentVariable, { baseUrl }: Judgement['config']): boolean {
  return name === VARIABLES.baseUrl.name && baseUrl !== '';
}

function valueOf(value: Config[keyof Config]): string | null {
  if (value === undefined) return null;
  return typeof value === 'object' ? value.join(',') : String(value);
}

function rowOf({ name, value, state, secret, as = name, source = '', file }: VariableState): string[] {
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
