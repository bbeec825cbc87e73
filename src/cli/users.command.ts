// svc-admin users: creates, lists, shows and changes the instance's users, and sets operators' passwords.
import type { Command } from 'commander';
import { Option } from 'commander';
import {
  CODE_LIFETIME_SECONDS,
  faultOfPassword,
  hashOfCode,
  newSignInCode,
  PasswordHasher,
} from '../administration/accounts/passwords.js';
import { CommandError } from '../administration/operation.js';
import { markedAddress, printable, tableOf } from '../administration/table.js';
import type { ListedUser, ShownUser } from '../administration/users/users.operations.js';
import { UserChangeOperations, UserOperations } from '../administration/users/users.operations.js';
import { VARIABLES } from '../config/environment.js';
import { counted } from '../platform/text/wording.js';
import { GLOBAL_ROLES, MEMBER_ROLE } from '../users/role.js';
import { addCommand, addOperation, perform } from './command.js';
import type { CommandContext } from './command-context.js';
import { MisuseError } from './command-context.js';
import { readInput, STANDARD_INPUT } from './files.js';

const USER = { user: ['<id-or-email>', 'the user'] } as const;

export function addUsersCommands(program: Command, context: CommandContext): void {
  const users = program.command('users').description('manage the users of the instance');
  addReading(users, context);
  addChanges(users, context);
  addSwitches(users, context);
  addSetPassword(users, context);
}

function addReading(users: Command, context: CommandContext): void {
  addOperation(users, context, UserOperations, 'create', {
    about: 'create a user with a personal project; prints the user as one JSON object',
    example: '--email owner@example.com --role global:owner',
    text: (user) => `${JSON.stringify(user)}\n`,
  })
    .requiredOption('--email <address>', 'e-mail address; tokens of partners find the user by it')
    .option('--given-name <name>', 'given name', '')
    .option('--family-name <name>', 'family name', '')
    .addOption(new Option('--role <role>', 'global role').choices(GLOBAL_ROLES).default(MEMBER_ROLE));
  addOperation(users, context, UserOperations, 'list', {
    about: 'list users by e-mail address',
    example: '--json',
    nothing: 'There is no user.',
    text: tableOf<ListedUser>(['ID', 'E-MAIL', 'NAME', 'ROLE', 'STATE'], (user) => [
      ...[user.id, markedAddress(user.email), nameOf(user), user.role, user.enabled ? 'enabled' : 'disabled'],
    ]),
  });
  addOperation(users, context, UserOperations, 'show', {
    about: "show a user's identities, sessions and last sign-ins",
    takes: USER,
    example: 'user@example.com',
    text: (user) => `${userLines(user).map(printable).join('\n')}\n`,
  });
}

function addChanges(users: Command, context: CommandContext): void {
  addOperation(users, context, UserChangeOperations, 'setRole', {
    about: 'change the global role of a user; at most one user is the owner',
    takes: { ...USER, role: ['<role>', 'the role', GLOBAL_ROLES] },
    more: 'The new role applies at once, also for sessions and access tokens. The role claim of a later token may change it again.',
    example: 'user@example.com global:admin',
    text: ({ id, from, to }) =>
      from === to ? `User ${id} was ${to} already.\n` : `User ${id} is ${to}, and was ${from}.\n`,
  });
  addOperation(users, context, UserChangeOperations, 'disable', {
    about: 'end all access of a user at once',
    ...switching('disabled'),
  });
  addOperation(users, context, UserChangeOperations, 'enable', {
    about: 'let a disabled user sign in again',
    ...switching('enabled'),
  });
}

function switching(state: 'enabled' | 'disabled') {
  return {
    takes: USER,
    example: 'user@example.com',
    text: ({ id }: { readonly id: string }) => `User ${id} is ${state}.\n`,
    json: ({ id }: { readonly id: string }) => ({ id, state }),
  };
}

function addSwitches(users: Command, context: CommandContext): void {
  addOperation(users, context, UserChangeOperations, 'signOut', {
    about: "end a user's sessions and access tokens; on every instance. The user can sign in again",
    takes: USER,
    example: 'user@example.com',
    text: ({ id, sessions, operatorSessions }) =>
      `User ${id} is signed out: ${counted(sessions + operatorSessions, 'session')}, and every access token issued until now.\n`,
  });
  addOperation(users, context, UserChangeOperations, 'unlink', {
    about: "unlink a user's identities at an issuer, and sign the user out",
    takes: USER,
    more:
      'The next token of that identity is treated as unknown: if it has the e-mail address of the user, it is linked\n' +
      'again, unless the entry no longer allows such addresses (emailDomains) or users (linkPrivileged).',
    example: 'user@example.com --issuer https://partner.example --subject 42',
    text: ({ id, unlinked, sessions }, { issuer }) =>
      `User ${id} is unlinked from ${counted(unlinked, 'identity', 'identities')} of ${printable(issuer)}, ` +
      `and signed out everywhere: ${counted(sessions, 'session')}, and every access token issued until now.\n`,
  })
    .requiredOption('--issuer <url>', 'the `iss` of its tokens, exactly')
    .option('--subject <sub>', 'the `sub` of one identity; every identity of the issuer if left out');
  addOperation(users, context, UserChangeOperations, 'delete', {
    about: 'delete a user for good; without --yes only print what would be deleted',
    takes: USER,
    more:
      'It deletes the account, its links, sessions, password, memberships, and its personal project with all in it. Access\n' +
      'tokens end at once. The audit trail keeps its events, which contain the id of the user, but no name or address; projects\n' +
      'of teams stay. A later token with that e-mail address creates a new user, if its entry allows it.',
    example: 'user@example.com --yes',
    text: ({ id }) => `User ${id} is deleted. The audit trail keeps the user's events.\n`,
    async input({ yes, ...typed }: { readonly yes?: true; readonly user: string }) {
      if (yes !== true) await refuseUnsure(typed.user, context);
      return typed;
    },
  }).option('--yes', 'delete');
}

