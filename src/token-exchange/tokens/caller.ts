// The caller of an access token, with its users' present state.
import { isBarred } from '../identity/role-policy.js';
import type { SubjectOrActor } from '../refusals/oauth-refusal.js';
import type { IssuerKey } from '../revocation/revocations.js';
import type { RoleNames } from '../settings/token-exchange.options.js';
import type { AccessTokenRefusal, AccessTokenVerdict, VerifiedAccessToken } from './access-token.service.js';

/** The parts of a user that decide whether access continues. */
interface CallingUser {
  readonly id: string;
  readonly role: string;
  readonly enabled: boolean;
  readonly accessGeneration?: string;
}

/** Who makes a call. */
export interface Caller<User> {
  /** The user whose rights apply: the actor if there is one, otherwise the subject. */
  readonly user: User;
  /** The subject on whose behalf an actor acts. */
  readonly onBehalfOf?: User;
  /** Each of these users needs the right of a call: `user` alone, or actor and subject if the token says so. */
  readonly rightsOf: readonly User[];
  /** The scopes that limit the token; undefined: it is not limited. */
  readonly scopes?: ReadonlySet<string>;
  /** The thumbprint (RFC 7638) of the proved key of a bound token (DPoP). */
  readonly keyThumbprint?: string;
  readonly token: VerifiedAccessToken;
}

export type CallerVerdict<User> =
  { readonly caller: Caller<User> } | { readonly refusal: AccessTokenRefusal };

/**
 * The caller of an access token; a refusal if the token is not valid, or one of its users is deleted, disabled or was signed out.
 * @rule D30 The rights are the actor's if there is one, otherwise the subject's, as they are now. See issuance.planner.ts for the rights of
 * both (P.rights), and for scopes (P.scopes).
 * @rule D7 A disabled user's tokens stop working at once, and for good. The subject never replaces a deleted actor. See the
 * migration of the access generation, which the trigger raises, and identity/decide.ts for the refusal of external tokens.
 */
export async function callerOf<User extends CallingUser>(
  verdict: AccessTokenVerdict,
  findById: (id: string) => Promise<User | undefined>,
  roles: RoleNames,
): Promise<CallerVerdict<User>> {
  if ('refusal' in verdict) return verdict;
  const { token } = verdict;
  const { subjectUserId, actorUserId, rights, scopes } = token;
  const [subject, actor] = await Promise.all([
    findById(subjectUserId),
    actorUserId === undefined ? undefined : findById(actorUserId),
  ]);
  if (!isEnabled(subject)) return userRefusal('subject', subject, token);
  const user = actorUserId === undefined ? subject : actor;
  if (!isEnabled(user)) return userRefusal('actor', user, token);
  const reason =
    refusalReasonOf('subject', subject, token, roles) ??
    (actorUserId === undefined ? undefined : refusalReasonOf('actor', user, token, roles));
  if (reason !== undefined) return { refusal: { reason, token } };
  const onBehalfOf = actorUserId === undefined ? undefined : subject;
  const needsBoth = rights === 'both' && subject.id !== user.id;
  const rightsOf = needsBoth ? [user, subject] : [user];
  return { caller: { user, onBehalfOf, rightsOf, scopes, keyThumbprint: token.boundTo, token } };
}

/** What a session or an access token has recorded about a user. */
interface RecordedUser {
  /** The user's access generation. */
  readonly generation: string | null | undefined;
  /** The keys that signed for the user; an unknown one is undefined. */
  readonly signedBy: readonly (IssuerKey | undefined)[];
}

/**
 * Why an enabled user's session or access token is refused: the user's access has ended since it was issued, or these keys may not sign
 * the user in now. A session or token without a generation is refused if users have one.
 */
export function refusalNow(
  user: CallingUser,
  { generation, signedBy }: RecordedUser,
  roles: RoleNames,
): 'revoked' | 'privileged_user_not_allowed' | undefined {
  if ((generation ?? undefined) !== user.accessGeneration) return 'revoked';
  return isBarred(user, signedBy, roles) ? 'privileged_user_not_allowed' : undefined;
}

function refusalReasonOf(
  which: SubjectOrActor,
  user: CallingUser,
  { signedBy, ...token }: VerifiedAccessToken,
  roles: RoleNames,
) {
  const generation = which === 'subject' ? token.subjectGeneration : token.actorGeneration;
  return refusalNow(user, { generation, signedBy: [signedBy[which]] }, roles);
}

export function isEnabled<User extends CallingUser>(user: User | undefined): user is User {
  return user?.enabled === true;
}

function userRefusal(
  which: SubjectOrActor,
  user: CallingUser | undefined,
  token: VerifiedAccessToken,
): { readonly refusal: AccessTokenRefusal } {
  const [reason, found] =
    user === undefined
      ? (['user_unknown', `the ${which} was deleted`] as const)
      : (['user_disabled', `the ${which} is disabled`] as const);
  return { refusal: { reason, found, token } };
}
