// The checks of a partner's question about a refusal: a JWT signed with a key of an entry.
import { printable, printableList } from '../../platform/text/printable.js';
import type { CheckedToken, TokenCheck } from '../verify/check-runner.js';
import * as claims from '../verify/claim-checks.js';
import type { ExplainClaims } from '../verify/external-claims.js';
import { isAloneFor, readExplainClaims } from '../verify/external-claims.js';
import * as keys from '../verify/key-checks.js';

/** The `typ` of a proof, which no other token has. */
const EXPLAIN_TYPE = 'explain+jwt';

/** A proof is signed by a key of a trusted entry, for this endpoint alone, and at most 60 seconds old. */
export const EXPLAIN_CHECKS: readonly TokenCheck<CheckedToken<ExplainClaims>>[] = [
  keys.FORM,
  keys.KID,
  keys.ALGORITHM,
  keys.NO_CRIT,
  keys.NO_B64,
  keys.purpose(EXPLAIN_TYPE, (typ) => typ === EXPLAIN_TYPE),
  keys.ISSUER,
  keys.KNOWN_ISSUER,
  keys.SERVING_KEY_SET,
  keys.KNOWN_KEY,
  keys.KEY_ALGORITHM,
  keys.SIGNATURE,
  keys.NOT_SUSPENDED,
  keys.TRUST_NOT_ENDED,
  {
    about: 'its claims',
    // Or `claims_not_storable`.
    reason: 'claims_invalid',
    isNeeded: true,
    read: (token) => void (token.claims = readExplainClaims(token.jws.payload)),
    compared: () => ['iss, aud, iat, jti and request_id, each of its type', 'all of them'],
  },
  {
    about: 'aud',
    reason: 'audience_mismatch',
    fails: ({ claims: { aud }, rules: { explainEndpoint } }) => !isAloneFor(aud, explainEndpoint),
    compared: ({ claims: { aud }, rules: { explainEndpoint } }) => [
      `${printable(explainEndpoint)} alone`,
      printableList([aud].flat()),
    ],
  },
  claims.NOT_EXPIRED,
  claims.NOT_BEFORE,
  claims.NOT_FROM_FUTURE,
];
