// What is said of tokens before they are used: for each reason of refusal, beside what the service then makes of them.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import type { Members } from '../../demo/partner.js';
import { explainedRequest } from '../../src/administration/explained-request.js';
import { AuditTrailReader } from '../../src/audit/audit-trail.reader.js';
import type { ExplanationRequest } from '../../src/token-exchange/explain/explanation-request.js';
import type { TokenExplanation } from '../../src/token-exchange/explain/token-explanation.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { IdentityLinkRepository } from '../../src/token-exchange/users/identity-link.repository.js';
import { StoredEntryFollower } from '../../src/token-exchange/trust/stored/stored-entry.follower.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import type { RejectionReason } from '../../src/token-exchange/refusals/token-refusals.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { TOKEN_CHECKS } from '../../src/token-exchange/verify/checks.js';
import { UserRepository } from '../../src/users/user.repository.js';
import { ATTACKS, Cast } from '../support/attacks.js';
import { census, eventsOf } from '../support/census.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { isAccepted } from '../support/entry-paths.js';
import { ASSERTION_REASONS } from '../support/id-jag-client.js';
import { explain } from '../support/explanations.js';
import { JwksServer } from '../support/jwks-server.js';
import { changeUser, createUser, linkedUser, storedUser } from '../support/local-users.js';
import { LOGOUT_PATH, logoutToken } from '../support/logout-tokens.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { link } from './support/admission.js';

/** A partner whose entry is stored, so that it can be changed while the service runs. */
class StoredPartner {
  readonly name = randomUUID();
  readonly partner: Partner;
  readonly email = `ann@${this.name}.example`;

  constructor(
    readonly service: TestService,
    issuer?: string,
  ) {
    this.partner = Partner.create({ issuer: issuer ?? `https://${this.name}.example`, audience: BASE_URL });
  }

  get entries(): StoredEntryService {
    return this.service.part(StoredEntryService);
  }

  /** @param policy members of the entry */
  trust(policy: Members = {}): Promise<unknown> {
    return this.told(this.entries.add(this.partner.staticEntry({ name: this.name, ...policy })));
  }

  suspend(): Promise<unknown> {
    return this.told(this.entries.suspend(this.name));
  }

  resume(): Promise<unknown> {
    return this.told(this.entries.resume(this.name));
  }

  token(claims: Members = {}, header: Members = {}): string {
    const { partner, email } = this;
    return partner.sign(partner.claims({ sub: 'ann', email, ...claims }), header);
  }

  /** Takes members of the policy away. */
  unset(...unset: string[]): Promise<unknown> {
    return this.told(this.entries.changePolicy(this.name, { set: {}, unset }));
  }

  set(set: Members): Promise<unknown> {
    return this.told(this.entries.changePolicy(this.name, { set, unset: [] }));
  }

  /** The service need not wait for the news. */
  private async told(change: Promise<unknown>): Promise<void> {
    await change;
    await this.service.part(StoredEntryFollower).followNews();
  }
}

/** A token that is refused, and what would have it accepted. */
interface Refused {
  readonly reason: RejectionReason;
  readonly request: Omit<Partial<ExplanationRequest>, 'token'> & { readonly token: string };
  /** Undefined where nothing of the instance's can mend it. */
  readonly mend?: () => Promise<unknown>;
}

type Make = (ann: StoredPartner, service: TestService) => Promise<Refused>;

/** SQLSTATE. */
const READ_ONLY_TRANSACTION = '25006';
const now = () => Math.floor(Date.now() / 1000);

/** The same token, until a member of its entry's policy is taken away. */
const untilUnset =
  (reason: RejectionReason, policy: Members, request: Partial<ExplanationRequest> = {}): Make =>
  async (ann) => {
    await ann.trust(policy);
    return {
      reason,
      request: { token: ann.token(), ...request },
      mend: () => ann.unset(...Object.keys(policy)),
    };
  };

