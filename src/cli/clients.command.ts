// svc-admin clients: manages the clients that may send identity assertions of an entry.
import type { Command } from 'commander';
import { Option } from 'commander';
import type { ListedClient } from '../administration/clients/clients.operations.js';
import { ClientOperations } from '../administration/clients/clients.operations.js';
import { CommandError } from '../administration/operation.js';
import { findingLines, quoted, tableOf } from '../administration/table.js';
import { isJsonObject } from '../platform/json/strict-json.js';
import { addOperation } from './command.js';
import type { CommandContext } from './command-context.js';
import { inputName, readJsonFile } from './files.js';

const ENTRY = ['<entry>', 'name of the stored entry'] as const;
const CLIENT = { entry: ENTRY, id: ['<id>', 'id of the client'] } as const;

export function addClientsCommands(program: Command, context: CommandContext): void {
  const clients = program
    .command('clients')
    .description('manage the clients that send identity assertions (docs/partner/agents.md)');
  addOperation(clients, context, ClientOperations, 'add', {
    about: 'add a client to a stored entry; without keys it gets a secret, shown once',
    takes: { entry: ENTRY, id: ['<id>', 'id of the client, which is the `client_id` of its assertions'] },
    example: 'acme desktop-client',
    input: ({ keys: file, ...typed }: { readonly keys?: string }) => ({
      ...typed,
      keys: file === undefined ? file : readKeys(context, file),
    }),
    text: ({ warnings, secret }, { entry, id }) =>
      [
        ...findingLines({ warnings }),
        `The client ${quoted(id)} is added to the entry ${quoted(entry)}, everywhere within 10 seconds.\n`,
        ...(secret === undefined ? [] : [secretLine(secret)]),
      ].join(''),
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
  addOperation(clients, context, ClientOperations, 'list', {
    about: 'list clients of all entries',
    example: '--json',
    text: tableOf<ListedClient>(
      ['ENTRY', 'CLIENT', 'AUTHENTICATES BY', 'KEYS', 'INTROSPECTS', 'ISSUER'],
      ({ entry, id, credential, keys, introspect, issuer }) => [
        ...[entry, id, credential, keys.join(', '), introspect ? 'yes' : 'no', issuer],
      ],
    ),
  });
  addOperation(clients, context, ClientOperations, 'remove', {
    about: 'remove a client from a stored entry; its access tokens stay valid until they expire',
    takes: CLIENT,
    example: 'acme desktop-client',
    text: (_removed, { entry, id }) =>
      `The client ${quoted(id)} is removed from the entry ${quoted(entry)}, everywhere within 10 seconds.\n`,
  });
  addSecrets(clients, context);
}

function addSecrets(clients: Command, context: CommandContext): void {
  addOperation(clients, context, ClientOperations, 'addSecret', {
    about: 'give a client a second secret, shown once; the first stays valid until it is removed',
    takes: CLIENT,
    example: 'acme desktop-client',
    text: ({ secret }, { id }) =>
      `The client ${quoted(id)} has a second secret, everywhere within 10 seconds.\n${secretLine(secret)}`,
  });
  addOperation(clients, context, ClientOperations, 'removeSecret', {
    about: "remove a client's older secret",
    takes: CLIENT,
    example: 'acme desktop-client',
    text: (_removed, { id, newer = false }) =>
      `The ${newer ? 'newer' : 'older'} secret of the client ${quoted(id)} is removed, everywhere within 10 seconds.\n`,
  }).option('--newer', 'remove the newer one instead');
}

function secretLine(secret: string): string {
  return `Its secret, shown only once: ${secret}\n`;
}

/** @throws CommandError if it is neither a key set nor a JWK */
function readKeys(context: CommandContext, file: string): unknown {
  const value = readJsonFile(context, file, 'one key set');
  if (!isJsonObject(value)) throw new CommandError(`${inputName(file)} is neither a key set nor a JWK.`);
  return value['keys'] ?? [value];
}
