// svc-admin token: signs external tokens as a partner would, for trying things out, and explains those of partners.
import { createPublicKey, randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import { Clock } from '../platform/clock.js';
import { CommandError } from '../administration/command-error.js';
import type { JwsSigner } from '../token-exchange/tokens/jws-signer.js';
import { signCompactJws } from '../token-exchange/tokens/jws-signer.js';
import type { Algorithm } from '../token-exchange/trust/algorithms.js';
import { ALGORITHMS, algorithmsFitting } from '../token-exchange/trust/algorithms.js';
import type { CommandContext } from './command-context.js';
import { jsonMember, wholeNumber } from './option-values.js';
import { defaultKid } from './key-files.js';
import { readPrivateKey, readSigner } from './private-key.js';
import { addExplain } from './token-explain.command.js';

/** Under the 60 seconds that embedded login allows. */
const MINTED_SECONDS = 55;
/** As long as embedded login allows. */
const SIGNED_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 86_400;

interface ClaimOptions {
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

interface MintOptions extends ClaimOptions {
  readonly privateKey: string;
  readonly kid: string;
  readonly algorithm: Algorithm;
}

interface SignOptions extends ClaimOptions {
  readonly key: string;
  readonly kid?: string;
  readonly alg?: Algorithm;
}

export function addTokenCommands(program: Command, context: CommandContext): void {
  const token = program
    .command('token')
    .description('make external tokens for trying things out, and explain tokens');
  addSign(token, context);
  addMint(token, context);
  addExplain(token, context);
}

function addSign(token: Command, context: CommandContext): void {
  const command = token
    .command('sign')
    .description(
      'for trying out: sign an external token as a partner does; prints the token and nothing else',
    )
    .requiredOption('--key <file>', "the partner's private key, PEM, as `keys keygen` makes it")
    .option('--kid <kid>', 'kid of the header; the thumbprint of the key if left out')
    .addOption(
      new Option('--alg <name>', 'alg of the header; the first one that fits the key if left out').choices(
        ALGORITHMS,
      ),
    );
  withClaims(command, SIGNED_SECONDS)
    .option('--email-verified', 'email_verified: true, as the strict policy asks for')
    .addHelpText(
      'after',
      '\nEach token is good once. An actor is a second token, about whoever acts.\n' +
        '\nExample:\n  svc-admin token sign --key partner.pem --kid 2026-11 --issuer https://partner.example \\\n' +
        '    --audience https://instance.example --subject customer-1 --email customer-1@product.example --email-verified',
    )
    .action((options: SignOptions) => sign(options, context));
}

function addMint(token: Command, context: CommandContext): void {
  const command = token
    .command('mint')
    .description("sign an external token with a partner's private key; prints the token and nothing else")
    .requiredOption('--private-key <file>', "the partner's private key, PEM")
    .requiredOption('--kid <kid>', 'kid of the header')
    .addOption(new Option('--algorithm <name>', 'alg of the header').choices(ALGORITHMS).default('ES256'));
  withClaims(command, MINTED_SECONDS)
    .addHelpText('after', MINT_EXAMPLE)
    .action(({ privateKey: path, algorithm, kid, ...claims }: MintOptions) => {
      give({ kid, algorithm }, readSigner(context, path, algorithm), claims, context);
    });
}

const MINT_EXAMPLE = `
It is \`token sign\` with every choice made by hand.

Example:
  svc-admin token mint --private-key partner.pem --kid key-1 --issuer https://login.partner.example \\
    --subject customer-1 --audience https://instance.example --claim 'email_verified=true'`;

function withClaims(command: Command, lifetimeSeconds: number): Command {
  const lifetime = new Option('--lifetime <seconds>', 'exp - iat').default(lifetimeSeconds);
  return command
    .requiredOption('--issuer <url>', 'iss')
    .requiredOption('--subject <id>', 'sub')
    .requiredOption('--audience <text>', 'aud')
    .addOption(lifetime.argParser(wholeNumber(1, MAX_LIFETIME_SECONDS)))
    .option('--email <address>', 'email')
    .option('--given-name <name>', 'given_name')
    .option('--family-name <name>', 'family_name')
    .option('--role <role>', 'role')
    .option('--jti <id>', 'jti; a random one if left out')
    .addOption(
      new Option('--claim <name=json>', 'one more claim, or another value; repeatable').argParser(jsonMember),
    );
}

async function sign({ key: path, alg, kid: given, ...claims }: SignOptions, context: CommandContext) {
  const key = readPrivateKey(context, path);
  const algorithm = alg ?? algorithmsFitting(createPublicKey(key))[0];
  if (algorithm === undefined)
    throw new CommandError(`The key in ${path} fits no algorithm that is supported.`);
  const kid = given ?? (await defaultKid(key));
  give({ kid, algorithm }, readSigner(context, path, algorithm), claims, context);
}

function give(
  { kid, algorithm: alg }: { kid: string; algorithm: Algorithm },
  signer: JwsSigner,
  options: ClaimOptions,
  { answers }: CommandContext,
): void {
  const header = { typ: 'JWT', kid, alg };
  const claims = { ...claimsOf(options), ...Object.fromEntries(options.claim ?? []) };
  const token = signCompactJws(header, claims, signer);
  answers.give({ token, header, claims }, `${token}\n`);
}

/** Options that were left out are undefined, and JSON leaves them out. */
function claimsOf(options: ClaimOptions) {
  const { issuer: iss, subject: sub, audience: aud, jti = randomUUID(), lifetime, email, role } = options;
  const iat = Math.floor(new Clock().nowSeconds());
  const names = { given_name: options.givenName, family_name: options.familyName };
  const profile = { email, email_verified: options.emailVerified, ...names, role };
  return { iss, sub, aud, iat, exp: iat + lifetime, jti, ...profile };
}
