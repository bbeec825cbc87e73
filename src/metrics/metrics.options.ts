// Where metrics are served.

/** An address to listen on. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}
