// Signs what is posted to a webhook, so that its receiver knows who sent it and when.
import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'x-audit-signature';

/**
 * The header's value: `t=SECONDS,v1=HEX`, with a `v1` for each secret. Signed is `SECONDS.BODY` by HMAC-SHA-256; the time is in
 * it, so that what was caught once cannot be posted again later.
 * @param seconds since the Unix epoch
 * @param secrets as the receiver has them, their UTF-8 bytes being the key
 */
export function signatureOf(body: string, seconds: number, secrets: readonly string[]): string {
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${seconds}.`).update(body);
    return `v1=${hmac.digest('hex')}`;
  });
  return [`t=${seconds}`, ...signatures].join(',');
}
