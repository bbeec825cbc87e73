// Checks an integration: runs all checks, one after the other.
import { ADDRESS_CHECKS } from './check-address.js';
import { CLOCK_CHECK } from './check-clock.js';
import { FLOW_CHECKS } from './check-flows.js';
import type { Check } from './check-integration.js';
import { Integration } from './check-integration.js';
import type { CheckSettings } from './check-options.js';
import { REFUSAL_CHECKS } from './check-refusals.js';
import { NoAnswer } from './check-requests.js';
import type { Verdict } from './check-verdict.js';
import { failed, skipped } from './check-verdict.js';
import type { PartnerClock } from './clock.js';

/** The order matters: later checks use the findings of earlier ones. */
export const CHECKS: readonly Check[] = [...ADDRESS_CHECKS, ...FLOW_CHECKS, ...REFUSAL_CHECKS, CLOCK_CHECK];
const CERTIFICATE = /CERT|SIGNED|ALTNAME|ISSUER|ERR_TLS/;

export type CheckResult = Pick<Check, 'id' | 'title'> & Verdict;

/** @param onResult receives each result as soon as it is known */
export async function checkIntegration(
  settings: CheckSettings,
  clock: PartnerClock,
  onResult: (result: CheckResult) => void = () => undefined,
): Promise<CheckResult[]> {
  const integration = new Integration(settings, clock);
  const results: CheckResult[] = [];
  for (const check of CHECKS) {
    const verdict =
      results[0]?.status === 'failed' ? skipped('there is no instance') : await run(check, integration);
    const result = { id: check.id, title: check.title, ...verdict };
    results.push(result);
    onResult(result);
  }
  return results;
}

async function run({ flow, run: perform }: Check, integration: Integration): Promise<Verdict> {
  const { flows } = integration.settings;
  if (flow !== undefined && !flows.includes(flow)) return skipped(`--flows is ${flows.join(',')}`);
  try {
    return await perform(integration);
  } catch (error) {
    if (error instanceof NoAnswer) return failed(unanswered(error.code));
    throw error;
  }
}

function unanswered(code: string): { found: string; cause: string; remedy: string } {
  const found = `no answer (${code.slice(0, 100)})`;
  return CERTIFICATE.test(code)
    ? {
        found,
        cause: 'The certificate is not valid for this address, has expired, or is by an unknown authority.',
        remedy:
          'Renew the certificate with its chain. If it is by your own authority, set NODE_EXTRA_CA_CERTS.',
      }
    : {
        found,
        cause: 'The address cannot be reached, or the connection broke.',
        remedy:
          'Compare --base-url with the address of the instance, and check firewalls and proxies on the way.',
      };
}
