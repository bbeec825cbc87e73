// The providers of the package's sessions.
import { purgingBy } from '../../platform/jobs/purge.job.js';
import { PURGES } from '../retention/purges.js';
import { BoundSessionService } from './bound-session.service.js';
import { SessionRepository } from './session.repository.js';
import { SessionService } from './session.service.js';
import { SignOutService } from './sign-out.service.js';

/** The providers need `SESSION_OPTIONS`, `DpopProofs`, `Revocations` with the rest of its room, `UserDirectory`, `Database`,
 * `AuditBus`, `Leader`, `Clock` and `LOGGER`. */
export const SESSION_PROVIDERS = [
  SessionRepository,
  SessionService,
  BoundSessionService,
  SignOutService,
  purgingBy(PURGES.sessions.name, [SessionService], (sessions: SessionService) => ({
    ...PURGES.sessions,
    afterwards: () => sessions.endTooMany(),
  })),
];
