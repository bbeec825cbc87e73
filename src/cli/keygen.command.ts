// svc-admin keys keygen: makes the key pair by which a partner signs.
import type { Command } from 'commander';
import { Option } from 'commander';
import type { Algorithm } from '../token-exchange/plain.js';
import { ALGORITHMS } from '../token-exchange/plain.js';
import type { CommandContext } from './command-settings.js';
import { defaultKid, keyPaths, keyTexts, newPrivateKey } from './key-files.js';
import { printable } from './table.js';
import { refuseExisting, writeTextFile } from './text-file.js';

interface KeygenOptions {
  readonly alg: Algorithm;
  readonly out: string;
  readonly kid?: string;
  readonly force?: boolean;
}

export function addKeygen(keys: Command, context: CommandContext): void {
  keys
    .command('keygen')
    .description(
      'create the key pair that a partner signs with; the private key belongs to the partner alone',
    )
    .addOption(new Option('--alg <name>', 'algorithm of its tokens').choices(ALGORITHMS).default('ES256'))
    .option('--out <file>', 'file for the private key; readable by its owner only', 'partner.pem')
    .option('--kid <kid>', '`kid` of the key; its thumbprint (RFC 7638) if left out')
    .option('--force', 'replace existing files')
    .addHelpText(
      'after',
      '\nThe public key and a key set of it (JWKS) go beside the private key: FILE.pub.pem and FILE.jwks.json.\n' +
        '\nExample:\n  svc-admin keys keygen --alg ES256 --kid 2026-11 --out partner.pem',
    )
    .action((options: KeygenOptions) => keygen(options, context));
}

async function keygen({ alg, out, kid: given, force }: KeygenOptions, context: CommandContext) {
  const paths = keyPaths(out);
  for (const path of Object.values(paths)) refuseExisting(context, path, { force });
  const privateKey = newPrivateKey(alg);
  const kid = given ?? (await defaultKid(privateKey));
  const { privatePem, publicPem, jwks } = keyTexts(privateKey, kid, alg);
  writeTextFile(context, paths.publicKey, publicPem, { force });
  writeTextFile(context, paths.jwks, jwks, { force });
  writeTextFile(context, paths.privateKey, privatePem, { force, isPrivate: true });
  const text =
    `The private key is in ${paths.privateKey}, the public key in ${paths.publicKey} and, as a key set, in ${paths.jwks}.\n` +
    `Its kid is ${printable(kid)}. An entry that trusts it: svc-admin keys entry --public-key ${paths.publicKey} …\n`;
  context.answers.give({ kid, alg, ...paths }, text);
}
