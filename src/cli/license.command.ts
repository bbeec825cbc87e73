// svc-admin license: creates a vendor's key pair, and signs licences.
import { generateKeyPairSync } from 'node:crypto';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { LicenseFeature } from '../config/license.js';
import { LICENSE_FEATURES } from '../config/license.js';
import { Clock } from '../platform/clock.js';
import { signCompactJws } from '../token-exchange/instance.js';
import { addCommand, isoMoment, listOf, wholeNumber } from './command.js';
import type { CommandContext } from './command-context.js';
import { MisuseError } from './command-context.js';
import { privatePem, publicPem, readPrivateKey, signerOf, writeFiles } from './files.js';

const SECONDS_A_DAY = 86_400;
const MAX_DAYS = 36_500;

interface KeygenOptions {
  readonly outPrivate: string;
  readonly outPublic: string;
  readonly force?: boolean;
}

interface IssueOptions {
  readonly privateKey: string;
  readonly features: LicenseFeature[];
  readonly days?: number;
  readonly expires?: Date;
  readonly out?: string;
  readonly force?: boolean;
}

export function addLicenseCommands(program: Command, context: CommandContext): void {
  const license = program.command('license').description('create a key pair, and issue licences');
  addKeygen(license, context);
  addIssue(license, context);
}

function addKeygen(license: Command, context: CommandContext): void {
  const example = 'license keygen --out-private vendor.pem --out-public vendor.pub.pem';
  addCommand(license, 'keygen', "create the vendor's key pair (Ed25519)", example)
    .requiredOption('--out-private <file>', 'file for the private key; readable by its owner only')
    .requiredOption('--out-public <file>', 'file for the public key; for SVC_LICENSE_PUBLIC_KEY_FILE')
    .option('--force', 'replace existing files')
    .action((options: KeygenOptions) => keygen(options, context));
}

function addIssue(license: Command, context: CommandContext): void {
  const example = 'license issue --private-key vendor.pem --features token-exchange --days 365';
  addCommand(license, 'issue', 'sign a licence', example)
    .requiredOption('--private-key <file>', "the vendor's private key, PEM")
    .requiredOption(
      '--features <list>',
      `comma-separated, of ${LICENSE_FEATURES.join(', ')}`,
      listOf(LICENSE_FEATURES),
    )
    .option('--days <number>', 'lifetime in days', wholeNumber(1, MAX_DAYS))
    .addOption(
      new Option('--expires <moment>', 'end of the licence, ISO 8601').argParser(isoMoment).conflicts('days'),
    )
    .option('--out <file>', 'file to write; standard output if left out')
    .option('--force', 'replace an existing file')
    .action((options: IssueOptions, command: Command) => issue(options, command, context));
}

function keygen({ outPrivate, outPublic, force }: KeygenOptions, context: CommandContext): void {
  const [privatePath, publicPath] = [outPrivate, outPublic].map((path) =>
    resolve(context.workingDirectory, path),
  );
  if (privatePath === publicPath) throw new MisuseError('The two keys need different files.');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const files = [
    { path: outPrivate, text: privatePem(privateKey), isPrivate: true },
    { path: outPublic, text: publicPem(publicKey) },
  ];
  writeFiles(context, files, { force });
  const text = `The private key is in ${outPrivate}, the public key in ${outPublic}.\n`;
  context.answers.give({ privateKey: outPrivate, publicKey: outPublic }, text);
}

function issue(options: IssueOptions, command: Command, context: CommandContext): void {
  const { privateKey, features, out, force } = options;
  const signer = signerOf(readPrivateKey(context, privateKey), 'EdDSA', privateKey);
  const iat = Math.floor(new Clock().nowSeconds());
  const exp = endFor(options, iat) ?? command.error('error: give --days or --expires');
  if (exp <= iat) throw new MisuseError('The licence would have ended already.');
  const jws = signCompactJws({ alg: 'EdDSA' }, { features, iat, exp }, signer);
  const terms = { features, expiresAt: new Date(exp * 1000).toISOString() };
  if (out === undefined) return context.answers.give({ license: jws, ...terms }, `${jws}\n`);
  writeFiles(context, [{ path: out, text: `${jws}\n` }], { force });
  context.answers.give({ file: out, ...terms }, '');
}

/** Seconds since the Unix epoch. */
function endFor({ days, expires }: IssueOptions, iat: number): number | undefined {
  if (expires !== undefined) return Math.floor(expires.getTime() / 1000);
  return days === undefined ? undefined : iat + days * SECONDS_A_DAY;
}
