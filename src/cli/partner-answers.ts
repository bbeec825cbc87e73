// The answers for `svc-admin partners add`, from a person or from options. `init` shares the rules of its own questions.
import type { PartnerAnswers } from '../administration/partners/partner-entry.js';
import { PARTNER_QUESTIONS, PARTNER_ROLES } from '../administration/partners/partner-entry.js';
import { domainNamed } from '../platform/text/email-address.js';
import { pageOrigin } from '../platform/text/origin.js';
import { parsedUrl } from '../platform/text/url.js';
import type { Question } from './questions.js';
import { listed } from './questions.js';

/** Strings as they are typed. Each question checks its own. */
export interface TypedPartner {
  readonly name: string;
  readonly issuer: string;
  readonly emailDomains: string;
  readonly role: string;
  readonly projects: string;
  readonly origins: string;
  readonly maxTokenTtl: string;
  readonly maxUsers: string;
}

/** Each returns the rule that an answer breaks. */
export const PARTNER_CHECKS = {
  issuer: (text: string) => (parsedUrl(text) ? undefined : 'must be a URL'),
  origin: (text: string) =>
    pageOrigin(text) === undefined ? 'must be an origin such as https://product.example' : undefined,
  emailDomain: (text: string) =>
    domainNamed(text) === undefined ? 'must be a domain such as product.example' : undefined,
} as const;

/** The domain of the issuer's address, which most partners' users have. */
export function domainOf(issuer: string): string | undefined {
  const url = parsedUrl(issuer);
  return url && domainNamed(url.hostname);
}

const ROLES: readonly string[] = PARTNER_ROLES;

export const QUESTIONS: readonly Question<TypedPartner>[] = [
  {
    name: 'name',
    flag: '--name <name>',
    about: 'name of the partner in logs, metrics and commands',
    standard: () => undefined,
    check: (text) => (text === '' ? 'must not be empty' : undefined),
  },
  {
    name: 'issuer',
    flag: '--issuer <url>',
    about: 'the `iss` of its tokens, exactly',
    standard: () => undefined,
    check: PARTNER_CHECKS.issuer,
  },
  {
    name: 'emailDomains',
    flag: '--email-domains <list>',
    about: "domains of its users' e-mail addresses, separated by commas; * for any",
    standard: ({ issuer = '' }) => domainOf(issuer),
    check: (text) => (text === '*' ? undefined : eachOf(PARTNER_CHECKS.emailDomain)(text)),
  },
  {
    ...asked('role', '--role <role>'),
    check: (text) => (ROLES.includes(text) ? undefined : `must be ${ROLES.join(' or ')}`),
  },
  { ...asked('projects', '--projects <list>'), check: () => undefined },
  { ...asked('origins', '--origins <list>'), check: eachOf(PARTNER_CHECKS.origin) },
  { ...asked('maxTokenTtl', '--max-token-ttl <seconds>'), check: wholeNumber },
  { ...asked('maxUsers', '--max-users <number>'), check: wholeNumber },
];

/** Only a number is required here. The entry's check has the range. */
function wholeNumber(text: string): string | undefined {
  return /^\d{0,9}$/.test(text) ? undefined : 'must be a whole number';
}

/** One of the questions that the operator's page asks too. */
function asked(name: keyof typeof PARTNER_QUESTIONS, flag: string) {
  const { about, recommended } = PARTNER_QUESTIONS[name];
  return { name, flag, about, standard: () => recommended };
}

function eachOf(check: (text: string) => string | undefined) {
  return (text: string) => {
    const items = listed(text);
    return items.length === 0 ? 'must not be empty' : items.map(check).find((rule) => rule !== undefined);
  };
}

/** The answers of an entry. */
export function partnerOf(typed: TypedPartner): PartnerAnswers {
  const { maxTokenTtl, maxUsers } = typed;
  const { name, issuer, role } = typed;
  return {
    ...{ name, issuer, role, emailDomains: listed(typed.emailDomains) },
    ...{ projects: listed(typed.projects), origins: listed(typed.origins) },
    ...(maxTokenTtl !== '' && { maxTokenTtlSeconds: Number(maxTokenTtl) }),
    ...(maxUsers !== '' && { maxUsers: Number(maxUsers) }),
  };
}
