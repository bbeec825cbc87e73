// A service under the address that clients really reach it by, so that discovery leads back to it.
import { freePort } from '../../../../demo/free-port.js';
import { Partner } from '../../../../demo/partner.js';
import type { TestDatabase } from '../../../support/databases.js';
import { TestService } from '../../../support/test-service.js';

export interface Reachable {
  readonly service: TestService;
  readonly partner: Partner;
  readonly baseUrl: string;
}

/** @param variables added to the variables of its address */
export async function startReachable(
  database: TestDatabase,
  variables: Record<string, string> = {},
): Promise<Reachable> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const partner = Partner.create({ issuer: 'https://partner.example', audience: baseUrl });
  const environment = { ...variables, SVC_BASE_URL: baseUrl, SVC_PORT: String(port) };
  const service = await TestService.start(database, { trustedKeys: [partner.staticEntry()], environment });
  return { service, partner, baseUrl };
}
