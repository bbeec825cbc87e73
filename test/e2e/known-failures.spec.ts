// What went wrong in software like this and no other file shows: test/known-failures.md has the list.
import { createRemoteJWKSet, decodeJwt, errors, jwtVerify } from 'jose';
import { Partner } from '../../demo/partner.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ENTRY_PATHS } from '../support/entry-paths.js';
import { JwksServer } from '../support/jwks-server.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { expectRefusal, expectUnchanged } from './support/trusted-partner.js';

const partnerOf = (name: string) => Partner.create({ issuer: `https://${name}.example`, audience: BASE_URL });
const WAYS_IN = ENTRY_PATHS.map((path) => [path.name, path] as const);

describeOnAnyDatabase('[K4][D70] an entry that is suspended', (database) => {
  const suspended = partnerOf('suspended');
  const open = partnerOf('open');
  const companion = () => open.sign();
  const service = TestService.forBlock(database, { trustedKeys: [open.staticEntry()] });

  beforeAll(async () => {
    const entries = service.part(StoredEntryService);
    await entries.add(suspended.staticEntry({ name: 'suspended' }));
    const answers = async (status: number) =>
      (await service.exchange({ subject_token: suspended.sign() })).status === status;
    await until('the entry is trusted', 60_000, () => answers(200));
    await entries.change('suspended', (entry) => ({ ...entry, suspended: true }));
    await until('the entry is suspended', 60_000, () => answers(400));
  });
  it.each(WAYS_IN)('[K4][K5][D70] by %s: refused, and nothing is left of it', async (_, path) => {
    const token = suspended.sign();
    const before = await census(service);
    await expectRefusal(service, await path.send(service, token, companion), path, 'entry_suspended');
    await expectUnchanged(service, before, 0);
  });
});

describeOnAnyDatabase('[K10][D37] a token that brings its key along', (database) => {
  const partner = partnerOf('partner');
  const impostor = Partner.create({ issuer: partner.issuer, kid: partner.kid, audience: BASE_URL });
  const open = partnerOf('open');
  const companion = () => open.sign();
  const jwks = JwksServer.forBlock();
  let service: TestService;

  beforeAll(async () => {
    jwks.publish(impostor.jwks());
    // Plain HTTP and addresses inside may be asked here, so that nothing but the rule stands in the way.
    service = await TestService.start(database, {
      trustedKeys: [partner.staticEntry(), open.staticEntry()],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
    });
  });
  afterAll(() => service?.stop());

  it.each(WAYS_IN)('[K10][D37] by %s: refused, and no server is asked for it', async (_, path) => {
    const [jwk] = impostor.jwks().keys;
    const headers = [{ jwk }, { jku: jwks.url }, { x5u: jwks.url }, { jku: jwks.url, x5u: jwks.url, jwk }];
    for (const header of [...headers, { kid: jwks.url, jku: jwks.url }]) {
      const token = impostor.sign(impostor.claims(), header);
      const reason = 'kid' in header ? 'kid_unknown' : 'signature_invalid';
      await expectRefusal(service, await path.send(service, token, companion), path, reason);
    }
    expect(jwks.connectionCount).toBe(0);
  });
});

describeOnAnyDatabase('[K32][D55] another service that goes by the published keys', (database) => {
  const free = partnerOf('free');
  const limited = partnerOf('limited');
  const service = TestService.forBlock(database, {
    trustedKeys: [free.staticEntry(), limited.staticEntry({ scopes: ['admin:everything'] })],
  });

  /** Whether it takes a token for an administrator's: signed, for this audience, with the scope that it demands. */
  async function takes(partner: Partner): Promise<boolean> {
    const scope = 'admin:everything';
    const token = await service.accessToken({ subject_token: partner.sign(), scope });
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', service.address));
    const audience = String(decodeJwt(token).aud);
    try {
      const { payload } = await jwtVerify(token, keys, { audience, requiredClaims: ['scope'] });
      return String(payload['scope']).split(' ').includes(scope);
    } catch (error) {
      if (error instanceof errors.JWTClaimValidationFailed) return false;
      throw error;
    }
  }

  it('[K32][D55] refuses a token whose scope was only asked for, and takes one whose scope was granted', async () => {
    expect(await takes(free)).toBe(false);
    expect(await takes(limited)).toBe(true);
  });
});
