// The property `clients` of a trusted key entry: the credentials of each client.
import { isJsonObject } from '../../platform/json/strict-json.js';
import type { EntryMembers, Row } from '../trust/entry-kinds.js';
import { Fault } from '../trust/entry-kinds.js';
import type { TrustedKeysRules } from '../trust/entry-rules.js';
import { urlFault } from '../trust/entry-rules.js';
import type { JwksKey } from '../trust/jwks-content.js';
import { JwksContentError, readJwks } from '../trust/jwks-content.js';

/**
 * A client's credentials: its public keys in the entry, a key set or its metadata document; or its secret, as SHA-256 in
 * hexadecimal. During a change there are two secrets, the older first.
 */
export type ClientCredential =
  | { readonly keys: readonly JwksKey[] }
  | { readonly jwksUrl: string }
  | { readonly documentUrl: string }
  | { readonly secretHashes: readonly string[] };

export type TrustedClient = ClientCredential & {
  readonly id: string;
  /** Whether it may introspect access tokens. Default false. */
  readonly introspect?: boolean;
};

/** An error in one client, without its values. */
class ClientFault extends Error {}

const CREDENTIALS = ['keys', 'jwksUrl', 'secretHash', 'metadataDocument'] as const;
/** The old and the new one. */
const MAX_SECRETS = 2;
const MAX_CLIENTS = 100;
/** RFC 6749 §2.2 and appendix A.1: printable ASCII. */
const CLIENT_ID = /^[\x20-\x7e]{1,255}$/;
const SHA256_DIGITS = /^[\da-f]{64}$/;

/**
 * @rule P.clients An entry names the clients that may send its identity assertions, each with one kind of credential. No client
 * is public.
 */
export const CLIENTS: Row<ReadonlyMap<string, TrustedClient>> = {
  kind: 'structure',
  label: 'Clients',
  rule: 'programs that may send [identity assertions](../partner/agents.md), or introspect',
  unsaid: 'none',
  prevents: "a program redeems another's assertion",
  read(given, rules, { members }) {
    if (!Array.isArray(given) || given.length > MAX_CLIENTS)
      return new Fault(`must be an array of at most ${MAX_CLIENTS} clients`);
    return readClients(given, rules, members);
  },
};

/** Whether any entry names a client by its metadata document. */
export function namesDocuments(
  entries: readonly { readonly clients?: ReadonlyMap<string, TrustedClient> }[],
): boolean {
  const clients = entries.flatMap((entry) => [...(entry.clients?.values() ?? [])]);
  return clients.some((client) => 'documentUrl' in client);
}

function readClients(list: readonly unknown[], rules: TrustedKeysRules, members: EntryMembers) {
  const clients = new Map<string, TrustedClient>();
  for (const [index, value] of list.entries()) {
    try {
      const client = readClient(value, rules);
      if (clients.has(client.id)) throw new ClientFault('has the id of another client');
      clients.set(client.id, client);
    } catch (error) {
      if (!(error instanceof ClientFault)) throw error;
      members.problem(`clients[${index}]`, error.message);
    }
  }
  return clients;
}

function readClient(value: unknown, rules: TrustedKeysRules): TrustedClient {
  if (!isJsonObject(value)) throw new ClientFault('must be an object');
  const { id, introspect, ...credential } = value;
  if (typeof id !== 'string' || !CLIENT_ID.test(id))
    throw new ClientFault('must have an id of 1 to 255 printable ASCII characters');
  if (introspect !== undefined && typeof introspect !== 'boolean')
    throw new ClientFault('introspect must be true or false');
  return { id, ...(introspect === true && { introspect }), ...readCredential(id, credential, rules) };
}

function readCredential(
  id: string,
  credential: Record<string, unknown>,
  rules: TrustedKeysRules,
): ClientCredential {
  const [member, ...others] = Object.keys(credential);
  if (member === undefined || others.length > 0 || !isCredential(member))
    throw new ClientFault(
      `must have an id and exactly one of ${CREDENTIALS.join(', ')}: public clients are refused`,
    );
  const value = credential[member];
  if (member === 'keys') return { keys: readKeys(value) };
  if (member === 'jwksUrl') return { jwksUrl: readJwksUrl(value, rules) };
  if (member === 'metadataDocument') return { documentUrl: readDocumentUrl(id, value, rules) };
  return { secretHashes: readSecretHashes(value) };
}

function readSecretHashes(value: unknown): readonly string[] {
  const hashes: unknown[] = Array.isArray(value) ? value : [value];
  const isGood = hashes.every((one) => typeof one === 'string' && SHA256_DIGITS.test(one));
  if (isGood && new Set(hashes).size === hashes.length && hashes.length >= 1 && hashes.length <= MAX_SECRETS)
    return hashes as string[];
  throw new ClientFault(
    'secretHash must be a SHA-256 in 64 lower-case hexadecimal digits, or a list of two different ones, the older first',
  );
}

/** The id is compared character by character with the document, so it must be in its canonical form. */
function readDocumentUrl(id: string, value: unknown, rules: TrustedKeysRules): string {
  if (value !== true) throw new ClientFault('metadataDocument must be true');
  const fault = urlFault(id, rules);
  if (fault !== undefined) throw new ClientFault(`id ${fault} where metadataDocument is true`);
  if (/[?#]/.test(id) || new URL(id).href !== id)
    throw new ClientFault(
      'id must be the URL of its metadata document as browsers write it, without a query and a fragment',
    );
  return id;
}

function isCredential(member: string): member is (typeof CREDENTIALS)[number] {
  return CREDENTIALS.some((name) => name === member);
}

/** An unusable key is an error here, because it was written by hand. */
function readKeys(keys: unknown): readonly JwksKey[] {
  try {
    const content = readJwks(Buffer.from(JSON.stringify({ keys })));
    const [warning] = content.warnings;
    if (warning !== undefined) throw new ClientFault(`keys: ${warning}`);
    if (content.keys.length > 0) return content.keys;
  } catch (error) {
    if (!(error instanceof JwksContentError)) throw error;
  }
  throw new ClientFault('keys must be an array of at least one public JWK');
}

/** The address in its canonical form, without a query, which may contain a secret, because entries are shown. */
function readJwksUrl(value: unknown, rules: TrustedKeysRules): string {
  const fault = typeof value === 'string' ? urlFault(value, rules) : 'must be an https: URL';
  if (typeof value !== 'string' || fault !== undefined) throw new ClientFault(`jwksUrl ${fault ?? ''}`);
  if (/[?#]/.test(value)) throw new ClientFault('jwksUrl must have neither a query nor a fragment');
  return new URL(value).href;
}
