// An agent of a company: the MCP client, unmodified, and oidc-provider with a grant that issues ID-JAGs.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '../../../demo/free-port.js';
import { Partner } from '../../../demo/partner.js';
import type { TestBrowser } from '../../support/browser.js';
import { describeInBrowser, openBrowser } from '../../support/browser.js';
import { TestDatabase } from '../../support/databases.js';
import { ASSERTIONS_ON, sha256 } from '../../support/id-jag-client.js';
import { createUser, createWorkflow } from '../../support/local-users.js';
import { TestService } from '../../support/test-service.js';
import { describePrepared, NPM_INSTALL, outputOf, prepared } from './support/foreign-programs.js';
import type { ProviderKind } from './support/foreign-providers.js';
import { ForeignProvider, OIDC_PROVIDER } from './support/foreign-providers.js';

const PATIENCE_MS = 300_000;
const ID_AT_INSTANCE = 'desktop-client';
/** No provider that these tests can run issues ID-JAGs: Keycloak 26.7 only redeems them. */
const WITH_GRANT: ProviderKind = {
  ...OIDC_PROVIDER,
  command: (folder) => [process.execPath, join(folder, 'id-jag.mjs')],
};

describeInBrowser('agents', () => {
  const agent = prepared('mcp', [NPM_INSTALL]);
  describePrepared('the MCP client', agent, (agentFolder) => {
    describePrepared('with oidc-provider', WITH_GRANT.prepare(), (folder) => {
      const database = TestDatabase.ofAnyKind();
      const secret = randomUUID();
      const keys = Partner.create({ issuer: ID_AT_INSTANCE });
      const privateKey = JSON.stringify(createPrivateKey(keys.privateKeyPem()).export({ format: 'jwk' }));
      let provider: ForeignProvider;
      let browser: TestBrowser;
      let service: TestService;
      let baseUrl: string;
      let port: number;
      let idToken: string;

      const optionsWith = (credential: object) => ({
        trustedKeys: [
          {
            type: 'jwks',
            issuer: provider.issuer,
            url: provider.keysUrl,
            flows: ['id-jag'],
            scopes: ['workflow:read', 'workflow:write'],
            clients: [{ id: ID_AT_INSTANCE, ...credential }],
          },
        ],
        environment: {
          ...ASSERTIONS_ON,
          SVC_DPOP_NONCE: 'true',
          SVC_BASE_URL: baseUrl,
          SVC_PORT: String(port),
          SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        },
      });

      beforeAll(async () => {
        await database.create();
        provider = await ForeignProvider.of(WITH_GRANT, folder);
        await provider.start({
          CLIENT_ID_AT_INSTANCE: ID_AT_INSTANCE,
          GRANT_TYPES: 'authorization_code urn:ietf:params:oauth:grant-type:token-exchange',
        });
        port = await freePort();
        baseUrl = `http://127.0.0.1:${port}`;
        service = await TestService.start(database, optionsWith({ secretHash: sha256(secret) }));
        const person = await createUser(service, { email: 'ada@acme.example' });
        await createWorkflow(service, person, 'of ada');
        browser = await openBrowser();
        idToken = (await provider.signIn(await browser.context.newPage())).text;
      }, PATIENCE_MS);
      afterAll(async () => {
        await browser?.close();
        await service?.stop();
        await provider?.stop();
        await database.remove();
      });

      it.each<[string, object, Record<string, string>]>([
        ['a secret', { secretHash: sha256(secret) }, { SECRET_AT_INSTANCE: secret }],
        ['a private key', { keys: keys.jwks().keys }, { KEY_AT_INSTANCE: privateKey }],
      ])(
        "[D133] redeems an assertion for a user by %s, and lists that user's workflows",
        async (_name, credential, own) => {
          await service.restart(optionsWith(credential));
          const environment = {
            INSTANCE: baseUrl,
            PROVIDER: provider.issuer,
            ID_TOKEN: idToken,
            ID_AT_PROVIDER: ForeignProvider.CLIENT_ID,
            SECRET_AT_PROVIDER: provider.clientSecret,
            ID_AT_INSTANCE,
            ...own,
          };
          const printed = await outputOf([process.execPath, 'agent.mjs'], agentFolder, environment);
          expect(printed.trim().split('\n')).toEqual([
            'ok: the challenge asks for workflow:read',
            'ok: the MCP client redeems an assertion for workflow:read',
            'ok: the API lists of ada',
            'ok: the MCP client redeems an assertion for a token of type DPoP',
            'ok: the API answers 200 to its proof',
          ]);
        },
        PATIENCE_MS,
      );
    });
  });
});
