// Makes trusted key entries for jobs and services of known platforms, from the documented shapes of their tokens.
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { UserOperations } from '../administration/users/users.operations.js';
import { firstCharacters } from '../platform/text/characters.js';
import { parsedUrl } from '../platform/text/url.js';
import { OPERATOR_ROLES, OWNER_ROLE } from '../users/role.js';
import { perform } from './operation-call.js';
import { MisuseError } from './command-answers.js';
import type { CommandContext } from './command-context.js';

export interface WorkloadOptions {
  readonly github?: string;
  readonly gitlab?: string;
  readonly kubernetes?: string;
  readonly branch?: string;
  readonly id?: string;
  readonly server?: string;
  readonly issuer?: string;
  readonly as?: string;
}

/** The longest name of a stored entry. */
const MAX_NAME_CHARACTERS = 64;
/** The scopes that a job needs to create and replace workflows. */
const SCOPES = ['workflow:read', 'workflow:write'];

/** A platform's key set and the subjects of its tokens. */
interface Workload {
  readonly keys?: { readonly type: 'jwks'; readonly issuer: string; readonly url: string };
  readonly subjects: readonly string[];
  readonly claims?: Readonly<Record<string, string>>;
}

interface Platform {
  /** The form of the option's value, with its parts in capitals. */
  readonly form: string;
  readonly pattern: RegExp;
  readonly isOfBranch: boolean;
  workload(path: string, options: WorkloadOptions & { readonly branch: string }): Workload;
}

const PLATFORMS = {
  github: {
    form: 'OWNER/REPOSITORY',
    pattern: /^[\w.-]+\/[\w.-]+$/,
    isOfBranch: true,
    workload(path, { branch, id, server, issuer = githubIssuer(server) }) {
      const [owner, repository] = path.split('/');
      const ref = `ref:refs/heads/${branch}`;
      return {
        keys: { type: 'jwks', issuer, url: `${issuer}/.well-known/jwks` },
        // New repositories have immutable subjects, which contain ids.
        subjects: [`repo:${path}:${ref}`, `repo:${owner}@*/${repository}@${id ?? '*'}:${ref}`],
        claims: id === undefined ? undefined : { repository_id: id },
      };
    },
  },
  gitlab: {
    form: 'GROUP/PROJECT',
    pattern: /^[\w.-]+(\/[\w.-]+)+$/,
    isOfBranch: true,
    workload(path, { branch, id, server = 'https://gitlab.com', issuer = server }) {
      return {
        keys: { type: 'jwks', issuer, url: `${issuer}/oauth/discovery/keys` },
        subjects: [`project_path:${path}:ref_type:branch:ref:${branch}`],
        claims: id === undefined ? undefined : { project_id: id },
      };
    },
  },
  kubernetes: {
    form: 'NAMESPACE/SERVICE-ACCOUNT',
    pattern: /^[a-z\d-]+\/[a-z\d.-]+$/,
    isOfBranch: false,
    workload: (path) => ({ subjects: [`system:serviceaccount:${path.replace('/', ':')}`] }),
  },
} as const satisfies Record<string, Platform>;

type PlatformName = keyof typeof PLATFORMS;
const NAMES = Object.keys(PLATFORMS) as PlatformName[];
/** Options that name a key. These platforms' key sets follow from the issuer. */
const KEY_OPTIONS = ['jwksUri', 'publicKey', 'kid', 'alg'];

export function withWorkload(command: Command): Command {
  const platform = (name: PlatformName, what: string) =>
    new Option(`--${name} <${PLATFORMS[name].form.toLowerCase()}>`, what).conflicts([
      ...NAMES.filter((other) => other !== name),
      ...(PLATFORMS[name].isOfBranch ? KEY_OPTIONS : []),
    ]);
  return command
    .addOption(platform('github', 'for jobs of a repository in GitHub Actions'))
    .addOption(platform('gitlab', 'for jobs of a project in GitLab CI'))
    .addOption(platform('kubernetes', 'for a service account; with --issuer, and --jwks-uri or --public-key'))
    .option('--branch <name>', 'with --github or --gitlab: the branch; * stands for anything but : and /')
    .option(
      '--id <number>',
      'with --github or --gitlab: the id of the repository or project, which no other ever gets',
    )
    .addOption(
      new Option(
        '--server <url>',
        'with --github or --gitlab: the address of your server, of SUBDOMAIN.ghe.com, or the issuer of GitHub Actions',
      ).conflicts('issuer'),
    )
    .option('--as <id-or-email>', 'the user whom its tokens act as; the entry holds the id');
}

