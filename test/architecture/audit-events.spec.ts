// Checks the published schema of audit events, which every event of the tests satisfies (test/support/audit-events.ts).
import { EXCHANGE_EVENTS } from '../../src/token-exchange/exchange/exchange-events.js';
import { faultsOf } from '../support/audit-events.js';

describe('the schema of audit events', () => {
  const event = {
    id: '1',
    event: 'svc.audit.token-exchange.token-revoked',
    occurredAt: '2031-05-01T09:00:00.000Z',
    requestId: 'request-1',
    subjectUserId: 'somebody',
    actorUserId: null,
    payload: { accessTokenId: '0190163d-8694-739b-aea5-966c26f8ad95' },
  };

  it.each([
    ['as it is', {}, true],
    ['a payload of another event', { payload: { sessions: 1 } }, false],
    ['one member more', { payload: { ...event.payload, email: 'a@b.example' } }, false],
    ['an unknown event', { event: 'svc.audit.nothing' }, false],
    ['no time', { occurredAt: 'now' }, false],
  ])('validates an event: %s', (_, change, isGood) =>
    expect(faultsOf({ ...event, ...change }).length === 0).toBe(isGood),
  );

  it("[6.1] requires an access token's lifetime of at least one second", () => {
    const faultsWith = (lifetimeSeconds: number) => {
      const payload = {
        ...event.payload,
        issuer: 'https://a.example',
        kid: 'k1',
        clientAddress: '192.0.2.1',
      };
      const succeeded = { ...event, event: 'svc.audit.token-exchange.succeeded' };
      return faultsOf({ ...succeeded, payload: { ...payload, lifetimeSeconds } }).length;
    };
    expect([faultsWith(1), faultsWith(0)]).toEqual([0, 1]);
    const { lifetimeSeconds } = EXCHANGE_EVENTS['svc.audit.token-exchange.succeeded'].members;
    expect(lifetimeSeconds.schema).toMatchObject({ minimum: 1 });
  });
});
