// Reads the arguments of `explain`, and prints its answer.
import { parseArgs } from 'node:util';
import { Misuse, pemOf, shown } from './check-options.js';
import type { PartnerOptions } from './options.js';
import type { SigningAlgorithm } from './signing-key.js';
import type { Explanation } from './token-endpoint.js';

export const EXPLAIN_USAGE = `Usage: npx @embedded-token-exchange/partner explain --base-url URL --key FILE --issuer URL [options] REQUEST_ID

Says why the instance refused a token of yours. REQUEST_ID is the header X-Request-Id of the refusal. Your entry must have mayExplain.

  --base-url URL  the instance, https://host[:port]; http: on this machine only
  --key FILE      your private key: a PEM that is not encrypted
  --issuer URL    your issuer, as registered
  --kid ID        as registered; the default is the key's thumbprint (RFC 7638)
  --alg NAME      if the key can sign with several: RS256, PS256 and so on
  --allow-http    allows http: to another machine, for tests
  --json          prints one JSON document
  --help          prints this text

Exit codes: 0 explained, 1 not explained, 2 wrong arguments.
Example: npx @embedded-token-exchange/partner explain --base-url https://instance.example --key partner-key.pem \\
  --kid partner-1 --issuer https://partner.example 0b6a3c1d-2e5f-4a0b-8c47-9f3e8d3f0a4e
`;

const OPTIONS = {
  'base-url': { type: 'string' },
  key: { type: 'string' },
  issuer: { type: 'string' },
  kid: { type: 'string' },
  alg: { type: 'string' },
  'allow-http': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface Question {
  readonly options: PartnerOptions;
  readonly requestId: string;
  readonly isJson: boolean;
}

/**
 * @param args the arguments after the command's name
 * @returns undefined if the arguments ask for the usage
 * @throws Misuse
 */
export function readExplainArguments(args: readonly string[]): Question | undefined {
  const { values, positionals } = parsed(args);
  if (values.help) return undefined;
  const { 'base-url': baseUrl, key: file, issuer, kid, alg } = values;
  if (baseUrl === undefined) throw new Misuse('--base-url is missing.');
  if (file === undefined) throw new Misuse('--key is missing.');
  if (issuer === undefined) throw new Misuse('--issuer is missing.');
  const [requestId, ...others] = positionals;
  if (requestId === undefined || others.length > 0)
    throw new Misuse(`The request id is ${shown(positionals.join(' '))}. It must be one id.`);
  const named = {
    ...(kid === undefined ? {} : { kid }),
    ...(alg === undefined ? {} : { alg: alg as SigningAlgorithm }),
  };
  const key = { key: pemOf(file), ...named };
  return {
    options: { baseUrl, issuer, key, allowHttp: values['allow-http'] },
    requestId,
    isJson: values.json,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new Misuse((error as Error).message);
  }
}

export function explanationText(explanation: Explanation, isJson: boolean): string {
  if (isJson) return `${JSON.stringify(explanation, null, 2)}\n`;
  const { occurredAt, flow, party, reason, check, cause, remedy, detail, expected, found } = explanation;
  const lines = {
    Time: occurredAt.toISOString(),
    Flow: party === undefined ? flow : `${flow}, ${party} token`,
    Check: reason === undefined ? check : `${check} (${reason})`,
    Cause: cause,
    Remedy: remedy,
    ...{ Detail: detail, Expected: expected, Found: found },
  };
  return Object.entries(lines)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${`${name}:`.padEnd(10)}${text}\n`)
    .join('');
}
