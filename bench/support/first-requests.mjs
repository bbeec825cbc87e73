// What the first request of each kind costs after a start, with what is loaded by it.
import { Administrator } from './administrator.mjs';
import { exchangeForm } from './exchanges.mjs';
import { LoneClient } from './lone-client.mjs';
import { RESIDENTS } from './residents.mjs';
import { measured } from './request-costs.mjs';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** Where no key set is: the attempt to fetch one loads what fetches. */
const NOWHERE = {
  type: 'jwks',
  url: 'https://keys.invalid/jwks.json',
  issuer: 'https://elsewhere.partner.example',
  expectedAudience: 'https://instance.example',
};

/** @returns rows of a table: the kind, and the first and the second request of that kind in milliseconds */
export async function firstRequests(workbench) {
  const service = await workbench.startService({ moreKeys: [NOWHERE] });
  const { server } = service;
  const client = new LoneClient(server.origin);
  const rows = [];
  const note = async (kind, make) => {
    const [first, second] = [
      await measured(client, server, await make()),
      await measured(client, server, await make()),
    ];
    rows.push([kind, first.cpuMs.toFixed(1), second.cpuMs.toFixed(1)]);
  };
  const exchange = async (claims) => ({
    method: 'POST',
    path: service.exchangePath,
    headers: FORM,
    body: exchangeForm(service, await workbench.partner.sign('ES256', { ...RESIDENTS[0], ...claims })),
  });
  await note('an exchange', () => exchange({}));
  await note('a key set is fetched (undici)', () => exchange({ iss: NOWHERE.issuer }));
  const { headers } = await Administrator.login(service, workbench.partner);
  const call = (path, body) => ({
    method: 'POST',
    path: `/api/v1${path}`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const credential = { name: 'First', type: 'httpBasicAuth', data: { user: 'ada', password: 'secret' } };
  await note('a JSON body (class-validator)', () => call('/projects', { name: 'First' }));
  await note('a credential (ajv)', () => call('/credentials', credential));
  await note('the description of the API (OpenAPI)', () => ({
    method: 'GET',
    path: '/api/v1/openapi.json',
    headers,
  }));
  client.close();
  return rows;
}
