// svc-admin token sign: external tokens as a partner signs them.
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Partner } from '../../../demo/partner.js';
import type { Algorithm } from '../../../src/token-exchange/trust/algorithms.js';
import { CommandLine } from '../../support/run-cli.js';

const ISSUER = 'https://login.partner.example';

describe('token sign', () => {
  const line = new CommandLine();
  const keyOf = (algorithm: Algorithm) => {
    line.write(`${algorithm}.pem`, Partner.create({ issuer: ISSUER, algorithm }).privateKeyPem());
    return `${algorithm}.pem`;
  };
  const required = (pem: string) => [
    ...['token', 'sign', '--key', pem, '--kid', 'k 1', '--issuer', ISSUER],
    ...['--subject', 'customer-1', '--audience', 'https://instance.example'],
  ];
  const sign = async (...more: string[]) =>
    (await line.output([...required(keyOf('ES256')), ...more])).trim();

  it('creates tokens that last 60 seconds, with a new jti and only the requested claims', async () => {
    const [one, other] = [decodeJwt(await sign()), decodeJwt(await sign())];
    expect(Object.keys(one).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'sub']);
    expect(Number(one.exp) - Number(one.iat)).toBe(60);
    expect(Math.abs(Number(one.iat) - Date.now() / 1000)).toBeLessThan(30);
    expect(one.jti).not.toBe(other.jti);
  });

  it('adds the optional claims', async () => {
    const profile = ['--email', 'a@b.example', '--given-name', 'Ann', '--family-name', 'Lee'];
    const rest = ['--role', 'global:admin', '--jti', 'once', '--lifetime', '600', '--email-verified'];
    const { iat = 0, ...claims } = decodeJwt(await sign(...profile, ...rest));
    expect(claims).toEqual({
      ...{ iss: ISSUER, sub: 'customer-1', aud: 'https://instance.example', exp: iat + 600, jti: 'once' },
      ...{ email: 'a@b.example', email_verified: true, given_name: 'Ann', family_name: 'Lee' },
      role: 'global:admin',
    });
  });

  it('adds other claims, and overrides its own values', async () => {
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

  it('uses the algorithm of the key, and prints only the token', async () => {
    const { exitCode, stdout, stderr } = await line.run(required(keyOf('EdDSA')));
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(decodeProtectedHeader(stdout)).toEqual({ alg: 'EdDSA', kid: 'k 1', typ: 'JWT' });
  });

  it('rejects an empty kid, which an unset script variable would cause', async () => {
    const args = required(keyOf('ES256')).map((arg) => (arg === 'k 1' ? '' : arg));
    const { exitCode, stderr } = await line.run(args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('It must have 1 to 512 bytes.')]);
  });

  it('lists the algorithms of the key if it does not fit the requested one', async () => {
    const { exitCode, stdout, stderr } = await line.run([...required(keyOf('ES384')), '--alg', 'ES256']);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe('error: The key in ES384.pem does not fit ES256; it fits ES384.\n');
  });

  it.each([
    [['--claim', 'team=sales'], 'must be JSON'],
    [['--claim', '=1'], 'must be name=json'],
    [['--lifetime', '0'], 'whole number from 1 to 86400'],
    [['--alg', 'HS256'], 'Allowed choices are RS256'],
  ])('rejects %j as misuse', async (more, complaint) => {
    const { exitCode, stdout, stderr } = await line.run([...required(keyOf('ES256')), ...more]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(complaint);
  });
});
