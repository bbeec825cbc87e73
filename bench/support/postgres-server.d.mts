// The types of postgres-server.mjs, for the tests.

type Settings = Readonly<Record<string, string>>;

export const TEST_SETTINGS: Settings;

export const STANDBY_NAME: string;

export class PostgresMissingError extends Error {}

export class PostgresServer {
  static start(freePort: () => Promise<number>, settings?: Settings): Promise<PostgresServer>;
  static startStandby(
    primary: PostgresServer,
    freePort: () => Promise<number>,
    settings?: Settings,
  ): Promise<PostgresServer>;
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly processId: number;
  readonly isRunning: boolean;
  urlOf(database: string): string;
  query<Row>(database: string, text: string, values?: unknown[]): Promise<Row[]>;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export function findBinaries(environment?: NodeJS.ProcessEnv): string;
