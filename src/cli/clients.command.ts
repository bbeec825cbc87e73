// svc-admin clients: which clients may send identity assertions of an entry.
import type { Command } from 'commander';
import { Option } from 'commander';
import {
  ADD_CLIENT,
  ADD_CLIENT_SECRET,
  LIST_CLIENTS,
  REMOVE_CLIENT,
  REMOVE_CLIENT_SECRET,
} from '../administration/clients.operations.js';
import { CommandError } from '../administration/command-error.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import { addOperation } from './command.js';
import type { CommandContext } from './command-context.js';
import { inputName, readJsonFile } from './files.js';

export function addClientsCommands(program: Command, context: CommandContext): void {
  const clients = program
    .command('clients')
    .description('manage the clients that send identity assertions (docs/id-jag.md)');
  addOperation(clients, context, ADD_CLIENT, {
    input: ({ keys: file, ...typed }: { readonly keys?: string }) => ({
      ...typed,
      keys: file === undefined ? file : readKeys(context, file),
    }),
  })
    .addOption(
      new Option('--keys <file>', 'its public keys: a key set, or one JWK; - reads standard input').conflicts(
        ['jwksUrl', 'metadataDocument'],
      ),
    )
    .addOption(new Option('--jwks-url <url>', 'where it publishes its keys').conflicts('metadataDocument'))
    .option(
      '--metadata-document',
      'its id is the URL of its client ID metadata document, which contains its keys',
    )
    .option('--introspect', "let it introspect its own access tokens, and those for the entry's `resources`");
  addOperation(clients, context, LIST_CLIENTS);
  addOperation(clients, context, REMOVE_CLIENT);
  addOperation(clients, context, ADD_CLIENT_SECRET);
  addOperation(clients, context, REMOVE_CLIENT_SECRET).option('--newer', 'remove the newer one instead');
}

/** @throws CommandError where it is neither a key set nor a JWK */
function readKeys(context: CommandContext, file: string): unknown {
  const value = readJsonFile(context, file, 'one key set');
  if (!isJsonObject(value)) throw new CommandError(`${inputName(file)} is neither a key set nor a JWK.`);
  return value['keys'] ?? [value];
}