/** A token with a fault of its own. */
const faulty =
  (
    reason: RejectionReason,
    make: (ann: StoredPartner) => string,
    request: Partial<ExplanationRequest> = {},
  ): Make =>
  async (ann) => {
    await ann.trust();
    return { reason, request: { token: make(ann), ...request } };
  };

/** A claim of projects that a wider entry would take. */
const untilListed =
  (reason: RejectionReason, project: string): Make =>
  async (ann) => {
    await ann.trust({ projects: { mayAssign: ['fern'], roles: ['project:viewer'] } });
    return {
      reason,
      request: { token: ann.token({ projects: [project] }) },
      mend: () => ann.set({ projects: { create: true } }),
    };
  };

const withClaims = (
  reason: RejectionReason,
  claims: () => Members,
  request: Partial<ExplanationRequest> = {},
) => faulty(reason, (ann) => ann.token(claims()), request);
const linkedAnn = async (ann: StoredPartner, role: 'global:member' | 'global:admin' | 'global:owner') => {
  const id = await createUser(ann.service, { email: ann.email, role });
  await link(ann.service, ann.partner.issuer, 'ann', id);
  return id;
};

/** For the checks of a token by itself see external-token.verifier.spec.ts. */
const REFUSALS: Readonly<Record<string, Make>> = {
  'an issuer that is added': async (ann) => ({
    reason: 'issuer_unknown',
    request: { token: ann.token() },
    mend: () => ann.trust(),
  }),
  'a kid that is added': async (ann) => {
    await ann.trust();
    const { issuer } = ann.partner;
    const other = new StoredPartner(ann.service, issuer);
    return { reason: 'kid_unknown', request: { token: other.token() }, mend: () => other.trust() };
  },
  'a suspended entry': async (ann) => {
    await ann.trust();
    await ann.suspend();
    return { reason: 'entry_suspended', request: { token: ann.token() }, mend: () => ann.resume() };
  },
  'act of six in both tokens': async (ann, service) => {
    await ann.trust();
    const actor = new StoredPartner(service);
    await actor.trust();
    const act = (depth: number): Members => ({
      sub: `a${depth}`,
      ...(depth > 1 ? { act: act(depth - 1) } : {}),
    });
    const actorToken = actor.token({ act: act(3) });
    return { reason: 'claims_invalid', request: { token: ann.token({ act: act(3) }), actorToken } };
  },
  'another audience': async (ann) => {
    await ann.trust({ expectedAudience: 'https://elsewhere.example' });
    const mend = () => ann.set({ expectedAudience: BASE_URL });
    return { reason: 'audience_mismatch', request: { token: ann.token() }, mend };
  },
  'a subject alone': untilUnset('actor_required', { requireActor: true }),
  'an actor that may_act does not name': async (ann, service) => {
    await ann.trust();
    const actor = new StoredPartner(service);
    await actor.trust();
    const token = ann.token({ may_act: { sub: 'somebody' } });
    return { reason: 'actor_not_allowed', request: { token, actorToken: actor.token() } };
  },
  'an actor of an entry for others': async (ann, service) => {
    await ann.trust();
    const actor = new StoredPartner(service);
    await actor.trust({ actFor: ['https://others.example'] });
    const request = { token: ann.token(), actorToken: actor.token() };
    return { reason: 'act_for_not_allowed', request, mend: () => actor.unset('actFor') };
  },
  'a page of another origin': async (ann) => {
    await ann.trust({ origins: ['https://product.example'] });
    const origin = 'https://other.example';
    const mend = () => ann.set({ origins: [origin] });
    return { reason: 'origin_not_allowed', request: { flow: 'embed', token: ann.token(), origin }, mend };
  },
  'a revoked key': async (ann, service) => {
    await ann.trust();
    const { issuer, kid } = ann.partner;
    await service.part(RevocationService).revoke({ issuer, kid }, randomUUID());
    const mend = () => service.part(RevocationService).restore({ issuer, kid }, randomUUID());
    return { reason: 'trust_revoked', request: { token: ann.token() }, mend };
  },
  'a user whom the provider has signed out': async (ann, service) => {
    await ann.trust();
    const token = ann.token();
    const logout = logoutToken(ann.partner, { sub: 'ann', iat: now() });
    expect((await service.post(LOGOUT_PATH, { logout_token: logout })).status).toBe(200);
    return { reason: 'signed_out_by_provider', request: { token } };
  },
  'three seconds left': withClaims('remaining_lifetime_too_short', () => ({
    iat: now() - 10,
    exp: now() + 4,
  })),
  'a scope that is not listed': untilUnset(
    'scope_not_allowed',
    { scopes: ['workflow:read'] },
    { scope: 'workflow:write' },
  ),
  'a resource that is not listed': untilUnset(
    'resource_not_allowed',
    { resources: ['https://a.example'] },
    { resource: ['https://b.example'] },
  ),
  'a used token': async (ann, service) => {
    await ann.trust();
    const token = ann.token();
    await service.accessToken({ subject_token: token });
    return { reason: 'token_replayed', request: { token } };
  },
  'one token as both': async (ann) => {
    await ann.trust();
    const token = ann.token();
    return { reason: 'token_replayed', request: { token, actorToken: token } };
  },
  'no e-mail address': withClaims('email_missing', () => ({ email: undefined })),
  'an address that nobody vouches for': untilUnset('email_not_verified', { requireVerifiedEmail: true }),
  'an address of another domain': untilUnset('email_domain_not_allowed', { emailDomains: ['b.example'] }),
  'a user who is not to be linked': async (ann) => {
    await createUser(ann.service, { email: ann.email });
    return untilUnset('linking_not_allowed', { linkExistingUsers: false })(ann, ann.service);
  },
  'an administrator who is not to be linked': async (ann) => {
    await createUser(ann.service, { email: ann.email, role: 'global:admin' });
    await ann.trust();
    const mend = () => ann.set({ linkPrivileged: true });
    return { reason: 'privileged_linking_not_allowed', request: { token: ann.token() }, mend };
  },
  'a user who is not to be made': untilUnset('provisioning_not_allowed', { provisionUsers: false }),
  'a role that is not allowed': async (ann) => {
    await ann.trust({ allowedRoles: ['global:member'] });
    const token = ann.token({ role: 'global:admin' });
    return { reason: 'role_not_allowed', request: { token }, mend: () => ann.unset('allowedRoles') };
  },
  'a role that there is not': withClaims('role_not_recognized', () => ({ role: 'global:king' })),
  'the role of the owner': withClaims('role_not_assignable', () => ({ role: 'global:owner' })),
  'a project that is not listed': untilListed('project_not_allowed', 'acme:project:viewer'),
  'a role in a project that is not listed': untilListed('project_role_not_allowed', 'fern:project:admin'),
  'a project that there is not': untilListed('project_unknown', 'fern:project:viewer'),
  'a stored role above the ceiling': async (ann) => {
    await linkedAnn(ann, 'global:admin');
    await ann.trust({ roleCeiling: true, allowedRoles: ['global:member'] });
    const mend = () => ann.unset('roleCeiling');
    return { reason: 'stored_role_not_allowed', request: { token: ann.token() }, mend };
  },
  'the owner': async (ann) => {
    await linkedAnn(ann, 'global:owner');
    await ann.trust();
    const mend = () => ann.set({ excludeOwner: false });
    return { reason: 'owner_excluded', request: { token: ann.token() }, mend };
  },
  'a disabled user': async (ann, service) => {
    const id = await linkedAnn(ann, 'global:member');
    await changeUser(service, id, { enabled: false });
    await ann.trust();
    const mend = () => changeUser(service, id, { enabled: true });
    return { reason: 'user_disabled', request: { token: ann.token() }, mend };
  },
};

