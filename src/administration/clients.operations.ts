// Adds, removes and lists the clients that may send identity assertions of a trusted key entry.
import { createHash, randomBytes } from 'node:crypto';
import type { EntryValue, TrustedClient, TrustedKeyEntry } from '../token-exchange/instance.js';
import { StoredEntryError } from '../token-exchange/instance.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import type { ChangedEntry, EntryChange } from './entries.operations.js';
import { changeEntry, trustEntry } from './entries.operations.js';
import { anything, flag, members, optional, readNothing, storableText } from './input.js';
import { trustedEntries } from './list-entries.operation.js';
import { changeOperation, listOperation } from './operation.js';
import { findingLines, quoted, tableOf } from './table.js';

/** Which client of which stored entry. */
const CHOSEN_CLIENT = { entry: storableText, id: storableText };
const ENTRY = ['<entry>', 'name of the stored entry'] as const;
const CLIENT = { entry: ENTRY, id: ['<id>', 'id of the client'] } as const;

export interface AddedClient extends ChangedEntry {
  /** Shown this once: what is stored is its SHA-256. */
  readonly secret?: string;
}

export interface ListedClient {
  /** The name of the entry in logs and metrics. */
  readonly entry: string;
  readonly issuer: string;
  readonly id: string;
  /** By what it authenticates. */
  readonly credential: 'secret' | 'two secrets' | 'keys' | 'key set' | 'metadata document';
  /** The kids of its keys, or the address of its key set or document; empty: it has a secret. */
  readonly keys: readonly string[];
  /** Whether it may introspect access tokens. */
  readonly introspect: boolean;
}

const SECRET_BYTES = 32;

const readNewClient = members({
  ...CHOSEN_CLIENT,
  /** Its public keys, as JWKs. */
  keys: anything,
  /** Where it publishes them. */
  jwksUrl: optional(storableText),
  /** Its id is the URL of its client ID metadata document. */
  metadataDocument: optional(flag),
  introspect: optional(flag),
});

/** Without keys and address the client gets a secret. Both are checked with the entry. */
export const ADD_CLIENT = changeOperation('clients add', readNewClient, {
  async change({ entry, id, introspect, ...ofKeys }, work) {
    const hasKeys = Object.values(ofKeys).some((value) => value !== undefined);
    const { secret, secretHash } = hasKeys ? {} : newSecret();
    const client = Object.entries({ id, ...ofKeys, secretHash, introspect }).filter(
      ([, value]) => value !== undefined,
    );
    const add = (clients: readonly unknown[]) => {
      if (clients.some((one) => idOf(one) === id))
        throw new StoredEntryError('The entry has a client with this id already.');
      return [...clients, Object.fromEntries(client)];
    };
    const changed = await trustEntry(work, withClients(entry, add));
    const result: AddedClient = { ...changed.result, secret };
    return { ...changed, result };
  },

  command: {
    about:
      'let a client send identity assertions of a stored entry; without keys it gets a secret, shown once',
    takes: { entry: ENTRY, id: ['<id>', 'id of the client, which is the `client_id` of its assertions'] },
    example: 'acme desktop-client',
    text: ({ warnings, secret }, { entry, id }) =>
      [
        ...findingLines({ warnings }),
        `The client ${quoted(id)} is added to the entry ${quoted(entry)}, everywhere within 10 seconds.\n`,
        ...(secret === undefined ? [] : [secretLine(secret)]),
      ].join(''),
  },
});

function secretLine(secret: string): string {
  return `Its secret, shown only once: ${secret}\n`;
}

/** Both secrets count until one is removed. */
export const ADD_CLIENT_SECRET = changeOperation('clients add-secret', members(CHOSEN_CLIENT), {
  async change(client, work) {
    const { secret, secretHash } = newSecret();
    const add = (hashes: readonly unknown[]) => {
      if (hashes.length < 2) return [...hashes, secretHash];
      throw new StoredEntryError('The client has two secrets already: remove one first.');
    };
    const changed = await trustEntry(work, withSecrets(client, add));
    return { ...changed, result: { ...changed.result, secret } };
  },

  command: {
    about: 'give a client a second secret, shown once; the first stays valid until it is removed',
    takes: CLIENT,
    example: 'acme desktop-client',
    text: ({ secret }, { id }) =>
      `The client ${quoted(id)} has a second secret, everywhere within 10 seconds.\n${secretLine(secret)}`,
  },
});

