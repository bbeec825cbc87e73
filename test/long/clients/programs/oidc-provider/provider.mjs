// oidc-provider as it comes, with its own pages for signing in and out, for the one client that the environment describes.
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

const {
  PORT,
  CLIENT_ID,
  CLIENT_SECRET,
  REDIRECT_URI,
  LOGOUT_URI,
  GRANT_TYPES = 'authorization_code',
} = process.env;
export const issuer = `http://127.0.0.1:${PORT}`;
export const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });

const logout = { backchannel_logout_uri: LOGOUT_URI, backchannel_logout_session_required: true };
export const provider = new Provider(issuer, {
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'provider', alg: 'ES256', use: 'sig' }] },
  cookies: { keys: [randomUUID()] },
  features: { backchannelLogout: { enabled: true } },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [REDIRECT_URI],
      grant_types: GRANT_TYPES.split(' '),
      token_endpoint_auth_method: 'client_secret_post',
      ...(LOGOUT_URI && logout),
    },
  ],
  // Its dispatcher reaches public addresses only, and the instance of a test is on this machine.
  fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});

provider.on('backchannel.error', (_context, error) => console.error(error));
provider.listen(Number(PORT), '127.0.0.1');
