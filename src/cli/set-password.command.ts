// svc-admin users set-password: sets the password by which an operator signs in at /admin, or makes a code to set it with.
import type { Command } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { SET_PASSWORD } from '../administration/set-password.operation.js';
import { PasswordHasher } from '../administration/accounts/password-hasher.js';
import {
  faultOfPassword,
  CODE_LIFETIME_SECONDS,
  hashOfCode,
  newSignInCode,
} from '../administration/accounts/password-rules.js';
import { VARIABLES } from '../config/environment.js';
import { perform } from './administration.js';
import type { CommandContext } from './command-settings.js';

const PAGE_PATH = '/admin';

interface SetPasswordOptions {
  code?: true;
  passwordStdin?: true;
}

export function addSetPassword(users: Command, context: CommandContext): void {
  users
    .command('set-password')
    .description(
      'set the password with which an owner or administrator signs in at /admin; asks for it twice',
    )
    .argument('<id-or-email>', 'the user')
    .option(
      '--code',
      'print a code with which that person sets the password at /admin within 15 minutes, once',
    )
    .option('--password-stdin', 'read the password from the first line of standard input')
    .addHelpText('after', '\nExample:\n  svc-admin users set-password owner@example.com --code')
    .action(async (user: string, options: SetPasswordOptions) => {
      if (options.code && options.passwordStdin)
        throw new CommandError('Only one of --code and --password-stdin can be given.');
      if (options.code) await makeCode(user, context);
      else await setPassword(user, options, context);
    });
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

async function setPassword(
  user: string,
  { passwordStdin }: SetPasswordOptions,
  context: CommandContext,
): Promise<void> {
  const page = pageOf(context);
  const password = passwordStdin ? firstLine(context.stdin.read()) : await typedTwice(context);
  const fault = faultOfPassword(password);
  if (fault !== undefined) throw new CommandError(`The password ${fault}.`);
  const passwordHash = await new PasswordHasher().hash(password);
  const { id, endedSessions } = await perform(context, SET_PASSWORD, { user, passwordHash });
  context.answers.give(
    { id, endedSessions, page },
    `User ${id} has a new password, for ${page}; ended sessions there: ${endedSessions}.\n`,
  );
}

/** The address of the operator's page, as the service is configured that is given the same variables. */
function pageOf({ settings }: CommandContext): string {
  const config = settings.read('baseUrl', 'port', 'tlsCertificate', 'adminEnabled');
  const address = `${config.baseUrl}${PAGE_PATH}`;
  return config.adminEnabled ? address : `${address} (which is off: set ${VARIABLES.adminEnabled.name}=true)`;
}

/** Without the line break at the end of a file or of `echo`. */
function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}

async function typedTwice({ secrets }: CommandContext): Promise<string> {
  if (secrets === undefined)
    throw new CommandError(
      'There is no terminal to ask for the password: use --password-stdin, or --code for the person to choose it.',
    );
  const first = await secrets.ask('New password: ');
  const second = await secrets.ask('The same again: ');
  if (first !== second) throw new CommandError('The two are not the same.');
  return first;
}
