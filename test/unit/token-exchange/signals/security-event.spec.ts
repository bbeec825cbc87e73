// The event of a security event token whose signature holds: its name, time and subject, or why there is none.
import { OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type { EventClaims } from '../../../../src/token-exchange/signals/security-event.js';
import { readEventClaims } from '../../../../src/token-exchange/signals/security-event.js';
import { EVENT_TYPES } from '../../../support/transmitter.js';

const ISSUER = 'https://login.company.example';
const IAT = 1_900_000_000;
const USER = { format: 'iss_sub', iss: ISSUER, sub: 'ada' };
const REVOKED = EVENT_TYPES['session-revoked'];

const claimsOf = (event: unknown, others: object = {}): EventClaims =>
  readEventClaims({
    iss: ISSUER,
    aud: 'us',
    iat: IAT,
    jti: '1',
    sub_id: USER,
    events: { [REVOKED]: event },
    ...others,
  });
const eventOf = (event: unknown, others: object = {}) => claimsOf(event, others).event;

describe('[D147] a security event', () => {
  it.each(Object.entries(EVENT_TYPES))('%s is recognized by its URI alone', (name, uri) => {
    const expected = name === 'device-compliance-change' ? undefined : name;
    expect(eventOf(undefined, { events: { [uri]: {} } })?.name).toBe(expected);
    for (const other of [`${uri}/`, uri.toUpperCase(), name])
      expect(eventOf(undefined, { events: { [other]: {} } })).toBeUndefined();
  });

  it.each([
    ['event_timestamp', { event_timestamp: IAT - 5 }, { toe: IAT - 9 }, IAT - 5],
    ['toe', {}, { toe: IAT - 9 }, IAT - 9],
    ['iat', {}, {}, IAT],
    ['iat, as the latest', { event_timestamp: IAT + 60 }, {}, IAT],
  ])('has the time of its %s', (_, event, others, at) => {
    expect(eventOf(event, others)?.at).toBe(at);
  });

  it('is accepted for a day after its iat, or until an earlier exp', () => {
    expect(claimsOf({}).exp).toBe(IAT + 86_400);
    expect(claimsOf({}, { exp: IAT + 60 }).exp).toBe(IAT + 60);
    expect(claimsOf({}, { exp: IAT + 1e6 }).exp).toBe(IAT + 86_400);
  });

  it.each([
    [USER, { user: USER }],
    [{ format: 'opaque', id: 'ada' }, { user: { format: 'opaque', id: 'ada' } }],
    [
      { format: 'email', email: 'ada@company.example' },
      { user: { format: 'email', email: 'ada@company.example' } },
    ],
    [
      { format: 'complex', user: USER, session: { format: 'opaque', id: 's1' } },
      { user: USER, session: 's1' },
    ],
    [{ session: { format: 'opaque', id: 's1' } }, { user: undefined, session: 's1' }],
    [
      { user: USER, session: { format: 'opaque', id: 'ALL' } },
      { user: USER, session: undefined },
    ],
    [
      { user: USER, session: { ...USER } },
      { user: USER, session: undefined },
    ],
    [{ format: 'iss_sub', iss: ISSUER }, {}],
    [{ format: 'opaque', id: 7 }, {}],
    ['ada', {}],
    [undefined, {}],
  ])('with the subject %j means exactly %j', (subject, meant) => {
    for (const event of [eventOf({}, { sub_id: subject }), eventOf({ subject }, { sub_id: undefined })])
      expect({ user: event?.user, session: event?.session }).toEqual({
        user: undefined,
        session: undefined,
        ...meant,
      });
  });

  it.each([
    ['no iat', {}, { iat: undefined }],
    ['no aud', {}, { aud: undefined }],
    ['no events', {}, { events: undefined }],
    ['an event that is no object', 1, {}],
    ['a time that is no number', { event_timestamp: '1' }, {}],
    ['a time before 1970', { event_timestamp: -1 }, {}],
    ['a text that cannot be stored', { state: '\u0000' }, {}],
  ])('is rejected with %s', (_, event, others) => {
    expect(() => eventOf(event, others)).toThrow(OAuthRefusal);
  });
});
