// Deletes expired replay records, fast enough for any traffic, and reports the result.
import { Clock } from '../../platform/clock.js';
import type { Purge } from '../../platform/jobs/purge.job.js';
import { purgingBy } from '../../platform/jobs/purge.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { JtiRepository, RETENTION_MARGIN_SECONDS } from './jti.repository.js';

const NAME = 'jti-purge';

export const USED_IDS: Purge['tables'] = [
  { table: 'token_exchange_used_jti', time: 'expires_at', keptMs: RETENTION_MARGIN_SECONDS * 1_000 },
];

/**
 * @rule 2.6 A record is deleted after its token's expiry. See `RETENTION_MARGIN_SECONDS` in jti.repository.ts.
 * @rule 8.3 Expired replay records are purged at the configured interval.
 * @rule 8.4 One statement deletes at most the configured batch.
 */
export function usedIdPurge(
  { replayPurge }: Pick<TokenExchangeOptions, 'replayPurge'>,
  telemetry: ExchangeTelemetry,
  jtis: JtiRepository,
  clock: Clock,
  log: Log,
): Purge {
  telemetry.watchReplayRecords((atMost) => jtis.measure(clock.now(), atMost));
  return {
    name: NAME,
    tables: USED_IDS,
    ...replayPurge,
    onDeleted: (deleted) => {
      telemetry.countPurgedReplayRecords(deleted);
      if (deleted > 0) log.debug({ deleted }, 'expired replay records purged');
    },
    onRun: (outcome) => telemetry.countReplayPurge(outcome),
  };
}

export const USED_ID_PURGE = purgingBy(
  NAME,
  [TOKEN_EXCHANGE_OPTIONS, ExchangeTelemetry, JtiRepository, Clock, LOGGER],
  usedIdPurge,
);
