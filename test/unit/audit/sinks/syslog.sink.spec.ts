// The format of syslog messages and their framing.
import { syslogFrame } from '../../../../src/audit/sinks/syslog.sink.js';

const event = (name: string, json = '{"id":"7"}') => ({
  id: '7',
  position: { transactionId: '3', eventId: '7' },
  name,
  occurredAt: '2026-11-22T16:00:00.000Z',
  json,
});

it('is an RFC 5424 message prefixed with its length in octets', () => {
  const frame = syslogFrame(event('svc.audit.token-exchange.succeeded'), 'instance.example');
  const message =
    '<110>1 2026-11-22T16:00:00.000Z instance.example embedded-token-exchange - succeeded - {"id":"7"}';
  expect(frame).toBe(`${message.length} ${message}`);
});

it('counts octets, not characters', () => {
  const [count, message] = /^(\d+) (.*)$/.exec(syslogFrame(event('a', '{"name":"ü€😀"}'), 'h'))!.slice(1);
  expect(Number(count)).toBe(Buffer.byteLength(message!));
  expect(Number(count)).toBeGreaterThan(message!.length);
});

it.each([
  ['svc.audit.token-exchange.failed', '<108>', 'failed'],
  ['svc.audit.administration.failed', '<108>', 'administration.failed'],
  ['svc.audit.api.called', '<110>', 'api.called'],
])('maps the event to priority and MSGID: %s', (name, priority, messageId) => {
  const [, head, , , , , id] = syslogFrame(event(name), 'h').split(' ');
  expect(head).toBe(`${priority}1`);
  expect(id).toBe(messageId);
});

it('has only valid characters in its header', () => {
  const frame = syslogFrame(event(`svc.audit.${'x'.repeat(40)}`), '');
  expect(frame.split(' ').slice(3, 7)).toEqual(['-', 'embedded-token-exchange', '-', 'x'.repeat(32)]);
});

describe('an event that is too large for syslog servers', () => {
  const MAX_BYTES = 8000;
  const shown = (payload: object) => ({ id: '7', event: 'a', requestId: 'r', payload });
  const frameOf = (payload: object) => syslogFrame(event('a', JSON.stringify(shown(payload))), 'h');
  const jsonIn = (frame: string) => JSON.parse(frame.slice(frame.indexOf('{'))) as unknown;

  it('is sent as one message that omits and lists its largest properties', () => {
    const change = { name: 'é'.repeat(9_000), keys: ['x'.repeat(3_000)] };
    const frame = frameOf({
      entry: 'partner',
      from: change,
      change: 'policy-changed',
      to: { ...change, more: 'x' },
    });
    expect(Buffer.byteLength(frame)).toBeLessThanOrEqual(MAX_BYTES);
    expect(jsonIn(frame)).toEqual({
      ...shown({ entry: 'partner', change: 'policy-changed' }),
      cut: ['payload.to', 'payload.from'],
    });
  });

  it('is sent whole if it fits exactly', () => {
    const room = MAX_BYTES - Buffer.byteLength(frameOf({ text: 'x'.repeat(1_000) })) + 1_000;
    const whole = frameOf({ text: 'x'.repeat(room) });
    expect(Buffer.byteLength(whole)).toBe(MAX_BYTES);
    expect(jsonIn(whole)).toEqual(shown({ text: 'x'.repeat(room) }));
    expect(jsonIn(frameOf({ text: 'x'.repeat(room + 1) }))).toEqual({ ...shown({}), cut: ['payload.text'] });
  });
});
