// Reads the credential of a call, and writes the challenge of a refused one (RFC 6750, RFC 9449 §7).
import type { HttpRequest } from '../../platform/http/http-messages.js';
import type { PresentedCall } from '../dpop/dpop-proofs.js';
import { provingRequestOf } from '../dpop/dpop-proofs.js';
import type { BearerReason } from '../tokens/bearer-refusals.js';
import { ALGORITHMS } from '../trust/algorithms.js';
import { RESOURCE_METADATA_PATH } from './paths.js';

/** RFC 6750 §2.1 and RFC 9449 §7.1; the name of a scheme is case-insensitive (RFC 9110 §11.1). */
const CREDENTIAL = /^(bearer|dpop) +([\w.~+/-]+=*) *$/i;
const SCHEME = /^(?:bearer|dpop)(?= |$)/i;

/** The access token of a call, and its scheme; undefined for another scheme, or invalid characters. */
export function presentedCallOf(request: HttpRequest): PresentedCall | undefined {
  const [, scheme, token] = CREDENTIAL.exec(request.headers.authorization ?? '') ?? [];
  if (scheme === undefined || token === undefined) return undefined;
  return { token, isDpop: isDpop(scheme), ...provingRequestOf(request) };
}

/** Whether a credential uses a supported scheme. Otherwise the challenge only lists the supported schemes. */
export function isSupportedScheme(authorization: string | undefined): boolean {
  return schemeOf(authorization) !== undefined;
}

function schemeOf(authorization: string | undefined): string | undefined {
  return SCHEME.exec(authorization ?? '')?.[0];
}

function isDpop(scheme: string | undefined): boolean {
  return scheme?.toLowerCase() === 'dpop';
}

const ALGS = `algs="${ALGORITHMS.join(' ')}"`;

/** The call that a challenge answers. */
interface Challenged {
  /** The `Authorization` header of the request. */
  readonly authorization: string | undefined;
  /** The origin of the published metadata; undefined if none is published. */
  readonly baseUrl: string | undefined;
  /** The required scopes, separated by spaces; undefined or empty if there are none. */
  readonly scope?: string;
}

/** Refusals about the proof. Every other refusal is about the token. */
const PROOF_ERRORS: Partial<Record<BearerReason, DpopError>> = {
  dpop_proof_missing: 'invalid_dpop_proof',
  dpop_proof_invalid: 'invalid_dpop_proof',
  dpop_key_mismatch: 'invalid_dpop_proof',
  dpop_proof_replayed: 'invalid_dpop_proof',
  dpop_nonce_required: 'use_dpop_nonce',
};
type DpopError = 'invalid_dpop_proof' | 'use_dpop_nonce';

/** Whether the error of an answer is about a DPoP proof: the client may repeat the request with another proof. */
export function isAboutProof(error: string): boolean {
  return error === 'invalid_dpop_proof' || error === 'use_dpop_nonce';
}

/** The error code of a refused credential in challenges and bodies. For the scheme Bearer it is always the token's. */
export function errorOf(
  authorization: string | undefined,
  reason?: BearerReason,
): DpopError | 'invalid_token' {
  return (isDpop(schemeOf(authorization)) && reason && PROOF_ERRORS[reason]) || 'invalid_token';
}

/**
 * The `WWW-Authenticate` header of a 401. It names an error only if a credential of a supported scheme was sent (RFC 6750 §3.1).
 * It names the call's scope (§3), so that a client need not request all scopes of the metadata. If metadata is published, it
 * names its address (RFC 9728 §5.1).
 */
export function challengeTo(call: Challenged, reason?: BearerReason): string {
  const { authorization } = call;
  const error = isSupportedScheme(authorization) ? errorOf(authorization, reason) : undefined;
  const challenge = challengeOf(call, error);
  return isDpop(schemeOf(authorization)) ? challenge : `${challenge}, DPoP ${ALGS}`;
}

/** The `WWW-Authenticate` header of a 403 for missing scopes (RFC 6750 §3.1). */
export function scopeChallengeTo(call: Challenged): string {
  return challengeOf(call, 'insufficient_scope');
}

/** Uses the call's scheme, or Bearer for an unsupported one. */
function challengeOf({ authorization, baseUrl, scope }: Challenged, error: string | undefined): string {
  const isOfDpop = isDpop(schemeOf(authorization));
  const parameters = [
    error && `error="${error}"`,
    scope && `scope="${scope}"`,
    isOfDpop && ALGS,
    baseUrl && `resource_metadata="${baseUrl}${RESOURCE_METADATA_PATH}"`,
  ].filter(Boolean);
  return `${isOfDpop ? 'DPoP' : 'Bearer'} ${parameters.join(', ')}`.trimEnd();
}
