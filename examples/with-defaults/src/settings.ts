// The product's settings, from its environment.
import { readFileSync } from 'node:fs';

const { DATABASE_URL, SEALING_KEY, PORT = '3000' } = process.env;

export const port = Number(PORT);
export const baseUrl = process.env['BASE_URL'] ?? `http://localhost:${PORT}`;
export const databaseUrl = required('DATABASE_URL', DATABASE_URL);
/** Seals the keys that sign access tokens. Keep it: with another one the product does not start. */
export const sealingKey = Buffer.from(required('SEALING_KEY', SEALING_KEY), 'base64');
/** The partners' public keys, as `node partner.mjs key` writes them. */
export const trustedKeys = readFileSync(process.env['TRUSTED_KEYS_FILE'] ?? 'trusted-keys.json', 'utf8');

function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new Error(`${name} must be set`);
  return value;
}
