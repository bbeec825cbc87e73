// Verified tokens that are refused because of a revocation or a logout.
import {
  externalLoginOf,
  keysOfLogout,
  Revocations,
} from '../../../../src/token-exchange/revocation/revocations.js';
import type { Tokens, VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import {
  refuseRevokedSince,
  refuseRevokedTrust,
} from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { knownRevocations } from '../../../support/known-revocations.js';

const A = 'https://a.example';
/** Builds a token from its content. In production only the verifier does. */
const token = (kid: string, iss = A) =>
  ({
    key: { kid, policy: { issuer: iss } },
    login: externalLoginOf({ iss, sub: kid, iat: 1_000 }),
  }) as VerifiedToken;
const at = new Date();
const revocations = knownRevocations({
  trust: [{ issuer: A, kid: 'revoked', revokedAt: at, restoredAt: null }],
  logouts: [{ issuer: A, keys: keysOfLogout(A, { sub: 'signed-out' }), until: 1_000, at }],
});

it.each<[Tokens, object?]>([
  [{ subject: token('good') }],
  [{ subject: token('good'), actor: token('revoked', 'https://b.example') }],
  [{ subject: token('revoked') }, { reason: 'trust_revoked', party: 'subject', kid: 'revoked' }],
  [
    { subject: token('good'), actor: token('revoked') },
    { reason: 'trust_revoked', party: 'actor', kid: 'revoked' },
  ],
  [
    { subject: token('signed-out'), actor: token('revoked') },
    { reason: 'signed_out_by_provider', party: 'subject', kid: 'signed-out' },
  ],
])('[D59][D132] %# is rejected if its key is revoked, or its user signed out', (tokens, ...[refusal]) => {
  for (const refuse of [refuseRevokedTrust, refuseRevokedSince]) {
    if (refusal === undefined) expect(() => refuse(revocations, tokens)).not.toThrow();
    else {
      const { reason, ...context } = refusal as { reason: string };
      const error = { reason, context: { issuer: A, ...context } };
      expect(() => refuse(revocations, tokens)).toThrow(expect.objectContaining(error));
    }
  }
});

it('[D60] no token is accepted before revocations are known', () => {
  const accept = () => refuseRevokedTrust(new Revocations(), { subject: token('good') });
  expect(accept).toThrow('Revocations cannot be read at present');
});
