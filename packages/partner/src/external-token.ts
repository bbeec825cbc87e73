// Makes the JWTs that the instance takes: each for one use, by its `jti`.
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { SigningKey } from './signing-key.js';

/** What all tokens of a partner have in common. */
export interface TokenTerms {
  readonly issuer: string;
  readonly audience: string;
}

/** A signed token, and the moments that it names, in seconds since 1970. */
export interface ExternalToken {
  readonly jwt: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export async function signedToken(
  key: SigningKey,
  { issuer, audience }: TokenTerms,
  claims: Readonly<Record<string, unknown>>,
  { nowMs, lifetimeSeconds, typ = 'JWT' }: { nowMs: number; lifetimeSeconds: number; typ?: string },
): Promise<ExternalToken> {
  const issuedAt = Math.floor(nowMs / 1000);
  const expiresAt = issuedAt + lifetimeSeconds;
  const jwt = await new SignJWT({ ...claims, iss: issuer, aud: audience })
    .setProtectedHeader({ alg: key.alg, kid: await key.kid(), typ })
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .setJti(randomUUID())
    .sign(key.privateKey);
  return { jwt, issuedAt, expiresAt };
}
