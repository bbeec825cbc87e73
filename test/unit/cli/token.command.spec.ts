// svc-admin token sign: external tokens as a partner signs them.
import { decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from 'jose';
import { Partner } from '../../../demo/partner.js';
import type { Algorithm } from '../../../src/token-exchange/trust/algorithms.js';
import { ALGORITHMS } from '../../../src/token-exchange/trust/algorithms.js';
import { CommandLine } from '../../support/run-cli.js';

const ISSUER = 'https://login.partner.example';

describe('token sign', () => {
  const line = new CommandLine();
  const partners = new Map<Algorithm, Partner>();

  const keyOf = (algorithm: Algorithm) => {
    const partner = partners.get(algorithm) ?? Partner.create({ issuer: ISSUER, algorithm });
    partners.set(algorithm, partner);
    line.write(`${algorithm}.pem`, partner.privateKeyPem());
    return { pem: `${algorithm}.pem`, publicPem: partner.publicKeyPem() };
  };
  const required = (pem: string) => [
    ...['token', 'sign', '--key', pem, '--kid', 'k 1', '--issuer', ISSUER],
    ...['--subject', 'customer-1', '--audience', 'https://instance.example'],
  ];
  const sign = async (...more: string[]) =>
    (await line.output([...required(keyOf('ES256').pem), ...more])).trim();

  it.each(ALGORITHMS)('signs with %s, and prints the token only', async (algorithm) => {
    const { pem, publicPem } = keyOf(algorithm);
    const { exitCode, stdout, stderr } = await line.run([...required(pem), '--alg', algorithm]);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const publicKey = await importSPKI(publicPem, algorithm);
    const { protectedHeader, payload } = await jwtVerify(stdout.trim(), publicKey, {
      algorithms: [algorithm],
    });
    expect(protectedHeader).toEqual({ alg: algorithm, kid: 'k 1', typ: 'JWT' });
    expect(payload).toMatchObject({ iss: ISSUER, sub: 'customer-1', aud: 'https://instance.example' });
  });

  it('lives for 60 seconds from now, has a jti of its own, and no claim that was not asked for', async () => {
    const [one, other] = [decodeJwt(await sign()), decodeJwt(await sign())];
    expect(Object.keys(one).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'sub']);
    expect(Number(one.exp) - Number(one.iat)).toBe(60);
    expect(Math.abs(Number(one.iat) - Date.now() / 1000)).toBeLessThan(30);
    expect(one.jti).not.toBe(other.jti);
  });

  it('carries the optional claims', async () => {
    const profile = ['--email', 'a@b.example', '--given-name', 'Ann', '--family-name', 'Lee'];
    const rest = ['--role', 'global:admin', '--jti', 'once', '--lifetime', '600'];
    const { iat = 0, ...claims } = decodeJwt(await sign(...profile, ...rest));
    expect(claims).toMatchObject({
      email: 'a@b.example',
      given_name: 'Ann',
      family_name: 'Lee',
      role: 'global:admin',
    });
    expect(claims).toMatchObject({ jti: 'once', exp: iat + 600 });
  });

  it('carries any other claim, and other values of its own', async () => {
    const more = ['email_verified=false', 'aud=["a","b"]', 'exp=1e3', 'note="x=y"', '__proto__={"a":1}'];
    const token = await sign(...more.flatMap((claim) => ['--claim', claim]));
    expect(decodeJwt(token)).toMatchObject({
      email_verified: false,
      aud: ['a', 'b'],
      exp: 1000,
      note: 'x=y',
    });
    expect(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).toContain('"__proto__":{"a":1}');
  });

  it('keeps the kid of the header as it was given', async () => {
    const { pem } = keyOf('ES256');
    const args = required(pem).map((arg) => (arg === 'k 1' ? 'sché/ma:1"' : arg));
    expect(decodeProtectedHeader(await line.output(args))).toMatchObject({ kid: 'sché/ma:1"' });
  });

  it('names the algorithms that a key fits, where it does not fit the one asked for', async () => {
    const { exitCode, stdout, stderr } = await line.run([...required(keyOf('ES384').pem), '--alg', 'ES256']);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe('error: The key in ES384.pem does not fit ES256; it fits ES384.\n');
  });

  it.each([
    [['--claim', 'team=sales'], 'must be JSON'],
    [['--claim', '=1'], 'must be name=json'],
    [['--claim', 'exp'], 'must be name=json'],
    [['--lifetime', '0'], 'whole number from 1 to 86400'],
    [['--lifetime', '1.5'], 'whole number from 1 to 86400'],
    [['--alg', 'HS256'], 'Allowed choices are RS256'],
  ])('refuses %j as misuse', async (more, complaint) => {
    const { exitCode, stdout, stderr } = await line.run([...required(keyOf('ES256').pem), ...more]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(complaint);
  });
});
