// The providers of the package's access tokens.
import { DpopProofs } from '../dpop/dpop-proofs.js';
import { ClockDifference } from '../replay/clock-difference.js';
import { AccessTokenService } from './access-token.service.js';
import { SigningKeyRepository } from './signing-key.repository.js';
import { SigningKeyService } from './signing-key.service.js';

/** The providers need `ACCESS_TOKEN_OPTIONS`, `Revocations`, `KeyRing`, `Database`, `Transactions`, `Clock` and `LOGGER`. */
export const ACCESS_TOKEN_PROVIDERS = [
  SigningKeyRepository,
  SigningKeyService,
  AccessTokenService,
  ClockDifference,
  DpopProofs,
];
