// svc-admin clients: which clients may send identity assertions of an entry.
import type { Command } from 'commander';
import { Option } from 'commander';
import type { ListedClient } from '../administration/clients.operations.js';
import {
  ADD_CLIENT,
  ADD_CLIENT_SECRET,
  LIST_CLIENTS,
  REMOVE_CLIENT,
  REMOVE_CLIENT_SECRET,
} from '../administration/clients.operations.js';
import { CommandError } from '../administration/command-error.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import { perform, readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { findingLines, quoted, renderTable } from './table.js';
import { inputName, readJsonFile } from './text-file.js';

const HEADINGS = ['ENTRY', 'CLIENT', 'AUTHENTICATES BY', 'KEYS', 'INTROSPECTS', 'ISSUER'];

export function addClientsCommands(program: Command, context: CommandContext): void {
  const clients = program
    .command('clients')
    .description('manage the clients that send identity assertions (docs/id-jag.md)');
  addAdd(clients, context);
  addList(clients, context);
  addRemove(clients, context);
  addAddSecret(clients, context);
  addRemoveSecret(clients, context);
}

interface AddOptions {
  readonly keys?: string;
  readonly jwksUrl?: string;
  readonly metadataDocument?: true;
  readonly introspect?: true;
}

function addAdd(clients: Command, context: CommandContext): void {
  clients
    .command('add')
    .description(
      'let a client send identity assertions of a stored entry; without keys it gets a secret, shown once',
    )
    .argument('<entry>', 'name of the stored entry')
    .argument('<id>', 'id of the client, which is the `client_id` of its assertions')
    .addOption(
      new Option('--keys <file>', 'its public keys: a key set, or one JWK; - reads standard input').conflicts(
        ['jwksUrl', 'metadataDocument'],
      ),
    )
    .addOption(new Option('--jwks-url <url>', 'where it publishes its keys').conflicts('metadataDocument'))
    .option('--metadata-document', 'its id is the URL of its client ID metadata document, which has its keys')
    .option('--introspect', "let it introspect its own access tokens, and those for the entry's `resources`")
    .addHelpText('after', '\nExample:\n  svc-admin clients add acme desktop-client')
    .action(async (entry: string, id: string, { keys: file, ...options }: AddOptions) => {
      const keys = file === undefined ? undefined : readKeys(context, file);
      const added = await perform(context, ADD_CLIENT, { entry, id, keys, ...options });
      const { secret, warnings } = added;
      const lines = [
        ...findingLines({ warnings }),
        `The client ${quoted(id)} is added to the entry ${quoted(entry)}, everywhere within 10 seconds.\n`,
        ...(secret === undefined ? [] : [secretLine(secret)]),
      ];
      context.answers.give(added, lines.join(''));
    });
}

function addList(clients: Command, context: CommandContext): void {
  clients
    .command('list')
    .description('list the clients of all entries, configured and stored')
    .addHelpText('after', '\nExample:\n  svc-admin clients list --json')
    .action(async () => {
      const all = await readList(context, LIST_CLIENTS, {});
      context.answers.give(all, renderTable(HEADINGS, all.map(rowOf)));
    });
}

function rowOf({ entry, id, credential, keys, introspect, issuer }: ListedClient): string[] {
  return [entry, id, credential, keys.join(', '), introspect ? 'yes' : 'no', issuer];
}

function secretLine(secret: string): string {
  return `Its secret, shown only once: ${secret}\n`;
}

function addRemove(clients: Command, context: CommandContext): void {
  clients
    .command('remove')
    .description('remove a client from a stored entry; its access tokens stay valid until they expire')
    .argument('<entry>', 'name of the stored entry')
    .argument('<id>', 'id of the client')
    .addHelpText('after', '\nExample:\n  svc-admin clients remove acme desktop-client')
    .action(async (entry: string, id: string) => {
      const removed = await perform(context, REMOVE_CLIENT, { entry, id });
      const text = `The client ${quoted(id)} is removed from the entry ${quoted(entry)}, everywhere within 10 seconds.\n`;
      context.answers.give(removed, text);
    });
}

function addAddSecret(clients: Command, context: CommandContext): void {
  clients
    .command('add-secret')
    .description('give a client a second secret, shown once; the first stays valid until it is removed')
    .argument('<entry>', 'name of the stored entry')
    .argument('<id>', 'id of the client')
    .addHelpText('after', '\nExample:\n  svc-admin clients add-secret acme desktop-client')
    .action(async (entry: string, id: string) => {
      const added = await perform(context, ADD_CLIENT_SECRET, { entry, id });
      const text = `The client ${quoted(id)} has a second secret, everywhere within 10 seconds.\n`;
      context.answers.give(added, text + secretLine(added.secret ?? ''));
    });
}

function addRemoveSecret(clients: Command, context: CommandContext): void {
  clients
    .command('remove-secret')
    .description('remove the older of the two secrets of a client')
    .argument('<entry>', 'name of the stored entry')
    .argument('<id>', 'id of the client')
    .option('--newer', 'remove the newer one instead')
    .addHelpText('after', '\nExample:\n  svc-admin clients remove-secret acme desktop-client')
    .action(async (entry: string, id: string, { newer }: { newer?: true }) => {
      const removed = await perform(context, REMOVE_CLIENT_SECRET, { entry, id, newer });
      const which = newer === true ? 'newer' : 'older';
      const text = `The ${which} secret of the client ${quoted(id)} is removed, everywhere within 10 seconds.\n`;
      context.answers.give(removed, text);
    });
}

/** @throws CommandError where it is neither a key set nor a JWK */
function readKeys(context: CommandContext, file: string): unknown {
  const value = readJsonFile(context, file, 'one key set');
  if (!isJsonObject(value)) throw new CommandError(`${inputName(file)} is neither a key set nor a JWK.`);
  return value['keys'] ?? [value];
}
