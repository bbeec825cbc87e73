// The pool of the driver, which statements past TypeORM share with it, and one that limits how long a request waits for it. Its types are pg's: hosts
// that check ours may have none of these, and reach limited-driver.ts alone.
import type { ClientBase, ClientConfig, DatabaseError, Pool, PoolClient, PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { DatabaseWaitError, keepsConnection } from './database-error.js';
import { afterWaiting } from './wait-limit.js';

/** TypeORM's own types do not show it. */
export function driverPool({ driver }: DataSource): Pool {
  return (driver as unknown as { master: Pool }).master;
}

/** How a connection beside the pool is made. Holds a secret. */
export interface ConnectionBeside extends ClientConfig {
  /** Sets up the session of a new connection, as the pool does. */
  readonly onConnect?: (client: ClientBase) => void | Promise<void>;
}

/** How the pool connects, for connections beside it. */
export function connectionOf(dataSource: DataSource): ConnectionBeside {
  const { options } = driverPool(dataSource);
  // The pool hides its password from those who list its options, a copy of all others among them.
  return { ...options, password: options.password };
}

/** Figures of the connection pool for metrics. */
export interface PoolState {
  /** Most connections that there may be. */
  readonly most: number;
  /** Connections that there are. */
  readonly open: number;
  /** Those not in use. */
  readonly idle: number;
  /** Requests that wait for a connection while none is idle. */
  readonly waiting: number;
}

export function poolState(dataSource: DataSource): PoolState {
  const { options, totalCount, idleCount, waitingCount } = driverPool(dataSource);
  // The driver queues each request, also one that gets an idle connection as soon as this turn ends.
  const waiting = Math.max(0, waitingCount - idleCount);
  return { most: options.max ?? 0, open: totalCount, idle: idleCount, waiting };
}

type Taken = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: PoolClient['release'],
) => void;

/**
 * Limits how long a request waits for a connection and holds it, together. A connection whose time is over is closed, so that a late
 * answer is not taken for that to a later question. A commit that was not replicated as configured fails: a server that takes over may
 * lack it.
 */
export class LimitedPool extends pg.Pool {
  constructor(
    config: PoolConfig,
    private readonly waitMs: number,
  ) {
    super({ ...config, connectionTimeoutMillis: waitMs, Client: LimitedClient });
    this.on('release', (_error, client) => limited(client).keep());
  }

  override connect(): Promise<PoolClient>;
  override connect(taken: Taken): void;
  override connect(taken?: Taken): Promise<PoolClient> | undefined {
    if (taken === undefined)
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (client === undefined ? reject(error!) : resolve(client))),
      );
    const dueAtMs = performance.now() + this.waitMs;
    super.connect((error, client, release) => {
      if (client === undefined) return taken(error, client, release);
      limited(client).endAt(dueAtMs);
      if (performance.now() < dueAtMs) return taken(undefined, client, release);
      // It serves the next one. A statement that is sent so late would do something that no request waits for.
      release();
      return taken(new DatabaseWaitError('pool_exhausted'), undefined, release);
    });
    return undefined;
  }

  /**
   * The driver's own closes the connection after any error, and a server at its limits would have to open them all anew. With a
   * callback, as none of ours is, it is the driver's own.
   */
  override query(...question: unknown[]): never {
    const hasCallback = typeof question.at(-1) === 'function';
    return (hasCallback ? super.query(...(question as [string])) : this.ask(question)) as never;
  }

  private async ask(question: unknown[]): Promise<unknown> {
    const client = await this.connect();
    try {
      const answer: unknown = await client.query(...(question as [string]));
      client.release();
      return answer;
    } catch (error) {
      client.release(!keepsConnection(error));
      throw error;
    }
  }
}

/** The pool makes no others. */
function limited(client: ClientBase): LimitedClient {
  return client as LimitedClient;
}

/** Of PostgreSQL's source, and so the same in every language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

class LimitedClient extends pg.Client {
  private isInDoubt = false;
  /** Calls off the end that is due. */
  keep: () => void = () => undefined;

  constructor(config?: ClientConfig) {
    super(config);
    // A lost connection fails the statement that runs; without a listener it would end the process.
    this.on('error', () => undefined);
    this.on('notice', ({ routine }: Pick<DatabaseError, 'routine'>) => {
      if (routine === WAIT_FOR_STANDBY) this.isInDoubt = true;
    });
  }

  /** While a statement is under way this closes at once; the pool sees it when the connection comes back. */
  endAt(dueAtMs: number): void {
    this.keep = afterWaiting(Math.max(0, dueAtMs - performance.now()), () => void this.end());
  }

  /** All forms of the driver's own; with a promise, as all of ours are, it tells of a commit in doubt. */
  override query(...question: unknown[]): never {
    const answer: unknown = super.query(...(question as [string]));
    return (
      answer instanceof Promise ? answer.then((value: unknown) => this.replicated(value)) : answer
    ) as never;
  }

  /** PostgreSQL only warns of a commit that has stopped waiting for its standby. */
  private replicated<Answer>(answer: Answer): Answer {
    if (!this.isInDoubt) return answer;
    this.isInDoubt = false;
    throw new DatabaseWaitError('not_replicated');
  }
}
