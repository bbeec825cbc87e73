// svc-admin token: signs external tokens as a partner would, for trying things out, and explains those of partners.
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import { Clock } from '../token-exchange/foundation/clock.js';
import { signCompactJws } from '../token-exchange/foundation/compact-jws.js';
import type { Algorithm } from '../token-exchange/keys/algorithms.js';
import { ALGORITHMS } from '../token-exchange/keys/algorithms.js';
import type { CommandContext } from './command-context.js';
import { jsonMember, wholeNumber } from './option-values.js';
import { readSigner } from './private-key.js';
import { addExplain } from './token-explain.command.js';

/** Under the 60 seconds that embedded login allows. */
const LIFETIME_SECONDS = 55;
const MAX_LIFETIME_SECONDS = 86_400;

interface MintOptions {
  privateKey: string;
  kid: string;
  issuer: string;
  algorithm: Algorithm;
  subject: string;
  audience: string;
  /** In seconds. */
  lifetime: number;
  email?: string;
  givenName?: string;
  familyName?: string;
  role?: string;
  jti?: string;
  claim?: [string, unknown][];
}

export function addTokenCommands(program: Command, context: CommandContext): void {
  const token = program
    .command('token')
    .description('make external tokens for trying things out, and explain tokens');
  addMint(token, context);
  addExplain(token, context);
}

function addMint(token: Command, context: CommandContext): void {
  const lifetime = new Option('--lifetime <seconds>', 'exp - iat').default(LIFETIME_SECONDS);
  token
    .command('mint')
    .description("sign an external token with a partner's private key; prints the token and nothing else")
    .requiredOption('--private-key <file>', "the partner's private key, PEM")
    .requiredOption('--kid <kid>', 'kid of the header')
    .requiredOption('--issuer <url>', 'iss')
    .addOption(new Option('--algorithm <name>', 'alg of the header').choices(ALGORITHMS).default('ES256'))
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
    )
    .addHelpText('after', EXAMPLE)
    .action((options: MintOptions) => mint(options, context));
}

const EXAMPLE = `
Example:
  svc-admin token mint --private-key partner.pem --kid key-1 --issuer https://login.partner.example \\
    --subject customer-1 --audience https://instance.example --claim 'email_verified=true'`;

function mint(options: MintOptions, context: CommandContext): void {
  const { privateKey, algorithm, kid, claim = [] } = options;
  const signer = readSigner(context, privateKey, algorithm);
  const claims = { ...claimsOf(options), ...Object.fromEntries(claim) };
  context.stdout.write(`${signCompactJws({ typ: 'JWT', kid, alg: algorithm }, claims, signer)}\n`);
}

/** Options that were left out are undefined, and JSON leaves them out. */
function claimsOf(options: MintOptions) {
  const { issuer: iss, subject: sub, audience: aud, jti = randomUUID(), lifetime, email, role } = options;
  const iat = Math.floor(new Clock().nowSeconds());
  const names = { given_name: options.givenName, family_name: options.familyName };
  return { iss, sub, aud, iat, exp: iat + lifetime, jti, email, ...names, role };
}
