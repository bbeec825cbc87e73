// A pool of connections, as statements are sent to it, without the types of pg: hosts that check ours may have none of these.

/** A statement, prepared where it has a name. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

export interface Answer {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

/** A pool of the driver pg. */
export interface ConnectionPool {
  connect(): Promise<{
    query(statement: Statement): Promise<Answer>;
    /** A lost connection emits `error`, also while a statement runs. */
    on(event: 'error', listener: (error: Error) => void): unknown;
    off(event: 'error', listener: (error: Error) => void): unknown;
    /** @param destroy closes the connection */
    release(destroy?: boolean): void;
  }>;
}

/** Figures of a pool, for metrics. */
export interface PoolState {
  /** The largest number of connections. */
  readonly most: number;
  /** Open connections. */
  readonly open: number;
  /** Open connections that are not in use. */
  readonly idle: number;
  /** Requests that wait for a connection while none is idle. */
  readonly waiting: number;
}
