// The migrations in the order in which they run.
import { TOKEN_EXCHANGE_MIGRATIONS } from '../../token-exchange/migrations/index.js';
import { Initial1790000000000 } from './1790000000000-initial.js';
import { JwksSnapshot1790000000001 } from './1790000000001-jwks-snapshot.js';
import { LeaderLease1790000000002 } from './1790000000002-leader-lease.js';
import { ThrottleCounter1790000000003 } from './1790000000003-throttle-counter.js';
import { PublicApi1790000000010 } from './1790000000010-public-api.js';
import { SessionOrigin1790000000020 } from './1790000000020-session-origin.js';
import { SessionFamily1790000000030 } from './1790000000030-session-family.js';
import { TokenExchangePrefix1790000000040 } from './1790000000040-token-exchange-prefix.js';
import { WorkflowLists1790000000060 } from './1790000000060-workflow-lists.js';
import { AuditRequest1790000000100 } from './1790000000100-audit-request.js';
import { AuditStreaming1790000000110 } from './1790000000110-audit-streaming.js';
import { Operators1790000000140 } from './1790000000140-operators.js';
import { AccessGeneration1790000000150 } from './1790000000150-access-generation.js';
import { NoLeaseView1790000000170 } from './1790000000170-no-lease-view.js';
import { EmailDomains1790000000200 } from './1790000000200-email-domains.js';
import { ClientRequestId1790000000210 } from './1790000000210-client-request-id.js';
import { ProjectSize1790000000220 } from './1790000000220-project-size.js';
import { UserVersion1790000000230 } from './1790000000230-user-version.js';

const [tokenExchange, revocation, storedEntries, leaderEpoch, sessionGeneration, noLease] =
  TOKEN_EXCHANGE_MIGRATIONS;

export const MIGRATIONS = [
  Initial1790000000000,
  JwksSnapshot1790000000001,
  LeaderLease1790000000002,
  ThrottleCounter1790000000003,
  PublicApi1790000000010,
  SessionOrigin1790000000020,
  SessionFamily1790000000030,
  TokenExchangePrefix1790000000040,
  tokenExchange,
  WorkflowLists1790000000060,
  revocation,
  storedEntries,
  AuditRequest1790000000100,
  AuditStreaming1790000000110,
  leaderEpoch,
  Operators1790000000140,
  AccessGeneration1790000000150,
  sessionGeneration,
  NoLeaseView1790000000170,
  noLease,
  EmailDomains1790000000200,
  ClientRequestId1790000000210,
  ProjectSize1790000000220,
  UserVersion1790000000230,
] as const;
