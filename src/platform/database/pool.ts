// A connection pool as the statements use it, without pg's types: hosts that type-check our files may lack
// them.

/** A statement; prepared if it has a name. */
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
    /** A lost connection emits `error`, even during a statement. */
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
