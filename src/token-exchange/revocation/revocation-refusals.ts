// Why a token is refused that nobody has changed: its key or its login was revoked.
import type { TokenRefusal } from '../refusals/refusal.js';

export const REVOCATION_REFUSALS = {
  trust_revoked: {
    check: 'revocation',
    cause: "the operator has revoked the token's key, or every key of its issuer",
    remedy: 'the partner uses a new key, or the operator undoes a mistake (`svc-admin keys restore`)',
    embed: 'Trust in the key of the token was revoked',
  },
  signed_out_by_provider: {
    check: 'revocation',
    cause: 'the provider has signed the user out since the token was issued',
    remedy: 'the user signs in there again, and the partner signs a new token',
    embed: 'The user was signed out by the provider',
  },
} satisfies Record<string, TokenRefusal>;
