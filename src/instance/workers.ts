// The workers of an instance: what they need, and the share of each in the limits.
import type { Config } from '../config/load-config.js';

/** Which of an instance's workers a process is. */
export interface Seat {
  /** From 1 on; it stays when the process is replaced. */
  readonly number: number;
  /** How many workers the instance has. */
  readonly of: number;
}

/** Limits that all workers share, each with at least one. */
const DIVIDED = {
  databasePoolSize: 'SVC_DATABASE_POOL_SIZE',
  maxConnections: 'SVC_MAX_CONNECTIONS',
} as const;

/** The part of the configuration of which each worker has its share. */
export type DividedSettings = Pick<Config, keyof typeof DIVIDED>;

/** Problems that prevent the configured workers. */
export function workerProblems({ workers, databaseUrl, throttleStore, ...config }: Config): string[] {
  if (workers === 1) return [];
  const divided = Object.entries(DIVIDED) as [keyof DividedSettings, string][];
  const tooFew = divided.filter(([key]) => config[key] < workers);
  const count = `SVC_WORKERS (${workers})`;
  return [
    ...(databaseUrl === undefined
      ? ['SVC_WORKERS: must be 1 without SVC_DATABASE_URL: the embedded database belongs to one process']
      : []),
    ...(throttleStore === 'database'
      ? []
      : [
          `SVC_THROTTLE_STORE: must be database with ${count}: counted in memory, each worker would let as many through`,
        ]),
    ...tooFew.map(([, name]) => `${name}: must be no less than ${count}, which share it`),
  ];
}

/** The share of one worker. Settings are for the whole instance, and the shares add up to them (D123). */
export function shareOf(config: DividedSettings, { number, of }: Seat): DividedSettings {
  const share = (total: number) => Math.floor(total / of) + (number <= total % of ? 1 : 0);
  return {
    databasePoolSize: share(config.databasePoolSize),
    maxConnections: share(config.maxConnections),
  };
}
