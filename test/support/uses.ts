// The statement that uses up tokens, as tests ask it without a service.
import { randomUUID } from 'node:crypto';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { AuditTrailRepository } from '../../src/audit/audit-trail.repository.js';
import { USER_TABLE } from '../../src/instance/token-exchange-settings.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { SILENT } from '../../src/platform/log/log.js';
import type { AuditTrail } from '../../src/token-exchange/audit/audit-trail.js';
import { AuditBus } from '../../src/token-exchange/audit/audit-trail.js';
import type { ExternalIdentity } from '../../src/token-exchange/host/users.js';
import type { LinkedUsers } from '../../src/token-exchange/identity/decide.js';
import { isTokenRefusal } from '../../src/token-exchange/refusals/oauth-refusal.js';
import { UseRepository } from '../../src/token-exchange/replay/use.repository.js';
import type { UserTable } from '../../src/token-exchange/settings/token-exchange.options.js';
import type { TokenUse } from '../../src/token-exchange/verify/external-claims.js';
import type { Tokens, VerifiedToken } from '../../src/token-exchange/verify/external-token.verifier.js';

/** @param userTable false for a host that does not name it @param trail the instance's own unless given */
export function usesOn(
  dataSource: DataSource,
  userTable: UserTable | false = USER_TABLE,
  trail?: AuditTrail,
): UseRepository {
  const database = new Database(dataSource);
  return new UseRepository(database, trail ?? new AuditTrailRepository(database), {
    userTable: userTable || undefined,
  });
}

export function auditBusOn(dataSource: DataSource): AuditBus {
  const database = new Database(dataSource);
  const trail = new AuditTrailRepository(database);
  return new AuditBus(trail, new Transactions(database), new EventEmitter2(), SILENT);
}

/** Builds a token from its content. In production only the verifier does. */
const tokenOf = ({ issuer, subject }: ExternalIdentity, use: TokenUse) =>
  ({
    claims: { iss: issuer, sub: subject, ...use },
    key: { kid: 'kid', policy: { issuer } },
  }) as VerifiedToken;

const NOBODY = { issuer: 'https://nobody.example', subject: 'nobody' };

function tokensOf([first, second]: readonly (readonly [ExternalIdentity, TokenUse])[]): Tokens {
  const [subject, actor] = [first, second].map((one) => one && tokenOf(...one));
  return { subject: subject!, actor };
}

/** Uses ids up, of a subject and of an actor. @returns whether all of them were new */
export async function areNew(uses: UseRepository, ids: readonly TokenUse[]): Promise<boolean> {
  try {
    await uses.use(tokensOf(ids.map((id) => [NOBODY, id])));
    return true;
  } catch (error) {
    if (isTokenRefusal(error) && error.reason === 'token_replayed') return false;
    throw error;
  }
}

/** Uses new ids up, and looks for the users of identities: of a subject, and of an actor. */
export function linkedTo(
  uses: UseRepository,
  ...identities: readonly ExternalIdentity[]
): Promise<LinkedUsers> {
  return uses.use(tokensOf(identities.map((identity) => [identity, { jti: randomUUID(), exp: 2e9 }])));
}
