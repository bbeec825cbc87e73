// The operator's API: one row for each operation with method, path, input and answer. The types are the server's own.
import type { EntryOperations } from '../../src/administration/entries/entries.operations.js';
import type { TokenToExplain } from '../../src/administration/explain/explain-token.operation.js';
import type { ChosenKeys } from '../../src/administration/keys/keys.operations.js';
import type { AnswerOf as Returned, InputOf } from '../../src/administration/operation.js';
import type { UserChangeOperations } from '../../src/administration/users/users.operations.js';
import type { OperatorEntryController } from '../../src/operator/entries/entry.controller.js';
import type { EntryCheck } from '../../src/operator/entries/entry-check.js';
import type { OperatorPartnerController } from '../../src/operator/partners/partner.controller.js';
import type { PartnerOperations } from '../../src/operator/partners/partner.operations.js';
import type {
  OperatorSessionController,
  PasswordByCode,
  PasswordChange,
  PasswordSignIn,
} from '../../src/operator/sign-in/operator-session.controller.js';
import type { OperatorTrailController } from '../../src/operator/trail/trail.controller.js';
import type { TrailOperations } from '../../src/operator/trail/trail.operation.js';
import type { OperatorPersonController } from '../../src/operator/users/person.controller.js';
import type { PersonOperations } from '../../src/operator/users/person.operations.js';
import type { Authentication } from '../shared/api.js';
import { ApiClient, RefusedError } from '../shared/api.js';

const API = '/rest/admin';
/** Longer than the instance waits for a key set. */
const PATIENCE_MS = 30_000;

/** A value as JSON transfers it. */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Name in keyof T]: Json<T[Name]> }
      : T;

type Answer<Controller, Method extends keyof Controller> = Controller[Method] extends (
  ...given: never[]
) => infer Given
  ? Json<Awaited<Given>>
  : never;

/** The server parses a cursor, which is a string here. */
type Input<Class, Method extends keyof Class> = Omit<InputOf<Class, Method>, 'cursor'> & { cursor?: string };

type Entries<Method extends keyof OperatorEntryController> = Answer<OperatorEntryController, Method>;
type Partners<Method extends keyof OperatorPartnerController> = Answer<OperatorPartnerController, Method>;
type People<Method extends keyof OperatorPersonController> = Answer<OperatorPersonController, Method>;
type SignIn<Method extends keyof OperatorSessionController> = Answer<OperatorSessionController, Method>;
type Trail<Method extends keyof OperatorTrailController> = Answer<OperatorTrailController, Method>;

export interface Operations {
  'GET /session': { answer: SignIn<'show'> };
  'POST /session': { body: PasswordSignIn; answer: SignIn<'signIn'> };
  'DELETE /session': { answer: SignIn<'signOut'> };
  'POST /password': { body: PasswordByCode; answer: SignIn<'setByCode'> };
  'PUT /password': { body: PasswordChange; answer: SignIn<'changePassword'> };

  'GET /overview': { answer: Trail<'overview'> };
  'GET /activity': {
    query: Pick<Input<TrailOperations, 'countActivity'>, 'lastHours' | 'buckets'>;
    answer: Trail<'activity'>;
  };
  'GET /usage': { query: { months: number }; answer: Trail<'usage'> };
  'GET /sessions/history': { answer: Trail<'sessions'> };
  'GET /reasons': { answer: Trail<'reasons'> };
  'POST /refusals/search': { body: Input<TrailOperations, 'findRefusals'>; answer: Trail<'refusals'> };
  'POST /refusals/groups': { body: Input<TrailOperations, 'groupRefusals'>; answer: Trail<'refusalGroups'> };
  'POST /events/search': { body: Input<TrailOperations, 'findEvents'>; answer: Trail<'events'> };
  'GET /requests/:requestId': { answer: Trail<'request'> };
  'POST /explain': { body: TokenToExplain; answer: Trail<'explain'> };

