// What an administrator's own trusted key entry cannot do: act as the owner or as another administrator, now or later.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { StoredEntryFollower } from '../../src/token-exchange/trust/stored/stored-entry.follower.js';
import { ADMIN_ROLE, MEMBER_ROLE } from '../../src/users/role.js';
import { reasonOf } from '../support/audit.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { createUser, linkedUser, storedUser } from '../support/local-users.js';
import { bearerStatus, cookieOf, meStatus } from '../support/logins.js';
import type { OperatorBrowser } from '../support/operators.js';
import { createOperator, OPERATOR_ENVIRONMENT, signedIn } from '../support/operators.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const REFUSED = 'privileged_user_not_allowed';
const product = Partner.create({ issuer: 'https://product.example', audience: BASE_URL });

/** An administrator, with the browser at the operator's page and an access token by the configured entry. */
class Administrator {
  browser!: OperatorBrowser;

  private constructor(
    private readonly service: TestService,
    readonly id: string,
    readonly email: string,
    private readonly address: string,
  ) {}

  static async of(service: TestService, name: string, address: string): Promise<Administrator> {
    const email = `${name}@example.com`;
    const id = await createOperator(service, email);
    const administrator = new Administrator(service, id, email, address);
    await administrator.signIn();
    return administrator;
  }

  async signIn(): Promise<void> {
    this.browser = await signedIn(this.service, this.email, this.address);
  }

  token(claims: Members = {}): string {
    return product.sign(product.claims({ sub: this.id, email: this.email, ...claims }));
  }

