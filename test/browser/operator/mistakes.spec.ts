// Mistakes of partners and operators: of each the cause is found in one step, by the box of the overview.
import { createHmac } from 'node:crypto';
import type { Members } from '../../../demo/partner.js';
import { Partner } from '../../../demo/partner.js';
import { Administration } from '../../../src/administration/administration.js';
import { RevocationOperations } from '../../../src/administration/keys/revocations.operations.js';
import { describeInBrowser } from '../../support/browser.js';
import { JwksServer, body } from '../../support/jwks-server.js';
import { licenseEnvironment } from '../../support/license.js';
import type { OperatorPage, OperatorSettings } from '../../support/operator-browsing.js';
import { OperatorBrowsing } from '../../support/operator-browsing.js';
import { GRANT_TYPE } from '../../support/test-service.js';
import { until } from '../../support/until.js';

const FIND = 'Why can somebody not sign in?';
const PATIENCE_MS = 60_000;
const PRODUCT = 'https://product.partner.test';
const LICENSE_END = Math.floor(Date.now() / 1000) - 86_400;
const HTML = body('<html>Sign in</html>');
const now = () => Math.floor(Date.now() / 1000);

/** An instance, with somebody at its overview. */
class Desk {
  private one: OperatorPage | undefined;

  /** @param keySet of the partner whose server fails */
  constructor(
    readonly browsing: OperatorBrowsing,
    readonly keySet?: JwksServer,
  ) {}