function nameOf({ givenName, familyName }: ListedUser): string {
  return `${givenName} ${familyName}`.trim();
}

function userLines(user: ShownUser): string[] {
  const { id, email, role, enabled, createdAt, provisioned, hasPassword, sessions } = user;
  const { links, signIns, projects } = user;
  const name = nameOf(user);
  return [
    `User:      ${id}`,
    `E-mail:    ${markedAddress(email)}`,
    ...(name === '' ? [] : [`Name:      ${name}`]),
    `Role:      ${role}`,
    `State:     ${enabled ? 'enabled' : 'disabled'}`,
    `Created:   ${createdAt}${provisioned ? ', by a token' : ''}`,
    `Password:  ${hasPassword ? "set, for the operator's page" : 'none'}`,
    `Sessions:  ${sessions}`,
    ...links.map(({ issuer, subject, linkedAt }) => `Identity:  ${subject} of ${issuer}, since ${linkedAt}`),
    ...projects.map(({ projectId, name: title, role: rights, issuer, externalKeys }) =>
      [
        `Project:   ${projectId} ${title}, ${rights}, given by ${issuer ?? 'people'}`,
        ...externalKeys.map((external) => `${external.key} of ${external.issuer}`),
      ].join(', '),
    ),
    ...signIns.map(({ occurredAt, event, issuer, requestId }) =>
      ['Signed in:', occurredAt, event, `issuer ${issuer ?? '-'}`, `request ${requestId}`].join(' '),
    ),
  ];
}

async function refuseUnsure(user: string, context: CommandContext): Promise<never> {
  const { id, email, role, links, sessions } = await perform(context, UserOperations, 'show', { user });
  throw new CommandError(
    `Nothing was deleted. It would delete user ${id}, ${printable(markedAddress(email))}, ${role}, with ` +
      `${counted(links.length, 'linked identity', 'linked identities')}, ${counted(sessions, 'session')} and the personal project. Add --yes to delete.`,
  );
}

interface SetPasswordOptions {
  readonly code?: true;
  readonly passwordStdin?: true;
}

function addSetPassword(users: Command, context: CommandContext): void {
  const about = "set a password for the operator's page; asks for it twice";
  addCommand(users, 'set-password', about, 'users set-password owner@example.com --code')
    .argument(...USER.user)
    .addOption(
      new Option(
        '--code',
        'print a code with which that person sets the password at /admin within 15 minutes, once',
      ).conflicts('passwordStdin'),
    )
    .option('--password-stdin', 'read the password from the first line of standard input')
    .action((user: string, { code, passwordStdin }: SetPasswordOptions) =>
      code ? makeCode(user, context) : setPassword(user, passwordStdin, context),
    );
}

async function makeCode(user: string, context: CommandContext): Promise<void> {
  const page = pageOf(context);
  const code = newSignInCode();
  await perform(context, UserChangeOperations, 'setPassword', {
    user,
    codeHash: hashOfCode(code).toString('hex'),
  });
  context.answers.remark(
    `The code works once, within ${CODE_LIFETIME_SECONDS / 60} minutes, at ${page}; it replaces any earlier one.`,
  );
  context.answers.give({ code, lifetimeSeconds: CODE_LIFETIME_SECONDS, page }, `${code}\n`);
}

async function setPassword(user: string, isPiped: true | undefined, context: CommandContext): Promise<void> {
  const page = pageOf(context);
  const password = isPiped ? firstLine(readInput(context, STANDARD_INPUT)) : await typedTwice(context);
  const fault = faultOfPassword(password);
  if (fault !== undefined) throw new CommandError(`The password ${fault}.`);
  const passwordHash = await new PasswordHasher().hash(password);
  const { id, endedSessions } = await perform(context, UserChangeOperations, 'setPassword', {
    user,
    passwordHash,
  });
  context.answers.give(
    { id, endedSessions, page },
    `User ${id} has a new password, for ${page}; ended sessions there: ${endedSessions}.\n`,
  );
}

/** The address of the operator's page, if the service has the same variables. */
function pageOf({ settings }: CommandContext): string {
  const config = settings.read('baseUrl', 'port', 'tlsCertificate', 'adminEnabled');
  const address = `${config.baseUrl}/admin`;
  return config.adminEnabled ? address : `${address} (which is off: set ${VARIABLES.adminEnabled.name}=true)`;
}

/** Removes the line break that ends a file or the output of `echo`. */
function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}

async function typedTwice({ secrets }: CommandContext): Promise<string> {
  if (secrets === undefined)
    throw new MisuseError(
      'There is no terminal to ask for the password: use --password-stdin, or --code for the person to choose it.',
    );
  const first = await secrets.ask('New password: ');
  const second = await secrets.ask('Repeat the password: ');
  if (first !== second) throw new CommandError('The passwords differ.');
  return first;
}
