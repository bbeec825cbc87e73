// Why a token is refused that was used before.
import type { TokenRefusal } from '../refusals/refusal.js';

export const REPLAY_REFUSALS = {
  token_replayed: {
    check: 'replay',
    cause: 'a token with this `jti` was used before, in this flow or another, by this issuer or another',
    remedy:
      'the partner signs a token for each use, also for a retry, with a random `jti`, and sends it once',
    embed: 'Token has already been used',
  },
} satisfies Record<string, TokenRefusal>;
