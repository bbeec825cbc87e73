// The form of syslog messages and of their frames.
import { syslogFrame } from '../../../../src/audit/sinks/syslog.sink.js';

const event = (name: string, json = '{"id":"7"}') => ({
  id: '7',
  position: { transactionId: '3', eventId: '7' },
  name,
  occurredAt: '2026-11-22T16:00:00.000Z',
  json,
});

it('[D89] is a message of RFC 5424 behind the number of its octets', () => {
  const frame = syslogFrame(event('svc.audit.token-exchange.succeeded'), 'instance.example');
  const message =
    '<110>1 2026-11-22T16:00:00.000Z instance.example embedded-token-exchange - succeeded - {"id":"7"}';
  expect(frame).toBe(`${message.length} ${message}`);
});

it('[D89] counts octets, not characters', () => {
  const [count, message] = /^(\d+) (.*)$/.exec(syslogFrame(event('a', '{"name":"ü€😀"}'), 'h'))!.slice(1);
  expect(Number(count)).toBe(Buffer.byteLength(message!));
  expect(Number(count)).toBeGreaterThan(message!.length);
});

it.each([
  ['svc.audit.token-exchange.failed', '<108>', 'failed'],
  ['svc.audit.token-exchange.embed-login-failed', '<108>', 'embed-login-failed'],
  ['svc.audit.administration.failed', '<108>', 'administration.failed'],
  ['svc.audit.api.called', '<110>', 'api.called'],
  ['svc.audit.token-exchange.privileged-identity-linked', '<110>', 'privileged-identity-linked'],
])('[D89] says what happened by priority and MSGID: %s', (name, priority, messageId) => {
  const [, head, , , , , id] = syslogFrame(event(name), 'h').split(' ');
  expect(head).toBe(`${priority}1`);
  expect(id).toBe(messageId);
});

it('[D89] has nothing in its header that the header cannot hold', () => {
  const frame = syslogFrame(event(`svc.audit.${'x'.repeat(40)}`), '');
  expect(frame.split(' ').slice(3, 7)).toEqual(['-', 'embedded-token-exchange', '-', 'x'.repeat(32)]);
});
