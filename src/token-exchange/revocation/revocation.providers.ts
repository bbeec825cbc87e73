// The providers of revocation.
import { purging } from '../../platform/jobs/purge.job.js';
import { RevocationFollower } from './revocation.follower.js';
import { RevocationRepository } from './revocation.repository.js';
import { RevocationService } from './revocation.service.js';
import { CLOCK_DIFFERENCE_MS, LOGOUT_KEPT_MS, Revocations } from './revocations.js';

/** The providers need `Database`, `AuditBus`, `Notifications`, `Leader`, `Clock` and `LOGGER`. */
export const REVOCATION_PROVIDERS = [
  Revocations,
  RevocationRepository,
  RevocationFollower,
  RevocationService,
  purging({
    name: 'revocation-purge',
    intervalSeconds: 120,
    batchSize: 1_000,
    tables: [
      { table: 'token_exchange_ended_token', time: 'expires_at', keptMs: CLOCK_DIFFERENCE_MS },
      { table: 'token_exchange_logout', time: 'received_at', keptMs: LOGOUT_KEPT_MS },
    ],
  }),
];
