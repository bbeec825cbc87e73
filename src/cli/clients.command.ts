// svc-admin clients: which clients may send identity assertions of an entry.
import type { Command } from 'commander';
import { Option } from 'commander';
import type { ListedClient } from '../administration/clients.operations.js';
import { ADD_CLIENT, LIST_CLIENTS, REMOVE_CLIENT } from '../administration/clients.operations.js';
import { CommandError } from '../administration/command-error.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import { perform, readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { findingLines, quoted, renderTable } from './table.js';
import { inputName, readJsonFile } from './text-file.js';

const HEADINGS = ['ENTRY', 'CLIENT', 'AUTHENTICATES BY', 'KEYS', 'ISSUER'];

export function addClientsCommands(program: Command, context: CommandContext): void {
  const clients = program
    .command('clients')
    .description('manage the clients that send identity assertions (docs/id-jag.md)');
  addAdd(clients, context);
  addList(clients, context);
  addRemove(clients, context);
}

interface AddOptions {
  readonly keys?: string;
  readonly jwksUrl?: string;
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
        'jwksUrl',
      ),
    )
    .option('--jwks-url <url>', 'where it publishes its keys')
    .addHelpText('after', '\nExample:\n  svc-admin clients add acme desktop-client')
    .action(async (entry: string, id: string, { keys: file, jwksUrl }: AddOptions) => {
      const keys = file === undefined ? undefined : readKeys(context, file);
      const added = await perform(context, ADD_CLIENT, { entry, id, keys, jwksUrl });
      const { secret, warnings } = added;
      const lines = [
        ...findingLines({ warnings }),
        `The client ${quoted(id)} is added to the entry ${quoted(entry)}, everywhere within 10 seconds.\n`,
        ...(secret === undefined ? [] : [`Its secret, shown only once: ${secret}\n`]),
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

function rowOf({ entry, id, credential, keys, issuer }: ListedClient): string[] {
  return [entry, id, credential, keys.join(', '), issuer];
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

/** @throws CommandError where it is neither a key set nor a JWK */
function readKeys(context: CommandContext, file: string): unknown {
  const value = readJsonFile(context, file, 'one key set');
  if (!isJsonObject(value)) throw new CommandError(`${inputName(file)} is neither a key set nor a JWK.`);
  return value['keys'] ?? [value];
}
