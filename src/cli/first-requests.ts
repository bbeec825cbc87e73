// The commands for a partner's first requests, as `init` and `partners add` print them.
import { TOKEN_EXCHANGE_GRANT, TOKEN_PATH } from '../token-exchange/instance.js';

export interface NextCommand {
  readonly command: string;
  readonly does: string;
}

/** The key of the first token, and its user. */
export interface FirstToken {
  readonly keyFile: string;
  readonly kid: string;
  readonly issuer: string;
  readonly audience: string;
  readonly emailDomain: string;
  /** The instance's address as the person at the terminal reaches it. */
  readonly address: string;
}

/** Matches strings that need no quotes in a shell. */
const PLAIN = /^[\w./:@%+=,-]+$/;

/** Prints the access token, or fails with the error of a refused exchange, as in the README. */
const SHOW_ACCESS_TOKEN =
  'const a = JSON.parse(fs.readFileSync(0)); if (a.error) throw a; console.log(a.access_token)';

/** Returns the commands that sign a token, exchange it, and call the API. */
export function firstRequests({
  keyFile,
  kid,
  issuer,
  audience,
  emailDomain,
  address,
}: FirstToken): NextCommand[] {
  const who = `--subject customer-1 --email ${word(`customer-1@${emailDomain}`)} --email-verified`;
  const signing = `--key ${word(keyFile)} --kid ${word(kid)} --issuer ${word(issuer)} --audience ${word(audience)}`;
  return [
    {
      command: `JWT=$(npx svc-admin token sign ${signing} ${who})`,
      does: 'sign a token as the partner does; it is valid for 60 seconds',
    },
    {
      command:
        `ACCESS_TOKEN=$(curl -s ${address}${TOKEN_PATH} --data-urlencode grant_type=${TOKEN_EXCHANGE_GRANT} ` +
        `--data-urlencode "subject_token=$JWT" | node -e '${SHOW_ACCESS_TOKEN}')`,
      does: 'exchange it for an access token',
    },
    {
      command: `curl -s ${address}/api/v1/workflows -H "Authorization: Bearer $ACCESS_TOKEN"`,
      does: 'call the API with the access token',
    },
  ];
}

export function word(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function nextInWords(next: readonly NextCommand[]): string[] {
  return ['', 'Next:', ...next.flatMap(({ command, does }) => ['', `  # ${does}`, `  ${command}`])];
}
