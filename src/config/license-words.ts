// What `init`, the operator's page and the README say about the licence. It has no imports, so that pages use it too.

/** Who issues a licence, what happens at its end, and how to renew it. */
export const LICENSE_WORDS =
  "The instance's vendor signs the licence with `svc-admin license issue`. You are the vendor of an instance that you host yourself: " +
  '`svc-admin init` creates your key pair and a licence for 90 days. At its end, exchanges and logins answer 404, and calls of licensed ' +
  'features 403. Open sessions and access tokens work until they expire, and no data is lost. To renew, run `npx svc-admin license issue ' +
  '--private-key instance/vendor.pem --features token-exchange,project-members,credentials-list --days 90 --out instance/license.jws ' +
  '--force`, then restart the service.';
