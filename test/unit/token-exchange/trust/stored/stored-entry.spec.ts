// Which entries may be stored, and the error messages for others.
import { Partner } from '../../../../../demo/partner.js';
import { readStoredEntry } from '../../../../../src/token-exchange/trust/stored/stored-entry.js';
import { readTrustedKeys } from '../../../../../src/token-exchange/trust/trusted-key-entry.js';

const issuer = 'https://login.partner.example';
const partner = Partner.create({ issuer, kid: 'k1', audience: 'us' });
const entry = partner.staticEntry({ name: 'partner' });
const RULES = { assignableRoles: ['global:member'], allowHttp: false, defaults: 'contract' as const };
const read = (value: unknown, rules: Parameters<typeof readStoredEntry>[1] = RULES) =>
  readStoredEntry(value, rules);

it('[D70] an entry and its key have a label that no configured entry has', () => {
  const { entry: taken, problems } = read(entry);
  expect(problems).toEqual([]);
  expect(taken).toMatchObject({ label: 'stored:partner', key: { policy: { label: 'stored:partner' } } });
  expect(taken?.entryIndex).toBeUndefined();
});

it('[D70] an entry excludes privileged users by default', () =>
  expect(read(entry).entry).toMatchObject({ linkPrivileged: false, excludeOwner: true }));

it('[D70][P.strict] the strict rules apply to stored entries as to configured ones', () => {
  const strict = { ...RULES, defaults: 'strict' as const };
  const { problems } = readTrustedKeys(JSON.stringify([entry]), strict);
  expect(problems.length).toBeGreaterThan(0);
  expect(read(entry, strict).problems).toEqual(problems.map((problem) => problem.replace('entry 0, ', '')));
  const said = { ...entry, allowedRoles: [], origins: ['https://product.example'], emailDomains: ['*'] };
  expect(read(said, strict).entry).toMatchObject({ requireVerifiedEmail: true, linkPrivileged: false });
});

it.each([
  ['a private key', { key: partner.privateKeyPem() }],
  ['an unsupported algorithm', { algorithms: ['HS256'] }],
  ['no issuer', { issuer: undefined }],
])('[D70] %s causes the same message as in a configured entry', (_, change) => {
  const value = { ...entry, ...change };
  const { problems } = readTrustedKeys(JSON.stringify([value]), RULES);
  expect(problems).toHaveLength(1);
  expect(read(value)).toMatchObject({ entry: undefined });
  expect(read(value).problems).toEqual(problems.map((problem) => problem.replace('entry 0, ', '')));
});

it.each([
  ['no name', { name: undefined }, 'name: is required of a stored entry'],
  ['a name with a line end', { name: 'a\nb' }, 'name: must be a printable text of at most 64 characters'],
  ['a name with a leading space', { name: ' a' }, 'name: must be a printable text of at most 64 characters'],
  ['65 characters', { name: '𝔸'.repeat(65) }, 'name: must be a printable text of at most 64 characters'],
  ['65 KiB', { issuer: `https://a.example/${'a'.repeat(65 * 1024)}` }, 'the entry: must have at most 64 KiB'],
])('[D70] %s is refused', (_, change, problem) => {
  expect(read({ ...entry, ...change }).problems).toContain(problem);
});

it.each([[], 'text', null, 7])('[D70] %j is not an entry', (value) => {
  expect(read(value)).toMatchObject({ entry: undefined, problems: ['the entry: must be an object'] });
});
