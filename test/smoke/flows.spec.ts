// Each flow once, on the embedded database: what `npm run test:fast` can say about the whole within seconds.
import { Partner } from '../../demo/partner.js';
import { TestDatabase } from '../support/databases.js';
import { credentialOf, ENTRY_PATHS, signedIn } from '../support/entry-paths.js';
import { BASE_URL, TestService } from '../support/test-service.js';

describe('the flows', () => {
  const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
  const database = new TestDatabase('embedded');
  const signed = (sub: string) => partner.sign(partner.claims({ sub }));
  const companion = () => signed('companion');
  let service: TestService;

  beforeAll(async () => {
    await database.create();
    service = await TestService.start(database, { trustedKeys: [partner.staticEntry()] });
  });
  afterAll(async () => {
    await service?.stop();
    await database.remove();
  });

  it.each(ENTRY_PATHS)(
    '[4.4.1] $name signs its user in once, and the user may call the API',
    async (path) => {
      const token = signed('robin');
      const answer = await path.send(service, token, companion);
      const headers = await credentialOf(answer.clone());
      expect((await signedIn(service, answer)).user.email).toBe('robin@partner.example');
      expect((await service.fetch('/api/v1/workflows', { headers })).status).toBe(200);
      const again = await path.send(service, token, companion);
      expect(again.status).toBe(path.flow === 'embed' ? 401 : 400);
    },
  );

  it('[D41] sign-out ends the session', async () => {
    const cookie = await service.sessionCookie(signed('robin'));
    const signOut = await service.post('/rest/auth/logout', {}, { cookie, origin: BASE_URL });
    expect(signOut.status).toBe(204);
    expect((await service.fetch('/rest/me', { headers: { cookie } })).status).toBe(401);
  });

  it.each(['/', '/embed.js', '/healthz/readiness', '/.well-known/jwks.json', '/api/v1/openapi.json'])(
    'GET %s is answered',
    async (path) => {
      expect([path, (await service.fetch(path)).status]).toEqual([path, 200]);
    },
  );
});
