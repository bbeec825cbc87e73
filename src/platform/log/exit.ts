// Ends the process without losing a line of the log.
import type { Logger } from 'pino';

/** So long a reader of the log is waited for. */
const LONGEST_FLUSH_MS = 5_000;

/**
 * Waits for the log lines that are being written: the exit itself writes only those not begun. It would wait for ever for a
 * reader that does not read, so then the process is killed.
 */
export function exitAfterLog(code: number, logger: Logger): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LONGEST_FLUSH_MS);
  logger.flush(() => process.exit(code));
}
