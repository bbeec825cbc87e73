// The caller with an access token, in the present state of its users.
import type { SubjectOrActor } from '../refusals/rejection.js';
import type { VerifiedAccessToken } from './access-token.js';
import type { AccessTokenRefusal, AccessTokenVerdict } from './access-token.service.js';

/** What of a user decides whether access goes on. */
interface CallingUser {
  readonly id: string;
  readonly enabled: boolean;
  readonly accessGeneration?: string;
}

/** Who makes a call. */
export interface Caller<User> {
  /** The user whose rights count: the actor where there is one, else the subject. */
  readonly user: User;
  /** With an actor: the subject, on whose behalf it acts. */
  readonly onBehalfOf?: User;
  /** Each of these users needs the right that a call needs: `user` alone, or actor and subject where the token says so. */
  readonly rightsOf: readonly User[];
  /** The scopes that limit the token; undefined: it is not limited. */
  readonly scopes?: ReadonlySet<string>;
  /** The thumbprint (RFC 7638) of the key that the caller has proved, by a token that is bound to it (DPoP). */
  readonly keyThumbprint?: string;
  readonly token: VerifiedAccessToken;
}

export type CallerVerdict<User> =
  { readonly caller: Caller<User> } | { readonly refusal: AccessTokenRefusal };

/**
 * The caller of an access token; a refusal if the token is not valid, or one of its users is deleted, disabled or was signed out.
 * @rule D30 The rights are the actor's where there is one, else the subject's, as they are now. See grants.ts for who decides
 * that they are those of both (P.rights), and that scopes limit them (P.scopes).
 * @rule D8 The subject never replaces a deleted actor.
 * @rule D7 A disabled user's tokens stop working at once, and for good. See the migration of the access generation, which the
 * trigger raises, and users/decide.ts for the refusal of external tokens.
 */
export async function callerOf<User extends CallingUser>(
  verdict: AccessTokenVerdict,
  findById: (id: string) => Promise<User | undefined>,
): Promise<CallerVerdict<User>> {
  if ('refusal' in verdict) return verdict;
  const { token } = verdict;
  const { subjectUserId, actorUserId, rights, scopes } = token;
  const [subject, actor] = await Promise.all([
    findById(subjectUserId),
    actorUserId === undefined ? undefined : findById(actorUserId),
  ]);
  if (!isEnabled(subject)) return refusedFor('subject', subject, token);
  const user = actorUserId === undefined ? subject : actor;
  if (!isEnabled(user)) return refusedFor('actor', user, token);
  const generation = actorUserId === undefined ? token.subjectGeneration : token.actorGeneration;
  if (!isCurrent(subject, token.subjectGeneration) || !isCurrent(user, generation))
    return { refusal: { reason: 'revoked', token } };
  const onBehalfOf = actorUserId === undefined ? undefined : subject;
  const needsBoth = rights === 'both' && subject.id !== user.id;
  const rightsOf = needsBoth ? [user, subject] : [user];
  return { caller: { user, onBehalfOf, rightsOf, scopes, keyThumbprint: token.boundTo, token } };
}

/**
 * Whether a user's access was not ended since a token was issued or a session opened. Without a generation it is refused, where
 * users have one.
 */
export function isCurrent({ accessGeneration }: CallingUser, recorded: string | null | undefined): boolean {
  return (recorded ?? undefined) === accessGeneration;
}

export function isEnabled<User extends CallingUser>(user: User | undefined): user is User {
  return user?.enabled === true;
}

function refusedFor(
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
