// svc-admin users show, set-role, unlink and delete: one user, seen and changed.
import type { Command } from 'commander';
import { Argument } from 'commander';
import { DELETE_USER, SET_ROLE, UNLINK_USER } from '../administration/change-user.operation.js';
import { CommandError } from '../administration/command-error.js';
import type { ShownUser } from '../administration/users.operations.js';
import { SHOW_USER } from '../administration/users.operations.js';
import type { GlobalRole } from '../users/role.js';
import { GLOBAL_ROLES } from '../users/role.js';
import { perform, readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { markedAddress, printable } from './table.js';
import { counted } from '../platform/text/wording.js';

const USER = ['<id-or-email>', 'the user'] as const;

export function addShow(users: Command, context: CommandContext): void {
  users
    .command('show')
    .description('show one user: linked identities, sessions, last sign-ins')
    .argument(...USER)
    .addHelpText('after', '\nExample:\n  svc-admin users show user@example.com')
    .action(async (user: string) => {
      const shown = await readUser(user, context);
      context.answers.give(shown, `${userLines(shown).map(printable).join('\n')}\n`);
    });
}

export function addSetRole(users: Command, context: CommandContext): void {
  users
    .command('set-role')
    .description('give a user another global role; at most one user is the owner')
    .argument(...USER)
    .addArgument(new Argument('<role>', 'the role').choices(GLOBAL_ROLES))
    .addHelpText(
      'after',
      '\nIt counts at once, also for sessions and access tokens. The role claim of a later token may change it again.\n' +
        '\nExample:\n  svc-admin users set-role user@example.com global:admin',
    )
    .action(async (user: string, role: GlobalRole) => {
      const changed = await perform(context, SET_ROLE, { user, role });
      const { id, from, to } = changed;
      context.answers.give(
        changed,
        from === to ? `User ${id} was ${to} already.\n` : `User ${id} is ${to}, and was ${from}.\n`,
      );
    });
}

export function addUnlink(users: Command, context: CommandContext): void {
  users
    .command('unlink')
    .description('undo a wrong link of identities of an issuer to a user, and sign the user out everywhere')
    .argument(...USER)
    .requiredOption('--issuer <url>', 'the `iss` of its tokens, character by character')
    .option('--subject <sub>', 'the `sub` of one identity; every identity of the issuer if left out')
    .addHelpText(
      'after',
      '\nThe next token of that identity counts as unknown: if it has the e-mail address of the user, it is linked\n' +
        'again, unless the entry no longer allows such addresses (emailDomains) or users (linkPrivileged).\n' +
        '\nExample:\n  svc-admin users unlink user@example.com --issuer https://partner.example --subject 42',
    )
    .action(async (user: string, links: { issuer: string; subject?: string }) => {
      const unlinked = await perform(context, UNLINK_USER, { user, ...links });
      context.answers.give(
        unlinked,
        `User ${unlinked.id} is unlinked from ${counted(unlinked.unlinked, 'identity', 'identities')} of ` +
          `${printable(links.issuer)}, and signed out everywhere: ${counted(unlinked.sessions, 'session')}, and every access ` +
          'token issued until now.\n',
      );
    });
}

export function addDelete(users: Command, context: CommandContext): void {
  users
    .command('delete')
    .description('delete a user for good; without --yes only print what would be deleted')
    .argument(...USER)
    .option('--yes', 'delete')
    .addHelpText(
      'after',
      '\nIt deletes the account, its links, sessions, password, memberships, and its personal project with all in it. Access\n' +
        'tokens end at once. The audit trail keeps its events, which hold the id of the user and no name or address; projects\n' +
        'of teams stay. A later token with that e-mail address creates a new user, if its entry allows it.\n' +
        '\nExample:\n  svc-admin users delete user@example.com --yes',
    )
    .action(async (user: string, { yes }: { yes?: true }) => {
      if (yes !== true) refuseUnsure(await readUser(user, context));
      const deleted = await perform(context, DELETE_USER, { user });
      context.answers.give(deleted, `User ${deleted.id} is deleted; the audit trail keeps what it did.\n`);
    });
}

function refuseUnsure({ id, email, role, links, sessions }: ShownUser): never {
  throw new CommandError(
    `Nothing was deleted. It would delete user ${id}, ${printable(markedAddress(email))}, ${role}, with ` +
      `${counted(links.length, 'linked identity', 'linked identities')}, ${counted(sessions, 'session')} and the personal project. Add --yes to delete.`,
  );
}

async function readUser(user: string, context: CommandContext): Promise<ShownUser> {
  const [shown] = await readList(context, SHOW_USER, { user });
  if (shown === undefined) throw new CommandError('The user was deleted meanwhile.');
  return shown;
}

function userLines(user: ShownUser): string[] {
  const {
    id,
    email,
    role,
    enabled,
    createdAt,
    provisioned,
    hasPassword,
    sessions,
    links,
    signIns,
    projects,
  } = user;
  const name = `${user.givenName} ${user.familyName}`.trim();
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
    ...projects.map(({ projectId, name, role, issuer, externalKeys }) =>
      [
        `Project:   ${projectId} ${name}, ${role}, given by ${issuer ?? 'people'}`,
        ...externalKeys.map((external) => `${external.key} of ${external.issuer}`),
      ].join(', '),
    ),
    ...signIns.map(({ occurredAt, event, issuer, requestId }) =>
      ['Signed in:', occurredAt, event, `issuer ${issuer ?? '-'}`, `request ${requestId}`].join(' '),
    ),
  ];
}
