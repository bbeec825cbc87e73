// svc-admin license: key pair, licences, and what a licence is said to be.
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LICENSE_FEATURES, readLicense } from '../../../src/config/license.js';
import { CommandLine } from '../../support/run-cli.js';

const DAY_MS = 86_400_000;

describe('license', () => {
  const line = new CommandLine();
  const read = (name: string) => readFileSync(join(line.folder, name), 'utf8');
  const issue = (...args: string[]) => line.run(['license', 'issue', '--private-key', 'vendor.pem', ...args]);
  const show = (license: string) => {
    line.write('shown.jws', license);
    return line.run(['license', 'show', '--license', 'shown.jws', '--public-key', 'vendor.pub']);
  };

  /** A licence with any payload, correctly signed. */
  const signed = (payload: unknown) => {
    const input = [{ alg: 'EdDSA' }, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${input}.${sign(null, Buffer.from(input), createPrivateKey(read('vendor.pem'))).toString('base64url')}`;
  };

  beforeAll(() =>
    line.output(['license', 'keygen', '--out-private', 'vendor.pem', '--out-public', 'vendor.pub']),
  );

  describe('keygen', () => {
    const keygen = (privateFile: string, publicFile: string, ...more: string[]) =>
      line.run(['license', 'keygen', '--out-private', privateFile, '--out-public', publicFile, ...more]);

    it('creates a private key that only its owner can read, and a public key', () => {
      expect(statSync(join(line.folder, 'vendor.pem')).mode & 0o777).toBe(0o600);
      expect(createPrivateKey(read('vendor.pem')).asymmetricKeyType).toBe('ed25519');
      expect(read('vendor.pub')).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    });

    it.each([
      ['vendor.pem', 'new.pub', 'vendor.pem'],
      ['new.pem', 'vendor.pub', 'vendor.pub'],
    ])(
      'overwrites nothing and leaves no partial files: %s, %s',
      async (privateFile, publicFile, existing) => {
        const before = read(existing);
        const { exitCode, stderr } = await keygen(privateFile, publicFile);
        expect(exitCode).toBe(1);
        expect(stderr).toBe(`error: ${existing} exists already; --force replaces it\n`);
        expect(read(existing)).toBe(before);
        expect([existsSync(join(line.folder, 'new.pem')), existsSync(join(line.folder, 'new.pub'))]).toEqual([
          false,
          false,
        ]);
      },
    );

    it('replaces keys with --force, and leaves no replaced private key that others can read', async () => {
      const path = line.write('old.pem', 'old');
      chmodSync(path, 0o644);
      expect(await keygen('old.pem', 'old.pub', '--force')).toMatchObject({ exitCode: 0 });
      expect(read('old.pem')).toContain('BEGIN PRIVATE KEY');
      expect(statSync(path).mode & 0o777).toBe(0o600);
    });

    it('keeps the old private key until the public key is written', async () => {
      const before = read('vendor.pem');
      mkdirSync(join(line.folder, 'taken.pub'));
      const { exitCode, stderr } = await keygen('vendor.pem', 'taken.pub', '--force');
      expect([exitCode, stderr]).toEqual([1, 'error: taken.pub cannot be written (EISDIR)\n']);
      expect(read('vendor.pem')).toBe(before);
    });

    it('rejects one file for both keys', async () => {
      const { exitCode, stderr } = await keygen('both.pem', './both.pem');
      expect([exitCode, stderr]).toEqual([2, 'error: The two keys need two files.\n']);
      expect(existsSync(join(line.folder, 'both.pem'))).toBe(false);
    });

    it('reports a folder that it cannot write to', async () => {
      const { exitCode, stderr } = await keygen('no/such/folder.pem', 'fine.pub');
      expect([exitCode, stderr]).toEqual([1, 'error: no/such/folder.pem cannot be written (ENOENT)\n']);
    });
  });

  describe('issue', () => {
    it('[D39] creates a licence that the service accepts', async () => {
      const { exitCode, stdout } = await issue(
        '--features',
        'token-exchange, project-members',
        '--days',
        '30',
      );
      const license = await readLicense(stdout, read('vendor.pub'));
      expect(exitCode).toBe(0);
      expect([...license.features]).toEqual(['token-exchange', 'project-members']);
      expect(license.includes('token-exchange', Date.now())).toBe(true);
      expect(license.includes('credentials-list', Date.now())).toBe(false);
      expect(Math.abs(license.expiresAt.getTime() - Date.now() - 30 * DAY_MS)).toBeLessThan(60_000);
    });

    it('prints only the licence, or writes it to a file and prints nothing', async () => {
      const terms = ['--features', 'token-exchange', '--expires', '2099-05-01'];
      expect((await issue(...terms)).stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
      expect(await issue(...terms, '--out', 'one.jws')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      const { expiresAt } = await readLicense(read('one.jws'), read('vendor.pub'));
      expect(expiresAt.toISOString()).toBe('2099-05-01T00:00:00.000Z');
    });

    it('does not overwrite a file, such as the key, without --force', async () => {
      const terms = ['--features', 'token-exchange', '--days', '1'];
      const before = read('vendor.pem');
      expect(await issue(...terms, '--out', 'vendor.pem')).toMatchObject({ exitCode: 1 });
      expect(read('vendor.pem')).toBe(before);
      line.write('old.jws', 'old');
      expect(await issue(...terms, '--out', 'old.jws', '--force')).toMatchObject({ exitCode: 0 });
      expect(read('old.jws')).not.toBe('old');
    });

    it('lists the known features if one is unknown', async () => {
      const { exitCode, stderr } = await issue('--features', 'token-exchange,teleport', '--days', '1');
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`Known are ${LICENSE_FEATURES.join(', ')}`);
    });

    it.each([
      ['no end', [], 2, 'give --days or --expires'],
      ['two ends', ['--days', '1', '--expires', '2099-01-01'], 2, 'cannot be used with'],
      ['no days', ['--days', '0'], 2, 'a whole number from 1 to 36500'],
      ['a day that does not exist', ['--expires', '2099-02-30'], 2, 'It must be a date'],
      ['a time without zone', ['--expires', '2099-02-20T10:00'], 2, 'It must be a date'],
      ['an end in the past', ['--expires', '2001-01-01'], 2, 'would have ended already'],
    ])('rejects %s', async (_, end, code, complaint) => {
      const { exitCode, stdout, stderr } = await issue('--features', 'token-exchange', ...end);
      expect([exitCode, stdout]).toEqual([code, '']);
      expect(stderr).toContain(complaint);
    });

    it.each([
      ['missing', undefined, 'key.pem cannot be read (ENOENT)'],
      ['no PEM', 'secret-text', 'key.pem holds no private key in PEM'],
      [
        'of another kind',
        generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({
          type: 'pkcs8',
          format: 'pem',
        }),
        'does not fit EdDSA; it fits ES256',
      ],
    ])('rejects a key that is %s, without showing it', async (_, pem, complaint) => {
      if (pem !== undefined) line.write('key.pem', pem.toString());
      const terms = ['--private-key', 'key.pem', '--features', 'token-exchange', '--days', '1'];
      const { exitCode, stderr } = await line.run(['license', 'issue', ...terms]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(complaint);
      expect(stderr).not.toMatch(/secret-text|BEGIN|\n {4}at /);
    });
  });

  describe('show', () => {
    it('[D39] reports customer, features and end of a valid licence', async () => {
      const payload = { customer: 'Ann\u001b[2J', features: ['token-exchange'], exp: 4_000_000_000 };
      expect(await show(signed(payload))).toEqual({
        exitCode: 0,
        stdout: [
          'Customer: Ann\uFFFD[2J',
          'Features: token-exchange',
          'Expires:  2096-10-02T07:06:40.000Z',
          'Status:   valid\n',
        ].join('\n'),
        stderr: '',
      });
    });

    it('[D39] reports a licence that has ended, and a licence whose end is invalid', async () => {
      const ended = await show(signed({ features: [], exp: 1_000_000_000 }));
      expect(ended).toMatchObject({
        exitCode: 1,
        stderr: 'error: The licence is not valid: it has ended.\n',
      });
      expect(ended.stdout).toContain('Features: (none)\nExpires:  2001-09-09T01:46:40.000Z\n');
      expect(await show(signed({ features: [], exp: 1e300 }))).toMatchObject({ exitCode: 1 });
    });

    it.each([
      [
        'of another vendor',
        () => signed({ features: [], exp: 4e9 }).slice(0, -9).concat('AAAAAAAAA'),
        'signature',
      ],
      ['without features', () => signed({ exp: 4e9 }), 'features must be an array'],
    ])('[D39] says why a licence %s is invalid, and shows none of its claims', async (_, license, reason) => {
      const { exitCode, stdout, stderr } = await show(license());
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^error: The licence is not valid: .*${reason}.*\n$`));
    });

    describe('with the configured licence', () => {
      const configured = () => ({
        SVC_LICENSE: signed({ features: ['credentials-list'], exp: 4e9 }),
        SVC_LICENSE_PUBLIC_KEY_FILE: join(line.folder, 'vendor.pub'),
        // What is wrong elsewhere is not this command's business.
        SVC_PORT: 'none',
      });

      it('reads it from the environment, or from --env-file at any position', async () => {
        expect(await line.output(['license', 'show'], configured())).toContain('credentials-list');
        const { SVC_LICENSE, SVC_LICENSE_PUBLIC_KEY_FILE } = configured();
        line.write(
          'a.env',
          `SVC_LICENSE=${SVC_LICENSE}\nSVC_LICENSE_PUBLIC_KEY_FILE=${SVC_LICENSE_PUBLIC_KEY_FILE}\n`,
        );
        expect(await line.run(['--env-file', 'a.env', 'license', 'show'])).toMatchObject({ exitCode: 0 });
        expect(await line.run(['license', 'show', '--env-file', 'a.env'])).toMatchObject({ exitCode: 0 });
      });

      it.each([
        ['licence', { SVC_LICENSE: undefined }, 'There is no licence: give --license'],
        [
          'public key',
          { SVC_LICENSE_PUBLIC_KEY_FILE: undefined },
          'There is no public key: give --public-key',
        ],
      ])('says how to set the missing %s', async (_, change, complaint) => {
        const entries = Object.entries({ ...configured(), ...change }).filter(
          ([, value]) => value !== undefined,
        );
        const { exitCode, stderr } = await line.run(['license', 'show'], Object.fromEntries(entries));
        expect(exitCode).toBe(1);
        expect(stderr).toContain(complaint);
      });
    });
  });
});
