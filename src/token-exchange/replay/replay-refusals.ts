// Why a used token is refused.
import type { TokenRefusal } from '../refusals/refusal.js';

export const REPLAY_REFUSALS = {
  token_replayed: {
    check: 'replay',
    cause: 'a token with this `jti` was used before, in any flow and by any issuer',
    remedy: 'sign a token with a random `jti` for each use and retry',
    embed: 'Token has already been used',
  },
} satisfies Record<string, TokenRefusal>;
