// Which paths are asked every few seconds by programs.

/** A log line or a span for each request would bury the others. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/healthz/readiness', '/metrics']);