  async give(userId: string, change: object): Promise<void> {
    const accessToken = await this.service.accessToken({ subject_token: this.token() });
    const answer = await this.service.fetch(`/api/v1/users/${userId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(change),
    });
    expect(answer.status).toBe(200);
  }

  /** Adds an entry with a key of the administrator's own. */
  async adds(own: Partner, members: object = {}): Promise<void> {
    const name = new URL(own.issuer).hostname;
    const answer = await this.browser.send('POST', 'entries', {
      entry: { ...own.staticEntry(), name, ...members },
    });
    expect([answer.status, await answer.json()]).toMatchObject([201, {}]);
    await this.service.part(StoredEntryFollower).followNews();
  }
}

function ownKey(): Partner {
  return Partner.create({ issuer: `https://${randomUUID()}.example`, audience: BASE_URL });
}

describeOnEachDatabase("an administrator's own entry", (database) => {
  const service = TestService.forBlock(database, {
    environment: OPERATOR_ENVIRONMENT,
    trustedKeys: [product.staticEntry()],
  });
  let attacker: Administrator;
  let victim: Administrator;
  let owner: OperatorBrowser;

  beforeAll(async () => {
    await createOperator(service, 'owner@example.com', 'global:owner');
    owner = await signedIn(service, 'owner@example.com');
    attacker = await Administrator.of(service, 'attacker', '192.0.2.2');
    victim = await Administrator.of(service, 'victim', '192.0.2.3');
  });

  const outcomeOf = async (answer: Response) =>
    answer.status < 400 ? answer.status : reasonOf(service, answer);
  const exchanged = async (own: Partner, claims: Members) =>
    outcomeOf(await service.exchange({ subject_token: own.sign(own.claims(claims)) }));
  const loggedIn = async (own: Partner, claims: Members) =>
    outcomeOf(await service.embed({ token: own.sign(own.claims(claims)) }));

  it.each([
    ['without a ceiling', {}],
    ['with a ceiling of false', { roleCeiling: false }],
  ])(
    '[D144] %s signs in as no other administrator, even one whom it signed in as a member',
    async (_, policy) => {
      const own = ownKey();
      await attacker.adds(own, policy);
      const usual = await service.sessionCookie(victim.token());
      const claims = { sub: 'victim', email: victim.email };

      expect(await exchanged(own, claims)).toBe('privileged_linking_not_allowed');
      await attacker.give(victim.id, { role: MEMBER_ROLE });
      const cookie = await service.sessionCookie(own.sign(own.claims(claims)));
      const accessToken = await service.accessToken({ subject_token: own.sign(own.claims(claims)) });
      expect([await meStatus(service, cookie), await bearerStatus(service, accessToken)]).toEqual([200, 200]);

      await attacker.give(victim.id, { role: ADMIN_ROLE });
      expect([await meStatus(service, cookie), await bearerStatus(service, accessToken)]).toEqual([401, 401]);
      const call = { headers: { authorization: `Bearer ${accessToken}` } };
      expect((await service.fetch('/api/v1/users', call)).status).toBe(401);
      for (const later of [{ sub: 'victim', email: undefined }, claims]) {
        expect(await exchanged(own, later)).toBe(REFUSED);
        expect(await loggedIn(own, later)).toBe(REFUSED);
      }
      // A promotion ends no session of an entry that the owner answers for.
      expect(await meStatus(service, usual)).toBe(200);

      await victim.give(attacker.id, { enabled: false });
      expect(await exchanged(own, claims)).toBe(REFUSED);
      expect([await meStatus(service, cookie), await bearerStatus(service, accessToken)]).toEqual([401, 401]);
      await victim.give(attacker.id, { enabled: true });
      await attacker.signIn();
    },
  );

  it('[D144][5.2.8] makes nobody an administrator', async () => {
    const own = ownKey();
    for (const allowedRoles of [[ADMIN_ROLE], [MEMBER_ROLE, ADMIN_ROLE]]) {
      const entry = { ...own.staticEntry(), name: 'makes', allowedRoles };
      const answer = await attacker.browser.send('POST', 'entries', { entry });
      expect([answer.status, await answer.json()]).toMatchObject([
        409,
        {
          message: expect.stringContaining(
            'allowedRoles: only the owner stores an entry that assigns global:admin',
          ),
        },
      ]);
    }
    await attacker.adds(own);
    const claims = { sub: 'puppet', email: 'puppet@example.com' };
    expect(await exchanged(own, { ...claims, role: ADMIN_ROLE })).toBe('role_not_allowed');
    expect(await exchanged(own, claims)).toBe(200);
    expect(await exchanged(own, { ...claims, role: ADMIN_ROLE })).toBe('role_not_allowed');
  });

  it('[D144][P.signInAs] gives a job no token that outlives the promotion of its user', async () => {
    const own = ownKey();
    const signInAs = await createUser(service, { email: `${randomUUID()}@example.com` });
    const members = { flows: ['exchange'], subjects: ['build'], scopes: ['user:read'], signInAs };
    await attacker.adds(own, members);
    const job = () => own.sign(own.claims({ sub: 'build', email: undefined }));
    const accessToken = await service.accessToken({ subject_token: job() });
    expect(await bearerStatus(service, accessToken)).toBe(200);
    await attacker.give(signInAs, { role: ADMIN_ROLE });
    const refused = await service.fetch('/rest/me', { headers: { authorization: `Bearer ${accessToken}` } });
    expect([refused.status, await reasonOf(service, refused)]).toEqual([401, REFUSED]);
    expect(await reasonOf(service, await service.exchange({ subject_token: job() }))).toBe(REFUSED);
    await attacker.give(signInAs, { role: MEMBER_ROLE });
    expect(await bearerStatus(service, accessToken)).toBe(200);
  });

  it('[D144] its link signs nobody privileged in by an entry that the owner adds for the issuer later', async () => {
    const own = ownKey();
    await attacker.adds(own);
    await attacker.give(victim.id, { role: MEMBER_ROLE });
    const claims = { sub: 'planted', email: victim.email };
    const newcomer = { sub: 'newcomer', email: 'newcomer@example.com' };
    for (const one of [claims, newcomer]) expect(await exchanged(own, one)).toBe(200);
    const { id: newId = '' } = (await linkedUser(service, own.issuer, newcomer.sub)) ?? {};
    for (const id of [victim.id, newId]) await attacker.give(id, { role: ADMIN_ROLE });
    const theirs = Partner.create({ issuer: own.issuer, audience: BASE_URL });
    const entry = { ...theirs.staticEntry(), name: 'theirs', linkPrivileged: true };
    expect((await owner.send('POST', 'entries', { entry })).status).toBe(201);
    await service.part(StoredEntryFollower).followNews();
    for (const one of [claims, newcomer]) expect(await exchanged(theirs, one)).toBe(REFUSED);
    expect(await exchanged(theirs, { ...claims, sub: 'their own' })).toBe(200);
  });

  it('[D144][D26] its session in a browser does not spoil the login of the administrator', async () => {
    const own = ownKey();
    await attacker.adds(own);
    await attacker.give(victim.id, { role: MEMBER_ROLE });
    const planted = await service.sessionCookie(
      own.sign(own.claims({ sub: 'browser', email: victim.email })),
    );
    await attacker.give(victim.id, { role: ADMIN_ROLE });
    const answer = await service.embed({ token: victim.token() }, { cookie: planted });
    expect(await meStatus(service, cookieOf(answer))).toBe(200);
    expect((await storedUser(service, victim.id)).role).toBe(ADMIN_ROLE);
  });
});

describeOnAnyDatabase("an administrator's own entry, of an actor", (database) => {
  const service = TestService.forBlock(database, {
    environment: OPERATOR_ENVIRONMENT,
    trustedKeys: [product.staticEntry()],
  });

  it('[D144][4.2.3] applies to its own user only, as subject or actor', async () => {
    const attacker = await Administrator.of(service, 'attacker', '192.0.2.2');
    const boss = await Administrator.of(service, 'boss', '192.0.2.3');
    const own = ownKey();
    await attacker.adds(own, { actFor: [product.issuer] });
    const claims = { sub: 'member', email: 'member@example.com' };
    const ofMember = () => own.sign(own.claims(claims));
    const both = [
      await service.accessToken({ subject_token: boss.token(), actor_token: ofMember() }),
      await service.accessToken({ subject_token: ofMember(), actor_token: boss.token() }),
    ];
    for (const accessToken of both) expect(await bearerStatus(service, accessToken)).toBe(200);
    const [member] = await service.rows<{ id: string }>('SELECT id FROM user_account WHERE email = $1', [
      claims.email,
    ]);
    await boss.give(String(member?.id), { role: ADMIN_ROLE });
    for (const accessToken of both) expect(await bearerStatus(service, accessToken)).toBe(401);
  });
});
