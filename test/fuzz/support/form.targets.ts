// The forms of both flows, as a parser hands them on from a body or a query.
import { parse } from 'node:querystring';
import type { TokenExchangeForm } from '../../../src/token-exchange/exchange/token-exchange.form.js';
import {
  readGrantType,
  readTokenExchangeForm,
  readTokenForm,
  TOKEN_EXCHANGE_GRANT,
} from '../../../src/token-exchange/exchange/token-exchange.form.js';
import { readEmbedLoginForm } from '../../../src/token-exchange/login/embed-login.controller.js';
import { isRequestRefusal } from '../../../src/token-exchange/refusals/oauth-refusal.js';
import { FIELD_LIMITS } from '../../../src/token-exchange/verify/compact-jws.js';
import type { FuzzTarget } from './fuzz-target.js';
import { insist } from './fuzz-target.js';

const EXCHANGE_ALONE = {
  switches: { exchange: { enabled: true }, idAssertion: { enabled: false } },
  takesPlainJwts: () => false,
};

const GRANT = `grant_type=${encodeURIComponent(TOKEN_EXCHANGE_GRANT)}`;
const PIECES = ['&', '=', '[]', '%00', '%zz', '%ff', '%C3%A9', 'token', 'subject_token', 'actor_token'];
const isRefusal = (error: unknown) => isRequestRefusal(error);

const fieldsOf = (input: Buffer) => parse(input.toString());

/** All values of a name. */
function valuesOf(input: Buffer, name: string): string[] {
  return [fieldsOf(input)[name] ?? []].flat();
}

function insistOnOne(input: Buffer, name: string, value: string | undefined): void {
  const values = valuesOf(input, name);
  insist(values.length <= 1, `${name} is taken where it stands once only`);
  insist((values[0] ?? '').trim() === (value ?? ''), `${name} is what everybody reads`);
}

const exchangeForm: FuzzTarget<TokenExchangeForm> = {
  name: 'form of a token exchange',
  seeds: [
    `${GRANT}&subject_token=a.b.c`,
    `${GRANT}&subject_token=a.b.c&actor_token=d.e.f&actor_token_type=urn%3Ax&scope=a+b&resource=urn%3Aa&resource=urn%3Ab`,
    `${GRANT}&subject_token=a.b.c&actor_token=&audience=x&audience=y&requested_token_type=&unknown=%F0%9F%98%80`,
  ],
  pieces: [
    ...PIECES,
    'scope=',
    'resource=',
    'audience=',
    'actor_token_type=x',
    '&actor_token=',
    '&subject_token[]=x',
    '&actor_token%5B0%5D=y',
    GRANT,
  ],
  read: (input) => {
    const form = readTokenForm(fieldsOf(input));
    readGrantType(form, EXCHANGE_ALONE);
    return readTokenExchangeForm(form);
  },
  isRefusal,
  judge(input, { subjectToken, actorToken, scope, resource }) {
    insistOnOne(input, 'grant_type', TOKEN_EXCHANGE_GRANT);
    insistOnOne(input, 'subject_token', subjectToken);
    insistOnOne(input, 'actor_token', actorToken);
    insist(subjectToken !== '' && actorToken !== '', 'no token is empty');
    insist([...(scope ?? '')].length <= FIELD_LIMITS.scope, 'a scope has its limit');
    insist([...(resource ?? []).join(' ')].length <= FIELD_LIMITS.resource, 'resources have their limit');
    insist(![subjectToken, actorToken, scope].join().includes('\0'), 'no NUL is taken');
    insist(
      !Object.keys(fieldsOf(input)).some((name) => /^(subject|actor)_token\[/.test(name)),
      'array notation is refused',
    );
  },
};

const loginForm: FuzzTarget<ReturnType<typeof readEmbedLoginForm>> = {
  name: 'form of an embedded login',
  seeds: ['token=a.b.c', 'token=a.b.c&redirectTo=%2Fworkflows%2F7%3Fx%3D1', 'token=a.b.c&answer=session'],
  pieces: [...PIECES, 'redirectTo=', 'answer=session', '%2F%2F', '?'],
  read(input) {
    return readEmbedLoginForm(fieldsOf(input));
  },
  isRefusal,
  judge(input, { token, redirectTo }) {
    insistOnOne(input, 'token', token);
    insist(token !== '', 'a token is not empty');
    insist(valuesOf(input, 'redirectTo')[0] === redirectTo, 'a target is what everybody reads');
  },
};

export const FORM_TARGETS = [exchangeForm, loginForm] as const;
