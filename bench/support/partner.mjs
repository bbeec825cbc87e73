// A simulated partner: its keys, their trusted key entries and its tokens.
import { randomUUID } from 'node:crypto';
import { Partner as Signer } from '../../dist/demo/partner.js';

export const ISSUER = 'https://login.partner.example';
const AUDIENCE = 'https://instance.example';
/** The longest token lifetime that embedded login accepts. */
const LONGEST_EMBED_LIFETIME_SECONDS = 60;

export class Partner {
  issuer = ISSUER;
  /** The partner's signers by algorithm. */
  signers = Object.fromEntries(
    ['ES256', 'RS256', 'EdDSA'].map((algorithm) => [
      algorithm,
      Signer.create({ issuer: ISSUER, audience: AUDIENCE, kid: `partner-${algorithm}`, algorithm }),
    ]),
  );

  /** Entries of SVC_TOKEN_EXCHANGE_TRUSTED_KEYS, all with the same policy. */
  trustedKeys(policy) {
    return Object.values(this.signers).map((signer) => signer.staticEntry(policy));
  }

  /** New tokens, one for each claim set. */
  signAll(algorithm, claimSets, lifetimeSeconds) {
    return claimSets.map((claims) => this.sign(algorithm, claims, lifetimeSeconds));
  }

  /** @param claims override the default claims */
  sign(algorithm, claims, lifetimeSeconds = LONGEST_EMBED_LIFETIME_SECONDS) {
    const issuedAt = Math.floor(Date.now() / 1000);
    const standing = { iss: ISSUER, aud: AUDIENCE, iat: issuedAt, exp: issuedAt + lifetimeSeconds };
    return this.signers[algorithm].sign({ ...standing, jti: randomUUID(), ...claims });
  }
}