/** Sends what was explained. */
function send(
  service: TestService,
  { flow, token, origin, ...request }: ExplanationRequest,
): Promise<Response> {
  const { actorToken, scope, resource } = request;
  if (flow === 'embed') return service.embed({ token }, origin === undefined ? {} : { origin });
  const asked = { scope, resource: resource?.join(' ') };
  return service.exchange({ subject_token: token, actor_token: actorToken, ...asked });
}

async function reasonOf(service: TestService, answer: Response): Promise<unknown> {
  if (isAccepted(answer)) return undefined;
  const [event] = await eventsOf(service, answer);
  return event?.payload['reason'];
}

/** All rows of all tables, and where each sequence is. The lease of the leader goes on by itself. */
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

/** The states of checks, each once for as long as it lasts: passed, then one failed, then not reached. */
function course({ checks }: TokenExplanation): string[] {
  return checks.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1]);
}

describeOnEachDatabase('[D80] an explanation', (database) => {
  const service = TestService.forBlock(database);

  const told = new Set<string>();

  it.each(Object.entries(REFUSALS))('[D80] says why: %s', async (_, make) => {
    const { reason, request, mend } = await make(new StoredPartner(service), service);
    const asked = { flow: 'exchange' as const, ...request };
    const before = await everything(service);
    const explained = await explain(service, asked);
    expect(await everything(service)).toEqual(before);
    told.add(reason);
    const { cause, remedy } = TOKEN_REFUSALS[reason];
    expect(explained).toMatchObject({ outcome: 'refused', refusal: { reason, cause, remedy }, issued: null });
    const failed = explained.checks.filter(({ state }) => state === 'failed');
    expect(failed).toMatchObject([{ check: explained.refusal?.check }]);
    const [, , ...rest] = course(explained);
    // After a suspended entry or another audience the claims are still checked.
    expect(['not-reached', 'passed, not-reached', '']).toContain(rest.join(', '));
    const text = JSON.stringify(explained);
    for (const secret of [asked.token, asked.actorToken, 'ann@'])
      if (secret) expect(text).not.toContain(secret);
    await mend?.();
    const answer = await send(service, asked);
    expect(await reasonOf(service, answer)).toBe(mend === undefined ? reason : undefined);
    if (mend !== undefined) return;
    const requestId = answer.headers.get('x-request-id') ?? '';
    const events = await service.part(AuditTrailReader).ofRequest(requestId);
    expect(explainedRequest(requestId, events)).toMatchObject({
      requestId,
      events: [{ reason, cause, remedy }],
    });
  });

  it('[D80] has reported of every reason there is', () => {
    const ofTokens = [...TOKEN_CHECKS.embed.map(({ reason }) => reason), 'claims_not_storable'];
    // An explanation has no session that a token might belong to.
    const all = new Set([...told, ...ofTokens, 'session_of_another_user', ...ASSERTION_REASONS]);
    expect([...all].sort()).toEqual(Object.keys(TOKEN_REFUSALS).sort());
  });

  it('[D80] says whom a good token would find, and what it would change and get; and it still does', async () => {
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
    '[D80] has its checks in the order of the refusals: %s',
    async (flow) => {
      const ann = new StoredPartner(service);
      await ann.trust();
      const { checks } = await explain(service, { flow, token: ann.token() });
      const made = new Set(checks.map(({ check }) => check));
      const inOrder = new Set(Object.values(TOKEN_REFUSALS).map(({ check }) => check));
      expect([...made]).toEqual(['endpoint', ...[...inOrder].filter((check) => made.has(check))]);
      const ofUsers = ['e-mail', 'admission', 'user', 'role', 'projects'];
      expect([...made].slice(-ofUsers.length)).toEqual(ofUsers);
    },
  );

  it('[D80] the actor may be a user whom the subject provisioned', async () => {
    const one = new StoredPartner(service);
    const other = new StoredPartner(service);
    await one.trust();
    await other.trust({ linkPrivileged: true, linkExistingUsers: false });
    const [email, names] = [one.email, { given_name: undefined, family_name: undefined }];
    const pairs = [
      [
        one.token({ ...names, role: 'global:admin' }),
        other.token({ ...names, email, role: 'global:member' }),
      ],
      [other.token({ ...names, email }), one.token(names)],
    ] as const;
    for (const [token, actorToken] of pairs) {
      const request = { flow: 'exchange' as const, token, actorToken };
      const { refusal } = await explain(service, request);
      expect(refusal?.reason).toBe(await reasonOf(service, await send(service, request)));
    }
    await other.unset('linkExistingUsers');
    const request = {
      flow: 'exchange' as const,
      token: one.token(names),
      actorToken: other.token({ ...names, email }),
    };
    const { outcome, tokens } = await explain(service, request);
    expect(outcome).toBe('accepted');
    expect(isAccepted(await send(service, request))).toBe(true);
    const [subject, actor] = [one, other].map(({ partner }) => linkedUser(service, partner.issuer, 'ann'));
    expect((await subject)?.role).toBe(tokens[0]?.user?.roleAfter);
    expect((await actor)?.role).toBe(tokens[1]?.user?.roleAfter);
  });

  it('[D80] nothing could be written or locked', async () => {
    const transactions = service.part(Transactions);
    const id = await createUser(service, { email: 'read-only@instance.example' });
    const before = await everything(service);
    const link = transactions.read((transaction) =>
      service.part(IdentityLinkRepository).insert(transaction, { issuer: 'i', subject: 's' }, id),
    );
    await expect(link).rejects.toMatchObject({ driverError: { code: READ_ONLY_TRANSACTION } });
    const lock = transactions.read((transaction) => service.part(UserRepository).lock(id, transaction));
    await expect(lock).rejects.toMatchObject({ driverError: { code: READ_ONLY_TRANSACTION } });
    expect(await everything(service)).toEqual(before);
  });

  it('[D81] times are checked as of another moment, if asked', async () => {
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
});

describeOnAnyDatabase('[D80] what is explained and what is done agree', (database) => {
  const cast = new Cast();
  const service = TestService.forBlock(database, { trustedKeys: cast.trustedKeys });

  const ofEachReason = ATTACKS.filter(
    ({ reason }, place) => ATTACKS.findIndex((attack) => attack.reason === reason) === place,
  );

  it.each(ofEachReason)('$name', async ({ make, reason, flow: only }) => {
    for (const flow of ['embed', 'exchange'] as const) {
      if (only !== undefined && only !== flow) continue;
      const request = { flow, token: make(cast) };
      const before = await census(service);
      const { refusal, checks } = await explain(service, request);
      expect(await census(service)).toEqual(before);
      expect(refusal?.reason).toBe(reason);
      expect(checks.find(({ state }) => state === 'failed')).toMatchObject({ check: refusal?.check });
      expect(await reasonOf(service, await send(service, request))).toBe(refusal?.reason);
    }
  });
});

describeOnEachDatabase('[D80] an explanation of fetched keys', (database) => {
  const partner = Partner.create({ issuer: 'https://fetched.example', audience: BASE_URL });
  const keySet = JwksServer.forBlock();
  let service: TestService;

  beforeAll(async () => {
    keySet.publish(partner.jwks());
    const entry = { type: 'jwks', url: keySet.url, issuer: partner.issuer, expectedAudience: BASE_URL };
    const environment = { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' };
    service = await TestService.start(database, { trustedKeys: [entry], environment });
    await until('the keys are stored', 5_000, async () => {
      const rows = await service.rows('SELECT 1 FROM token_exchange_jwks_snapshot WHERE key_set IS NOT NULL');
      return rows.length > 0;
    });
  });
  afterAll(() => service?.stop());

  it('[D80] asks no server for keys, and takes nothing of what unknown kids may cause', async () => {
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
    // What it may cause is there to be caused.
    await service.exchange({ subject_token: rotated });
    expect(keySet.requestCount).toBe(requestCount + 1);
  });
});
