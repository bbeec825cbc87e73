// Reads and verifies the licence offline: a compact JWS (EdDSA) with features and an expiry.
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { compactVerify } from 'jose/jws/compact/verify';
import { pemFault } from '../platform/text/pem-fault.js';

/** Features that a licence can include (D39). */
export const LICENSE_FEATURES = ['token-exchange', 'project-members', 'credentials-list'] as const;
export type LicenseFeature = (typeof LICENSE_FEATURES)[number];

/** Why a licence is refused. The message names the rule, never the licence. */
export class LicenseError extends Error {
  /** @param part the unusable part: the licence, or the vendor's public key */
  constructor(
    message: string,
    readonly part: 'license' | 'licensePublicKey' = 'license',
  ) {
    super(message);
  }
}

/**
 * A licence with a verified signature. An expired licence is a state, not an error: it is checked at each
 * use.
 */
export class License {
  constructor(
    readonly features: ReadonlySet<string>,
    readonly expiresAt: Date,
  ) {}

  /** No licence: nothing is licensed. */
  static readonly NONE = new License(new Set(), new Date(0));

  /**
   * @rule D39 A licence includes features until it expires, checked offline. See flow.endpoints.ts for the
   * 404 of its endpoints, and api-controller.decorator.ts for the 403 of a call.
   * @param nowMs milliseconds since the Unix epoch
   */
  includes(feature: LicenseFeature, nowMs: number): boolean {
    return this.features.has(feature) && !this.hasEnded(nowMs);
  }

  /**
   * Also true if the expiry is not a valid date: such a licence is never valid.
   * @param nowMs milliseconds since the Unix epoch
   */
  hasEnded(nowMs: number): boolean {
    return !(nowMs < this.expiresAt.getTime());
  }
}

/**
 * Verifies a licence with the vendor's public key.
 * @throws LicenseError with the cause
 */
export async function readLicense(compactJws: string, publicKeyPem: string): Promise<License> {
  const key = readVendorKey(publicKeyPem);
  const payload = await verifiedPayload(compactJws, key);
  const { features, exp } = payload;
  if (!Array.isArray(features) || !features.every((feature) => typeof feature === 'string')) {
    throw new LicenseError('features must be an array of strings');
  }
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new LicenseError('exp must be a number');
  return new License(new Set(features), new Date(exp * 1000));
}

function readVendorKey(publicKeyPem: string): KeyObject {
  if (publicKeyPem.includes('PRIVATE KEY'))
    throw new LicenseError('the public key is a private key', 'licensePublicKey');
  try {
    const key = createPublicKey(publicKeyPem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    throw new LicenseError(
      `the public key is not PEM: it ${pemFault(publicKeyPem, 'public key')}`,
      'licensePublicKey',
    );
  }
  throw new LicenseError('the public key is not an Ed25519 key', 'licensePublicKey');
}

async function verifiedPayload(compactJws: string, key: KeyObject): Promise<Record<string, unknown>> {
  let text: string;
  try {
    const { payload } = await compactVerify(compactJws.trim(), key, { algorithms: ['EdDSA', 'Ed25519'] });
    text = new TextDecoder().decode(payload);
  } catch {
    throw new LicenseError('its signature does not verify with the public key');
  }
  try {
    const claims: unknown = JSON.parse(text);
    if (typeof claims === 'object' && claims !== null) return claims as Record<string, unknown>;
  } catch {
    // Falls through to the same error as other JSON.
  }
  throw new LicenseError('its payload is not a JSON object');
}
