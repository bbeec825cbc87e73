// What is read of the users that a token may mean.
import type { Transaction } from '../../../../src/platform/database/transaction.js';
import { readCandidates } from '../../../../src/token-exchange/identity/candidates.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

it("[4.4.1][D134] a deleted user's link and the last synced projects claim are ignored", async () => {
  const email = { email: 'ada@a.example', emailVerified: true };
  const claims = { iss: 'https://a.example', sub: 's', projects: [], ...email };
  const token = { claims, key: { policy: {} } } as unknown as VerifiedToken;
  const nobody = async () => undefined;
  const stored = {
    links: { find: async () => ({ userId: 'deleted', projectsDigest: 'synced', byAdministrator: true }) },
    users: { findById: nobody, findByEmail: nobody },
    projects: { find: async () => [] },
  };
  expect(await readCandidates({} as Transaction, token, stored)).toEqual({
    deletedUserId: 'deleted',
    withEmail: undefined,
    projects: { digest: undefined, projects: [] },
  });
});
