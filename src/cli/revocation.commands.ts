// svc-admin keys revoke, restore and revocations: revoke trust in keys with all that they signed for, and restore it.
import type { Command } from 'commander';
import type { ChosenKeys, ListedRevocation } from '../administration/revocations.operations.js';
import { LIST_REVOCATIONS, RESTORE_KEYS, REVOKE_KEYS } from '../administration/revocations.operations.js';
import type { TrustedKeyEntry } from '../token-exchange/plain.js';
import { perform, readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { storedEntriesRulesOf } from './instance-settings.js';
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
    .description(
      'end all access tokens and sessions that a key signed for, and refuse the key until it is restored',
    )
    .requiredOption(...ISSUER)
    .option('--kid <kid>', 'one key; every key of the issuer if left out')
    .addHelpText(
      'after',
      '\nIts access tokens and sessions end on every instance within 10 seconds, for good. The key need not be configured,\n' +
        'so check the spelling: `keys revocations` shows what is revoked.\n' +
        '\nExample:\n  svc-admin keys revoke --issuer https://partner.example --kid 2026-11',
    )
    .action(async (options: KeyOptions) => {
      const { revokedAt } = await perform(context, REVOKE_KEYS, chosen(options));
      context.answers.give(
        { ...chosen(options), revokedAt },
        `Revoked at ${revokedAt}: ${inWords(chosen(options))}. ` +
          'What it signed for ends on every instance within 10 seconds.\n',
      );
      const hint = hintAt(chosen(options), configuredEntries(context));
      if (hint !== undefined) context.answers.remark(`warning: ${hint}`);
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
      const lines = [
        `Restored: ${inWords(chosen(options))}. What was issued before stays ended.\n`,
        ...stillRevoked.map((kid) => `Still revoked: ${inWords({ issuer: options.issuer, kid })}.\n`),
      ];
      context.answers.give({ ...chosen(options), stillRevoked }, lines.join(''));
    });
}

function addList(keys: Command, context: CommandContext): void {
  keys
    .command('revocations')
    .description('list present and former revocations')
    .addHelpText('after', '\nExample:\n  svc-admin keys revocations')
    .action(async () => {
      const all = await readList(context, LIST_REVOCATIONS, {});
      context.answers.giveList(all, () => renderTable(HEADINGS, all.map(rowOf)), 'Nothing is revoked.');
    });
}

/** Where the configuration cannot be read only the hint is missing: the key is revoked. */
function configuredEntries(context: CommandContext): readonly TrustedKeyEntry[] {
  try {
    return storedEntriesRulesOf(context).configured;
  } catch {
    return [];
  }
}

/** A misspelt issuer or kid revokes nothing; but a key that is no longer configured may be meant. */
function hintAt({ issuer, kid }: ChosenKeys, trusted: readonly TrustedKeyEntry[]): string | undefined {
  if (trusted.length === 0) return undefined;
  const ofIssuer = trusted.filter((entry) => entry.issuer === issuer);
  if (ofIssuer.length === 0) return 'no configured entry has this issuer; is it spelt as in the tokens?';
  const isPossible = ofIssuer.some((entry) => entry.type === 'jwks' || kid === null || entry.key.kid === kid);
  return isPossible
    ? undefined
    : 'no configured entry of this issuer has this kid; is it spelt as in the tokens?';
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
