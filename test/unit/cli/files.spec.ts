// How commands read files and standard input.
import { generateKeyPairSync } from 'node:crypto';
import { CommandError } from '../../../src/administration/operation.js';
import type { CommandContext } from '../../../src/cli/command-context.js';
import { readInput, readJsonFile, readPrivateKey } from '../../../src/cli/files.js';
import { CommandLine } from '../../support/run-cli.js';

const line = new CommandLine();
const contextOf = (input: Uint8Array) =>
  ({ workingDirectory: line.folder, stdin: { read: () => input } }) as unknown as CommandContext;
const context = contextOf(Buffer.of());
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

describe('[D32] a file', () => {
  it('with JSON may begin with a UTF-8 byte order mark, but not with another one', () => {
    line.write('marked.json', '\ufeff{"type":"jwks"}');
    expect(readJsonFile(context, 'marked.json', 'one entry')).toEqual({ type: 'jwks' });
    line.write('wide.json', utf16('{"type":"jwks"}'));
    expect(() => readJsonFile(context, 'wide.json', 'one entry')).toThrow(
      new CommandError('wide.json is UTF-16 and must be UTF-8'),
    );
  });

  it('with a key may begin with a UTF-8 byte order mark, but not with another one', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    line.write('marked.pem', `\ufeff${pem}`);
    expect(readPrivateKey(context, 'marked.pem').equals(privateKey)).toBe(true);
    line.write('wide.pem', utf16(pem));
    expect(() => readPrivateKey(context, 'wide.pem')).toThrow('wide.pem is UTF-16 and must be UTF-8');
  });
});

it('[D32] standard input may begin with a UTF-8 byte order mark, but not with another one', () => {
  expect(readInput(contextOf(Buffer.from('\ufeffpassword\n')), '-')).toBe('password\n');
  const refused = () => readInput(contextOf(utf16('password')), '-');
  expect(refused).toThrow(new CommandError('Standard input is UTF-16 and must be UTF-8'));
});
