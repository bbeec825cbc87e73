// Pages of workflows by access tokens.
import assert from 'node:assert/strict';
import { exchangeOnce } from './exchanges.mjs';
import { logins, RESIDENTS } from './residents.mjs';

/** The longest life that access tokens have by default. */
const LIFETIME_SECONDS = 900;
/** Time enough is left for any round. */
const RENEWAL_MS = 600_000;

/**
 * A kind of load: the first page of workflows, asked for by a thousand access tokens in turn.
 * @param claimSets makes the claims of so many users: the known ones unless given
 */
export function workflowCalls(contestant, partner, claimSets = logins) {
  let tokens;
  let renewAt = 0;
  return {
    method: 'GET',
    path: '/api/v1/workflows?limit=20',
    expectedStatus: 200,
    requests: async (count) => {
      if (Date.now() >= renewAt) {
        renewAt = Date.now() + RENEWAL_MS;
        tokens = await accessTokens(contestant, partner, claimSets(RESIDENTS.length));
      }
      return Array.from({ length: count }, (_, index) => ({
        headers: bearer(tokens[index % tokens.length]),
      }));
    },
  };
}

export function bearer(token) {
  return { authorization: `Bearer ${token}` };
}

/** One for each of the claim sets. */
async function accessTokens(contestant, partner, claimSets) {
  const tokens = [];
  for (const subjectToken of await partner.signAll('ES256', claimSets, LIFETIME_SECONDS)) {
    const { status, text } = await exchangeOnce(contestant, subjectToken);
    assert.equal(status, 200, text);
    tokens.push(JSON.parse(text).access_token);
  }
  return tokens;
}
