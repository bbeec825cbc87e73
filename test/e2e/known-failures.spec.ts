// What went wrong in software like this and no other file shows: test/known-failures.md has the list.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { ENTRY_PATHS } from '../support/entry-paths.js';
import { JwksServer } from '../support/jwks-server.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { expectRefusal } from './support/trusted-partner.js';

const partnerOf = (name: string) => Partner.create({ issuer: `https://${name}.example`, audience: BASE_URL });
const TOKEN_TAGS = ENTRY_PATHS.map((path) => [path.name, path] as const);

describeOnAnyDatabase('[K10][D37] a token that brings its key along', (database) => {
  const partner = partnerOf('partner');
  const impostor = Partner.create({ issuer: partner.issuer, kid: partner.kid, audience: BASE_URL });
  const open = partnerOf('open');
  const companion = () => open.sign();
  const jwks = JwksServer.forBlock();
  beforeAll(() => jwks.publish(impostor.jwks()));
  // Plain HTTP and addresses inside may be asked here, so that nothing but the rule prevents it.
  const service = TestService.forBlock(database, {
    trustedKeys: [partner.staticEntry(), open.staticEntry()],
    environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
  });

  it.each(TOKEN_TAGS)('[K10][D37] by %s: refused, and no server is asked for it', async (_, path) => {
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
