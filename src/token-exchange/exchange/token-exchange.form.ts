// Reads the forms of the token endpoint: a token exchange (RFC 8693 §2.1), and an assertion (RFC 7523 §2.1).
import { requestRefusal, notEnabled, invalidField } from '../refusals/oauth-refusal.js';
import { Form } from '../endpoint/form.js';
import { printableName } from '../../platform/text/printable.js';
import { FIELD_LIMITS } from '../verify/compact-jws.js';
import type { AskedGrants } from './grants.js';
import type { ExchangeTokens } from '../verify/verification.js';
import type { AssertionFlow } from '../endpoint/flows.js';
import type { SentAssertion } from '../assertions/id-assertion.service.js';
import {
  CLIENT_FIELDS,
  readClientCredentials,
  CLIENT_AUTH_METHODS,
} from '../assertions/client-credentials.js';
import { isIdJag } from '../assertions/assertion-checks.js';

/** RFC 8693 §2.1. */
export const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Both are recorded as they were written, and no token is ever recorded: an `&` that is missing must not bring one there. */
const RECORDED = ['scope', 'resource'] as const;
const COMPACT_JWS = /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/;

/** Of both grants. RFC 8693 §2.1 lets audience and resource be repeated; every other field may be given once only. */
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

/** RFC 8693 §3: what every external token is. */
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';

/** A token type that is not the one that its token has, or that RFC 8693 §2.1 asks for and that is not there. */
export interface OtherTokenType {
  readonly field: 'subject_token_type' | 'actor_token_type';
  readonly expected: string;
  readonly found: string;
}

/**
 * The fields of the request that are read (4.2). Every unknown field is ignored (RFC 6749 §3.2).
 * @rule 4.2.subject_token_type = 4.2.actor_token_type = 4.2.requested_token_type The three token-type fields are taken and ignored.
 */
export interface TokenExchangeForm extends ExchangeTokens, AskedGrants {
  /** Not refused: for a warning. */
  readonly otherTypes: readonly OtherTokenType[] | undefined;
}

/** The form of the token endpoint, of which nothing is checked yet. */
export function readTokenForm(sent: unknown): TokenForm {
  return new Form(sent, FIELDS);
}

/**
 * Turns a form into a checked one. By plain functions: class-validator, which checks the bodies of the API, looks its rules
 * up by reflection at each call.
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

/** What a well-formed form asks for beside a token. @throws OAuthRefusal `field_invalid` */
function readAskedGrants(form: TokenForm): AskedGrants {
  refuseRecordedTokens(form);
  return { scope: form.get('scope') || undefined, resource: resources(form) };
}

/** Most clients send no type of the subject token, as the contract has it. */
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
 * An empty field counts as left out (RFC 6749 §3.2). One that is blank, or empty beside a type, is an error instead of an
 * exchange without actor: its sender meant another identity.
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
 * Every field that is not known is ignored.
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

/** What decides which grants there are: the switches, and whether an entry takes ordinary JWTs by the grant of RFC 7523. */
export interface GrantRules {
  readonly switches: Switches;
  /** Asked each time: entries are added while the service runs. */
  readonly takesPlainJwts: () => boolean;
}

/** Metadata of the grants that are switched on. */
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
 * One grant type has two flows: where both are on, the `typ` of an identity assertion tells it from an ordinary JWT, and each checks it.
 * @rule 4.2.grant_type = 7.4 Anything but the exact URN is an unsupported grant type; where the operator lets entries take assertions,
 *   theirs is another (D133).
 * @throws OAuthRefusal `unsupported_grant_type`, `field_invalid` for one that is repeated, or `not_enabled` for a token exchange where identity assertions alone are on
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
