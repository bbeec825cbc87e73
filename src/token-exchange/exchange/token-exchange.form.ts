// Reads the forms of the token endpoint: a token exchange (RFC 8693 §2.1), and an assertion (RFC 7523 §2.1).
import { printableName } from '../../platform/text/printable.js';
import { isIdJag } from '../assertions/assertion-checks.js';
import {
  CLIENT_AUTH_METHODS,
  CLIENT_FIELDS,
  readClientCredentials,
} from '../assertions/client-authenticator.js';
import type { SentAssertion } from '../assertions/id-assertion.service.js';
import type { AssertionFlow } from '../endpoint/flows.js';
import { Form } from '../endpoint/form.js';
import { invalidField, notEnabled, requestRefusal } from '../refusals/oauth-refusal.js';
import { FIELD_LIMITS } from '../verify/compact-jws.js';
import type { ExchangeTokens } from '../verify/external-token.verifier.js';
import type { AskedGrants } from './issuance.planner.js';

/** RFC 8693 §2.1. */
export const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Fields that are recorded as sent. A missing `&` must not append a token to them, because tokens are never recorded. */
const RECORDED = ['scope', 'resource'] as const;
const COMPACT_JWS = /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/;

/**
 * The fields of all grants. RFC 8693 §2.1 allows repeated `audience` and `resource`; every other field may be given only once.
 */
const FIELDS = {
  grant_type: { isWord: true },
  subject_token: {},
  subject_token_type: {},
  actor_token: {},
  actor_token_type: {},
  requested_token_type: {},
  scope: { max: FIELD_LIMITS.scope },
  audience: { max: FIELD_LIMITS.audience, isList: true },
  resource: { max: FIELD_LIMITS.resource, isList: true },
  assertion: {},
  ...CLIENT_FIELDS,
};

/** The form of the token endpoint. */
export type TokenForm = Form<keyof typeof FIELDS>;

/** The type of every external token (RFC 8693 §3). */
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';

/** A token type that does not match its token, or one that RFC 8693 §2.1 requires and that is missing. */
export interface OtherTokenType {
  readonly field: 'subject_token_type' | 'actor_token_type';
  readonly expected: string;
  readonly found: string;
}

/**
 * The fields of the request that are read (4.2). Every unknown field is ignored (RFC 6749 §3.2).
 * @rule 4.2.subject_token_type = 4.2.actor_token_type = 4.2.requested_token_type The three token-type fields are accepted and
 * ignored.
 */
export interface TokenExchangeForm extends ExchangeTokens, AskedGrants {
  /** Not refused, but logged as a warning. */
  readonly otherTypes: readonly OtherTokenType[] | undefined;
}

/** The unchecked form of the token endpoint. */
export function readTokenForm(sent: unknown): TokenForm {
  return new Form(sent, FIELDS);
}

/**
 * Checks a form. It does not use class-validator, which checks the API's bodies, because that reads its rules by reflection at each
 * call.
 * @rule D16 A field error names the field and its limit.
 * @throws OAuthRefusal `field_invalid`
 */
export function readTokenExchangeForm(form: TokenForm): TokenExchangeForm {
  const { scope, resource } = readAskedGrants(form.wellFormed());
  return {
    subjectToken: subjectToken(form),
    actorToken: actorToken(form),
    scope,
    resource,
    otherTypes: otherTypes(form),
  };
}

/** Reads the requested grants. @throws OAuthRefusal `field_invalid` */
function readAskedGrants(form: TokenForm): AskedGrants {
  refuseRecordedTokens(form);
  return { scope: form.get('scope') || undefined, resource: resources(form) };
}

/** A missing type of the subject token causes no warning, because the contract makes it optional. */
function otherTypes(form: TokenForm): readonly OtherTokenType[] | undefined {
  const ofSubject = form.get('subject_token_type') || JWT_TYPE;
  const ofActor = form.get('actor_token') ? form.get('actor_token_type') : JWT_TYPE;
  if (ofSubject === JWT_TYPE && ofActor === JWT_TYPE) return undefined;
  const types = [['subject_token_type', ofSubject] as const, ['actor_token_type', ofActor] as const];
  const others = types.filter(([, type]) => type !== JWT_TYPE);
  return others.map(([field, type]) => ({ field, expected: JWT_TYPE, found: printableName(type) }));
}

