// What is JSON: tokens with their claims, trusted key entries, key sets, and the bodies of the API.
import { isDeepStrictEqual } from 'node:util';
import { HttpException } from '@nestjs/common';
import { Partner } from '../../../demo/partner.js';
import { InputError, operationOf } from '../../../src/administration/operation.js';
import type { TrailPlace } from '../../../src/audit/trail-filter.js';
import { TrailOperations } from '../../../src/operator/trail/trail.operation.js';
import { PersonOperations } from '../../../src/operator/users/person.operations.js';
import {
  isJsonObject,
  isStorable,
  JsonError,
  parseStrictJsonBytes,
} from '../../../src/platform/json/strict-json.js';
import type { DpopProof } from '../../../src/token-exchange/dpop/proof-checks.js';
import { verifyProof } from '../../../src/token-exchange/dpop/proof-checks.js';
import { isTokenRefusal } from '../../../src/token-exchange/refusals/oauth-refusal.js';
import { isAlgorithm } from '../../../src/token-exchange/trust/algorithms.js';
import type { JwksContent } from '../../../src/token-exchange/trust/jwks-content.js';
import { JwksContentError, readJwks, writeJwks } from '../../../src/token-exchange/trust/jwks-content.js';
import type { TrustedKeysReading } from '../../../src/token-exchange/trust/trusted-key-entry.js';
import { readTrustedKeys } from '../../../src/token-exchange/trust/trusted-key-entry.js';
import type { CompactJws } from '../../../src/token-exchange/verify/compact-jws.js';
import { parseCompactJws } from '../../../src/token-exchange/verify/compact-jws.js';
import type { ExternalClaims } from '../../../src/token-exchange/verify/external-claims.js';
import { readExternalClaims } from '../../../src/token-exchange/verify/external-claims.js';
import { JsonBodyPipe, readObject } from '../../../src/workspace/api/body/json-body.js';
import { NewCredentialBody } from '../../../src/workspace/credentials/credential.dto.js';
import { NewMemberBody } from '../../../src/workspace/projects/project.dto.js';
import { NewUserBody } from '../../../src/workspace/users/user.dto.js';
import { NewWorkflowBody } from '../../../src/workspace/workflows/workflow.dto.js';
import { DpopClient, TOKEN_URL } from '../../support/dpop-client.js';
import type { FuzzTarget } from './fuzz-target.js';
import { insist } from './fuzz-target.js';

const PIECES = ['{', '}', '[', ']', '"', ',', ':', '\\', '\\u0000', '\\ud800', 'null', 'true', '-1', '1e999'];
const partner = Partner.create({ issuer: 'https://a.example', kid: 'k1' });
const claims = partner.claims({ iat: 1_800_000_000, jti: 'j', email_verified: 'true', act: { sub: 'a' } });
const LATEST_TIME = 253_402_300_799;

const strictJson: FuzzTarget = {
  name: 'strict JSON',
  // The last one is refused as it is.
  seeds: [
    '{"a":1,"b":[{"a":null},"x"]}',
    '[[[[1.5e3,-0]]]]',
    '{"\\u0061":"a","b":{"a":{}}}',
    '"text"',
    '{"b":{"a":1,"\\u0061":2}}',
  ],
  pieces: [...PIECES, '"a":1', '"a":1,', ',"\\u0061":2', '"b":[],', '{"a":', '[['],
  read: (input) => parseStrictJsonBytes(input),
  isRefusal: (error) => error instanceof JsonError,
  judge(input, value) {
    const text = input.toString('utf8');
    insist(isDeepStrictEqual(value, JSON.parse(text)), 'what is taken is what JSON.parse reads');
    insist(membersWritten(text) === membersHeld(value), 'no member is lost');
  },
};

/** Names of members in a text that is JSON: strings with a colon behind them. */
function membersWritten(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/gs)].filter(([, colon]) => colon !== undefined).length;
}

