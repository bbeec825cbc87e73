// Makes the JWTs that the instance takes: each for one use, by its `jti`.
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { SigningKey } from './signing-key.js';

/** What all tokens of a partner have in common. */
export interface TokenTerms {
  readonly issuer: string;
  readonly audience: string;
}

/**
 * Seconds from `iat` to the moment of signing, so that a fast clock issues no token in the future. All tokens have the same difference,
 * so that a logout token is later than the tokens signed before it.
 */
export const BACKDATED_SECONDS = 5;

/** A signed token, and when it was signed and expires, in seconds since 1970. */
export interface ExternalToken {
  readonly jwt: string;
  readonly signedAt: number;
  readonly expiresAt: number;
}

/** @param lifetimeSeconds from the moment of signing */
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