  /** Types one thing into the box, and returns the page that follows. */
  async ask(text: string): Promise<OperatorPage> {
    this.one ??= await this.browsing.signedIn();
    await this.one.page.goto(`${this.browsing.instanceOrigin}/admin#/`);
    await this.one.field(FIND).fill(text);
    await this.one.button('Find out').click();
    await this.one.page.waitForURL(/#\/(refusals|requests)/);
    return this.one;
  }

  /** A token of a person whose address the partner has verified, as the strict policy asks for. */
  token(sub: string, claims: Members = {}): string {
    return this.browsing.token(sub, { email_verified: true, ...claims });
  }

  /** @returns the request id of an exchange */
  async exchanged(token: string, expected = 400): Promise<string> {
    const { status, requestId } = await this.browsing.exchange(token);
    expect(status).toBe(expected);
    return requestId;
  }

  /** @returns the request id of a login, posted by a page of the product unless by another one */
  async loggedIn(form: Record<string, string>, expected: number, origin = PRODUCT): Promise<string> {
    const answer = await this.browsing.asProgram((program) =>
      program.post('/rest/auth/embed', { form, headers: { origin } }),
    );
    expect(answer.status()).toBe(expected);
    return answer.headers()['x-request-id'] ?? '';
  }
}

/** What the operator types, and what the next page says. */
interface Mistake {
  readonly name: string;
  readonly plant: (desk: Desk) => Promise<string>;
  readonly says: readonly (string | RegExp)[];
}

const byToken =
  (claims: Members | (() => Members), header: Members = {}): Mistake['plant'] =>
  (desk) => {
    const own = typeof claims === 'function' ? claims() : claims;
    const { partner } = desk.browsing;
    const person = { sub: 'ann', email_verified: true, ...own };
    return desk.exchanged(partner.sign(partner.claims(person), header));
  };

/** With the public key as a secret, as a library does that is told HS256. */
function hmacToken(partner: Partner): string {
  const encoded = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const input = `${encoded({ alg: 'HS256', kid: partner.kid })}.${encoded(partner.claims())}`;
  return `${input}.${createHmac('sha256', partner.publicKeyPem()).update(input).digest('base64url')}`;
}

const revoked = Partner.create({ issuer: 'https://revoked.partner.test' });
const html = Partner.create({ issuer: 'https://html.partner.test' });
const lapsed = Partner.create({ issuer: 'https://lapsed.partner.test' });
const busy = Partner.create({ issuer: 'https://busy.partner.test' });
const audience = busy.claims()['aud'];
const SERVED = {
  ...{ expectedAudience: audience, allowedRoles: ['global:member'], flows: ['exchange'] },
  emailDomains: ['*'],
  scopes: ['workflow:read'],
};

/** About a person whose address is verified. */
const signed = (partner: Partner) => partner.sign(partner.claims({ email_verified: true }));

function keySetEntry({ issuer }: Partner, { url }: JwksServer): Members {
  return { ...SERVED, type: 'jwks', issuer, url };
}

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a wrong audience',
    plant: byToken({ aud: 'https://wrong.example' }),
    says: ['audience_mismatch', 'Expected', 'https://wrong.example', 'What to do:'],
  },
  {
    name: 'an issuer with a slash too many',
    plant: byToken({ iss: 'https://login.partner.test/' }),
    says: ['issuer_unknown', 'the same but for a slash at its end'],
  },
  {
    name: 'milliseconds',
    plant: byToken(() => ({ iat: Date.now(), exp: Date.now() + 50_000 })),
    says: ['claims_invalid', /a number of 13 digits: milliseconds\?/],
  },
  {
    name: 'a number as sub',
    plant: byToken({ sub: 4711 }),
    says: ['claims_invalid', /sub must be a non-empty string: found a number/i],
  },
  {
    name: 'HS256',
    plant: (desk) => desk.exchanged(hmacToken(desk.browsing.partner)),
    says: ['algorithm_not_allowed', 'HS256'],
  },
  {
    name: 'a wrong kid',
    plant: byToken({}, { kid: 'another' }),
    says: ['kid_unknown', 'another'],
  },
  {
    name: 'a token that is sent late, or by a slow clock',
    plant: byToken(() => ({ iat: now() - 180, exp: now() - 125 })),
    says: [
      'token_expired',
      /expired 1\d\d s ago; issued [12]\d\d s ago for 55 s: sent late, or by a slow clock/,
    ],
  },
  {
    name: 'a clock that is ahead',
    plant: byToken(() => ({ iat: now() + 180, exp: now() + 230 })),
    says: ['token_issued_in_future', /issued 1\d\d s ahead/],
  },
  {
    name: 'a token that lives too long for a login',
    plant: (desk) => desk.loggedIn({ token: desk.token('ann', { exp: now() + 600 }) }, 401),
    says: ['token_lifetime_exceeded', '60 s at most'],
  },
  {
    name: 'a token that is sent twice',
    async plant(desk) {
      const token = desk.token('ann');
      await desk.exchanged(token, 200);
      return desk.exchanged(token);
    },
    says: ['token_replayed', /a random jti for each use/],
  },
  {
    name: 'no email_verified under the strict policy',
    async plant(desk) {
      await desk.exchanged(desk.browsing.token('unverified'));
      return 'unverified@login.partner.test';
    },
    says: ['email_not_verified', /Send email_verified: true/],
  },
  {
    name: 'a role that there is not',
    async plant(desk) {
      await desk.exchanged(desk.token('king'), 200);
      return desk.exchanged(desk.token('king', { role: 'global:king' }), 200);
    },
    says: ['Role ignored', 'Correct or omit the claim'],
  },
  {
    name: 'a disabled user',
    async plant(desk) {
      const email = 'disabled@login.partner.test';
      await desk.exchanged(desk.token('disabled'), 200);
      await desk.browsing.service.rows('UPDATE user_account SET enabled = false WHERE email = $1', [email]);
      return email;
    },
    says: ['Every token of this user is refused until the user is enabled.'],
  },
  {
    name: 'a revoked key',
    async plant(desk) {
      const administration = desk.browsing.service.part(Administration);
      const { issuer, kid } = revoked;
      const operations = desk.browsing.service.part(RevocationOperations);
      const request = { id: 'mistakes', way: 'service' } as const;
      await administration.perform(operations, 'revoke', { issuer, kid }, request);
      await desk.exchanged(signed(revoked));
      return issuer;
    },
    says: ['trust_revoked', revoked.kid],
  },
  {
    name: 'a key set that fails for a day',
    async plant(desk) {
      const { service } = desk.browsing;
      await desk.exchanged(signed(lapsed), 200);
      desk.keySet?.answerWith(HTML);
      await service.rows(
        `UPDATE token_exchange_jwks_snapshot SET fresh_until = now() - interval '25 hours', revision = revision + 1
         WHERE url = $1`,
        [desk.keySet?.url],
      );
      await until('its keys serve no more', PATIENCE_MS, async () => {
        const { status } = await desk.browsing.exchange(signed(lapsed));
        return status === 400;
      });
      return lapsed.issuer;
    },
    says: ['key_set_unavailable', /lapsed|served/],
  },
  {
    name: 'a key set that serves HTML',
    async plant(desk) {
      await desk.exchanged(signed(html));
      return html.issuer;
    },
    says: ['key_set_unavailable', /never fetched: .*not valid JSON/],
  },
  {
    name: 'JSON in place of a form',
    async plant({ browsing }) {
      const answer = await browsing.asProgram((program) =>
        program.post('/rest/auth/oauth/token', { data: { grant_type: GRANT_TYPE } }),
      );
      return answer.headers()['x-request-id'] ?? '';
    },
    says: ['only in the log, under this id', 'JSON or another body in place of a form.'],
  },
  {
    name: 'a page of another origin',
    plant: (desk) => desk.loggedIn({ token: desk.token('ann') }, 401, 'https://staging.partner.test'),
    says: ['origin_not_allowed', 'a post from https://staging.partner.test'],
  },
  {
    name: 'a redirect to an address',
    plant: (desk) => desk.loggedIn({ token: desk.token('ann'), redirectTo: 'https://elsewhere.test/' }, 303),
    says: ['Redirect replaced', /an absolute address/],
  },
  {
    name: 'more tokens than the entry allows',
    async plant(desk) {
      await desk.exchanged(signed(busy), 200);
      return desk.exchanged(signed(busy), 429);
    },
    says: ['only in the log, under this id', /Too many requests .*under this entry/],
  },
];

