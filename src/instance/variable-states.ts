// Reports for every variable whether it is set, and its effective value unless it is secret.
import { VARIABLES } from '../config/environment.js';
import type { Config, Given } from '../config/load-config.js';
import { labelOf } from '../config/load-config.js';
import type { EnvironmentVariable } from '../config/variable.js';
import { defaultOf } from '../config/variable.js';
import type { CheckedStartup } from './prepare-startup.js';

export interface VariableState {
  readonly name: string;
  /** The effective value; null if there is none, it is secret, or it has a problem. */
  readonly value: string | null;
  readonly state: 'set' | 'default' | 'unset' | 'problem';
  readonly secret: boolean;
}

type Checked = Pick<CheckedStartup, 'config' | 'given' | 'problems'>;

/** In the order of the table of variables. */
export function variableStates(checked: Checked): VariableState[] {
  const rows = Object.entries(VARIABLES) as [keyof typeof VARIABLES, EnvironmentVariable][];
  return rows.map(([key, variable]) => {
    const { name } = variable;
    const state = stateOf(variable, checked);
    const secret = variable.isSecret === true;
    const value = secret || state === 'problem' ? null : valueOf(checked.config[key]);
    return { name, value, state, secret };
  });
}

function stateOf(
  variable: EnvironmentVariable,
  { given, problems, config }: Checked,
): VariableState['state'] {
  const own = given.get(variable.name);
  if (own === undefined)
    return isComputed(variable, config) || defaultOf(variable) !== undefined ? 'default' : 'unset';
  return hasProblem(variable, own, { given, problems }) ? 'problem' : 'set';
}

function hasProblem(
  variable: EnvironmentVariable,
  { as }: Given,
  { given, problems }: Pick<Checked, 'given' | 'problems'>,
): boolean {
  const labels = [`${labelOf(variable, given)}: `, `${variable.name}: `, `${as}: `];
  return problems.some((problem) => labels.some((label) => problem.startsWith(label)));
}

/** The default of the base URL is computed from other variables. */
function isComputed({ name }: EnvironmentVariable, { baseUrl }: Config): boolean {
  return name === VARIABLES.baseUrl.name && baseUrl !== '';
}

function valueOf(value: Config[keyof Config]): string | null {
  if (value === undefined) return null;
  return typeof value === 'object' ? value.map(String).join(',') : String(value);
}
