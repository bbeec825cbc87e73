// svc-admin keys revoke, restore and revocations: takes trust back with all that it has vouched for, and gives it again.
import type { Command } from 'commander';
import type { ListedRevocation } from '../administration/list-revocations.operation.js';
import { LIST_REVOCATIONS } from '../administration/list-revocations.operation.js';
import type { ChosenKeys } from '../administration/revoke-keys.operation.js';
import { RESTORE_KEYS, REVOKE_KEYS } from '../administration/revoke-keys.operation.js';
import { perform, readList } from './administration.js';
import type { CommandContext } from './command-context.js';
import { printable, renderTable } from './table.js';

const HEADINGS = ['ISSUER', 'KID', 'STATE', 'REVOKED', 'RESTORED'];
const ISSUER = ['--issuer <url>', 'the `iss` of its tokens, character by character'] as const;

interface KeyOptions {
  readonly issuer: string;
  readonly kid?: string;
}

export function addRevocationCommands(keys: Command, context: CommandContext): void {
  addRevoke(keys, context);
  addRestore(keys, context);
  addList(keys, context);
}

function addRevoke(keys: Command, context: CommandContext): void {
  keys
    .command('revoke')
    .description('end all that a key has vouched for, and take nothing of it until it is restored')
    .requiredOption(...ISSUER)
    .option('--kid <kid>', 'one key; every key of the issuer if left out')
    .addHelpText(
      'after',
      '\nAccess tokens and sessions of it end on every instance within 10 seconds, for good. It need not be configured\n' +
        '(any more), so look at the spelling: `keys revocations` shows what is revoked.\n' +
        '\nExample:\n  svc-admin keys revoke --issuer https://partner.example --kid 2026-11',
    )
    .action(async (options: KeyOptions) => {
      const { revokedAt } = await perform(context, REVOKE_KEYS, chosen(options));
      context.stdout.write(
        `Revoked at ${revokedAt}: ${inWords(chosen(options))}. ` +
          'What it has vouched for ends on every instance within 10 seconds.\n',
      );
    });
}

function addRestore(keys: Command, context: CommandContext): void {
  keys
    .command('restore')
    .description('trust a revoked key again, for what is issued from now on')
    .requiredOption(...ISSUER)
    .option('--kid <kid>', 'the key; if left out, what was revoked without --kid')
    .addHelpText(
      'after',
      '\nExample:\n  svc-admin keys restore --issuer https://partner.example --kid 2026-11',
    )
    .action(async (options: KeyOptions) => {
      const { stillRevoked } = await perform(context, RESTORE_KEYS, chosen(options));
      context.stdout.write(`Restored: ${inWords(chosen(options))}. What was issued before stays ended.\n`);
      for (const kid of stillRevoked)
        context.stdout.write(`Still revoked: ${inWords({ issuer: options.issuer, kid })}.\n`);
    });
}

function addList(keys: Command, context: CommandContext): void {
  keys
    .command('revocations')
    .description('list what is revoked, and what was')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExample:\n  svc-admin keys revocations')
    .action(async ({ json }: { json?: boolean }) => {
      const all = await readList(context, LIST_REVOCATIONS, {});
      if (json === true) context.stdout.write(`${JSON.stringify(all)}\n`);
      else if (all.length === 0) context.stdout.write('Nothing is revoked.\n');
      else context.stdout.write(renderTable(HEADINGS, all.map(rowOf)));
    });
}

function chosen({ issuer, kid }: KeyOptions): ChosenKeys {
  return { issuer, kid: kid ?? null };
}

function inWords({ issuer, kid }: ChosenKeys): string {
  return printable(kid === null ? `every key of ${issuer}` : `the key ${kid} of ${issuer}`);
}

function rowOf({ issuer, kid, revokedAt, restoredAt }: ListedRevocation): string[] {
  const state = restoredAt === null ? 'revoked' : 'restored';
  return [issuer, kid ?? 'every key', state, revokedAt, restoredAt ?? '-'];
}
