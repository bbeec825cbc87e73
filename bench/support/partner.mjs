// A pretend partner: its keys, the entries with which servers trust them, and its tokens.
import { randomUUID } from 'node:crypto';
import { Partner as Signer } from '../../dist/demo/partner.js';

export const ISSUER = 'https://login.partner.example';
const AUDIENCE = 'https://instance.example';
/** The longest life that embedded login takes. */
const LONGEST_EMBED_LIFETIME_SECONDS = 60;

export class Partner {
  issuer = ISSUER;
  /** By algorithm. */
  signers = Object.fromEntries(
    ['ES256', 'RS256', 'EdDSA'].map((algorithm) => [
      algorithm,
      Signer.create({ issuer: ISSUER, audience: AUDIENCE, kid: `partner-${algorithm}`, algorithm }),
    ]),
  );

  /** Entries of SVC_TOKEN_EXCHANGE_TRUSTED_KEYS, all with the same members of a policy. */
  trustedKeys(policy) {
    return Object.values(this.signers).map((signer) => signer.staticEntry(policy));
  }

  /** Fresh tokens, one for each of the claim sets. */
  signAll(algorithm, claimSets, lifetimeSeconds) {
    return claimSets.map((claims) => this.sign(algorithm, claims, lifetimeSeconds));
  }

  /** @param claims go over the standing ones */
  sign(algorithm, claims, lifetimeSeconds = LONGEST_EMBED_LIFETIME_SECONDS) {
    const issuedAt = Math.floor(Date.now() / 1000);
    const standing = { iss: ISSUER, aud: AUDIENCE, iat: issuedAt, exp: issuedAt + lifetimeSeconds };
    return this.signers[algorithm].sign({ ...standing, jti: randomUUID(), ...claims });
  }
}
