// svc-admin license: creates a vendor's key pair, signs licences, and prints them.
import { generateKeyPairSync } from 'node:crypto';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { License, LicenseFeature } from '../config/license.js';
import { LICENSE_FEATURES, LicenseError, readLicense } from '../config/license.js';
import { Clock } from '../platform/clock.js';
import { signCompactJws } from '../token-exchange/instance.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-settings.js';
import { CommandError } from '../administration/command-error.js';
import { isoMoment, listOf, wholeNumber } from './option-values.js';
import { privatePem, publicPem, readSigner } from './key-files.js';
import { printable } from '../administration/table.js';
import { readTextFile, refuseExisting, writeTextFile } from './text-file.js';

const SECONDS_A_DAY = 86_400;
const MAX_DAYS = 36_500;

interface KeygenOptions {
  outPrivate: string;
  outPublic: string;
  force?: boolean;
}

interface IssueOptions {
  privateKey: string;
  features: LicenseFeature[];
  days?: number;
  expires?: Date;
  customer?: string;
  out?: string;
  force?: boolean;
}

interface ShowOptions {
  license?: string;
  publicKey?: string;
}

export function addLicenseCommands(program: Command, context: CommandContext): void {
  const license = program.command('license').description('create, issue and read licences');
  addKeygen(license, context);
  addIssue(license, context);
  addShow(license, context);
}

function addKeygen(license: Command, context: CommandContext): void {
  const example = 'license keygen --out-private vendor.pem --out-public vendor.pub.pem';
  addCommand(license, 'keygen', "create the vendor's key pair (Ed25519)", example)
    .requiredOption('--out-private <file>', 'file for the private key; readable by its owner only')
    .requiredOption('--out-public <file>', 'where the public key goes, for SVC_LICENSE_PUBLIC_KEY_FILE')
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
      new Option('--expires <moment>', 'when it ends, ISO 8601').argParser(isoMoment).conflicts('days'),
    )
    .option('--customer <name>', 'customer of the licence')
    .option('--out <file>', 'file to write; standard output if left out')
    .option('--force', 'replace an existing file')
    .action((options: IssueOptions, command: Command) => issue(options, command, context));
}

function addShow(license: Command, context: CommandContext): void {
  const about = 'print the content of a licence and whether it is valid; exits with 1 if not';
  addCommand(license, 'show', about, 'license show --license license.jws --public-key vendor.pub.pem')
    .option('--license <file>', 'the licence; the configured one if left out')
    .option('--public-key <file>', "the vendor's public key; the configured one if left out")
    .action((options: ShowOptions) => show(options, context));
}

function keygen({ outPrivate, outPublic, force }: KeygenOptions, context: CommandContext): void {
  const [privatePath, publicPath] = [outPrivate, outPublic].map((path) =>
    resolve(context.workingDirectory, path),
  );
  if (privatePath === publicPath) throw new CommandError('The two keys need two files.');
  for (const path of [outPrivate, outPublic]) refuseExisting(context, path, { force });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeTextFile(context, outPublic, publicPem(publicKey), { force });
  writeTextFile(context, outPrivate, privatePem(privateKey), { force, isPrivate: true });
  const text = `The private key is in ${outPrivate}, the public key in ${outPublic}.\n`;
  context.answers.give({ privateKey: outPrivate, publicKey: outPublic }, text);
}

function issue(options: IssueOptions, command: Command, context: CommandContext): void {
  const { privateKey, features, customer, out, force } = options;
  const signer = readSigner(context, privateKey, 'EdDSA');
  const iat = Math.floor(new Clock().nowSeconds());
  const exp = endOf(options, iat) ?? command.error('error: give --days or --expires');
  if (exp <= iat) throw new CommandError('The licence would have ended already.');
  const jws = signCompactJws({ alg: 'EdDSA' }, { customer, features, iat, exp }, signer);
  const terms = { features, expiresAt: new Date(exp * 1000).toISOString() };
  if (out === undefined) return context.answers.give({ license: jws, ...terms }, `${jws}\n`);
  writeTextFile(context, out, `${jws}\n`, { force });
  context.answers.give({ file: out, ...terms }, '');
}

/** In seconds since the Unix epoch. */
function endOf({ days, expires }: IssueOptions, iat: number): number | undefined {
  if (expires !== undefined) return Math.floor(expires.getTime() / 1000);
  return days === undefined ? undefined : iat + days * SECONDS_A_DAY;
}

const NO_LICENSE = 'There is no licence: give --license, or set SVC_LICENSE or SVC_LICENSE_FILE.';
const NO_KEY = 'There is no public key: give --public-key, or set SVC_LICENSE_PUBLIC_KEY or its _FILE.';

async function show(options: ShowOptions, context: CommandContext): Promise<void> {
  const license = await checkedLicense(
    given(options.license, 'license', NO_LICENSE, context),
    given(options.publicKey, 'licensePublicKey', NO_KEY, context),
  );
  const isValid = !license.hasEnded(new Clock().nowMs());
  const shown = shownLicense(license);
  const text = `${descriptionOf(shown)}${isValid ? 'Status:   valid\n' : ''}`;
  context.answers.give({ ...shown, valid: isValid }, text);
  if (!isValid) throw new CommandError('The licence is not valid: it has ended.');
}

/** The text of a file, or of a variable. */
function given(
  path: string | undefined,
  variable: 'license' | 'licensePublicKey',
  nothing: string,
  context: CommandContext,
): string {
  const text = path === undefined ? context.settings.read(variable)[variable] : readTextFile(context, path);
  if (text === undefined) throw new CommandError(nothing);
  return text;
}

async function checkedLicense(compactJwsText: string, publicKeyPem: string): Promise<License> {
  try {
    return await readLicense(compactJwsText, publicKeyPem);
  } catch (error) {
    if (error instanceof LicenseError) throw new CommandError(`The licence is not valid: ${error.message}`);
    throw error;
  }
}

function shownLicense({ customer, features, expiresAt }: License) {
  const isDate = !Number.isNaN(expiresAt.getTime());
  return {
    customer: customer ?? null,
    features: [...features],
    expiresAt: isDate ? expiresAt.toISOString() : null,
  };
}

function descriptionOf({ customer, features, expiresAt }: ReturnType<typeof shownLicense>): string {
  const lines = [
    `Customer: ${printable(customer ?? '(not named)')}`,
    `Features: ${features.map(printable).join(', ') || '(none)'}`,
    `Expires:  ${expiresAt ?? 'at an invalid date'}`,
  ];
  return `${lines.join('\n')}\n`;
}
