// The answers to the questions of `svc-admin init`, from a person or from options.
import { VARIABLES } from '../config/environment.js';
import { defaultBaseUrl } from '../config/load-config.js';
import { parseVariable } from '../config/variable.js';
import { isEmailAddress } from '../platform/text/email-address.js';
import type { CommandSettings } from './command-context.js';
import { domainOf, PARTNER_CHECKS } from './partner-answers.js';
import type { Question } from './questions.js';

/** Strings as they are typed. Each question checks its own. */
export interface InitAnswers {
  readonly ownerEmail: string;
  readonly port: string;
  readonly baseUrl: string;
  /** Empty for the embedded database. */
  readonly databaseUrl: string;
  readonly partnerIssuer: string;
  readonly partnerOrigin: string;
  readonly partnerEmailDomain: string;
}

type InitQuestion = Question<InitAnswers, CommandSettings>;

/** In the order of asking: a default may depend on an earlier answer. */
export const QUESTIONS: readonly InitQuestion[] = [
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
    about: 'public address of the instance',
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
    check: PARTNER_CHECKS.issuer,
  },
  {
    name: 'partnerOrigin',
    flag: '--partner-origin <origin>',
    about: 'origin of the pages of that partner, which may frame the instance',
    standard: () => 'http://localhost:3000',
    check: PARTNER_CHECKS.origin,
  },
  {
    name: 'partnerEmailDomain',
    flag: '--partner-email-domain <domain>',
    about: 'domain of the e-mail addresses of its users',
    standard: ({ partnerIssuer = '' }) => domainOf(partnerIssuer),
    check: PARTNER_CHECKS.emailDomain,
  },
];

/** The configured base address, or one that follows from the port. */
function standardBaseUrl({ port = '' }: Partial<InitAnswers>, settings: CommandSettings): string {
  const config = settings.read('baseUrl', 'port', 'tlsCertificate');
  const isComputed = config.baseUrl === defaultBaseUrl(config);
  return isComputed ? defaultBaseUrl({ ...config, port: Number(port) }) : config.baseUrl;
}

function ruleOf(parsed: { value: unknown } | { problem: string }): string | undefined {
  return 'problem' in parsed ? parsed.problem : undefined;
}
