// The settings of the measured service: both flows are enabled, and everything except the rate limits has its default.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const SERVICE_SCRIPT = join(root, 'dist', 'src', 'main.js');
/** The largest accepted value. The limits are active but are never reached. */
const HIGHEST_LIMIT = '1000000';
const LICENSE_SECONDS = 86_400;

const encryptionKey = randomBytes(32).toString('base64');
const license = issueLicense();

/** @param databaseUrl undefined for the embedded database in `folder` */
export function serviceEnvironment({ port, databaseUrl, folder, trustedKeys }) {
  return {
    ...license,
    SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true',
    SVC_EMBED_LOGIN_ENABLED: 'true',
    SVC_TOKEN_EXCHANGE_ENABLED: 'true',
    SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify(trustedKeys),
    SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: HIGHEST_LIMIT,
    SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: HIGHEST_LIMIT,
    SVC_API_CALLS_PER_MINUTE: HIGHEST_LIMIT,
    SVC_BASE_URL: `http://localhost:${port}`,
    SVC_HOST: '127.0.0.1',
    SVC_PORT: String(port),
    SVC_METRICS_PORT: '0',
    SVC_ENCRYPTION_KEY: encryptionKey,
    ...(databaseUrl === undefined
      ? { SVC_DATA_DIR: join(folder, 'data') }
      : { SVC_DATABASE_URL: databaseUrl }),
  };
}

/** Issues a licence with a vendor key for this run only. */
function issueLicense() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const expiresAt = Math.floor(Date.now() / 1000) + LICENSE_SECONDS;
  const claims = { customer: 'benchmark', features: ['token-exchange'], exp: expiresAt };
  const signingInput = [{ alg: 'EdDSA' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign(null, Buffer.from(signingInput), privateKey).toString('base64url');
  return {
    SVC_LICENSE: `${signingInput}.${signature}`,
    SVC_LICENSE_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'pem' }),
  };
}