function membersHeld(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce<number>((count, part) => count + membersHeld(part), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

const token: FuzzTarget<CompactJws> = {
  name: 'token (compact JWS)',
  seeds: [
    partner.sign(claims),
    'e30.e30.',
    'e30.e30.AA',
    partner.sign(claims, { crit: ['b64'], b64: false }),
  ],
  pieces: ['.', '=', 'e30', 'W10', 'bnVsbA', 'A', '_', '-', '/', 'eyJhIjoxLCJhIjoxfQ'],
  // As the form of a request gives it: text.
  read: (input) => parseCompactJws(input.toString('utf8')),
  isRefusal: (error) => isTokenRefusal(error) && error.reason === 'token_malformed',
  judge(input, { header, payload, signature, signingInput }) {
    const text = input.toString('utf8');
    insist(text.length <= 65_536, 'a token has its limit');
    insist(isJsonObject(header) && isJsonObject(payload), 'header and claims are objects');
    insist(
      `${signingInput.toString('latin1')}.${signature.toString('base64url')}` === text,
      'a token has one spelling',
    );
  },
};

const prover = new DpopClient();
const PROOF_TIME = 1_800_000_000;
const proofHeader = JSON.stringify({ typ: 'dpop+jwt', alg: 'ES256', jwk: prover.jwk });
const proofClaims = { htm: 'POST', htu: TOKEN_URL, iat: PROOF_TIME, jti: 'j' };

/** Header and claims, a line each, which are signed before they are read: else the signature alone would refuse them. */
const proof: FuzzTarget<DpopProof> = {
  name: 'DPoP proof',
  seeds: [
    `${proofHeader}\n${JSON.stringify(proofClaims)}`,
    `${proofHeader}\n${JSON.stringify({ ...proofClaims, htu: `${TOKEN_URL}?a#b`, iat: PROOF_TIME - 0.5 })}`,
    `${proofHeader}\n${JSON.stringify({ ...proofClaims, nonce: 'n', ath: 'a' })}`,
    `${proofHeader.replace('{', '{"crit":[],')}\n${JSON.stringify(proofClaims)}`,
  ],
  pieces: [
    ...PIECES,
    '\n',
    '"iat":1e999',
    '"jti":7',
    '/',
    '/..',
    '%2e',
    '@',
    '"d":"AA"',
    '"kty":"oct"',
    'dpop+jwt',
  ],
  read(input) {
    const [head = '', payload = ''] = input.toString('latin1').split('\n', 2);
    const sent = { text: prover.signed(head, payload), method: 'POST', address: TOKEN_URL };
    return verifyProof(sent, { now: PROOF_TIME });
  },
  isRefusal: (error) => isTokenRefusal(error) && error.reason === 'dpop_proof_invalid',
  judge(input, { thumbprint, use }) {
    const [head = '', payload = ''] = input.toString('latin1').split('\n', 2);
    const [header = {}, said = {}] = [head, payload].map(
      (text) => JSON.parse(text) as Record<string, unknown>,
    );
    const { origin, pathname } = new URL(String(said['htu']));
    insist(thumbprint === prover.thumbprint, 'a proof is by the key that it brings');
    insist(String(header['typ']).toLowerCase().endsWith('dpop+jwt'), 'a proof says that it is one');
    insist(!('crit' in header) && !('b64' in header), 'a proof has no extensions');
    insist(said['htm'] === 'POST' && origin + pathname === TOKEN_URL, 'a proof is for its request');
    insist(Math.abs(Number(said['iat']) - PROOF_TIME) <= 60, 'a proof is fresh');
    insist(use.exp === Number(said['iat']) + 60, 'a proof is kept until it is over');
    insist(typeof said['jti'] === 'string' && said['jti'] !== '', 'a proof has an id');
  },
};

const claimSet: FuzzTarget<ExternalClaims> = {
  name: 'claims',
  seeds: [
    JSON.stringify(claims),
    JSON.stringify({ ...claims, aud: ['a', 'b'], nbf: 1.5, role: 'global:admin', may_act: { sub: 'x' } }),
    JSON.stringify({ ...claims, act: { sub: 'a', iss: 'b', act: { sub: 'c' } }, email_verified: false }),
  ],
  pieces: [...PIECES, '"email":', '"sub":', '"act":{', '"exp":1e300', '"aud":[]', '"email_verified":"True"'],
  read(input) {
    const value = parseStrictJsonBytes(input);
    if (!isJsonObject(value)) throw new JsonError('no claims set');
    return readExternalClaims(value);
  },
  isRefusal: (error) =>
    error instanceof JsonError ||
    (isTokenRefusal(error) && ['claims_invalid', 'claims_not_storable'].includes(error.reason)),
  judge(input, { iss, sub, jti, aud, iat, exp, nbf = 0, emailVerified, priorActors = [] }) {
    const given = JSON.parse(input.toString('utf8')) as Record<string, unknown>;
    insist(
      [iss, sub, jti].every((text) => typeof text === 'string' && text !== ''),
      'ids are texts',
    );
    insist([...sub].length <= 255, 'a sub can be stored');
    insist(
      [iat, exp, nbf].every((time) => time >= 0 && time <= LATEST_TIME),
      'times are dates',
    );
    insist(typeof aud === 'string' || aud.length > 0, 'there is an audience');
    insist(!/\0|\p{Cs}/u.test(JSON.stringify(Object.values(given))), 'texts can be stored');
    const saysYes = given['email_verified'] === true || given['email_verified'] === 'true';
    insist(emailVerified === ('email_verified' in given ? saysYes : undefined), 'only yes is yes');
    insist(priorActors.length <= 5, 'chains of actors are short');
  },
};

const KEY_TEXT = partner.publicKeyPem().split('\n')[1] ?? '';

const entries: FuzzTarget<TrustedKeysReading> = {
  // Whatever the text is, problems are told and nothing is thrown.
  name: 'trusted key entries',
  seeds: [
    JSON.stringify([
      partner.staticEntry({ name: 'a', notAfter: '2030-12-31', origins: ['https://b.example'] }),
    ]),
    JSON.stringify([
      { type: 'jwks', url: 'https://a.example/jwks', issuer: 'https://a.example', cacheTtlSeconds: 60 },
      partner.staticEntry({ allowedRoles: ['global:member'], scopes: ['a'], flows: ['embed'], perMinute: 5 }),
    ]),
  ],
  pieces: [
    ...PIECES,
    '"type":"jwks"',
    '"key":"',
    '-----BEGIN',
    '"issuer":',
    '"algorithms":["HS256"]',
    '"flows":',
  ],
  read: (input) => readTrustedKeys(input.toString('utf8'), { assignableRoles: [], allowHttp: false }),
  judge(_, { entries: read, problems, warnings }) {
    for (const entry of read) {
      insist(entry.issuer !== '', 'an entry has an issuer');
      const algorithms = entry.type === 'static' ? [...entry.key.algorithms] : [];
      insist(algorithms.every(isAlgorithm), 'algorithms are known');
      insist(entry.type === 'jwks' || entry.key.publicKey.type === 'public', 'keys are public');
    }
    const told = [...problems, ...warnings].join('\n');
    insist(!told.includes(KEY_TEXT), 'no value is told');
  },
};

const keySet: FuzzTarget<JwksContent> = {
  name: 'key set (JWKS)',
  seeds: [
    JSON.stringify(partner.jwks()),
    JSON.stringify({
      keys: (['RS256', 'PS384', 'ES384', 'EdDSA'] as const).map(
        (algorithm) => Partner.create({ issuer: 'https://b.example', algorithm }).jwks().keys[0],
      ),
    }),
  ],
  pieces: [
    ...PIECES,
    '"kty":"oct"',
    '"d":"AA"',
    '"alg":"none"',
    '"use":"enc"',
    '"crv":"P-384"',
    '"kid":"k1"',
    '"e":"AQ"',
  ],
  read: (input) => readJwks(input),
  isRefusal: (error) => error instanceof JwksContentError,
  judge(_, { keys }) {
    insist(keys.length <= 100, 'a set has its limit');
    const isRepeated = (key: (typeof keys)[number], at: number) =>
      keys.slice(0, at).some((one) => one.kid === key.kid && isDeepStrictEqual(one, key));
    insist(!keys.some(isRepeated), 'no key is there twice');
    for (const { kid, algorithms, publicKey } of keys) {
      insist(isStorable(kid) && kid !== '', 'a kid can be stored');
      insist(publicKey.type === 'public', 'keys are public');
      insist(algorithms.size > 0 && [...algorithms].every(isAlgorithm), 'keys serve known algorithms');
    }
    const again = readJwks(Buffer.from(writeJwks(keys)));
    insist(again.warnings.length === 0 && again.keys.length === keys.length, 'what is stored is read again');
  },
};

const BODIES = [NewUserBody, NewMemberBody, NewWorkflowBody, NewCredentialBody];
const bodyPipe = new JsonBodyPipe();

function isBodyRefusal(error: unknown): boolean {
  return error instanceof HttpException && [400, 413, 415].includes(error.getStatus());
}

const apiBody: FuzzTarget<object[]> = {
  name: 'body of the API',
  seeds: [
    '{"email":"ada@a.example","givenName":"Ada","familyName":"L","role":"global:member"}',
    '{"userId":"00000000-0000-4000-8000-000000000000","role":"project:viewer"}',
    '{"name":"New","nodes":[{"a":{"b":[1]}}],"connections":{"x":[[]]},"active":false}',
    '{"name":"New","type":"httpBasicAuth","data":{"user":"a","password":"b"}}',
  ],
  pieces: [...PIECES, '"name":', '"data":{', '"nodes":[{}', '"__proto__":{', '"constructor":1', '"role":'],
  /** Reads the body like each route. It is refused if no route accepts it. */
  async read(input) {
    const transformed = BODIES.map(async (metatype) => {
      const members = readObject({ 'content-type': 'application/json' }, input);
      return (await bodyPipe.transform(members, { type: 'custom', metatype })) as object;
    });
    const settled = await Promise.allSettled(transformed);
    const faults = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    const [refusal] = faults.length === BODIES.length ? faults : [];
    const fault = faults.find((error) => !isBodyRefusal(error)) ?? refusal;
    if (fault !== undefined) throw fault;
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  },
  isRefusal: isBodyRefusal,
  judge(input, bodies) {
    const given = JSON.parse(input.toString('utf8')) as Record<string, unknown>;
    for (const body of bodies) {
      insist(
        BODIES.some((type) => body instanceof type),
        'a body is of its class',
      );
      insist(
        Object.keys(body).every((name) => Object.hasOwn(given, name)),
        'members come from the text',
      );
      insist(isStorable({ ...body }), 'a body can be stored');
    }
  },
};

const SEARCHES = [
  operationOf(TrailOperations, 'findRefusals'),
  operationOf(TrailOperations, 'findEvents'),
  operationOf(TrailOperations, 'countActivity'),
  operationOf(PersonOperations, 'search'),
];

/** Of the cursor of a page. */
function judgeTrailPlace({ id = '', range }: TrailPlace): void {
  insist(BigInt(id) < 2n ** 63n, 'an id is one of the database');
  for (const moment of [range.since, range.until])
    insist(moment === undefined || /^\d{4}-/.test(moment.toISOString()), 'times are dates of four digits');
}

const operatorBody: FuzzTarget<Record<string, unknown>[]> = {
  name: "body of the operator's API",
  seeds: [
    '{"user":"ada@a.example","issuer":"https://a.example","reason":"token_expired","limit":100}',
    '{"since":"2026-01-01T00:00:00Z","until":"2026-01-02","cursor":"12_1767225600000_1767312000000"}',
    '{"lastHours":744,"buckets":96}',
    '{"search":"ada@","limit":1,"cursor":"00000000-0000-4000-8000-000000000000"}',
  ],
  pieces: [...PIECES, '"cursor":"1_', '_"', '"limit":101', '"lastHours":', '"search":', '"__proto__":{'],
  /** Reads the body like each search. It is refused if no search accepts it. */
  read(input) {
    const body = parseStrictJsonBytes(input);
    const read: Record<string, unknown>[] = [];
    let refusal: unknown;
    for (const search of SEARCHES) {
      try {
        read.push({ ...(search.read(body) as object) });
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        refusal = error;
      }
    }
    if (read.length === 0) throw refusal;
    return read;
  },
  isRefusal: (error) => error instanceof JsonError || error instanceof InputError,
  judge(input, searches) {
    const given = JSON.parse(input.toString('utf8')) as Record<string, unknown>;
    for (const { limit = 1, buckets = 1, lastHours = 1, since, until, cursor, ...texts } of searches) {
      insist(
        [limit, buckets, lastHours].every((number) => Number.isInteger(number) && Number(number) > 0),
        'numbers are whole and more than nothing',
      );
      insist(
        Number(limit) <= 100 && Number(buckets) <= 96 && Number(lastHours) <= 744,
        'what is asked is bounded',
      );
      for (const moment of [since, until])
        insist(moment === undefined || !Number.isNaN(Date.parse(moment as string)), 'times are dates');
      insist(isStorable({ ...texts }), 'texts can be stored');
      if (typeof cursor === 'object') judgeTrailPlace(cursor as TrailPlace);
      insist(
        Object.keys(texts).every((name) => texts[name] === undefined || Object.hasOwn(given, name)),
        'members come from the text',
      );
    }
  },
};

export const JSON_TARGETS = [
  strictJson,
  token,
  proof,
  claimSet,
  entries,
  keySet,
  apiBody,
  operatorBody,
] as const;