  'GET /entries': { answer: Entries<'list'> };
  'GET /entries/:name': { answer: Entries<'show'> };
  'POST /entries': { body: Input<EntryOperations, 'add'>; answer: Entries<'add'> };
  'POST /entries/check': { body: Input<EntryCheck, 'check'>; answer: Entries<'check'> };
  'PUT /entries/:name': { body: object; answer: Entries<'change'> };
  'POST /entries/:name/suspend': { answer: Entries<'suspend'> };
  'POST /entries/:name/resume': { answer: Entries<'resume'> };
  'POST /entries/:name/refresh': { answer: Entries<'refresh'> };
  'DELETE /entries/:name': { answer: Entries<'remove'> };
  'POST /partners/key': { body: InputOf<PartnerOperations, 'readKey'>; answer: Partners<'key'> };
  'POST /partners/key-set': { body: InputOf<PartnerOperations, 'fetchKeys'>; answer: Partners<'keySet'> };
  'POST /partners/requests': { body: InputOf<PartnerOperations, 'requests'>; answer: Partners<'requests'> };
  'GET /revocations': { answer: Entries<'revocations'> };
  'POST /revocations': { body: ChosenKeys; answer: Entries<'revoke'> };
  'POST /revocations/restore': { body: ChosenKeys; answer: Entries<'restore'> };

  'POST /users/search': { body: Input<PersonOperations, 'search'>; answer: People<'search'> };
  'GET /users/:userId': { answer: People<'show'> };
  'POST /users/:userId/sign-out': { answer: Json<Returned<UserChangeOperations, 'signOut'>> };
  'POST /users/:userId/disable': { answer: People<'disable'> };
  'POST /users/:userId/enable': { answer: People<'enable'> };
  'POST /sessions/search': { body: Input<PersonOperations, 'listSessions'>; answer: People<'sessions'> };
  'DELETE /sessions/:id': { answer: People<'end'> };
  'GET /operator-sessions': { query: { cursor?: string }; answer: People<'listOperators'> };
  'DELETE /operator-sessions/:id': { answer: People<'endOperator'> };
}

export type Operation = keyof Operations;
export type AnswerOf<Name extends Operation> = Operations[Name]['answer'];
/** An item of a list. */
export type ItemOf<Name extends Operation> =
  AnswerOf<Name> extends { data: readonly (infer Item)[] } ? Item : never;

type ParametersIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParametersIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type Asked<Name extends Operation> = Omit<Operations[Name], 'answer'> &
  ([ParametersIn<Name>] extends [never] ? unknown : { params: Record<ParametersIn<Name>, string> }) & {
    signal?: AbortSignal;
    /** The quoted revision that the author of a change has seen. */
    ifMatch?: string;
    /** False if the page asks without the operator. The sign-in is then not extended (D113). */
    isUse?: boolean;
  };

/** Reports whether the instance still knows the sign-in. */
export const listener = { used: (): void => undefined, ended: (): void => undefined };

const authentication: Authentication = {
  prepare: () => Promise.resolve({ credentials: 'same-origin' }),
  learn(answer, body) {
    if (answer.ok) listener.used();
    else if (isSignInMissing(body['error'])) listener.ended();
    return false;
  },
  mayBeLate: false,
};

const client = new ApiClient(authentication, PATIENCE_MS);
const waitingClient = new ApiClient(
  {
    ...authentication,
    learn: (answer, body) => (answer.ok ? false : authentication.learn(answer, body)),
  },
  PATIENCE_MS,
);

/** @throws RefusedError; TypeError or DOMException if there was no answer */
export function call<Name extends Operation>(name: Name, asked: Asked<Name>): Promise<AnswerOf<Name>> {
  const { params = {}, query, body, ifMatch, signal, isUse = true } = asked as Loose;
  const [method, pattern = ''] = name.split(' ') as ['GET' | 'POST' | 'PUT' | 'DELETE', string];
  const path = pattern.replaceAll(/:(\w+)/g, (_, part: string) => encodeURIComponent(params[part] ?? ''));
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const search =
    given.length === 0 ? '' : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
  const headers = ifMatch === undefined ? undefined : { 'if-match': ifMatch };
  const request = { method, path: `${API}${path}${search}`, json: body, headers };
  const asking = isUse ? client : waitingClient;
  return asking.request<AnswerOf<Name>>(request, signal ?? new AbortController().signal);
}

interface Loose {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: object;
  ifMatch?: string;
  signal?: AbortSignal;
  isUse?: boolean;
}

function isSignInMissing(error: unknown): boolean {
  return error === 'sign_in_required' || error === 'operator_session_required';
}

/** Whether the sign-in has ended. The page shows that itself. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof RefusedError && isSignInMissing(error.error);
}
