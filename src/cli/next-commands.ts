// The commands after `svc-admin init`, up to the first call of the API with an exchanged token.
import { relative } from 'node:path';
import { TOKEN_EXCHANGE_GRANT, TOKEN_PATH } from '../token-exchange/plain.js';
import type { InitAnswers } from './init-answers.js';
import type { InitPaths, PartnerKey } from './init-files.js';

export interface NextCommand {
  readonly command: string;
  readonly does: string;
}

/** What a shell takes as it is. */
const PLAIN = /^[\w./:@%+=,-]+$/;

/** @param workingDirectory the folder in which they will be typed */
export function nextCommands(
  { port, baseUrl, partnerIssuer, partnerEmailDomain }: InitAnswers,
  { kid }: PartnerKey,
  paths: InitPaths,
  workingDirectory: string,
): NextCommand[] {
  const path = (absolute: string) => {
    const short = relative(workingDirectory, absolute);
    return word(short.startsWith('..') ? absolute : short);
  };
  // In this folder it is found without being named.
  const isHere = relative(workingDirectory, paths.environment) === '.env';
  const envFile = isHere ? '' : ` --env-file ${path(paths.environment)}`;
  const admin = `npx svc-admin${envFile}`;
  const local = `http://localhost:${port}`;
  const who = `--subject customer-1 --email ${word(`customer-1@${partnerEmailDomain}`)} --email-verified`;
  const signing = `--key ${path(paths.partnerPrivate)} --kid ${word(kid)} --issuer ${word(partnerIssuer)} --audience ${word(baseUrl)}`;
  return [
    {
      command: `npm start${isHere ? '' : ` --${envFile}`}`,
      does: 'start the service; the rest in another terminal',
    },
    { command: `${admin} keys check`, does: 'list the trusted keys and what each may do' },
    {
      command: `JWT=$(npx svc-admin token sign ${signing} ${who})`,
      does: 'sign a token as the partner does; it is valid for 60 seconds',
    },
    {
      command:
        `ACCESS_TOKEN=$(curl -s ${local}${TOKEN_PATH} --data-urlencode grant_type=${TOKEN_EXCHANGE_GRANT} ` +
        `--data-urlencode "subject_token=$JWT" | node -pe 'JSON.parse(fs.readFileSync(0)).access_token')`,
      does: 'exchange it for an access token',
    },
    {
      command: `curl -s ${local}/api/v1/workflows -H "Authorization: Bearer $ACCESS_TOKEN"`,
      does: 'call the API with that',
    },
  ];
}

function word(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
