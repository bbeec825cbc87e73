// The cookie of an operator's session: how it is set, cleared and read.
import { stringifySetCookie } from 'cookie';

/** The `__Host-` prefix binds it to this host, `Secure` and `Path=/` (RFC 6265bis §4.1.3). */
export const OPERATOR_COOKIE = '__Host-svc-operator';

/** 256 bits in base64url: what is of another form was never set by us. */
const CARRIED_SECRET = new RegExp(`(?:^|;)[ \\t]*${OPERATOR_COOKIE}=([\\w-]{43})[ \\t]*(?=;|$)`);

/**
 * The `Set-Cookie` value of a session. Browsers take it from `http://localhost` too, as that of embedded sessions.
 * @param maxAgeSeconds 0 clears the cookie
 */
export function operatorCookie(secret: string, maxAgeSeconds: number): string {
  return stringifySetCookie({
    name: OPERATOR_COOKIE,
    value: secret,
    maxAge: maxAgeSeconds,
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'strict',
  });
}

/** The secret in a `Cookie` header. */
export function readOperatorCookie(header: string | undefined): string | undefined {
  return CARRIED_SECRET.exec(header ?? '')?.[1];
}
