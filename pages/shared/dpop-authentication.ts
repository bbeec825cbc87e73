// Authenticates requests of a page whose session is bound to its key: each has a proof and no cookie.
import type { Authentication, Call } from './api.js';
import type { ProofKey } from './proof-key.js';

const PROOF_ERRORS = ['invalid_dpop_proof', 'use_dpop_nonce'];

export class DpopAuthentication implements Authentication {
  /** The session token; undefined before a login. */
  token: string | undefined;
  readonly mayBeLate = false;
  private nonce: string | undefined;
  /** The instance's clock minus this machine's, in seconds. */
  private ahead: number;

  /**
   * @param baseUrl the instance's base address, which proofs must name
   * @param serverTime the instance's time now, in seconds since the Unix epoch
   */
  constructor(
    public key: ProofKey,
    private readonly baseUrl: string,
    serverTime: number,
  ) {
    this.ahead = serverTime - Date.now() / 1000;
  }

  async prepare({ method, path, isAnonymous }: Call): Promise<RequestInit> {
    const { nonce } = this;
    const token = isAnonymous === true ? undefined : this.token;
    const url = new URL(path.split('?', 1)[0] ?? '', this.baseUrl).href;
    const now = Date.now() / 1000 + this.ahead;
    const dpop = await this.key.proof({ method, url, now, accessToken: token, nonce });
    const authorization = token === undefined ? undefined : { authorization: `DPoP ${token}` };
    return { credentials: 'omit', headers: { dpop, ...authorization } };
  }

  /** The answer to a bad proof has the instance's time, and perhaps a nonce. */
  learn({ headers }: Response, { error, serverTime }: Record<string, unknown>): boolean {
    this.nonce = headers.get('dpop-nonce') ?? this.nonce;
    if (!PROOF_ERRORS.includes(String(error))) return false;
    if (typeof serverTime === 'number') this.ahead = serverTime - Date.now() / 1000;
    return true;
  }
}
