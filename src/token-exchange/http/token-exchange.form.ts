// Reads the forms of the token endpoint: a token exchange (RFC 8693 §2.1), and an assertion (RFC 7523 §2.1).
import { invalidField } from './flow-refusal.js';
import { Form } from './form.js';
import { printableName } from '../../platform/text/printable.js';
import { FIELD_LIMITS } from '../verify/field-limits.js';
import type { AskedGrants } from '../flows/grants.js';
import type { ExchangeTokens } from '../flows/verification.js';
import type { SentAssertion } from '../flows/id-assertion.service.js';
import { readClientCredentials } from './client-credentials.js';

/** RFC 8693 §2.1. */
export const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Both are recorded as they were written, and no token is ever recorded: an `&` that is missing must not bring one there. */
const RECORDED = ['scope', 'resource'];
const COMPACT_JWS = /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/;
/** RFC 8693 §2.1; every other field may be given once only. */
const LISTS = new Set(['audience', 'resource']);

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
export function readTokenForm(encoded: Uint8Array | string): Form {
  return Form.read(encoded, FIELD_LIMITS, LISTS);
}

/**
 * Turns a form into a checked one. By plain functions: class-validator, which checks the bodies of the API, looks its rules
 * up by reflection at each call.
 * @rule D16 A field error names the field and its limit.
 * @throws FlowRefusal `field_invalid`
 */
export function readTokenExchangeForm(form: Form): TokenExchangeForm {
  refuseArrayNotation(form.wellFormed());
  const { scope, resource } = readAskedGrants(form);
  return {
    subjectToken: subjectToken(form),
    actorToken: actorToken(form),
    scope,
    resource,
    otherTypes: otherTypes(form),
  };
}

/** What a well-formed form asks for beside a token. @throws FlowRefusal `field_invalid` */
function readAskedGrants(form: Form): AskedGrants {
  refuseRecordedTokens(form);
  return { scope: form.get('scope') || undefined, resource: resources(form) };
}

/** Most clients send no type of the subject token, as the contract has it. */
function otherTypes(form: Form): readonly OtherTokenType[] | undefined {
  const ofSubject = form.get('subject_token_type') || JWT_TYPE;
  const ofActor = form.get('actor_token') ? form.get('actor_token_type') : JWT_TYPE;
  if (ofSubject === JWT_TYPE && ofActor === JWT_TYPE) return undefined;
  const types = [['subject_token_type', ofSubject] as const, ['actor_token_type', ofActor] as const];
  const others = types.filter(([, type]) => type !== JWT_TYPE);
  return others.map(([field, type]) => ({ field, expected: JWT_TYPE, found: printableName(type) }));
}

/** `actor_token[]=…` means an actor to its sender; ignoring it would hand out the subject's rights instead. */
function refuseArrayNotation(form: Form): void {
  const name = form.names.find((candidate) => /^(subject_token|actor_token)\[/.test(candidate));
  if (name !== undefined) throw invalidField('subject_token and actor_token must be single fields');
}

function refuseRecordedTokens(form: Form): void {
  const name = RECORDED.find((field) => COMPACT_JWS.test(form.get(field) ?? ''));
  if (name !== undefined) throw invalidField(`${name} must not contain a token`);
}

/** @rule 4.2.subject_token The subject token is required. */
function subjectToken(form: Form): string {
  const token = form.trimmed('subject_token');
  if (token === '') throw invalidField('subject_token is required');
  return token;
}

/**
 * An empty field counts as left out (RFC 6749 §3.2). One that is blank, or empty beside a type, is an error instead of an
 * exchange without actor: its sender meant another identity.
 * @rule 4.2.actor_token The actor token is optional.
 */
function actorToken(form: Form): string | undefined {
  const given = form.get('actor_token');
  if (given === undefined) return undefined;
  const token = given.trim();
  if (token !== '') return token;
  if (given !== '' || form.get('actor_token_type'))
    throw invalidField('actor_token must not be blank, nor empty where actor_token_type is given');
  return undefined;
}

/** @rule 4.2.resource = 8.11 At most 2048 characters; URIs with spaces between them. */
function resources(form: Form): readonly string[] | undefined {
  const uris = (form.get('resource') ?? '').split(' ').filter((uri) => uri !== '');
  return uris.length > 0 ? uris : undefined;
}

/** RFC 7523 §2.1. */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** draft-ietf-oauth-identity-assertion-authz-grant §7.2. */
export const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';

/**
 * Every field that is not known is ignored.
 * @param authorization the header of that name
 * @throws FlowRefusal `field_invalid`
 * @throws Rejection `client_credential_invalid`
 */
export function readAssertionForm(
  form: Form,
  authorization: string | undefined,
): Omit<SentAssertion, 'flow' | 'proving'> {
  const asked = readAskedGrants(form.wellFormed());
  const assertion = form.trimmed('assertion');
  if (assertion === '') throw invalidField('assertion is required');
  return { assertion, ...asked, client: readClientCredentials(form, authorization) };
}
