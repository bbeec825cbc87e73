// svc-admin users: makes, lists, disables and enables the users of the instance.
import type { Command } from 'commander';
import { Option } from 'commander';
import { isUniqueViolation } from '../token-exchange/database/database-error.js';
import { hasMoreCharacters } from '../token-exchange/foundation/characters.js';
import { isEmailAddress } from '../token-exchange/foundation/email-address.js';
import { isUnstorable } from '../token-exchange/foundation/strict-json.js';
import type { GlobalRole } from '../users/role.js';
import { GLOBAL_ROLES, MEMBER_ROLE, OWNER_ROLE } from '../users/role.js';
import type { NewUser, User, UserRepository } from '../users/user.repository.js';
import type { CommandContext } from './command-context.js';
import { CommandError } from './command-error.js';
import type { InstanceParts } from './instance-database.js';
import { withInstance } from './instance-database.js';
import { renderTable } from './table.js';

const PAGE_SIZE = 500;
const MAX_NAME_CHARACTERS = 32;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HEADINGS = ['ID', 'E-MAIL', 'NAME', 'ROLE', 'STATE'];

interface CreateOptions {
  email: string;
  givenName: string;
  familyName: string;
  role: GlobalRole;
}

export function addUsersCommands(program: Command, context: CommandContext): void {
  const users = program.command('users').description('look after the users of the instance');
  addCreate(users, context);
  addList(users, context);
  addSwitch(users, context, { name: 'disable', enabled: false, effect: 'end all access of a user at once' });
  addSwitch(users, context, { name: 'enable', enabled: true, effect: 'let a disabled user in again' });
}

function addCreate(users: Command, context: CommandContext): void {
  users
    .command('create')
    .description('make a user with a personal project; prints the user as one JSON object')
    .requiredOption('--email <address>', 'e-mail address, by which tokens of partners find the user')
    .option('--given-name <name>', 'given name', '')
    .option('--family-name <name>', 'family name', '')
    .addOption(new Option('--role <role>', 'global role').choices(GLOBAL_ROLES).default(MEMBER_ROLE))
    .addHelpText(
      'after',
      '\nExample:\n  svc-admin users create --email owner@example.com --role global:owner',
    )
    .action((options: CreateOptions) => create(options, context));
}

function addList(users: Command, context: CommandContext): void {
  users
    .command('list')
    .description('list all users')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExample:\n  svc-admin users list --json')
    .action(({ json }: { json?: boolean }) =>
      withInstance(context, async ({ users: repository }) => {
        const all = await allUsers(repository);
        context.stdout.write(json === true ? jsonOf(all.map(listed)) : renderTable(HEADINGS, all.map(rowOf)));
      }),
    );
}

interface SwitchCommand {
  readonly name: string;
  readonly enabled: boolean;
  readonly effect: string;
}

function addSwitch(users: Command, context: CommandContext, { name, enabled, effect }: SwitchCommand): void {
  users
    .command(name)
    .description(effect)
    .argument('<id-or-email>', 'the user')
    .addHelpText('after', `\nExample:\n  svc-admin users ${name} somebody@example.com`)
    .action((idOrEmail: string) =>
      withInstance(context, async ({ users: repository }) => {
        const { id } = await existingUser(repository, idOrEmail);
        await repository.update(id, { enabled });
        context.stdout.write(`User ${id} is ${enabled ? 'enabled' : 'disabled'}.\n`);
      }),
    );
}

async function create(options: CreateOptions, context: CommandContext): Promise<void> {
  const { email, givenName, familyName, role } = options;
  refuseBadProfile(options);
  const newUser = { email, givenName, familyName, role };
  const { id } = await withInstance(context, (instance) => createdUser(newUser, instance));
  context.stdout.write(jsonOf({ id, email, role }));
}

/** The limits of the claims of the same meaning, except that names are not cut off silently. */
function refuseBadProfile({ email, givenName, familyName }: CreateOptions): void {
  if (!isEmailAddress(email) || isUnstorable(email))
    throw new CommandError('--email must be an e-mail address.');
  refuseBadName('--given-name', givenName);
  refuseBadName('--family-name', familyName);
}

function refuseBadName(option: string, name: string): void {
  if (isUnstorable(name)) throw new CommandError(`${option} has characters that cannot be stored.`);
  if (!hasMoreCharacters(name, MAX_NAME_CHARACTERS)) return;
  throw new CommandError(`${option} has more than ${MAX_NAME_CHARACTERS} characters.`);
}

/** The database decides, so that two commands at the same moment cannot both make an owner. */
async function createdUser(newUser: NewUser, { transactions, userService }: InstanceParts): Promise<User> {
  try {
    const user = await transactions.run((transaction) => userService.create(transaction, newUser));
    if (user !== undefined) return user;
  } catch (error) {
    if (newUser.role !== OWNER_ROLE || !isUniqueViolation(error)) throw error;
    throw new CommandError('The instance has an owner already, and there is at most one.');
  }
  throw new CommandError('Another user has this e-mail address.');
}

async function allUsers(repository: UserRepository): Promise<User[]> {
  const all: User[] = [];
  for (;;) {
    const page = await repository.list(all.at(-1)?.id, PAGE_SIZE);
    all.push(...page);
    if (page.length < PAGE_SIZE) return all;
  }
}

async function existingUser(repository: UserRepository, idOrEmail: string): Promise<User> {
  const isId = UUID.test(idOrEmail);
  const user = await (isId ? repository.findById(idOrEmail) : repository.findByEmail(idOrEmail));
  if (user !== undefined) return user;
  throw new CommandError(`There is no user with this ${isId ? 'id' : 'e-mail address'}.`);
}

function listed({ id, email, givenName, familyName, role, enabled, createdAt }: User) {
  return { id, email, givenName, familyName, role, enabled, createdAt };
}

function rowOf({ id, email, givenName, familyName, role, enabled }: User): string[] {
  return [id, email, `${givenName} ${familyName}`.trim(), role, enabled ? 'enabled' : 'disabled'];
}

function jsonOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
