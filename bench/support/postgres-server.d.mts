// The types of postgres-server.mjs, for the tests.

type Settings = Readonly<Record<string, string>>;

export const TEST_SETTINGS: Settings;

export class PostgresMissingError extends Error {}

export class PostgresServer {
  static start(freePort: () => Promise<number>, settings?: Settings): Promise<PostgresServer>;
  readonly url: string;
  readonly folder: string;
  readonly processId: number;
  stop(): Promise<void>;
}

export function findBinaries(environment?: NodeJS.ProcessEnv): string;
