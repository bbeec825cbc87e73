// Identity assertions (ID-JAG) from outside: who may redeem them, for what, and what the access token is worth.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { jsonOf } from '../support/answers.js';
import { eventsOf, reasonOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { INVALID_GRANT } from '../support/entry-paths.js';
import {
  ASSERTIONS_ON,
  CLIENT_ASSERTION,
  IdJagClient,
  JWT_BEARER,
  sha256,
} from '../support/id-jag-client.js';
import { JwksServer } from '../support/jwks-server.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import { MetricSamples } from '../support/metric-samples.js';
import type { Fields } from '../support/test-service.js';
import { GRANT_TYPE, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const INVALID_CLIENT = '{"error":"invalid_client","error_description":"Client authentication failed"}';
const OTHER_SERVICE = 'https://mcp.example/tools';
const NO_HEADERS = {};
const HTTP_ALLOWED = { ...ASSERTIONS_ON, SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' };

const desktop = new IdJagClient('desktop-client');
/** Authenticates by a key that its entry holds. */
const signing = new IdJagClient('https://signing.example/client');
/** May not exceed two assertions a minute. */
const busy = new IdJagClient('busy-client');
/** Of the same company, by the same entry. */
const quiet = new IdJagClient('quiet-client', busy.idp.issuer);
/** A client of the same company as `desktop`. */
const neighbour = new IdJagClient('neighbour', desktop.idp.issuer);
/** Registered by another company under the id of `desktop`, with another secret. */
const namesake = new IdJagClient('desktop-client');
/** Of a provider with several tenants; may choose a service, for a minute. */
const tenanted = new IdJagClient('tenanted-client');
/** Trusted as a partner, and for no identity assertion. */
const embedding = new IdJagClient('embedding-client');

describeOnAnyDatabase('identity assertions', (database) => {
  const clients = [
    { id: desktop.id, secretHash: sha256(desktop.secret) },
    { id: neighbour.id, secretHash: sha256(neighbour.secret) },
  ];
  const trustedKeys = [
    desktop.entry({ clients }),
    signing.entry({}, { keys: signing.keys.jwks().keys }),
    busy.entry({
      perMinute: 2,
      clients: [busy, quiet].map(({ id, secret }) => ({ id, secretHash: sha256(secret) })),
    }),
    namesake.entry(),
    tenanted.entry({
      tenants: ['acme', 'our-acme'],
      resources: [OTHER_SERVICE],
      clientChoosesResource: true,
      maxTokenTtlSeconds: 60,
    }),
    embedding.entry({ flows: ['embed', 'exchange'] }),
  ];
  const service = TestService.forBlock(database, { trustedKeys, environment: ASSERTIONS_ON });

  const redeem = (fields: Fields = {}, headers?: Record<string, string>) =>
    desktop.redeem(service, fields, headers);
  const claimsOf = async (answer: Response) => decodeJwt(String((await jsonOf(answer))['access_token']));

  describe('a redeemed assertion', () => {
    it('[D133] is answered as RFC 6749 says, without a refresh token, and lists the workflows of its user', async () => {
      const email = 'ada@desktop.example';
      await createWorkflow(service, await createUser(service, { email }), 'of ada');
      const answer = await redeem({ assertion: desktop.assertion({ sub: 'ada', email }) });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const body = await jsonOf(answer);
      expect(body).toEqual({
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        scope: 'workflow:read',
      });
      // The assertion ends in less than a minute.
      expect(body['expires_in']).toBe(900);
      const headers = { authorization: `Bearer ${String(body['access_token'])}` };
      const listed = await jsonOf(await service.fetch('/api/v1/workflows', { headers }));
      expect(listed['data']).toMatchObject([{ name: 'of ada' }]);
    });

    it('[D133] is accepted only if its user is the one in aud_sub', async () => {
      const email = 'grace@desktop.example';
      const id = await createUser(service, { email });
      const stranger = await createUser(service, { email: 'eve@desktop.example' });
      const claims = {
        sub: 'grace',
        email,
        sub_id: { format: 'iss_sub', iss: desktop.idp.issuer, sub: 'grace' },
      };
      const sent = (aud_sub: string) => redeem({ assertion: desktop.assertion({ ...claims, aud_sub }) });
      // Before it is linked, and after.
      for (let time = 0; time < 2; time += 1) {
        const refused = await sent(stranger);
        expect(await refused.text()).toBe(INVALID_GRANT);
        expect(await eventsOf(service, refused)).toMatchObject([
          { payload: { reason: 'user_mismatch', userId: id, found: 'another user' } },
        ]);
        expect(await claimsOf(await sent(id))).toMatchObject({ sub: id });
      }
    });

    it('[D133] is counted by outcome and reason', async () => {
      const name = 'svc_id_assertions_total';
      const before = (await MetricSamples.read(service)).value(name, { outcome: 'succeeded' });
      await redeem();
      await redeem({}, {});
      const samples = await MetricSamples.read(service);
      expect(samples.value(name, { outcome: 'succeeded' })).toBe(before + 1);
      expect(samples.value(name, { reason: 'client_credential_missing' })).toBeGreaterThan(0);
      expect(samples.value('svc_token_exchanges_total')).toBe(0);
    });
  });

  describe('tenants', () => {
    const sent = (claims: Members, fields: Fields = {}) =>
      tenanted.redeem(service, { assertion: tenanted.assertion(claims), ...fields });

    it('[P.tenants] of the entry are accepted and recorded, and other tenants are refused and recorded', async () => {
      const good = await sent({ tenant: 'acme', aud_tenant: 'our-acme' });
      expect(good.status).toBe(200);
      expect(await eventsOf(service, good)).toContainEqual(
        expect.objectContaining({
          payload: expect.objectContaining({ clientId: tenanted.id, tenants: ['acme', 'our-acme'] }),
        }),
      );
      const refused = await sent({ tenant: 'acme', aud_tenant: 'our-globex' });
      expect([refused.status, await refused.text()]).toEqual([400, INVALID_GRANT]);
      expect(await eventsOf(service, refused)).toMatchObject([
        { payload: { reason: 'tenant_not_allowed', expected: 'acme, our-acme', found: 'acme, our-globex' } },
      ]);
    });

    it('[P.clientChoosesResource][P.maxTokenTtlSeconds] the client chooses a service, for as long as the entry says', async () => {
      const body = await jsonOf(await sent({ tenant: 'acme' }, { resource: OTHER_SERVICE }));
      expect(body).toMatchObject({ resource: OTHER_SERVICE, expires_in: 60 });
    });
  });

  describe('clients', () => {
    it('[D133] authenticate by client_secret_post', async () => {
      const fields = { client_id: desktop.id, client_secret: desktop.secret };
      const answer = await desktop.redeem(service, fields, NO_HEADERS);
      expect(await claimsOf(answer)).toMatchObject({ client_id: desktop.id });
    });

    const basic = (id: string, secret: string) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` });

    it.each<[name: string, reason: string, fields: () => Fields, headers?: Record<string, string>]>([
      ['no credentials', 'client_credential_missing', () => ({})],
      ['another secret', 'client_credential_invalid', () => ({}), basic(desktop.id, neighbour.secret)],
    ])(
      '[D133] get 401 and a challenge for %s, and use nothing up',
      async (_name, reason, fields, headers = {}) => {
        const before = await census(service);
        const answer = await signing.redeem(service, fields(), headers);
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
        expect(await answer.text()).toBe(INVALID_CLIENT);
        expect(await reasonOf(service, answer)).toBe(reason);
        expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 1 });
      },
    );

    it('[5.2.5] use a JWT once, also with another assertion', async () => {
      const fields = { client_assertion_type: CLIENT_ASSERTION, client_assertion: signing.jwt() };
      expect((await signing.redeem(service, fields, NO_HEADERS)).status).toBe(200);
      const assertion = signing.assertion();
      const second = await signing.redeem(service, { ...fields, assertion }, NO_HEADERS);
      expect(second.status).toBe(401);
      expect(await second.text()).toBe(INVALID_CLIENT);
      expect(await reasonOf(service, second)).toBe('client_credential_replayed');
      const other = { ...fields, assertion, client_assertion: signing.jwt() };
      expect((await signing.redeem(service, other, NO_HEADERS)).status).toBe(200);
    });
  });

  describe('an assertion is refused', () => {
    it.each<[name: string, reason: string, make: () => string]>([
      [
        'of an entry that is not trusted for it',
        'flow_not_allowed',
        () => embedding.assertion({ client_id: desktop.id }),
      ],
      [
        'with rich authorization',
        'assertion_not_supported',
        () => desktop.assertion({ authorization_details: [{ type: 'x' }] }),
      ],
    ])('[D133] %s, and the answer is only invalid_grant', async (_name, reason, make) => {
      const before = await census(service);
      const answer = await redeem({ assertion: make() });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toBe(INVALID_GRANT);
      const [row] = await eventsOf(service, answer);
      expect(row).toMatchObject({
        name: 'svc.audit.token-exchange.failed',
        payload: { flow: 'id-jag', reason, clientId: desktop.id },
      });
      expect(await census(service)).toEqual({ ...before, auditEvents: before.auditEvents + 1 });
    });

    it('[5.2.5] if it is repeated, even by fifty simultaneous requests', async () => {
      const assertion = desktop.assertion();
      const answers = await Promise.all(Array.from({ length: 50 }, () => redeem({ assertion })));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(await answers.find(({ status }) => status === 400)?.text()).toBe(INVALID_GRANT);
    });

    it('[D133] as a subject token, as an actor token and at an embedded login', async () => {
      for (const answer of [
        await service.exchange({ subject_token: embedding.assertion() }),
        await service.exchange({ subject_token: embedding.idp.sign(), actor_token: embedding.assertion() }),
        await service.embed({ token: embedding.assertion() }),
      ])
        expect(await reasonOf(service, answer)).toBe('token_type_not_allowed');
    });
  });

  it('[P.perMinute] is counted by client: one above the limit is answered 429, and another one of the entry is not', async () => {
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await busy.redeem(service)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const assertion = busy.assertion({ client_id: quiet.id });
    expect((await quiet.redeem(service, { assertion })).status).toBe(200);
  });

  it('[D133] no secret, JWT or assertion is in the log', async () => {
    const assertion = desktop.assertion();
    await redeem({ assertion });
    await redeem({}, { authorization: `Basic ${btoa(`${desktop.id}:wrong-${desktop.secret}`)}` });
    expect(service.logText).not.toContain(desktop.secret);
    expect(service.logText).not.toContain(assertion.split('.')[2]);
  });

  it('[D58] metadata name the grants and client methods of the endpoint', async () => {
    const metadata = await jsonOf(await service.fetch('/.well-known/oauth-authorization-server'));
    expect(metadata).toMatchObject({
      grant_types_supported: [GRANT_TYPE, JWT_BEARER],
      token_endpoint_auth_methods_supported: [
        'none',
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
      ],
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
      authorization_endpoint: metadata['token_endpoint'],
      response_types_supported: ['none'],
    });
    expect((await service.fetch('/rest/auth/oauth/token')).status).toBe(405);
    expect(metadata['token_endpoint_auth_signing_alg_values_supported']).toContain('ES256');
  });
});

describeOnAnyDatabase('identity assertions with key sets of clients', (database) => {
  const client = new IdJagClient('published');
  const server = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    server.publish(client.keys.jwks());
    return { trustedKeys: [client.entry({}, { jwksUrl: server.url })], environment: HTTP_ALLOWED };
  });

  it('[D133] a client may publish its keys', async () => {
    const fields = () => ({ client_assertion_type: CLIENT_ASSERTION, client_assertion: client.jwt() });
    await until(
      'its keys are fetched',
      60_000,
      async () => (await client.redeem(service, fields(), NO_HEADERS)).status === 200,
    );
    // A second entry that names the same address gives it no second set of keys.
    const twin = new IdJagClient('published');
    await service.part(StoredEntryService).add({ ...twin.entry({}, { jwksUrl: server.url }), name: 'twin' });
    const withoutKid = { ...fields(), client_assertion: client.jwt({}, { kid: undefined }) };
    expect((await client.redeem(service, withoutKid, NO_HEADERS)).status).toBe(200);
    // The client's key never verifies an external token, even if the token names a trusted issuer.
    const forged = client.keys.sign(client.keys.claims({ iss: server.url }));
    expect(await reasonOf(service, await service.exchange({ subject_token: forged }))).toBe('issuer_unknown');
  });
});

describeOnAnyDatabase('identity assertions of clients with metadata documents', (database) => {
  const [server, keySet, unasked] = [JwksServer.forBlock(), JwksServer.forBlock(), JwksServer.forBlock()];
  const documentOf = (client: IdJagClient, change: Members = {}) => ({
    client_id: client.id,
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: client.keys.jwks(),
    ...change,
  });
  const redeem = (service: TestService, client: IdJagClient) =>
    client.redeem(
      service,
      { client_assertion_type: CLIENT_ASSERTION, client_assertion: client.jwt() },
      NO_HEADERS,
    );

  it('[D133] a client signs with a key in its document or at its jwks_uri, even after a rotation', async () => {
    const client = new IdJagClient(server.url);
    server.publish(documentOf(client));
    const trustedKeys = [client.entry({}, { metadataDocument: true })];
    await withService(database, { trustedKeys, environment: HTTP_ALLOWED }, async (service) => {
      const isIn = async () => (await redeem(service, client)).status === 200;
      await until('the document is fetched', 60_000, isIn);
      const metadata = await jsonOf(await service.fetch('/.well-known/oauth-authorization-server'));
      expect(metadata['client_id_metadata_document_supported']).toBe(true);
      client.keys.rotate();
      keySet.publish(client.keys.jwks());
      server.publish(documentOf(client, { jwks: undefined, jwks_uri: keySet.url }));
      // An unknown kid has it fetched again.
      await until('the new keys are fetched', 60_000, isIn);
      expect(keySet.requestCount).toBe(1);
    });
  });

  it('[D133] no other URL is fetched, and metadata announce documents only if an entry names one', async () => {
    const client = new IdJagClient(unasked.url);
    unasked.publish(documentOf(client));
    const options = { trustedKeys: [desktop.entry()], environment: HTTP_ALLOWED };
    await withService(database, options, async (service) => {
      const answer = await redeem(service, client);
      expect(await reasonOf(service, answer)).toBe('client_unknown');
      expect(unasked.connectionCount).toBe(0);
      const metadata = await jsonOf(await service.fetch('/.well-known/oauth-authorization-server'));
      expect(metadata).not.toHaveProperty('client_id_metadata_document_supported');
    });
  });
});

describeOnAnyDatabase('identity assertions that are on without token exchange', (database) => {
  const environment = { ...ASSERTIONS_ON, SVC_TOKEN_EXCHANGE_ENABLED: 'false' };
  const service = TestService.forBlock(database, { trustedKeys: [desktop.entry()], environment });

  it('[5.1.4] token exchange stays off if only identity assertions are on', async () => {
    expect((await service.exchange({ subject_token: 'x' })).status).toBe(501);
    expect((await desktop.redeem(service)).status).toBe(200);
  });
});
