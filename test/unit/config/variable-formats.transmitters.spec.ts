// The variable with the transmitters of security events, and the error messages for invalid values.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transmitters } from '../../../src/config/variable-formats.js';

const SECRET = 's'.repeat(32);
const fileWith = (name: string, text: string) => {
  const path = join(tmpdir(), `transmitters-${name}.secret`);
  writeFileSync(path, text);
  return path;
};
const secretFile = fileWith('good', `${SECRET}\n`);
const ONE = { issuer: 'https://a.example', audience: 'us', jwksUri: 'https://a.example/jwks', secretFile };
const OTHER = {
  ...ONE,
  issuer: 'https://b.example',
  jwksUri: 'https://b.example/jwks',
  secretFile: fileWith('other', 'o'.repeat(32)),
};

const problemsOf = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return transmitters()
    .safeParse(text)
    .error?.issues.map(({ message }) => message);
};

it('[D147] each transmitter has the secret of its file, without the trailing newline', () => {
  const { secretFile: _, ...shown } = ONE;
  expect(transmitters().parse(JSON.stringify([ONE]))).toEqual([{ ...shown, secret: SECRET }]);
  expect(transmitters().parse(undefined)).toEqual([]);
  expect(problemsOf([ONE, OTHER])).toBeUndefined();
});

it.each<[unknown, string]>([
  ['[', 'not valid JSON'],
  [{}, 'must be a list of transmitters'],
  [[{ ...ONE, issuer: 'a' }], 'transmitter 1, issuer must be a URL'],
  [[ONE, { ...OTHER, jwksUri: 'b' }], 'transmitter 2, jwksUri must be a URL'],
  [[{ ...ONE, secretFile: '/nowhere' }], 'transmitter 1, secretFile cannot be read (ENOENT)'],
  [[{ ...ONE, secretFile: fileWith('short', 'short') }], 'transmitter 1, secretFile must have 32 or more'],
  [[ONE, { ...OTHER, issuer: ONE.issuer }], 'two transmitters must not share issuer, jwksUri or secret'],
  [[ONE, { ...OTHER, secretFile }], 'two transmitters must not share issuer, jwksUri or secret'],
])('[D147] %j is rejected', (value, problem) => {
  expect(problemsOf(value)).toEqual([expect.stringContaining(problem)]);
});
