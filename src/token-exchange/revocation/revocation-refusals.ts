// Why an unchanged token is refused: its key or its login was revoked.
import type { TokenRefusal } from '../refusals/refusal.js';

export const REVOCATION_REFUSALS = {
  trust_revoked: {
    check: 'revocation',
    cause: "the token's key, or every key of its issuer, was revoked",
    remedy: 'use a new key, or undo a mistake (`svc-admin keys restore`)',
    embed: 'Trust in the key of the token was revoked',
  },
  signed_out_by_provider: {
    check: 'revocation',
    cause: 'the provider has signed the user out since the token was issued',
    remedy: 'sign in at the provider again, and send a new token',
    embed: 'The user was signed out by the provider',
  },
} satisfies Record<string, TokenRefusal>;
