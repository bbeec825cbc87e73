// svc-admin token: signs external tokens as a partner would, for trying things out, and explains those of partners.
import { createPublicKey, randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import { Clock } from '../platform/clock.js';
import { CommandError } from '../administration/command-error.js';
import type { Algorithm } from '../token-exchange/instance.js';
import { ALGORITHMS, algorithmsFitting, signCompactJws } from '../token-exchange/instance.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-settings.js';
import { jsonMember, wholeNumber } from './option-values.js';
import { defaultKid, readPrivateKey, readSigner } from './key-files.js';
import { addExplain } from './token-explain.command.js';

/** As long as embedded login allows. */
const DEFAULT_LIFETIME_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 86_400;

interface SignOptions {
  /** Path of the private key. */
  readonly key: string;
  readonly kid?: string;
  readonly alg?: Algorithm;
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
  /** In seconds. */
  readonly lifetime: number;
  readonly email?: string;
  readonly emailVerified?: true;
  readonly givenName?: string;
  readonly familyName?: string;
  readonly role?: string;
  readonly jti?: string;
  readonly claim?: [string, unknown][];
}

export function addTokenCommands(program: Command, context: CommandContext): void {
  const token = program.command('token').description('create external tokens for tests, and explain tokens');
  addSign(token, context);
  addExplain(token, context);
}

function addSign(token: Command, context: CommandContext): void {
  const lifetime = new Option('--lifetime <seconds>', 'exp - iat').default(DEFAULT_LIFETIME_SECONDS);
  addCommand(
    token,
    'sign',
    'for trying out: sign an external token as a partner does; prints the token and nothing else',
    'token sign --key partner.pem --kid 2026-11 --issuer https://partner.example \\\n' +
      '    --audience https://instance.example --subject customer-1 --email customer-1@product.example --email-verified',
    'Each token is good once. An actor is a second token, about the user who acts.',
  )
    .requiredOption('--key <file>', "the partner's private key, PEM, as `keys keygen` creates it")
    .option('--kid <kid>', 'kid of the header; the thumbprint of the key if left out')
    .addOption(
      new Option('--alg <name>', 'alg of the header; the first one that fits the key if left out').choices(
        ALGORITHMS,
      ),
    )
    .requiredOption('--issuer <url>', 'iss')
    .requiredOption('--subject <id>', 'sub')
    .requiredOption('--audience <text>', 'aud')
    .addOption(lifetime.argParser(wholeNumber(1, MAX_LIFETIME_SECONDS)))
    .option('--email <address>', 'email')
    .option('--given-name <name>', 'given_name')
    .option('--family-name <name>', 'family_name')
    .option('--role <role>', 'role')
    .option('--jti <id>', 'jti; random if left out')
    .option('--claim <name=json>', 'another claim, or another value of one; repeatable', jsonMember)
    .option('--email-verified', 'email_verified: true, which the strict policy needs')
    .action((options: SignOptions) => sign(options, context));
}

async function sign(options: SignOptions, context: CommandContext): Promise<void> {
  const { key: path, alg: given } = options;
  const key = readPrivateKey(context, path);
  const alg = given ?? algorithmsFitting(createPublicKey(key))[0];
  if (alg === undefined) throw new CommandError(`The key in ${path} fits no supported algorithm.`);
  const header = { typ: 'JWT', kid: options.kid ?? (await defaultKid(key)), alg };
  const claims = { ...claimsOf(options), ...Object.fromEntries(options.claim ?? []) };
  const token = signCompactJws(header, claims, readSigner(context, path, alg));
  context.answers.give({ token, header, claims }, `${token}\n`);
}

/** Options that were left out are undefined, and JSON leaves them out. */
function claimsOf(options: SignOptions) {
  const { issuer: iss, subject: sub, audience: aud, jti = randomUUID(), lifetime, email, role } = options;
  const iat = Math.floor(new Clock().nowSeconds());
  const names = { given_name: options.givenName, family_name: options.familyName };
  const profile = { email, email_verified: options.emailVerified, ...names, role };
  return { iss, sub, aud, iat, exp: iat + lifetime, jti, ...profile };
}
