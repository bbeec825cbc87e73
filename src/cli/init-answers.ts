// The answers for `svc-admin init`, from a person or from options.
import { VARIABLES } from '../config/environment.js';
import { parseVariable } from '../config/variable.js';
import { defaultBaseUrl } from '../config/load-config.js';
import { isEmailAddress, domainNamed } from '../platform/text/email-address.js';
import { pageOrigin } from '../platform/text/origin.js';
import type { CommandSettings, Terminal } from './command-context.js';
import { parsedUrl } from '../platform/text/url.js';

/** Texts, each checked by its question. */
export interface InitAnswers {
  readonly ownerEmail: string;
  readonly port: string;
  readonly baseUrl: string;
  /** Empty: the embedded database. */
  readonly databaseUrl: string;
  readonly partnerIssuer: string;
  readonly partnerOrigin: string;
  readonly partnerEmailDomain: string;
}

type Known = Partial<InitAnswers>;

interface Question {
  readonly name: keyof InitAnswers;
  /** As the option is written in help. */
  readonly flag: string;
  readonly about: string;
  /** The default; undefined if there is none. */
  readonly standard: (known: Known, settings: CommandSettings) => string | undefined;
  /** The rule that an answer breaks. */
  readonly check: (text: string) => string | undefined;
}

/** In the order in which they are asked: defaults may depend on what was answered before. */
export const QUESTIONS: readonly Question[] = [
  {
    name: 'ownerEmail',
    flag: '--owner-email <address>',
    about: 'e-mail address of the owner of the instance',
    standard: () => undefined,
    check: (text) => (isEmailAddress(text) ? undefined : 'must be an e-mail address'),
  },
  {
    name: 'port',
    flag: '--port <number>',
    about: 'TCP port to listen on',
    standard: (_known, settings) => String(settings.read('port').port),
    check: (text) => (text === '0' ? 'must be from 1 to 65535' : ruleOf(parseVariable(VARIABLES.port, text))),
  },
  {
    name: 'baseUrl',
    flag: '--base-url <url>',
    about: 'address under which browsers and partners reach the instance',
    standard: standardBaseUrl,
    check: (text) => ruleOf(parseVariable(VARIABLES.baseUrl, text)),
  },
  {
    name: 'databaseUrl',
    flag: '--database-url <url>',
    about: 'PostgreSQL connection URL; empty for the embedded database',
    standard: (_known, settings) => settings.read('databaseUrl').databaseUrl ?? '',
    check: (text) => (text === '' ? undefined : ruleOf(parseVariable(VARIABLES.databaseUrl, text))),
  },
  {
    name: 'partnerIssuer',
    flag: '--partner-issuer <url>',
    about: 'issuer of the tokens of the first partner',
    standard: () => 'https://partner.example',
    check: (text) => (parsedUrl(text) ? undefined : 'must be a URL'),
  },
  {
    name: 'partnerOrigin',
    flag: '--partner-origin <origin>',
    about: 'origin of the pages of that partner, which may frame the instance',
    standard: () => 'http://localhost:3000',
    check: (text) =>
      pageOrigin(text) === undefined ? 'must be an origin such as https://product.example' : undefined,
  },
  {
    name: 'partnerEmailDomain',
    flag: '--partner-email-domain <domain>',
    about: 'domain of the e-mail addresses of its users',
    standard: ({ partnerIssuer = '' }) => domainNamed(new URL(partnerIssuer).hostname),
    check: (text) =>
      domainNamed(text) === undefined ? 'must be a domain such as product.example' : undefined,
  },
];

/**
 * Finds all answers.
 * @param given what options say
 * @param terminal asks for what they do not say; undefined where defaults are to be taken
 * @param refuse throws for one that is missing or breaks its rule, with what to say of its option
 */
export async function answersTo(
  given: Known,
  settings: CommandSettings,
  terminal: Terminal | undefined,
  refuse: (message: string) => never,
): Promise<InitAnswers> {
  const known: { -readonly [Name in keyof InitAnswers]?: string } = {};
  for (const question of QUESTIONS) {
    const { name } = question;
    const standard = given[name] ?? question.standard(known, settings);
    const isAsked = given[name] === undefined && terminal !== undefined;
    known[name] = isAsked ? await asked(question, standard, terminal) : taken(question, standard, refuse);
  }
  // The loop above fills every member, which TypeScript cannot follow.
  return known as InitAnswers;
}

function taken(
  { flag, about, check }: Question,
  text: string | undefined,
  refuse: (message: string) => never,
): string {
  if (text === undefined) return refuse(`${flag} is needed: ${about}`);
  const rule = check(text);
  return rule === undefined ? text : refuse(`${flag} ${rule}`);
}

/** As often as it takes. */
async function asked(
  { about, check }: Question,
  standard: string | undefined,
  terminal: Terminal,
): Promise<string> {
  const hint = standard ? ` [${standard}]` : '';
  for (let complaint = ''; ;) {
    const line = (
      await terminal.ask(`${complaint}${about[0]?.toUpperCase()}${about.slice(1)}${hint}: `)
    ).trim();
    const text = line === '' ? (standard ?? '') : line;
    const rule = check(text);
    if (rule === undefined) return text;
    complaint = `It ${rule}.\n`;
  }
}

/** One that is configured, or the one that follows from the port. */
function standardBaseUrl({ port = '' }: Known, settings: CommandSettings): string {
  const config = settings.read('baseUrl', 'port', 'tlsCertificate');
  const isComputed = config.baseUrl === defaultBaseUrl(config);
  return isComputed ? defaultBaseUrl({ ...config, port: Number(port) }) : config.baseUrl;
}

function ruleOf(parsed: { value: unknown } | { problem: string }): string | undefined {
  return 'problem' in parsed ? parsed.problem : undefined;
}
