// The signature of webhook requests, checked by an independent program.
import { execFileSync } from 'node:child_process';
import { signatureOf } from '../../../../src/audit/sinks/webhook.sink.js';

const SECRET = 'a secret of thirty-two characters';

/** Computes the signature as docs/reference/audit-streams.md tells receivers to. */
function byOpenssl(secret: string, signed: string): string {
  const printed = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], { input: signed });
  return printed.toString().trim().split(' ').at(-1)!;
}

it('the signature is the HMAC-SHA-256 of timestamp, full stop and body', () => {
  const body = '{"events":[{"id":"1","payload":{"issuer":"https://pärtner.example"}}]}';
  expect(signatureOf(body, 1_790_000_000, [SECRET])).toBe(
    `t=1790000000,v1=${byOpenssl(SECRET, `1790000000.${body}`)}`,
  );
});

it('the header has one signature for each secret, which depends on the timestamp', () => {
  const second = 'another secret of thirty-two characters';
  const [time, ...signatures] = signatureOf('{}', 17, [SECRET, second]).split(',');
  expect(time).toBe('t=17');
  expect(signatures).toEqual([SECRET, second].map((secret) => `v1=${byOpenssl(secret, '17.{}')}`));
  expect(signatureOf('{}', 18, [SECRET])).not.toContain(signatures[0]);
});
