// A licence vendor of the tests' own.
import { generateKeyPairSync } from 'node:crypto';
import { CompactSign } from 'jose';

const vendor = generateKeyPairSync('ed25519');

/** Claims of the licence that differ from the defaults: every feature, and an end in an hour. */
export interface LicenseOptions {
  features?: readonly string[];
  /** Seconds since the Unix epoch. */
  exp?: number;
}

/** The SVC_* variables of a licence that the tests' vendor issued. */
export async function licenseEnvironment(options: LicenseOptions = {}): Promise<Record<string, string>> {
  const features = options.features ?? ['token-exchange', 'project-members', 'credentials-list'];
  const claims = { customer: 'tests', features, exp: options.exp ?? Math.floor(Date.now() / 1000) + 3600 };
  const payload = new TextEncoder().encode(JSON.stringify(claims));
  return {
    SVC_LICENSE: await new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA' }).sign(vendor.privateKey),
    SVC_LICENSE_PUBLIC_KEY: vendor.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}
