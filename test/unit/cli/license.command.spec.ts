// svc-admin license: key pair and licences.
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LICENSE_FEATURES, readLicense } from '../../../src/config/license.js';
import { CommandLine } from '../../support/run-cli.js';

const DAY_MS = 86_400_000;

describe('license', () => {
  const line = new CommandLine();
  const read = (name: string) => readFileSync(join(line.folder, name), 'utf8');
  const issue = (...args: string[]) => line.run(['license', 'issue', '--private-key', 'vendor.pem', ...args]);

  beforeAll(() =>
    line.output(['license', 'keygen', '--out-private', 'vendor.pem', '--out-public', 'vendor.pub']),
  );

  describe('keygen', () => {
    const keygen = (privateFile: string, publicFile: string, ...more: string[]) =>
      line.run(['license', 'keygen', '--out-private', privateFile, '--out-public', publicFile, ...more]);

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
      expect([exitCode, stderr]).toEqual([2, 'error: The two keys need different files.\n']);
      expect(existsSync(join(line.folder, 'both.pem'))).toBe(false);
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

    it('lists the known features if one is unknown', async () => {
      const { exitCode, stderr } = await issue('--features', 'token-exchange,teleport', '--days', '1');
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`It must be one or more of ${LICENSE_FEATURES.join(', ')}`);
    });

    it.each([
      ['no end', [], 2, 'give --days or --expires'],
      ['no days', ['--days', '0'], 2, 'a whole number from 1 to 36500'],
      ['a day that does not exist', ['--expires', '2099-02-30'], 2, 'It must be a date'],
      ['an end in the past', ['--expires', '2001-01-01'], 2, 'would have ended already'],
    ])('rejects %s', async (_, end, code, complaint) => {
      const { exitCode, stdout, stderr } = await issue('--features', 'token-exchange', ...end);
      expect([exitCode, stdout]).toEqual([code, '']);
      expect(stderr).toContain(complaint);
    });

    it.each([
      ['missing', undefined, 'missing.pem cannot be read (ENOENT)'],
      ['no PEM', 'secret-text', 'no PEM.pem contains no private key in PEM'],
      [
        'of another kind',
        generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({
          type: 'pkcs8',
          format: 'pem',
        }),
        'does not fit EdDSA; it fits ES256',
      ],
    ])('rejects a key that is %s, without showing it', async (fault, pem, complaint) => {
      const file = `${fault}.pem`;
      if (pem !== undefined) line.write(file, pem.toString());
      const terms = ['--private-key', file, '--features', 'token-exchange', '--days', '1'];
      const { exitCode, stderr } = await line.run(['license', 'issue', ...terms]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(complaint);
      expect(stderr).not.toMatch(/secret-text|BEGIN|\n {4}at /);
    });
  });
});
