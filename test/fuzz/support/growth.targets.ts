// Readers of headers, of entries and of texts for operators. Only their time is tested here.
import { sentRequestId } from '../../../src/platform/http/http-messages.js';
import { clientOf } from '../../../src/platform/http/throttle/rate-limit.js';
import { readTraceparent } from '../../../src/platform/log/logger.js';
import { isEmailAddress } from '../../../src/platform/text/email-address.js';
import { pemFault } from '../../../src/platform/text/pem-fault.js';
import { printable, printableAddress, printableName, visible } from '../../../src/platform/text/printable.js';
import { canonicalUri } from '../../../src/platform/text/uri.js';
import { readClientCredentials } from '../../../src/token-exchange/assertions/client-authenticator.js';
import { publicAddress } from '../../../src/token-exchange/dpop/proof-checks.js';
import { challengeTo, presentedCallOf } from '../../../src/token-exchange/endpoint/challenge.js';
import { readTokenForm } from '../../../src/token-exchange/exchange/token-exchange.form.js';
import { pageOriginOf } from '../../../src/token-exchange/login/login-checks.js';
import { maxAgeSeconds } from '../../../src/token-exchange/trust/jwks/jwks-fetcher.js';
import { readStoredEntry } from '../../../src/token-exchange/trust/stored/stored-entry.js';
import { likeness } from '../../../src/token-exchange/verify/key-hints.js';
import type { FuzzTarget } from './fuzz-target.js';

/** What is measured of a reader. */
export type GrowthTarget = Pick<FuzzTarget, 'name' | 'seeds' | 'pieces' | 'read'> & {
  /** Beginnings and ends around repeated pieces, in addition to those from seeds. */
  readonly around?: readonly (readonly [before: string, behind: string])[];
};

const [BEGIN, END] = ['-----BEGIN PUBLIC KEY-----', '-----END PUBLIC KEY-----'];
const PEM_PIECES = [
  '\n',
  ' ',
  'A',
  '-',
  '=',
  '\\n',
  BEGIN,
  END,
  '-----BEGIN ',
  '-----END ',
  'PRIVATE KEY',
  '\r\n',
];
const AROUND_PEM = [
  [BEGIN, END],
  [`${BEGIN}\n`, `x${END}`],
  ['-----BEGIN ', ''],
] as const;

/** The entry of a check with one member of its own. */
function entryWith(member: string, value: unknown): void {
  const entry = {
    type: 'static',
    name: 'a',
    issuer: 'https://a.example',
    kid: 'k1',
    algorithms: ['ES256'],
    key: 'x',
  };
  readStoredEntry({ ...entry, [member]: value }, { assignableRoles: [], allowHttp: false });
}

const TEXT_MEMBERS = ['key', 'kid', 'issuer', 'expectedAudience', 'notAfter', 'logoutIssuer', 'name'];
const LIST_MEMBERS = ['algorithms', 'origins', 'emailDomains', 'scopes', 'allowedRoles'];

const ofText = (
  name: string,
  read: (text: string) => unknown,
  pieces: readonly string[],
  seeds = [''],
): GrowthTarget => ({
  name,
  seeds,
  pieces,
  read: (input) => read(input.toString('latin1')),
});

export const GROWTH_TARGETS: readonly GrowthTarget[] = [
  {
    name: 'key of an entry (PEM)',
    seeds: [`${BEGIN}\nMFkwEwYH\n${END}\n`],
    pieces: PEM_PIECES,
    around: AROUND_PEM,
    read: (input) => entryWith('key', input.toString()),
  },
  {
    name: 'what stands in place of a PEM',
    seeds: [''],
    pieces: PEM_PIECES,
    around: AROUND_PEM,
    read: (input) =>
      ['public key', 'private key', 'certificate'].map((kind) =>
        pemFault(input.toString(), kind as 'certificate'),
      ),
  },
  ...TEXT_MEMBERS.map((member) =>
    ofText(`${member} of an entry`, (text) => entryWith(member, text), [
      'a',
      '/',
      '.',
      ':',
      '@',
      '-',
      ' ',
      '2',
      'https://',
      '%41',
    ]),
  ),
  ...LIST_MEMBERS.map((member) =>
    ofText(`${member} of an entry`, (text) => entryWith(member, text.split('|')), [
      'a',
      'a|',
      '.',
      '/',
      '-',
      'https://a.b|',
      'RS256|',
    ]),
  ),
  ofText(
    'URI',
    canonicalUri,
    ['a', '/', '/..', '/./', '%2e', '%41', '%', '@', ':', '//', '?'],
    ['https://a.example/', 'urn:'],
  ),
  ofText(
    'Authorization: Bearer or DPoP',
    (authorization) => [
      presentedCallOf({ method: 'GET', url: '/', headers: { authorization } }),
      challengeTo({ authorization, baseUrl: undefined }),
    ],
    ['a', ' ', '=', '.', 'Bearer ', '==', 'DPoP '],
    ['Bearer a', 'DPoP '],
  ),
  ofText('address of a DPoP proof', (target) => publicAddress('https://a.example/b', `/${target}`), [
    'a',
    '/',
    '.',
    '%2e',
    '?',
    '\\',
    '@',
    '../',
  ]),
  ofText(
    'Authorization: Basic',
    (text) => readClientCredentials(readTokenForm({}), text),
    ['a', ' ', '=', 'JTQx', 'Og==', 'KysrOisr'],
    ['Basic YTpi', 'Basic '],
  ),
  ofText(
    'Cache-Control',
    maxAgeSeconds,
    ['"', '\\', ',', 'max-age=', '1', ' ', '\\"', '","'],
    ['max-age=60', 'a="b"'],
  ),
  ofText(
    'traceparent',
    readTraceparent,
    ['0', '-', 'a', '00-'],
    [`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
  ),
  ofText(
    'address of a client',
    clientOf,
    ['1', '.', ':', '[', ']', '::', '0x', 'f', '1.', '%'],
    ['[::1]:80', '10.0.0.1'],
  ),
  ofText('X-Request-Id', (id) => sentRequestId({ headers: { 'x-request-id': id } }), ['a', '-', ' ', ',']),
  ofText('Origin', pageOriginOf, ['a', '/', ':', '.', '@', 'https://', '%41', '[']),
  ofText('e-mail address', isEmailAddress, ['a', '-', '.', '@', 'a.', 'xn--', ' ', '%40'], ['ada@a.example']),
  ofText(
    'what operators are shown',
    (text) => [printable(text), printableName(text), printableAddress(text), visible(text)],
    ['@', '%40', '.', 'eyJ', 'eyJaaaaaaaa', '-----BEGIN', '\\', ' ', '?', '\u0085', 'ey-', '-'],
  ),
  ofText('issuer of a refused token', (text) => likeness(text, new Set(['https://a.example'])), [
    '/',
    'a',
    'http://',
    '//',
  ]),
];
