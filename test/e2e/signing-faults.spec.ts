// An exchange whose access token cannot be signed: the ids that it uses up, and its event in the trail.
import { Partner } from '../../demo/partner.js';
import { SigningKeyService } from '../../src/token-exchange/tokens/signing-key.service.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

describeOnEachDatabase('[D29] a token that cannot be signed', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  // Its next look at the table would mend what these tests break.
  beforeAll(() => service.part(SigningKeyService).beforeApplicationShutdown());

  it.each(['known', 'new'])(
    '[D3][6.2] of a %s user leaves no success in the trail, changes nothing, and is used up',
    async (kind) => {
      const token = () => partner.sign(partner.claims({ sub: `signing-${kind}` }));
      if (kind === 'known') await service.accessToken({ subject_token: token() });
      const users = await service.rows('SELECT * FROM user_account');
      const key = service.part(SigningKeyService).current();
      const { privateKey } = key;
      // A public key signs nothing.
      Object.assign(key, { privateKey: key.publicKey });
      const sent = token();
      const answer = await service.exchange({ subject_token: sent });
      Object.assign(key, { privateKey });
      expect(answer.status).toBe(500);
      expect(await eventsOf(service, answer)).toMatchObject([
        { name: 'svc.audit.token-exchange.failed', payload: { reason: 'internal_error' } },
      ]);
      expect(await service.rows('SELECT * FROM user_account')).toEqual(users);
      expect((await service.exchange({ subject_token: sent })).status).toBe(400);
    },
  );

  it('[D29] nothing is used up where there is no key to sign with', async () => {
    const signingKeys = service.part(SigningKeyService);
    const loaded: unknown = Reflect.get(signingKeys, 'keys');
    const subjectToken = partner.sign();
    Reflect.set(signingKeys, 'keys', []);
    expect((await service.exchange({ subject_token: subjectToken })).status).toBe(500);
    Reflect.set(signingKeys, 'keys', loaded);
    expect((await service.exchange({ subject_token: subjectToken })).status).toBe(200);
  });
});