/**
 * The entry's properties that follow from platform and user. Other options decide undefined ones.
 * @param audience the tokens' audience, unless an option names one
 * @throws MisuseError if options contradict each other
 * @throws CommandError if the user does not exist or is the owner
 */
export async function workloadMembers(
  options: WorkloadOptions,
  audience: string | undefined,
  context: CommandContext,
): Promise<Record<string, unknown>> {
  const signInAs = options.as === undefined ? undefined : await userIdFor(options.as, context);
  const name = NAMES.find((one) => options[one] !== undefined);
  if (name === undefined) {
    refuseStray(options, ['branch', 'id', 'server']);
    return signInAs === undefined ? {} : { signInAs };
  }
  if (signInAs === undefined) throw new MisuseError(`--${name} needs --as: the user whom its tokens act as.`);
  const { keys, subjects, claims } = workloadOf(name, options);
  return {
    ...keys,
    name: firstCharacters(`${name} ${options[name]} ${options.branch ?? ''}`, MAX_NAME_CHARACTERS).trim(),
    expectedAudience: audience,
    flows: ['exchange'],
    subjects,
    claims,
    signInAs,
    scopes: SCOPES,
  };
}

function workloadOf(name: PlatformName, options: WorkloadOptions): Workload {
  const platform: Platform = PLATFORMS[name];
  const { form, pattern, isOfBranch } = platform;
  const path = options[name] ?? '';
  if (!pattern.test(path)) throw new MisuseError(`--${name} must be ${form}.`);
  if (!isOfBranch) refuseStray(options, ['branch', 'id', 'server']);
  if (isOfBranch && !options.branch) throw new MisuseError(`--${name} needs --branch.`);
  if (options.id !== undefined && !/^\d+$/.test(options.id)) throw new MisuseError('--id must be a number.');
  return platform.workload(path, {
    ...options,
    branch: options.branch ?? '',
    server: serverOf(options.server),
  });
}

/** @throws MisuseError */
export function serverOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const url = parsedUrl(given);
  if (url?.href !== `${url?.origin}${url?.pathname}` || !/^https?:$/.test(url.protocol))
    throw new MisuseError('--server must be an address such as https://git.example.');
  return url.href.replace(/\/$/, '');
}

const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com';
const GITHUB_SERVERS: readonly string[] = ['https://github.com', 'https://www.github.com'];
/** Matches the issuers of GitHub Actions, with the path of an enterprise that has customized its issuer. */
const ISSUER_OF_GITHUB = /^https:\/\/token\.actions\.(githubusercontent\.com|[^./]+\.ghe\.com)(\/[^/]+)?$/;
const ISSUER_OF_OWN_SERVER = /^[^/]+\/\/[^/]+\/_services\/token$/;
const DATA_RESIDENCY = /^https:\/\/([^./]+\.ghe\.com)$/;

/**
 * The issuer of a GitHub server (docs.github.com, "OpenID Connect reference").
 * @param server from `serverOf`: GitHub, a GitHub Enterprise Server, SUBDOMAIN.ghe.com, or the issuer itself; default github.com
 * @throws MisuseError
 */
export function githubIssuer(server: string | undefined): string {
  if (server === undefined || GITHUB_SERVERS.includes(server)) return GITHUB_ISSUER;
  if (ISSUER_OF_GITHUB.test(server) || ISSUER_OF_OWN_SERVER.test(server)) return server;
  const [, subdomain] = DATA_RESIDENCY.exec(server) ?? [];
  if (subdomain !== undefined) return `https://token.actions.${subdomain}`;
  const { origin, hostname } = new URL(server);
  if (origin === server && !hostname.endsWith('.ghe.com')) return `${server}/_services/token`;
  throw new MisuseError('Give --issuer: the issuer cannot be derived from --server.');
}

function refuseStray(options: WorkloadOptions, names: readonly (keyof WorkloadOptions)[]): void {
  const stray = names.find((name) => options[name] !== undefined);
  if (stray !== undefined) throw new MisuseError(`--${stray} is for --github and --gitlab.`);
}

/** Returns an id, because an e-mail address may belong to somebody else later. */
async function userIdFor(idOrEmail: string, context: CommandContext): Promise<string> {
  const user = await perform(context, UserOperations, 'show', { user: idOrEmail });
  if (user.role === OWNER_ROLE)
    throw new CommandError('--as: this user is the owner, and no entry may sign in as the owner.');
  if (OPERATOR_ROLES.includes(user.role))
    context.answers.remark(
      'warning: --as: this user is an administrator: the entry works only if the owner or a command adds it',
    );
  return user.id;
}
