// Mistakes of partners and operators: the overview's search box shows the cause in one step. Other tests check the texts of each reason.
import type { Members } from '../../../demo/partner.js';
import { Partner } from '../../../demo/partner.js';
import { describeInBrowser } from '../../support/browser.js';
import { ASSERTIONS_ON } from '../../support/id-jag-client.js';
import { body, JwksServer } from '../../support/jwks-server.js';
import type { OperatorPage, OperatorSettings } from '../../support/operator-browsing.js';
import { OperatorBrowsing } from '../../support/operator-browsing.js';

const FIND = 'Why can somebody not sign in?';

/** An instance with an operator on the overview. */
class Desk {
  private one: OperatorPage | undefined;

  constructor(readonly browsing: OperatorBrowsing) {}

  /** Searches for a string in the search box, and returns the next page. */
  async ask(text: string): Promise<OperatorPage> {
    this.one ??= await this.browsing.signedIn();
    await this.one.page.goto(`${this.browsing.instanceOrigin}/admin#/`);
    await this.one.field(FIND).fill(text);
    await this.one.button('Find out').click();
    await this.one.page.waitForURL(/#\/(refusals|requests)/);
    return this.one;
  }

  /** A token with a verified e-mail address, which the strict policy requires. */
  token(sub: string, claims: Members = {}): string {
    return this.browsing.token(sub, { email_verified: true, ...claims });
  }

  /** @returns the request id of an exchange */
  async exchanged(token: string, expected = 400): Promise<string> {
    const { status, requestId } = await this.browsing.exchange(token);
    expect(status).toBe(expected);
    return requestId;
  }
}

/** The operator's input, and the text of the next page. */
interface Mistake {
  readonly name: string;
  readonly plant: (desk: Desk) => Promise<string>;
  readonly says: readonly (string | RegExp)[];
}

const html = Partner.create({ issuer: 'https://html.partner.test' });
const busy = Partner.create({ issuer: 'https://busy.partner.test' });
const audience = busy.claims()['aud'];
const SERVED = {
  ...{ expectedAudience: audience, allowedRoles: ['global:member'], flows: ['exchange'] },
  emailDomains: ['*'],
  scopes: ['workflow:read'],
};

/** About a person whose address is verified. */
const signed = (partner: Partner) => partner.sign(partner.claims({ email_verified: true }));

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a wrong audience',
    plant: (desk) => desk.exchanged(desk.token('ann', { aud: 'https://wrong.example' })),
    says: ['audience_mismatch', 'Expected', 'https://wrong.example', 'What to do:'],
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
    name: 'a key set that serves HTML',
    async plant(desk) {
      await desk.exchanged(signed(html));
      return html.issuer;
    },
    says: ['key_set_unavailable', /never fetched: .*not valid JSON/],
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
  const keySet = JwksServer.forBlock();
  let desk: Desk;

  beforeAll(async () => {
    keySet.answerWith(body('<html>Sign in</html>'));
    const browsing = new OperatorBrowsing({
      environment: { SVC_TOKEN_EXCHANGE_STRICT: 'true' },
      policy: {
        ...{
          allowedRoles: ['global:member'],
          origins: ['https://product.partner.test'],
          emailDomains: ['login.partner.test'],
        },
        scopes: ['workflow:read'],
      },
      trustedKeys: [
        { ...busy.staticEntry(), ...SERVED, perMinute: 1 },
        { ...SERVED, type: 'jwks', issuer: html.issuer, url: keySet.url },
      ],
    });
    desk = new Desk(browsing);
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

  it('on the overview: an instance that accepts only identity assertions, which may be intended', () => {
    const environment = {
      ...ASSERTIONS_ON,
      SVC_TOKEN_EXCHANGE_ENABLED: 'false',
      SVC_EMBED_LOGIN_ENABLED: 'false',
    };
    return atDesk({ environment }, async ({ browsing }) => {
      const one = await browsing.signedIn();
      await one.text('its endpoint accepts only identity assertions. SVC_TOKEN_EXCHANGE_ENABLED=true');
      await one.text('its endpoint answers 501. SVC_EMBED_LOGIN_ENABLED=true');
      expect(await one.page.getByText('Problem', { exact: true }).count()).toBe(0);
    });
  });
});
