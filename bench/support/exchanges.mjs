// The requests of a token exchange.
import { logins } from './residents.mjs';

const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';

/**
 * A kind of load: exchanges of fresh tokens.
 * @param claimSets makes the claims of so many tokens; logins of known users unless given
 */
export function exchangeRequests(contestant, partner, algorithm, { claimSets = logins } = {}) {
  return {
    method: 'POST',
    path: contestant.exchangePath,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    expectedStatus: 200,
    requests: async (count) => {
      const tokens = await partner.signAll(algorithm, claimSets(count));
      return tokens.map((token) => ({ body: exchangeForm(contestant, token) }));
    },
  };
}

export function exchangeForm({ fields }, subjectToken, moreFields = {}) {
  return new URLSearchParams({
    grant_type: TOKEN_EXCHANGE_GRANT,
    subject_token: subjectToken,
    subject_token_type: JWT_TYPE,
    ...fields,
    ...moreFields,
  }).toString();
}
