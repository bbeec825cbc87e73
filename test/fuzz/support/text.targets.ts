// Short strings that clients send: redirect targets, cursors and cookies. Also the envelopes of sealed data.
import { isUnstorable } from '../../../src/platform/json/strict-json.js';
import { KeyRing, SealError } from '../../../src/platform/secrets/key-ring.js';
import { localRedirect } from '../../../src/token-exchange/login/local-redirect.js';
import { readSessionCookies } from '../../../src/token-exchange/login/session-cookie.js';
import { SESSION_COOKIE } from '../../../src/token-exchange/settings/settings.js';
import type { Place } from '../../../src/workspace/api/pages.js';
import {
  isPlaceById,
  isPlaceByText,
  isPlaceByTime,
  readCursor,
  writeCursor,
} from '../../../src/workspace/api/pages.js';
import { REDIRECTS, TRICKS } from '../../support/redirect-targets.js';
import type { FuzzTarget } from './fuzz-target.js';
import { insist } from './fuzz-target.js';

const INSTANCE = 'https://instance.example';
const keyRing = new KeyRing([Buffer.alloc(32, 1), Buffer.alloc(32, 2)]);
const ID = '0189c2a0-7b5e-7c3a-9d4e-123456789abc';

const redirect: FuzzTarget<string> = {
  name: 'redirect target',
  seeds: [...REDIRECTS.map(([target = '/']) => target), ...TRICKS],
  pieces: [
    '/',
    '//',
    '\\',
    '.',
    '%2f',
    '%5c',
    '%25',
    '@',
    ':',
    '?',
    '#',
    'evil.example',
    'https:',
    '。',
    '／',
  ],
  read: (input) => localRedirect(input.toString('utf8')).location,
  judge(_, location) {
    insist(/^\/(?![/\\])[\x21-\x7e]*$/.test(location), 'a location is a path in printable ASCII');
    insist(location.length <= 4096, 'a location has its limit');
    for (let path = location, round = 0; round < 4; round += 1) {
      insist(new URL(path, `${INSTANCE}/rest/auth/embed`).origin === INSTANCE, 'the browser stays here');
      const [first = ''] = path.split(/[?#]/, 1);
      if (!/%[0-7][0-9a-f]/i.test(first)) break;
      path = first.replace(/%([0-7][0-9a-f])/gi, (_escape, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      );
    }
  },
};

const CURSORS = ['', 'a name', '2026-01-01T00:00:00.000001Z'].map((key) => writeCursor({ id: ID, key }));

const cursor: FuzzTarget<Place | undefined> = {
  name: 'cursor',
  seeds: CURSORS,
  pieces: ['A', '=', '-', '_', '+', '/', 'AAAA', '____', ...CURSORS.map((text) => text.slice(0, 24))],
  read: (input) => readCursor(input.toString('utf8')),
  judge(input, place) {
    if (place === undefined) return;
    insist(writeCursor(place) === input.toString('utf8'), 'a place has one spelling');
    const isKnown = [isPlaceById, isPlaceByTime, isPlaceByText].some((isPlace) => isPlace(place));
    insist(!isKnown || !isUnstorable(place.id + place.key), 'a statement can take it');
  },
};

const SESSION = 'A'.repeat(21) + 'b-_'.repeat(7) + '9';

const cookie: FuzzTarget<string[]> = {
  name: 'cookie header',
  seeds: [
    `${SESSION_COOKIE}=${SESSION}`,
    `a=b; ${SESSION_COOKIE}=${SESSION}; ${SESSION_COOKIE}=${SESSION.replace('A', 'C')}; c="d;e"`,
  ],
  pieces: [';', '; ', '=', ',', '"', `${SESSION_COOKIE}=`, SESSION, `;${SESSION_COOKIE}=${SESSION}`, 'A'],
  // As Node.js gives headers.
  read: (input) => readSessionCookies(input.toString('latin1')),
  judge(input, ids) {
    const pairs = input
      .toString('latin1')
      .split(';')
      .map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ''));
    const given = pairs.filter((pair) => /^__Host-svc-session=[\w-]{43}$/.test(pair));
    const expected = [...new Set(given.map((pair) => pair.slice(SESSION_COOKIE.length + 1)))].slice(0, 4);
    insist(ids.join() === expected.join(), 'ids are those of whole pairs, each once, in order');
  },
};

const PLACE = 'credential:1';
const ENVELOPES = [keyRing.seal(Buffer.from('secret'), PLACE), keyRing.seal(Buffer.alloc(0), PLACE)];

const envelope: FuzzTarget<Buffer> = {
  name: 'sealed envelope',
  // Inputs are UTF-8: bytes stand for themselves by their code.
  seeds: [...ENVELOPES, keyRing.seal(Buffer.from('secret'), 'credential:2')].map((bytes) =>
    bytes.toString('latin1'),
  ),
  pieces: ['\u0001', '\u0000', ...ENVELOPES.map((bytes) => bytes.subarray(0, 9).toString('latin1'))],
  read: (input) => keyRing.unseal(Buffer.from(input.toString('utf8'), 'latin1'), PLACE),
  isRefusal: (error) => error instanceof SealError,
  judge(input) {
    const bytes = Buffer.from(input.toString('utf8'), 'latin1');
    insist(
      ENVELOPES.some((sealed) => sealed.equals(bytes)),
      'only what was sealed for this place opens',
    );
  },
};

export const TEXT_TARGETS = [redirect, cursor, cookie, envelope] as const;
