// The providers of the package's sessions.
import type { Purge } from '../../platform/jobs/purge.job.js';
import { purgingBy } from '../../platform/jobs/purge.job.js';
import { BoundSessionService } from './bound-session.service.js';
import { SessionRepository } from './session.repository.js';
import { SessionService } from './session.service.js';
import { SignOutService } from './sign-out.service.js';

/** How long the row of an ended session stays, to tell why it ended. */
export const ENDED_ROWS_STAY_SECONDS = 300;

export const SESSION_PURGE: Purge = {
  name: 'session-purge',
  intervalSeconds: 120,
  batchSize: 1_000,
  tables: [{ table: 'token_exchange_session', time: 'expires_at', keptMs: ENDED_ROWS_STAY_SECONDS * 1_000 }],
};

/**
 * The providers need `SESSION_OPTIONS`, `DpopProofs`, `REVOCATION_PROVIDERS`, `UserDirectory`, `Database`, `AuditBus`, `Leader`,
 * `Clock` and `LOGGER`.
 */
export const SESSION_PROVIDERS = [
  SessionRepository,
  SessionService,
  BoundSessionService,
  SignOutService,
  purgingBy(SESSION_PURGE.name, [SessionService], (sessions: SessionService) => ({
    ...SESSION_PURGE,
    afterwards: () => sessions.endTooMany(),
  })),
];
