// Explanations of unused tokens, compared with the service's later answers. refusals.spec.ts covers each refusal reason.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import type {
  ExplanationRequest,
  TokenExplanation,
} from '../../src/token-exchange/explain/token-explanation.js';
import { IdentityLinkRepository } from '../../src/token-exchange/identity/identity-link.repository.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import { StoredEntryFollower } from '../../src/token-exchange/trust/stored/stored-entry.follower.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { UserRepository } from '../../src/users/user.repository.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { DpopClient } from '../support/dpop-client.js';
import { isAccepted } from '../support/entry-paths.js';
import { explain } from '../support/explanations.js';
import { JwksServer } from '../support/jwks-server.js';
import { createUser, linkedUser, storedUser } from '../support/local-users.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

/** A partner whose entry is stored. */
class StoredPartner {
  readonly name = randomUUID();
  readonly partner: Partner;
  readonly email = `ann@${this.name}.example`;

  constructor(readonly service: TestService) {
    this.partner = Partner.create({ issuer: `https://${this.name}.example`, audience: BASE_URL });
  }

  /**
   * Stores the entry, and makes the service read it at once.
   * @param policy properties of the entry
   */
  async trust(policy: Members = {}): Promise<void> {
    const entry = this.partner.staticEntry({ name: this.name, ...policy });
    await this.service.part(StoredEntryService).add(entry);
    await this.service.part(StoredEntryFollower).followNews();
  }

  token(claims: Members = {}): string {
    const { partner, email } = this;
    return partner.sign(partner.claims({ sub: 'ann', email, ...claims }));
  }
}

/** SQLSTATE. */
const READ_ONLY_TRANSACTION = '25006';
const now = () => Math.floor(Date.now() / 1000);

/** Sends the explained request. */
function send(
  service: TestService,
  { flow, token, origin, ...request }: ExplanationRequest,
): Promise<Response> {
  const { actorToken, scope, resource } = request;
  if (flow === 'embed') return service.embed({ token }, origin === undefined ? {} : { origin });
  const asked = { scope, resource: resource?.join(' ') };
  return service.exchange({ subject_token: token, actor_token: actorToken, ...asked });
}

