// The smallest partner: a page with the frame, and a backend that signs tokens for it with the key that `svc-admin init` made.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { SignJWT } from 'jose';

const {
  INSTANCE_URL = 'http://localhost:5678',
  PARTNER_ISSUER = 'https://partner.example',
  PARTNER_ORIGIN = 'http://localhost:3000',
  KEY_FILE = 'partner/private.pem',
  KEY_ID = 'partner-1',
  PARTNER_EMAIL_DOMAIN = 'partner.example',
} = process.env;

const key = createPrivateKey(readFileSync(KEY_FILE));
const page = `<!doctype html>
<html lang="en">
  <title>A product</title>
  <script src="${INSTANCE_URL}/embed.js"></script>
  <h1>A product</h1>
  <p id="state">Signing in …</p>
  <div id="automation"></div>
  <script type="module" src="/page.js"></script>
</html>`;
const script = `
const state = document.querySelector('#state');
const instance = new EmbeddedInstance({ container: document.querySelector('#automation'), title: 'Automation' });
const token = async () => (await fetch('/token', { method: 'POST' })).text();
instance.on('session-ready', () => (state.textContent = 'Signed in'));
instance.on('login-failed', ({ error }) => (state.textContent = 'Refused: ' + error));
instance.on('session-expiring', async () => instance.renew(await token()));
instance.login(await token());
`;

/** A product takes the user from its own session. Each token is used once and lives at most 60 seconds. */
function sign() {
  return new SignJWT({ email: `customer-1@${PARTNER_EMAIL_DOMAIN}`, email_verified: true })
    .setProtectedHeader({ alg: 'ES256', kid: KEY_ID })
    .setIssuer(PARTNER_ISSUER)
    .setSubject('customer-1')
    .setAudience(INSTANCE_URL)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime('60s')
    .sign(key);
}

const answers = {
  'GET /': ['text/html; charset=utf-8', () => page],
  'GET /page.js': ['text/javascript', () => script],
  'POST /token': ['text/plain', sign],
};

createServer(async ({ method, url, headers }, response) => {
  const answer = answers[`${method} ${url}`];
  // A page of another origin must not get a token.
  const isOwn = method === 'GET' || headers.origin === PARTNER_ORIGIN;
  if (answer === undefined || !isOwn) return response.writeHead(isOwn ? 404 : 403).end();
  const [type, content] = answer;
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(await content());
}).listen(new URL(PARTNER_ORIGIN).port, '127.0.0.1', () => console.log(`Open ${PARTNER_ORIGIN}`));
