// Which incoming request ids are taken, and what becomes of others.
import { randomUUID } from 'node:crypto';
import { clientRequestIdOf, idOfRequest, requestIdOf } from '../../../../src/platform/http/http-messages.js';

const OWN = /^[0-9a-v]{20}$/;
const idOf = (incoming: string | string[] | undefined, isTrusted = true) =>
  idOfRequest({ headers: { 'x-request-id': incoming } }, isTrusted);

it.each([randomUUID(), '01JD9ZC5V2X7Q3M8', 'Root=1-67891233-abcdef'.replace('=', ':'), 'a'.repeat(128)])(
  '[D21] a well-formed id is kept if a proxy is trusted, and otherwise logged with a new one: %s',
  (sent) => {
    expect(idOf(sent)).toBe(sent);
    expect(clientRequestIdOf(sent)).toBeUndefined();
    const id = idOf(sent, false);
    expect(id).toMatch(OWN);
    expect(clientRequestIdOf(id)).toBe(sent);
  },
);

it('[D21] the oldest client-supplied ids are forgotten', () => {
  const ids = Array.from({ length: 20_001 }, () => idOf('of-the-client', false));
  const known = ids.filter((id) => clientRequestIdOf(id) === 'of-the-client');
  expect(known).toEqual(ids.slice(-known.length));
  expect(known.length).toBeLessThanOrEqual(20_000);
  expect(known.length).toBeGreaterThan(18_000);
});

it.each<[string, string | string[] | undefined]>([
  ['none', undefined],
  ['an empty one', ''],
  ['two', ['first-of-two', 'second-of-two']],
  ['one with a space', 'request id'],
  ['one with a line in it', 'request-id\r\nset-cookie: x'],
  ['one with an escape sequence', 'request-id\u001b[2J'],
  ['one beyond ASCII', 'request-ïd'],
  ['an over-long one', 'a'.repeat(10_000)],
])('[D21] %s is replaced', (_, incoming) => {
  for (const isTrusted of [true, false]) {
    const id = idOf(incoming, isTrusted);
    expect(id).toMatch(OWN);
    expect(clientRequestIdOf(id)).toBeUndefined();
  }
});

it('[D21] each new id is unique and sorts after the earlier ones', () => {
  const ids = Array.from({ length: 100 }, () => idOf(undefined));
  expect(new Set(ids).size).toBe(100);
  expect([...ids].sort()).toEqual(ids);
});

it('[D21] an id that the server has assigned is kept, unless others may have it', () => {
  expect(requestIdOf({ id: 'of-the-server' })).toBe('of-the-server');
  for (const id of ['req-1', 'req-46656', 7]) expect(requestIdOf({ id })).toMatch(OWN);
});