/** Of two secrets, the older one unless the newer is meant. */
export const REMOVE_CLIENT_SECRET = changeOperation(
  'clients remove-secret',
  members({ ...CHOSEN_CLIENT, newer: optional(flag) }),
  {
    change({ newer = false, ...client }, work) {
      const remove = (hashes: readonly unknown[]) => {
        if (hashes.length === 2) return [hashes[newer ? 0 : 1]];
        throw new StoredEntryError('The client has one secret only: remove the client itself instead.');
      };
      return changeEntry(work, withSecrets(client, remove));
    },

    command: {
      about: 'remove the older of the two secrets of a client',
      takes: CLIENT,
      example: 'acme desktop-client',
      text: (_removed, { id, newer = false }) =>
        `The ${newer ? 'newer' : 'older'} secret of the client ${quoted(id)} is removed, everywhere within 10 seconds.\n`,
    },
  },
);

/** Its access tokens stay valid until they expire. */
export const REMOVE_CLIENT = changeOperation('clients remove', members(CHOSEN_CLIENT), {
  change({ entry, id }, work) {
    const remove = (clients: readonly unknown[]) => {
      const kept = clients.filter((one) => idOf(one) !== id);
      if (kept.length < clients.length) return kept;
      throw NO_SUCH_CLIENT();
    };
    return changeEntry(work, withClients(entry, remove));
  },

  command: {
    about: 'remove a client from a stored entry; its access tokens stay valid until they expire',
    takes: CLIENT,
    example: 'acme desktop-client',
    text: (_removed, { entry, id }) =>
      `The client ${quoted(id)} is removed from the entry ${quoted(entry)}, everywhere within 10 seconds.\n`,
  },
});

const NO_SUCH_CLIENT = () => new StoredEntryError('The entry has no client with this id.');

/** Changes the secrets of a client, as they are stored. */
function withSecrets(
  { entry, id }: { readonly entry: string; readonly id: string },
  change: (hashes: readonly unknown[]) => readonly unknown[],
): EntryChange {
  return withClients(entry, (clients) => {
    if (!clients.some((one) => idOf(one) === id)) throw NO_SUCH_CLIENT();
    return clients.map((one) => {
      if (!isJsonObject(one) || one['id'] !== id) return one;
      const { secretHash } = one;
      if (secretHash === undefined)
        throw new StoredEntryError('The client authenticates by keys: it has no secret.');
      const [first, ...others] = change([secretHash].flat());
      return { ...one, secretHash: others.length === 0 ? first : [first, ...others] };
    });
  });
}

function newSecret(): { readonly secret: string; readonly secretHash: string } {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, secretHash: createHash('sha256').update(secret).digest('hex') };
}

/** Changes the clients of an entry, as they are stored. */
function withClients(name: string, change: (clients: readonly unknown[]) => readonly unknown[]): EntryChange {
  const edit = (entry: EntryValue) => {
    const { clients } = entry;
    return { ...entry, clients: change(Array.isArray(clients) ? clients : []) };
  };
  return (entries, by) => entries.change(name, edit, by);
}

export const LIST_CLIENTS = listOperation('clients list', readNothing, {
  async *list(_input, parts) {
    for (const entry of await trustedEntries(parts)) yield clientsOf(entry);
  },

  command: {
    about: 'list the clients of all entries, configured and stored',
    example: '--json',
    text: tableOf<ListedClient>(
      ['ENTRY', 'CLIENT', 'AUTHENTICATES BY', 'KEYS', 'INTROSPECTS', 'ISSUER'],
      ({ entry, id, credential, keys, introspect, issuer }) => [
        ...[entry, id, credential, keys.join(', '), introspect ? 'yes' : 'no', issuer],
      ],
    ),
  },
});

function clientsOf({ label, issuer, clients }: TrustedKeyEntry): ListedClient[] {
  return [...(clients?.values() ?? [])].map((client) => {
    const { id, introspect = false } = client;
    return { entry: label, issuer, id, ...credentialOf(client), introspect };
  });
}

function credentialOf(client: TrustedClient): Pick<ListedClient, 'credential' | 'keys'> {
  if ('secretHashes' in client)
    return { credential: client.secretHashes.length === 1 ? 'secret' : 'two secrets', keys: [] };
  if ('documentUrl' in client) return { credential: 'metadata document', keys: [client.documentUrl] };
  if ('jwksUrl' in client) return { credential: 'key set', keys: [client.jwksUrl] };
  return { credential: 'keys', keys: client.keys.map(({ kid }) => kid) };
}

function idOf(client: unknown): unknown {
  return isJsonObject(client) ? client['id'] : undefined;
}
