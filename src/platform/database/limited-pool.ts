// A pool of connections that limits how long a request may wait for one and hold it.
import type { ClientConfig, DatabaseError, PoolClient, PoolConfig } from 'pg';
import pg from 'pg';
import { keepsConnection } from './database-error.js';
import { DatabaseWaitError } from './unavailable.js';
import { afterWaiting } from './wait-limit.js';

type Release = PoolClient['release'];
type Taken = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

export class LimitedPool extends pg.Pool {
  /** @param waitMs for the turn and the use of a connection together */
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
      // It serves the next one. A statement that is sent so late would do something that no request waits for.
      if (performance.now() >= dueAtMs) {
        release();
        return taken(new DatabaseWaitError('pool_exhausted'), undefined, release);
      }
      limited(client).endAt(dueAtMs);
      // `query` closes a connection after any error, and a server at its limits would have to open them all anew.
      const giveBack: Release = (broken) => release(keepsConnection(broken) ? undefined : broken);
      client.release = giveBack;
      taken(undefined, client, giveBack);
    });
    return undefined;
  }
}

/** The pool makes no others. */
function limited(client: PoolClient): LimitedClient {
  return client as unknown as LimitedClient;
}

/** Of PostgreSQL's source, and so the same in every language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

type Told = (error: Error | undefined, answer: unknown) => void;

class LimitedClient extends pg.Client {
  private isInDoubt = false;
  /** Calls off the end that is due. */
  keep: () => void = () => undefined;

  constructor(config?: ClientConfig) {
    super(config);
    this.on('notice', ({ routine }: Pick<DatabaseError, 'routine'>) => {
      if (routine === WAIT_FOR_STANDBY) this.isInDoubt = true;
    });
  }

  /** While a statement is under way this closes at once; the pool sees it when the connection comes back. */
  endAt(dueAtMs: number): void {
    this.keep = afterWaiting(Math.max(0, dueAtMs - performance.now()), () => void this.end());
  }

  /** All forms of the driver's own. */
  override query(...question: unknown[]): never {
    const ask = super.query.bind(this) as (...question: unknown[]) => unknown;
    const told = question.at(-1);
    if (typeof told === 'function')
      question[question.length - 1] = (error: Error | undefined, answer: unknown) =>
        (told as Told)(error ?? this.takeDoubt(), answer);
    const answer = ask(...question);
    const checked = (value: unknown) => {
      const doubt = this.takeDoubt();
      if (doubt !== undefined) throw doubt;
      return value;
    };
    return (answer instanceof Promise ? answer.then(checked) : answer) as never;
  }

  /** PostgreSQL only warns of a commit that has stopped waiting for its standby. */
  private takeDoubt(): DatabaseWaitError | undefined {
    const { isInDoubt } = this;
    this.isInDoubt = false;
    return isInDoubt ? new DatabaseWaitError('not_replicated') : undefined;
  }
}
