// Signs the JWTs for the instance. Each has its own `jti` and can be used once.
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { SigningKey } from './signing-key.js';

/** The claims that all tokens of a partner share. */
export interface TokenTerms {
  readonly issuer: string;
  readonly audience: string;
}

/**
 * Seconds from `iat` to the time of signing, so that a fast clock issues no token in the future. All tokens have the same difference,
 * so a logout token is later than the tokens signed before it.
 */
export const BACKDATED_SECONDS = 5;

/** A signed token, and when it was signed and expires, in seconds since 1970. */
export interface ExternalToken {
  readonly jwt: string;
  readonly signedAt: number;
  readonly expiresAt: number;
}

/** @param lifetimeSeconds counted from the time of signing */
export async function signedToken(
  key: SigningKey,
  { issuer, audience }: TokenTerms,
  claims: Readonly<Record<string, unknown>>,
  { nowMs, lifetimeSeconds, typ = 'JWT' }: { nowMs: number; lifetimeSeconds: number; typ?: string },
): Promise<ExternalToken> {
  const signedAt = Math.floor(nowMs / 1000);
  const expiresAt = signedAt + lifetimeSeconds;
  const jwt = await new SignJWT({ ...claims, iss: issuer, aud: audience })
    .setProtectedHeader({ alg: key.alg, kid: await key.kid(), typ })
    .setIssuedAt(signedAt - BACKDATED_SECONDS)
    .setExpirationTime(expiresAt)
    .setJti(randomUUID())
    .sign(key.privateKey);
  return { jwt, signedAt, expiresAt };
}
