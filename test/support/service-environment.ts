// The variables of a service of the tests, however it is started: both flows on, and the throttles far up.
import { licenseEnvironment } from './license.js';

/** @param trustedKeys entries */
export async function serviceEnvironment(
  trustedKeys: readonly object[] = [],
): Promise<Record<string, string>> {
  return {
    ...(await licenseEnvironment()),
    SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true',
    SVC_EMBED_LOGIN_ENABLED: 'true',
    SVC_TOKEN_EXCHANGE_ENABLED: 'true',
    SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify(trustedKeys),
    SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000000',
    SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000000',
    SVC_API_CALLS_PER_MINUTE: '1000000',
    // A machine that is busy with other tests is not a database that is away.
    SVC_DATABASE_WAIT_MS: '10000',
  };
}
