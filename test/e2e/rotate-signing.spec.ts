// A command replaces the instance's signing keys, with and without a running service: the effect on tokens and verifiers.
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose';
import { Partner } from '../../demo/partner.js';
import { VERSION } from '../../src/platform/version.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { bearerStatus } from '../support/logins.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const WITHIN_MS = 60_000;

describeOnEachDatabase('[D29] signing keys of the instance', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  const line = new CommandLine(() => database.environment, VERSION);

  const token = () => service.accessToken({ subject_token: partner.sign() });
  const keySet = () => service.fetch('/.well-known/jwks.json');
  const kids = async () =>
    ((await (await keySet()).json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  const kidOf = (jwt: string) => decodeProtectedHeader(jwt).kid;
  /** Another service, which fetches the instance's key set when it meets an unknown kid. */
  const verifier = () => {
    const options = { cooldownDuration: 0, [customFetch]: () => keySet() };
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', BASE_URL), options);
    return (jwt: string) => jwtVerify(jwt, keys, { typ: 'at+jwt', issuer: BASE_URL });
  };
  it('rotate-signing publishes a successor; tokens of the old key stay valid', async () => {
    const before = await token();
    const printed = await line.output(['keys', 'rotate-signing', '--json']);
    const { signsFrom } = JSON.parse(printed) as { signsFrom: string };
    expect(Date.parse(signsFrom) - Date.now()).toBeGreaterThan(90 * 60_000);
    await until('the successor is published', WITHIN_MS, async () => (await kids()).length === 2);
    expect((await kids())[0]).toBe(kidOf(before));
    const after = await token();
    expect(kidOf(after)).toBe(kidOf(before));
    expect([await bearerStatus(service, before), await bearerStatus(service, after)]).toEqual([200, 200]);
    expect(await line.output(['keys', 'rotate-signing'])).toBe(
      `The next signing key signs from ${signsFrom}. Running services publish it within 10 seconds. ` +
        'Access tokens of the present key stay valid until they expire.\n',
    );
  });

  it('revoke-signing ends every access token, and a verifier follows by the unknown kid', async () => {
    const verify = verifier();
    const before = await token();
    const session = await service.sessionCookie(partner.sign());
    await verify(before);
    expect(await line.output(['keys', 'revoke-signing'])).toMatch(
      /^Every signing key is deleted\. .*within 10 seconds/,
    );
    await until(
      'the old token has ended',
      WITHIN_MS,
      async () => (await bearerStatus(service, before)) === 401,
    );
    const after = await token();
    expect(kidOf(after)).not.toBe(kidOf(before));
    expect(await kids()).toEqual([kidOf(after)]);
    expect(await bearerStatus(service, after)).toBe(200);
    await verify(after);
    await expect(verify(before)).rejects.toThrow('no applicable key');
    expect((await service.fetch('/rest/me', { headers: { cookie: session } })).status).toBe(200);
  });
});