async function atDesk(settings: OperatorSettings, work: (desk: Desk) => Promise<void>): Promise<void> {
  const browsing = new OperatorBrowsing(settings);
  try {
    await browsing.start();
    await work(new Desk(browsing));
  } finally {
    await browsing.stop();
  }
}

async function found({ name, plant, says }: Mistake, desk: Desk): Promise<void> {
  const page = await desk.ask(await plant(desk));
  for (const text of says)
    await page.text(text).catch(async (cause: unknown) => {
      const shown = await page.page.locator('main').innerText();
      throw new Error(`${name}: ${String(text)} is not on the page:\n${shown}`, { cause });
    });
}

describeInBrowser('[D113] the cause of a mistake can be found in one step', () => {
  const sets = { html: JwksServer.forBlock(), lapsed: JwksServer.forBlock() };
  let desk: Desk;

  beforeAll(async () => {
    sets.html.answerWith(HTML);
    sets.lapsed.publish(lapsed.jwks());
    const browsing = new OperatorBrowsing({
      environment: { SVC_TOKEN_EXCHANGE_STRICT: 'true' },
      policy: {
        ...{ allowedRoles: ['global:member'], origins: [PRODUCT], emailDomains: ['login.partner.test'] },
        scopes: ['workflow:read'],
      },
      trustedKeys: [
        { ...revoked.staticEntry(), ...SERVED },
        { ...busy.staticEntry(), ...SERVED, perMinute: 1 },
        keySetEntry(html, sets.html),
        keySetEntry(lapsed, sets.lapsed),
      ],
    });
    desk = new Desk(browsing, sets.lapsed);
    await browsing.start();
  });
  afterAll(() => desk?.browsing.stop());

  it.each(MISTAKES)('with the search box: $name', (mistake) => found(mistake, desk));

  it('with the search box: a flow that is off', () =>
    atDesk({ environment: { SVC_TOKEN_EXCHANGE_ENABLED: 'false' } }, (other) =>
      found(
        {
          name: 'a flow that is off',
          plant: () => other.exchanged(other.token('ann'), 501),
          says: ['Token exchange is switched off.'],
        },
        other,
      ),
    ));

  it('with the search box: a licence that has ended', async () => {
    const environment = await licenseEnvironment({ exp: LICENSE_END });
    await atDesk({ environment }, (other) =>
      found(
        {
          name: 'a licence that has ended',
          plant: () => other.exchanged(other.token('ann'), 404),
          says: [`the licence has ended: ${new Date(LICENSE_END * 1000).toISOString()}`],
        },
        other,
      ),
    );
  });
});
