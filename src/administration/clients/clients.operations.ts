// Adds, removes and lists the clients that may send a trusted key entry's identity assertions.
import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { flag, storableString } from '../../platform/input/schemas.js';
import { isJsonObject } from '../../platform/json/strict-json.js';
import type { EntryValue, TrustedClient, TrustedKeyEntry } from '../../token-exchange/instance.js';
import { StoredEntryChanges, StoredEntryError } from '../../token-exchange/instance.js';
import type { ChangedEntry, EntryChange } from '../entries/entries.operations.js';
import { EntryOperations, trustedEntries } from '../entries/entries.operations.js';
import type { Changed, ChangeWork } from '../operation.js';
import { Change, inputOf, Read, readNothing } from '../operation.js';

const CHOSEN_CLIENT = { entry: storableString(), id: storableString() };
const readClient = inputOf(CHOSEN_CLIENT);
type ChosenClient = ReturnType<typeof readClient>;

export interface AddedClient extends ChangedEntry {
  /** Shown only once: its SHA-256 is stored. */
  readonly secret?: string;
}

export interface ListedClient {
  /** The entry's name in logs and metrics. */
  readonly entry: string;
  readonly issuer: string;
  readonly id: string;
  readonly credential: 'secret' | 'two secrets' | 'keys' | 'key set' | 'metadata document';
  /** The kids of its keys, or the URL of its key set or document; empty if it has a secret. */
  readonly keys: readonly string[];
  readonly introspect: boolean;
}

const SECRET_BYTES = 32;

const readSecret = inputOf({ ...CHOSEN_CLIENT, newer: flag().optional() });

const readNewClient = inputOf({
  ...CHOSEN_CLIENT,
  /** Its public keys, as JWKs. */
  keys: z.unknown(),
  /** The URL of its key set. */
  jwksUrl: storableString().optional(),
  /** Its id is the URL of its client ID metadata document. */
  metadataDocument: flag().optional(),
  introspect: flag().optional(),
});

@Injectable()
export class ClientOperations {
  constructor(
    private readonly entries: EntryOperations,
    private readonly stored: StoredEntryChanges,
  ) {}

  /** A client without keys and without a URL gets a secret. Keys and URLs are validated with the entry. */
  @Change('clients add', readNewClient)
  async add(
    { entry, id, introspect, ...keySource }: ReturnType<typeof readNewClient>,
    work: ChangeWork,
  ): Promise<Changed<AddedClient>> {
    const hasKeys = Object.values(keySource).some((value) => value !== undefined);
    const { secret, secretHash } = hasKeys ? {} : newSecret();
    const client = Object.entries({ id, ...keySource, secretHash, introspect }).filter(
      ([, value]) => value !== undefined,
    );
    const add = (clients: readonly unknown[]) => {
      if (clients.some((one) => idOf(one) === id))
        throw new StoredEntryError('The entry already has a client with this id.');
      return [...clients, Object.fromEntries(client)];
    };
    const changed = await this.entries.trust(work, withClients(entry, add));
    return { ...changed, result: { ...changed.result, secret } };
  }

  /** Both secrets are valid until one is removed. */
  @Change('clients add-secret', readClient)
  async addSecret(client: ChosenClient, work: ChangeWork) {
    const { secret, secretHash } = newSecret();
    const add = (hashes: readonly unknown[]) => {
      if (hashes.length < 2) return [...hashes, secretHash];
      throw new StoredEntryError('The client already has two secrets. Remove one first.');
    };
    const changed = await this.entries.trust(work, withSecrets(client, add));
    return { ...changed, result: { ...changed.result, secret } };
  }

  /** Removes the older of two secrets, or the newer if requested. */
  @Change('clients remove-secret', readSecret)
  removeSecret({ newer = false, ...client }: ReturnType<typeof readSecret>, work: ChangeWork) {
    const remove = (hashes: readonly unknown[]) => {
      if (hashes.length === 2) return [hashes[newer ? 0 : 1]];
      throw new StoredEntryError('The client has only one secret. Remove the client instead.');
    };
    return this.entries.changed(work, withSecrets(client, remove));
  }

  /** The client's access tokens remain valid until they expire. */
  @Change('clients remove', readClient)
  remove({ entry, id }: ChosenClient, work: ChangeWork) {
    const remove = (clients: readonly unknown[]) => {
      const kept = clients.filter((one) => idOf(one) !== id);
      if (kept.length < clients.length) return kept;
      throw noSuchClient();
    };
    return this.entries.changed(work, withClients(entry, remove));
  }

  @Read('clients list', readNothing)
  async list(): Promise<readonly ListedClient[]> {
    return (await trustedEntries(this.stored)).flatMap(clientsOf);
  }
}

function noSuchClient(): StoredEntryError {
  return new StoredEntryError('The entry has no client with this id.');
}

function withSecrets(
  { entry, id }: ChosenClient,
  change: (hashes: readonly unknown[]) => readonly unknown[],
): EntryChange {
  return withClients(entry, (clients) => {
    if (!clients.some((one) => idOf(one) === id)) throw noSuchClient();
    return clients.map((one) => {
      if (!isJsonObject(one) || one['id'] !== id) return one;
      const { secretHash } = one;
      if (secretHash === undefined)
        throw new StoredEntryError('The client authenticates with keys and has no secret.');
      const [first, ...others] = change([secretHash].flat());
      return { ...one, secretHash: others.length === 0 ? first : [first, ...others] };
    });
  });
}

function newSecret(): { readonly secret: string; readonly secretHash: string } {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, secretHash: createHash('sha256').update(secret).digest('hex') };
}

function withClients(name: string, change: (clients: readonly unknown[]) => readonly unknown[]): EntryChange {
  const edit = (entry: EntryValue) => {
    const { clients } = entry;
    return { ...entry, clients: change(Array.isArray(clients) ? clients : []) };
  };
  return (entries, by) => entries.change(name, edit, by);
}

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
