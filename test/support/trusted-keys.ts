// Keys as the service holds them, of entries in its configuration, without a database and without any key set to fetch.
import type { Clock } from '../../src/platform/clock.js';
import { SILENT } from '../../src/platform/log/log.js';
import type { TrustedKeysRules } from '../../src/token-exchange/trust/entry-rules.js';
import { JwksKeyProvider } from '../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import {
  StaticKeyProvider,
  TrustedKeyService,
} from '../../src/token-exchange/trust/lookup/trusted-key.service.js';
import type { TrustPolicy } from '../../src/token-exchange/trust/trusted-key.js';
import { readTrustedKeys } from '../../src/token-exchange/trust/trusted-key-entry.js';

/** @param policy what no configuration can say of an entry */
export function trustedKeysOf(
  list: readonly object[],
  clock: Clock,
  more: Partial<TrustedKeysRules> = {},
  policy: Partial<TrustPolicy> = {},
): TrustedKeyService {
  const rules = { assignableRoles: ['global:member'], allowHttp: false, ...more };
  const { entries, problems } = readTrustedKeys(JSON.stringify(list), rules);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const trustedKeys = entries.map((entry) =>
    entry.type === 'static'
      ? { ...entry, key: { ...entry.key, policy: { ...entry.key.policy, ...policy } } }
      : entry,
  );
  const fetched = new JwksKeyProvider([], 0, clock, SILENT);
  return new TrustedKeyService(new StaticKeyProvider({ trustedKeys }), fetched);
}
