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

/** For background work, without the limits of requests: a pool of the driver pg. */
export interface BackgroundPool {
  connect(): Promise<{
    query(statement: Statement): Promise<Answer>;
    /** @param destroy closes the connection */
    release(destroy?: boolean): void;
  }>;
}
