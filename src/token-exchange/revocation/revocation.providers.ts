// The providers of revocation.
import { purging } from '../../platform/jobs/purge.job.js';
import { PURGES } from '../retention/purges.js';
import { RevocationFollower } from './revocation.follower.js';
import { RevocationRepository } from './revocation.repository.js';
import { RevocationService } from './revocation.service.js';
import { Revocations } from './revocations.js';

/** The providers need `Database`, `AuditBus`, `Notifications`, `Leader`, `Clock` and `LOGGER`. */
export const REVOCATION_PROVIDERS = [
  Revocations,
  RevocationRepository,
  RevocationFollower,
  RevocationService,
  purging(PURGES.revocations),
];
