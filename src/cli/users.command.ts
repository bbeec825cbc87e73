// svc-admin users: makes, lists, shows and changes the users of the instance, and sets the passwords of operators.
import type { Command } from 'commander';
import { Option } from 'commander';
import {
  CODE_LIFETIME_SECONDS,
  faultOfPassword,
  hashOfCode,
  newSignInCode,
  PasswordHasher,
} from '../administration/accounts/passwords.js';
import { CommandError } from '../administration/command-error.js';
import { markedAddress, printable } from '../administration/table.js';
import {
  DELETE_USER,
  DISABLE_USER,
  ENABLE_USER,
  SET_PASSWORD,
  SET_ROLE,
  SIGN_USER_OUT,
  UNLINK_USER,
} from '../administration/user-changes.operations.js';
import { CREATE_USER, LIST_USERS, SHOW_USER, USER } from '../administration/users.operations.js';
import { VARIABLES } from '../config/environment.js';
import { counted } from '../platform/text/wording.js';
import { GLOBAL_ROLES, MEMBER_ROLE } from '../users/role.js';
import { perform, readOne } from './administration.js';
import { MisuseError } from './answers.js';
import { addCommand, addOperation } from './command.js';
import type { CommandContext } from './command-context.js';
import { STANDARD_INPUT, readInput } from './files.js';

export function addUsersCommands(program: Command, context: CommandContext): void {
  const users = program.command('users').description('manage the users of the instance');
  addOperation(users, context, CREATE_USER)
    .requiredOption('--email <address>', 'e-mail address; tokens of partners find the user by it')
    .option('--given-name <name>', 'given name', '')
    .option('--family-name <name>', 'family name', '')
    .addOption(new Option('--role <role>', 'global role').choices(GLOBAL_ROLES).default(MEMBER_ROLE));
  addOperation(users, context, LIST_USERS);
  addOperation(users, context, SHOW_USER);
  addOperation(users, context, SET_ROLE);
  addOperation(users, context, DISABLE_USER);
  addOperation(users, context, ENABLE_USER);
  addOperation(users, context, SIGN_USER_OUT);
  addOperation(users, context, UNLINK_USER)
    .requiredOption('--issuer <url>', 'the `iss` of its tokens, character by character')
    .option('--subject <sub>', 'the `sub` of one identity; every identity of the issuer if left out');
  addOperation(users, context, DELETE_USER, {
    async input({ yes, ...typed }: { readonly yes?: true; readonly user: string }) {
      if (yes !== true) await refuseUnsure(typed.user, context);
      return typed;
    },
  }).option('--yes', 'delete');
  addSetPassword(users, context);
}

async function refuseUnsure(user: string, context: CommandContext): Promise<never> {
  const { id, email, role, links, sessions } = await readOne(context, SHOW_USER, { user });
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
  const about = 'set the password with which an owner or administrator signs in at /admin; asks for it twice';
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
  await perform(context, SET_PASSWORD, { user, codeHash: hashOfCode(code).toString('hex') });
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
  const { id, endedSessions } = await perform(context, SET_PASSWORD, { user, passwordHash });
  context.answers.give(
    { id, endedSessions, page },
    `User ${id} has a new password, for ${page}; ended sessions there: ${endedSessions}.\n`,
  );
}

/** The address of the operator's page of a service with the same variables. */
function pageOf({ settings }: CommandContext): string {
  const config = settings.read('baseUrl', 'port', 'tlsCertificate', 'adminEnabled');
  const address = `${config.baseUrl}/admin`;
  return config.adminEnabled ? address : `${address} (which is off: set ${VARIABLES.adminEnabled.name}=true)`;
}

/** Without the line break at the end of a file or of `echo`. */
function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}

async function typedTwice({ secrets }: CommandContext): Promise<string> {
  if (secrets === undefined)
    throw new MisuseError(
      'There is no terminal to ask for the password: use --password-stdin, or --code for the person to choose it.',
    );
  const first = await secrets.ask('New password: ');
  const second = await secrets.ask('The same again: ');
  if (first !== second) throw new CommandError('The two are not the same.');
  return first;
}
