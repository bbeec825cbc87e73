// Unmodified third-party providers sign a person out: the frame in Chromium says so, and the tokens end.
import { describeInBrowser } from '../../support/browser.js';
import { EmbeddedBrowsing } from '../../support/embedded-browsing.js';
import { LOGOUT_PATH } from '../../support/logout-tokens.js';
import { GRANT_TYPE } from '../../support/test-service.js';
import { describePrepared } from './support/foreign-programs.js';
import { ForeignProvider, KEYCLOAK_PROVIDER, OIDC_PROVIDER } from './support/foreign-providers.js';

const PATIENCE_MS = 400_000;

describeInBrowser("providers' logouts", () => {
  for (const kind of [OIDC_PROVIDER, KEYCLOAK_PROVIDER])
    describePrepared(kind.name, kind.prepare(), (folder) => {
      let provider: ForeignProvider;
      let browsing: EmbeddedBrowsing;

      beforeAll(async () => {
        provider = await ForeignProvider.of(kind, folder);
        browsing = new EmbeddedBrowsing({
          trustedKeys: [
            {
              type: 'jwks',
              issuer: 'https://login.partner.test',
              url: provider.keysUrl,
              logoutIssuer: provider.issuer,
              logoutAudience: ForeignProvider.CLIENT_ID,
              flows: ['logout'],
            },
          ],
          environment: {
            SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
            SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE: '127.0.0.0/8',
          },
        });
        await browsing.start();
        const logoutUri = new URL(LOGOUT_PATH, browsing.service.address).href;
        await provider.start({ LOGOUT_URI: logoutUri }, browsing.certificate);
      }, PATIENCE_MS);
      afterAll(async () => {
        await provider?.stop();
        await browsing?.stop();
      });

      const exchange = async (sub: string, sid: unknown) => {
        const form = { grant_type: GRANT_TYPE, subject_token: browsing.token(sub, { sid }) };
        const url = `${browsing.service.address}/rest/auth/oauth/token`;
        const answer = await browsing.context.request.post(url, { form });
        const { access_token: token } = (await answer.json()) as { access_token: string };
        return { authorization: `Bearer ${token}` };
      };
      const statusOf = async (headers: Record<string, string>) =>
        (await browsing.context.request.get(`${browsing.service.address}/rest/me`, { headers })).status();

      it(
        `[D131] ${kind.name} signs a user out: the frame reports it, and the session's tokens end`,
        async () => {
          const page = await browsing.context.newPage();
          const { sub, sid } = await provider.signIn(page);
          const product = await browsing.productPage();
          await product.login(browsing.token(sub, { sid }));
          expect((await product.event(1))[0]).toBe('session-ready');
          const [ended, left] = [await exchange(sub, sid), await exchange(sub, 'another-browser')];
          expect([await statusOf(ended), await statusOf(left)]).toEqual([200, 200]);
          await provider.signOut(page, sub);
          await product.page.bringToFront();
          expect(await product.event(2)).toEqual(['session-ended', { reason: 'signed-out-by-provider' }]);
          expect([await statusOf(ended), await statusOf(left)]).toEqual([401, 200]);
        },
        PATIENCE_MS,
      );
    });
});
