// A partner's backend: its keys, tokens for its user, calls of the instance's API, and the page with the frame.
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPartner, PartnerError } from '@embedded-token-exchange/partner';
import Fastify from 'fastify';

const {
  PARTNER_ISSUER = 'https://partner.example',
  INSTANCE_URL = 'http://localhost:5678',
  KEY_FILE = 'partner-key.pem',
  KEY_ID = 'partner-key-1',
  PAGE_DIR = join(import.meta.dirname, '..', 'page'),
  PORT = '8080',
  TOKEN_LIFETIME_SECONDS = '600',
} = process.env;

/** A real product takes the user from its own session. */
const USER = {
  sub: 'customer-1',
  email: 'ada@partner.example',
  email_verified: true,
  given_name: 'Ada',
  family_name: 'Castell',
  role: 'global:member',
  projects: ['castell:project:editor'],
};
const SUPPORT = { sub: 'support-1', email: 'bob@partner.example', email_verified: true, given_name: 'Bob' };

if (!existsSync(KEY_FILE)) makeKey();
let exchanges = 0;
const partner = createPartner({
  issuer: PARTNER_ISSUER,
  baseUrl: INSTANCE_URL,
  key: { key: readFileSync(KEY_FILE, 'utf8'), kid: KEY_ID },
  tokenLifetimeSeconds: Number(TOKEN_LIFETIME_SECONDS),
  // Counts the exchanges, to show how many the client saves.
  fetch: (...given) => {
    exchanges += 1;
    return fetch(...given);
  },
});

const app = Fastify();
app.get('/.well-known/jwks.json', (_, reply) =>
  partner.jwks().then((keys) => reply.header('cache-control', 'max-age=300').send(keys)),
);
app.get('/partner.pem', (_, reply) =>
  partner.publicKeyPem().then((pem) => reply.type('application/x-pem-file').send(pem)),
);
app.post('/embed-token', async (_, reply) => {
  const { fields } = await partner.embedForm({ subject: USER });
  return reply.header('cache-control', 'no-store').type('text/plain').send(fields.token);
});
app.post('/sign-out', async (_, reply) => {
  await partner.signOut(USER.sub);
  return reply.code(204).send();
});
app.get('/workflows', () => overview({ subject: USER }));
app.get('/support/workflows', () => overview({ subject: USER, actor: SUPPORT }));
app.get('/', (_, reply) => reply.type('text/html').send(page('index.html')));
app.get('/plain', async (_, reply) => {
  const { fields } = await partner.embedForm({ subject: USER });
  return reply.header('cache-control', 'no-store').type('text/html').send(page('plain.html', fields.token));
});
for (const name of ['page.js', 'plain.js'])
  app.get(`/${name}`, (_, reply) => reply.type('text/javascript').send(readFileSync(join(PAGE_DIR, name))));
app.setErrorHandler((error, _, reply) => {
  if (!(error instanceof PartnerError)) throw error;
  return reply.code(502).send({ error: error.code, requestId: error.requestId });
});
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log(`listening on http://localhost:${PORT}`);

/** The caller as the instance sees them, and their workflows. */
async function overview(request) {
  const me = await call('/rest/me', request);
  return { me, workflows: await call('/api/v1/workflows', request), exchanges };
}

/** A token can end early. The call is then repeated once with a new one. */
async function call(path, request, refused) {
  const { accessToken } = await partner.exchange({ ...request, fresh: refused });
  const answer = await fetch(new URL(path, INSTANCE_URL), {
    headers: { authorization: `Bearer ${accessToken}` },
    // A redirect would pass the token on.
    redirect: 'manual',
    signal: AbortSignal.timeout(30_000),
  });
  if (answer.status === 401 && refused === undefined) return call(path, request, accessToken);
  // An answer that is not JSON is not from the instance.
  return answer.json().catch(() => ({}));
}

function makeKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  writeFileSync(KEY_FILE, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
}

function page(name, token = '') {
  const values = { '{{INSTANCE_URL}}': INSTANCE_URL, '{{TOKEN}}': token };
  const text = readFileSync(join(PAGE_DIR, name), 'utf8');
  return text.replace(/\{\{\w+\}\}/g, (placeholder) => escaped(values[placeholder] ?? ''));
}

function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