/** All rows of all tables, and the value of each sequence. The leader's lease changes by itself and is left out. */
async function everything(service: TestService): Promise<unknown> {
  const tables = await service.rows<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
  );
  const digests = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, md5(coalesce(string_agg(r::text, ' ' ORDER BY r::text), '')) AS rows FROM ${name} r`,
  );
  return [
    await service.rows(`${digests.join(' UNION ALL ')} ORDER BY name`),
    await service.rows('SELECT sequencename, last_value FROM pg_sequences ORDER BY 1'),
  ];
}

/** The states of the checks in order, without repetitions: passed, then failed, then not reached. */
function course({ checks }: TokenExplanation): string[] {
  return checks.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1]);
}

describeOnEachDatabase('[D80] an explanation', (database) => {
  const service = TestService.forBlock(database);

  it('[D80] of a valid token reports its user, changes and result, which the later exchange has', async () => {
    const ann = new StoredPartner(service);
    await ann.trust({ scopes: ['workflow:read', 'workflow:write'], allowedRoles: ['global:admin'] });
    const first = ann.token({ given_name: 'Ann', family_name: undefined, exp: now() + 300 });
    const asked = { flow: 'exchange' as const, token: first, scope: 'workflow:read' };
    const before = await everything(service);
    const made = await explain(service, asked);
    expect(await everything(service)).toEqual(before);
    expect(made).toMatchObject({
      outcome: 'accepted',
      refusal: null,
      issued: { kind: 'access-token', scopes: ['workflow:read'], audience: null, rights: 'actor' },
    });
    expect(course(made)).toEqual(['passed']);
    expect(made.tokens).toMatchObject([
      {
        party: 'subject',
        content: { issuer: ann.partner.issuer, kid: ann.partner.kid, algorithm: 'ES256', subject: 'a***' },
        entry: { from: 'command', index: null, label: `stored:${ann.name}`, type: 'static' },
        user: {
          id: null,
          by: 'provisioning',
          roleBefore: null,
          roleAfter: 'global:member',
          changedNames: ['givenName'],
        },
      },
    ]);
    const answer = await send(service, asked);
    const issued = (await answer.json()) as { expires_in: number; scope: string };
    expect(issued.scope).toBe('workflow:read');
    expect(
      Math.abs(issued.expires_in - (made.issued as { lifetimeSeconds: number }).lifetimeSeconds),
    ).toBeLessThan(3);

    const user = await linkedUser(service, ann.partner.issuer, 'ann');
    const promoted = ann.token({ given_name: 'Anna', family_name: 'Lee', role: 'global:admin' });
    const known = await explain(service, { flow: 'embed', token: promoted });
    expect([known.outcome, known.issued]).toEqual(['accepted', { kind: 'session', lifetimeSeconds: 3600 }]);
    expect(known.tokens[0]?.user).toEqual({
      ...{ id: user?.id, by: 'link', roleBefore: 'global:member', roleAfter: 'global:admin' },
      ...{ ignoresRoleClaim: false, changedNames: ['givenName', 'familyName'], projects: [] },
    });
    await service.sessionCookie(promoted);
    expect(await storedUser(service, user?.id ?? '')).toMatchObject({
      givenName: 'Anna',
      role: 'global:admin',
    });

    const other = new StoredPartner(service);
    await other.trust({ linkPrivileged: true });
    const linking = other.token({
      email: ann.email,
      role: 'global:king',
      given_name: 'Anna',
      family_name: 'Lee',
    });
    expect((await explain(service, { flow: 'exchange', token: linking })).tokens[0]?.user).toEqual({
      ...{ id: user?.id, by: 'email', roleBefore: 'global:admin', roleAfter: 'global:admin' },
      ...{ ignoresRoleClaim: true, changedNames: [], projects: [] },
    });
    await service.accessToken({ subject_token: linking });
  });

  it.each(['embed', 'exchange'] as const)(
    '[D80] contains the checks in the order of the refusals: %s',
    async (flow) => {
      const ann = new StoredPartner(service);
      await ann.trust();
      const { checks } = await explain(service, { flow, token: ann.token() });
      const made = new Set(checks.map(({ check }) => check));
      const inOrder = new Set(Object.values(TOKEN_REFUSALS).map(({ check }) => check));
      expect([...made]).toEqual(['endpoint', ...[...inOrder].filter((check) => made.has(check))]);
    },
  );

  it('[D80] decides subject and actor each by the stored user, and says so in a note', async () => {
    const one = new StoredPartner(service);
    const other = new StoredPartner(service);
    await one.trust();
    await other.trust({ linkPrivileged: true, provisionUsers: false });
    const request = {
      flow: 'exchange' as const,
      token: one.token(),
      actorToken: other.token({ email: one.email }),
    };
    const { refusal, notes } = await explain(service, request);
    expect(refusal).toMatchObject({ reason: 'provisioning_not_allowed', party: 'actor' });
    expect(notes).toEqual([expect.stringContaining('Where both tokens are of one user')]);
    await service.accessToken({ subject_token: one.token() });
    const { outcome, tokens } = await explain(service, request);
    expect([outcome, tokens[0]?.user?.id]).toEqual(['accepted', tokens[1]?.user?.id]);
    expect(isAccepted(await send(service, request))).toBe(true);
  });

  it('[D80] is made in a transaction that cannot write or lock', async () => {
    const transactions = service.part(Transactions);
    const id = await createUser(service, { email: 'read-only@instance.example' });
    const before = await everything(service);
    const link = transactions.read((transaction) =>
      service
        .part(IdentityLinkRepository)
        .insert(
          transaction,
          { issuer: 'i', subject: 's' },
          { userId: id, byAdministrator: false, isProvisioned: false },
        ),
    );
    await expect(link).rejects.toMatchObject({ code: READ_ONLY_TRANSACTION });
    const lock = transactions.read((transaction) => service.part(UserRepository).lock(id, transaction));
    await expect(lock).rejects.toMatchObject({ code: READ_ONLY_TRANSACTION });
    expect(await everything(service)).toEqual(before);
  });

  it('[D80] checks times as of another moment if requested', async () => {
    const ann = new StoredPartner(service);
    await ann.trust();
    const token = ann.token({ iat: now() - 3600, exp: now() - 3550 });
    const late = await explain(service, { flow: 'embed', token });
    expect([late.refusal?.reason, late.notes]).toEqual([
      'token_expired',
      [expect.stringContaining('as of a moment')],
    ]);
    const at = new Date((now() - 3590) * 1000);
    const then = await explain(service, { flow: 'embed', token, at });
    expect([then.outcome, then.asOf, then.notes]).toEqual(['accepted', at.toISOString(), []]);
  });

  it('[D80][D127] reports what a key-bound token needs, and recognises a session token', async () => {
    const ann = new StoredPartner(service);
    await ann.trust();
    const client = new DpopClient();
    const told = async (request: ExplanationRequest) => {
      const { refusal, notes } = await explain(service, request);
      return [refusal?.reason, ...notes];
    };
    const token = ann.token({ cnf: { jkt: client.thumbprint } });
    const bound = `The subject token is bound to the key ${client.thumbprint}: `;
    expect(await told({ flow: 'embed', token })).toEqual([
      'confirmation_not_supported',
      `${bound}only a login of the frame accepts it, with a DPoP proof of this key.`,
    ]);
    expect(await told({ flow: 'exchange', token })).toEqual([
      'dpop_proof_missing',
      `${bound}the request needs a DPoP proof of this key.`,
    ]);
    expect(await told({ flow: 'exchange', token, proof: client.proof() })).toEqual([
      undefined,
      'The nonce of the proof is not checked.',
    ]);
    expect(await told({ flow: 'embed', token: `svs_${'a'.repeat(43)}` })).toEqual([
      'token_malformed',
      expect.stringMatching(/^This is the session token of a frame: .* DPoP proof/),
    ]);
  });
});

describeOnEachDatabase('[D80] an explanation of fetched keys', (database) => {
  const partner = Partner.create({ issuer: 'https://fetched.example', audience: BASE_URL });
  const keySet = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    keySet.publish(partner.jwks());
    const entry = { type: 'jwks', url: keySet.url, issuer: partner.issuer, expectedAudience: BASE_URL };
    return { trustedKeys: [entry], environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' } };
  });

  beforeAll(async () => {
    await until('the keys are stored', 60_000, async () => {
      const rows = await service.rows('SELECT 1 FROM token_exchange_jwks_snapshot WHERE key_set IS NOT NULL');
      return rows.length > 0;
    });
  });

  it('[D80] fetches no keys, and does not use up the fetch that an unknown kid may cause', async () => {
    const { requestCount, connectionCount } = keySet;
    const before = await everything(service);
    const good = await explain(service, { flow: 'exchange', token: partner.sign() });
    expect([good.outcome, good.tokens[0]?.entry]).toEqual([
      'accepted',
      expect.objectContaining({ from: 'configuration', index: 0, type: 'jwks' }),
    ]);
    const rotated = partner.sign(partner.claims(), { kid: 'rotated' });
    const unknown = await explain(service, { flow: 'exchange', token: rotated });
    expect(unknown.refusal).toMatchObject({ reason: 'kid_unknown', check: 'key' });
    expect(unknown.checks.find(({ state }) => state === 'failed')).toMatchObject({
      about: 'kid',
      expected: partner.kid,
      found: 'rotated',
    });
    expect([keySet.requestCount, keySet.connectionCount]).toEqual([requestCount, connectionCount]);
    expect(await everything(service)).toEqual(before);
    // The endpoint has a key for the kid, so a fetch would find it.
    await service.exchange({ subject_token: rotated });
    expect(keySet.requestCount).toBe(requestCount + 1);
  });
});
