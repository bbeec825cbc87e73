// Adds, removes and lists the clients that may send identity assertions of a trusted key entry.
import { createHash, randomBytes } from 'node:crypto';
import { StoredEntryError } from '../token-exchange/instance.js';
import type { TrustedClient, TrustedKeyEntry } from '../token-exchange/plain.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import type { ChangedEntry } from './entries.operations.js';
import { changeEntry, trustEntry } from './entries.operations.js';
import { anything, members, optional, readNothing, storableText } from './input.js';
import { changeOperation, listOperation } from './operation.js';

/** Which client of which stored entry. */
const CHOSEN_CLIENT = { entry: storableText, id: storableText };

export interface AddedClient extends ChangedEntry {
  /** Shown this once: what is stored is its SHA-256. */
  readonly secret?: string;
}

export interface ListedClient {
  /** How logs and metrics call the entry. */
  readonly entry: string;
  readonly issuer: string;
  readonly id: string;
  /** By what it authenticates. */
  readonly credential: 'secret' | 'keys' | 'key set';
  /** The kids of its keys, or the address of its key set; empty: it has a secret. */
  readonly keys: readonly string[];
}

const SECRET_BYTES = 32;

const readNewClient = members({
  ...CHOSEN_CLIENT,
  /** Its public keys, as JWKs. */
  keys: anything,
  /** Where it publishes them. */
  jwksUrl: optional(storableText),
});

/** Without keys and address the client gets a secret. Both are checked with the entry. */
export const ADD_CLIENT = changeOperation('clients add', readNewClient, {
  async change({ entry, id, keys, jwksUrl }, work) {
    const hasKeys = keys !== undefined || jwksUrl !== undefined;
    const secret = hasKeys ? undefined : randomBytes(SECRET_BYTES).toString('base64url');
    const secretHash = secret && createHash('sha256').update(secret).digest('hex');
    const client = Object.entries({ id, keys, jwksUrl, secretHash }).filter(
      ([, value]) => value !== undefined,
    );
    const changed = await trustEntry(work, (entries) =>
      entries.changeClients(
        entry,
        (clients) => {
          if (clients.some((one) => idOf(one) === id))
            throw new StoredEntryError('The entry has a client with this id already.');
          return [...clients, Object.fromEntries(client)];
        },
        work,
      ),
    );
    const result: AddedClient = { ...changed.result, secret };
    return { ...changed, result };
  },
});

/** Its access tokens stay valid until they expire. */
export const REMOVE_CLIENT = changeOperation('clients remove', members(CHOSEN_CLIENT), {
  change: ({ entry, id }, work) =>
    changeEntry(work, (entries) =>
      entries.changeClients(
        entry,
        (clients) => {
          const kept = clients.filter((one) => idOf(one) !== id);
          if (kept.length < clients.length) return kept;
          throw new StoredEntryError('The entry has no client with this id.');
        },
        work,
      ),
    ),
});

export const LIST_CLIENTS = listOperation('clients list', readNothing, {
  async *list(_input, { storedEntries }) {
    const stored = (await storedEntries.list()).flatMap(({ entry }) => entry ?? []);
    for (const entry of [...storedEntries.configured, ...stored]) yield clientsOf(entry);
  },
});

function clientsOf({ label, issuer, clients }: TrustedKeyEntry): ListedClient[] {
  return [...(clients?.values() ?? [])].map((client) => {
    return { entry: label, issuer, id: client.id, ...credentialOf(client) };
  });
}

function credentialOf(client: TrustedClient): Pick<ListedClient, 'credential' | 'keys'> {
  if ('secretHash' in client) return { credential: 'secret', keys: [] };
  if ('jwksUrl' in client) return { credential: 'key set', keys: [client.jwksUrl] };
  return { credential: 'keys', keys: client.keys.map(({ kid }) => kid) };
}

function idOf(client: unknown): unknown {
  return isJsonObject(client) ? client['id'] : undefined;
}
