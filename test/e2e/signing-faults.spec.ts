// An exchange whose access token cannot be signed: what is used up for it, and what the trail says.
import { Partner } from '../../demo/partner.js';
import { SigningKeyService } from '../../src/token-exchange/tokens/signing-key.service.js';
import { eventsOf } from '../support/census.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

describeOnEachDatabase('[D29] a token that cannot be signed', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });

  it.each(['known', 'new'])(
    '[6.2] a recorded success of a %s user does not stand alone in the trail',
    async (kind) => {
      const token = () => partner.sign(partner.claims({ sub: `signing-${kind}` }));
      if (kind === 'known') await service.accessToken({ subject_token: token() });
      const key = service.part(SigningKeyService).current();
      const { privateKey } = key;
      // A public key signs nothing.
      Object.assign(key, { privateKey: key.publicKey });
      const answer = await service.exchange({ subject_token: token() });
      Object.assign(key, { privateKey });
      expect(answer.status).toBe(500);
      const [failure, success] = (await eventsOf(service, answer)).reverse();
      expect(success?.name).toBe('svc.audit.token-exchange.succeeded');
      const { accessTokenId } = success?.payload as { accessTokenId: string };
      expect(failure).toMatchObject({
        name: 'svc.audit.token-exchange.failed',
        payload: { reason: 'internal_error', detail: expect.stringContaining(accessTokenId) },
      });
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
