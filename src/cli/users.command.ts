// svc-admin users: makes, lists, disables and enables the users of the instance, and signs them out.
import type { Command } from 'commander';
import { Option } from 'commander';
import type { ListedUser } from '../administration/users.operations.js';
import {
  CREATE_USER,
  DISABLE_USER,
  ENABLE_USER,
  LIST_USERS,
  SIGN_USER_OUT,
} from '../administration/users.operations.js';
import { GLOBAL_ROLES, MEMBER_ROLE } from '../users/role.js';
import type { NewUser } from '../users/user.repository.js';
import { perform, readList } from './administration.js';
import { addDelete, addSetRole, addShow, addUnlink } from './change-user.commands.js';
import type { CommandContext } from './command-settings.js';
import { addSetPassword } from './set-password.command.js';
import { markedAddress, renderTable } from './table.js';
import { counted } from '../platform/text/wording.js';

const HEADINGS = ['ID', 'E-MAIL', 'NAME', 'ROLE', 'STATE'];

export function addUsersCommands(program: Command, context: CommandContext): void {
  const users = program.command('users').description('manage the users of the instance');
  addCreate(users, context);
  addList(users, context);
  addShow(users, context);
  addSetRole(users, context);
  addSwitch(users, context, {
    name: 'disable',
    effect: 'end all access of a user at once',
    operation: DISABLE_USER,
    state: 'disabled',
  });
  addSwitch(users, context, {
    name: 'enable',
    effect: 'let a disabled user sign in again',
    operation: ENABLE_USER,
    state: 'enabled',
  });
  addSignOut(users, context);
  addUnlink(users, context);
  addDelete(users, context);
  addSetPassword(users, context);
}

function addCreate(users: Command, context: CommandContext): void {
  users
    .command('create')
    .description('create a user with a personal project; prints the user as one JSON object')
    .requiredOption('--email <address>', 'e-mail address; tokens of partners find the user by it')
    .option('--given-name <name>', 'given name', '')
    .option('--family-name <name>', 'family name', '')
    .addOption(new Option('--role <role>', 'global role').choices(GLOBAL_ROLES).default(MEMBER_ROLE))
    .addHelpText(
      'after',
      '\nExample:\n  svc-admin users create --email owner@example.com --role global:owner',
    )
    .action(async ({ email, givenName, familyName, role }: NewUser) => {
      const newUser = { email, givenName, familyName, role };
      const user = await perform(context, CREATE_USER, newUser);
      context.answers.give(user, `${JSON.stringify(user)}\n`);
    });
}

function addList(users: Command, context: CommandContext): void {
  users
    .command('list')
    .description('list all users')
    .addHelpText('after', '\nExample:\n  svc-admin users list --json')
    .action(async () => {
      const all = await readList(context, LIST_USERS, {});
      context.answers.giveList(all, () => renderTable(HEADINGS, all.map(rowOf)), 'There is no user.');
    });
}

interface SwitchCommand {
  readonly name: string;
  readonly effect: string;
  readonly operation: typeof DISABLE_USER;
  /** Of the user, afterwards. */
  readonly state: string;
}

function addSwitch(users: Command, context: CommandContext, command: SwitchCommand): void {
  const { name, effect, operation, state } = command;
  users
    .command(name)
    .description(effect)
    .argument('<id-or-email>', 'the user')
    .addHelpText('after', `\nExample:\n  svc-admin users ${name} user@example.com`)
    .action(async (user: string) => {
      const { id } = await perform(context, operation, { user });
      context.answers.give({ id, state }, `User ${id} is ${state}.\n`);
    });
}

function addSignOut(users: Command, context: CommandContext): void {
  users
    .command('sign-out')
    .description('end all sessions and access tokens of a user, on every instance; a new login works')
    .argument('<id-or-email>', 'the user')
    .addHelpText('after', '\nExample:\n  svc-admin users sign-out user@example.com')
    .action(async (user: string) => {
      const { id, sessions, operatorSessions } = await perform(context, SIGN_USER_OUT, { user });
      context.answers.give(
        { id, sessions, operatorSessions },
        `User ${id} is signed out: ${counted(sessions + operatorSessions, 'session')}, and every access token issued until now.\n`,
      );
    });
}

function rowOf({ id, email, givenName, familyName, role, enabled }: ListedUser): string[] {
  return [
    id,
    markedAddress(email),
    `${givenName} ${familyName}`.trim(),
    role,
    enabled ? 'enabled' : 'disabled',
  ];
}
