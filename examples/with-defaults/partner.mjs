// A small partner's backend: creates a signing key once, and signs a short-lived token for each login.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { exportPKCS8, exportSPKI, generateKeyPair, importPKCS8, SignJWT } from 'jose';

const ISSUER = 'https://partner.example';
const AUDIENCE = process.env.BASE_URL ?? `http://localhost:${process.env.PORT ?? 3000}`;
const KID = 'partner-key-1';
/** What this partner may do. The strict policy allows nothing else. */
const POLICY = {
  expectedAudience: AUDIENCE,
  origins: ['https://app.partner.example'],
  allowedRoles: ['member', 'admin'],
  emailDomains: ['partner.example'],
  actFor: [ISSUER],
  scopes: ['profile'],
};

const [command, name = 'ada', seconds = '300'] = process.argv.slice(2);
if (command === 'key') await makeKey();
else if (command === 'token') console.log(await token(name, Number(seconds)));
else {
  console.error('Usage: node partner.mjs key | token [NAME] [SECONDS]');
  process.exitCode = 2;
}

/** The private key stays with the partner; the product gets the public one, as an entry of its trusted keys. */
async function makeKey() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  writeFileSync('partner-key.pem', await exportPKCS8(privateKey), { mode: 0o600 });
  const key = await exportSPKI(publicKey);
  const entry = { type: 'static', kid: KID, algorithms: ['ES256'], key, issuer: ISSUER };
  writeFileSync('trusted-keys.json', JSON.stringify([{ ...entry, ...POLICY }], null, 2));
  console.log(
    'partner-key.pem is the private key of the partner, trusted-keys.json what the product trusts.',
  );
}

/** Each token is for one use and has a new `jti`. */
async function token(user, lifetimeSeconds) {
  const key = await importPKCS8(readFileSync('partner-key.pem', 'utf8'), 'ES256');
  const claims = { email: `${user}@partner.example`, email_verified: true, given_name: user, role: 'member' };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: KID })
    .setIssuer(ISSUER)
    .setSubject(`partner-user-${user}`)
    .setAudience(AUDIENCE)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + lifetimeSeconds)
    .sign(key);
}