function refuseRecordedTokens(form: TokenForm): void {
  const name = RECORDED.find((field) => COMPACT_JWS.test(form.get(field) ?? ''));
  if (name !== undefined) throw invalidField(`${name} must not contain a token`);
}

/** @rule 4.2.subject_token The subject token is required. */
function subjectToken(form: TokenForm): string {
  const token = form.trimmed('subject_token');
  if (token === '') throw invalidField('subject_token is required');
  return token;
}

/**
 * An empty field is absent (RFC 6749 §3.2). A blank one, or an empty one with a type, is an error: its sender meant another
 * identity than the subject.
 * @rule 4.2.actor_token The actor token is optional.
 */
function actorToken(form: TokenForm): string | undefined {
  const given = form.get('actor_token');
  if (given === undefined) return undefined;
  const token = given.trim();
  if (token !== '') return token;
  if (given !== '' || form.get('actor_token_type'))
    throw invalidField('actor_token must not be blank, nor empty where actor_token_type is given');
  return undefined;
}

/** @rule 4.2.resource = 8.11 At most 2048 characters; URIs with spaces between them. */
function resources(form: TokenForm): readonly string[] | undefined {
  const uris = (form.get('resource') ?? '').split(' ').filter((uri) => uri !== '');
  return uris.length > 0 ? uris : undefined;
}

/** RFC 7523 §2.1. */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** draft-ietf-oauth-identity-assertion-authz-grant §7.2. */
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';

/**
 * Reads the form of an assertion. Unknown fields are ignored.
 * @param authorization the header of that name
 * @throws OAuthRefusal `field_invalid`
 * @throws OAuthRefusal `client_credential_invalid`
 */
export function readAssertionForm(
  form: TokenForm,
  authorization: string | undefined,
): Omit<SentAssertion, 'flow' | 'proving'> {
  const asked = readAskedGrants(form.wellFormed());
  const assertion = form.trimmed('assertion');
  if (assertion === '') throw invalidField('assertion is required');
  return { assertion, ...asked, client: readClientCredentials(form, authorization) };
}

type Switches = Readonly<Record<'exchange' | 'idAssertion', { readonly enabled: boolean }>>;

/** What decides which grants exist: the switches, and whether an entry accepts ordinary JWTs by the grant of RFC 7523. */
export interface GrantRules {
  readonly switches: Switches;
  /** A function, because entries are added while the service runs. */
  readonly takesPlainJwts: () => boolean;
}

/** Metadata of the enabled grants. */
export function publishedGrants({ switches, takesPlainJwts }: GrantRules) {
  const { exchange, idAssertion } = switches;
  const takesAssertions = idAssertion.enabled || (exchange.enabled && takesPlainJwts());
  return {
    grantTypes: [
      ...(exchange.enabled ? [TOKEN_EXCHANGE_GRANT] : []),
      ...(takesAssertions ? [JWT_BEARER_GRANT] : []),
    ],
    authMethods: [...(exchange.enabled ? ['none'] : []), ...(idAssertion.enabled ? CLIENT_AUTH_METHODS : [])],
    grantProfiles: idAssertion.enabled ? [ID_JAG_PROFILE] : undefined,
  };
}

/**
 * One grant type has two flows. If both are on, `typ` distinguishes an identity assertion from an ordinary JWT, and each flow
 * checks it.
 * @rule 4.2.grant_type = 7.4 Anything but the exact URN is an unsupported grant type, except the grant of assertions if the
 *   operator enables it (D133).
 * @throws OAuthRefusal `unsupported_grant_type`, `field_invalid` for a repeated field, or `not_enabled` for a token exchange if
 *   only identity assertions are enabled
 */
export function readGrantType(form: TokenForm, rules: GrantRules): 'exchange' | AssertionFlow {
  const { exchange, idAssertion } = rules.switches;
  const asked = form.get('grant_type');
  if (asked === TOKEN_EXCHANGE_GRANT) {
    if (exchange.enabled) return 'exchange';
    throw notEnabled('Token exchange');
  }
  if (asked === JWT_BEARER_GRANT) {
    const takesPlain = exchange.enabled && rules.takesPlainJwts();
    if (idAssertion.enabled && !(takesPlain && !isIdJag(form.trimmed('assertion')))) return 'id-jag';
    if (takesPlain) return 'jwt-bearer';
  }
  const names = publishedGrants(rules).grantTypes.join(' or ');
  throw requestRefusal('unsupported_grant_type', `grant_type must be ${names}`);
}
