// A program that acts for a person, in the operator's pages: both are named if it got a token and if it was refused.
import { describeInBrowser } from '../../support/browser.js';
import { ASSERTIONS_ON, IdJagClient, JWT_BEARER } from '../../support/id-jag-client.js';
import { OperatorBrowsing } from '../../support/operator-browsing.js';

const ADA = 'ada@company.example';

describeInBrowser('clients of identity assertions', () => {
  const desktop = new IdJagClient('desktop-client');
  const browsing = new OperatorBrowsing({ environment: ASSERTIONS_ON, trustedKeys: [desktop.entry()] });

  beforeAll(() => browsing.start());
  afterAll(() => browsing.stop());

  const redeem = async () => {
    const assertion = desktop.assertion({ sub: 'ada', email: ADA, aud: browsing.instanceOrigin });
    const form = { grant_type: JWT_BEARER, assertion };
    const answer = await browsing.asProgram((program) =>
      program.post('/rest/auth/oauth/token', { form, headers: desktop.basic }),
    );
    return answer.status();
  };

  it('[D133] appear on the page with client and user of an event and of a refusal', async () => {
    expect(await redeem()).toBe(200);
    const one = await browsing.signedIn('#/trail');
    await one.page
      .getByRole('cell', { name: `desktop-client, for ${ADA}`, exact: true })
      .first()
      .waitFor();
    await browsing.service.rows('UPDATE user_account SET enabled = false WHERE email = $1', [ADA]);
    expect(await redeem()).toBe(400);
    await one.page.goto(`${browsing.instanceOrigin}/admin#/refusals?reason=user_disabled`);
    await one.page.getByText('Client: desktop-client').first().waitFor();
    await one.page.getByRole('link', { name: 'to the user' }).first().click();
    await one.text(ADA);
  });
});
