// Access tokens: each has one valid encoding, and only the signature's verdict is remembered, for exactly the same characters.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import {
  AccessTokenService,
  lengthOfAccessToken,
} from '../../../../src/token-exchange/tokens/access-token.service.js';
import type {
  LoadedKey,
  SigningKeyService,
} from '../../../../src/token-exchange/tokens/signing-key.service.js';
import { knownRevocations } from '../../../support/known-revocations.js';
import { TestClock } from '../../../support/test-clock.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Other encodings of the same bytes: the last character of 64 encoded bytes has four unused bits, and some decoders
 * accept both alphabets and padding.
 */
function otherSpellings(token: string): string[] {
  const last = ALPHABET.indexOf(token.at(-1) ?? '');
  const nonCanonical = Array.from({ length: 15 }, (_, index) => (last & 0x30) | ((last + index + 1) & 0x0f));
  const start = token.lastIndexOf('.') + 1;
  const signature = token.slice(start);
  const spelled = signature.replaceAll('-', '+').replaceAll('_', '/');
  return [
    ...nonCanonical.map((value) => `${token.slice(0, -1)}${ALPHABET[value]}`),
    `${token}==`,
    `${token}=`,
    ...(spelled === signature ? [] : [`${token.slice(0, start)}${spelled}`]),
  ];
}

const OPTIONS = { issuer: 'https://instance.example' };
const LIFE_SECONDS = 60;
const START_MS = Date.UTC(2026, 0, 1);

function newKey(): LoadedKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid: randomUUID().padEnd(43, 'k'), privateKey, publicKey, publicJwk: {}, signsFrom: new Date(0) };
}

let key: LoadedKey;
let clock: TestClock;
let tokens: AccessTokenService;

const serviceAt = (moment: TestClock) => {
  const keys = { find: async (kid: string) => (kid === key.kid ? key : undefined) };
  return new AccessTokenService(keys as unknown as SigningKeyService, knownRevocations(), moment, OPTIONS);
};
beforeEach(() => {
  key = newKey();
  clock = new TestClock(START_MS);
  tokens = serviceAt(clock);
});

const claims = (requested_scope?: string) => {
  const iat = Math.floor(clock.nowSeconds());
  return {
    ...{ iss: OPTIONS.issuer, aud: OPTIONS.issuer, sub: 'subject', client_id: 'https://partner.example' },
    ...{ requested_scope, jti: randomUUID(), iat, exp: iat + LIFE_SECONDS, vouched_by: [], logins: [] },
  };
};
const issue = () => tokens.sign(claims(), key);

describe('an access token', () => {
  it.each([undefined, 's', 'ss', 'sss', 'é', '😀 "quoted"'])(
    '[4.2.scope] has the predicted length, with scope %j',
    (scope) => {
      expect(lengthOfAccessToken(claims(scope))).toBe(tokens.sign(claims(scope), key).length);
    },
  );

  it('[D140] that is bound is marked if the caller checks proofs, and invalid otherwise', async () => {
    const boundTo = 'k'.repeat(43);
    const bound = { ...claims(), cnf: { jkt: boundTo } };
    const token = tokens.sign(bound, key);
    expect([await tokens.check(token), await tokens.verify(token)]).toEqual([
      { token: expect.objectContaining({ boundTo }) },
      undefined,
    ]);
    expect(lengthOfAccessToken(bound)).toBe(token.length);
  });

  it('[D31] with another encoding of its signature is rejected before and after the original', async () => {
    const tokensSpelled = Array.from({ length: 8 }, () => issue());
    const spellings = tokensSpelled.flatMap(otherSpellings);
    const accepted = async () => {
      const verdicts = await Promise.all(spellings.map((spelling) => tokens.verify(spelling)));
      // Only the ends are shown, because the tokens differ there.
      return spellings
        .filter((_, place) => verdicts[place] !== undefined)
        .map((spelling) => spelling.slice(-6));
    };
    expect(await accepted()).toEqual([]);
    for (const token of tokensSpelled) expect(await tokens.verify(token)).toBeDefined();
    expect(await accepted()).toEqual([]);
  });
});

describe('remembered access tokens', () => {
  it.each([
    ['that was accepted before', true],
    ['that comes for the first time', false],
  ])('[4.3] a token %s is rejected from the second of its expiry', async (_, isRemembered) => {
    const token = issue();
    const verdictAt = async (ageSeconds: number) => {
      const moment = new TestClock(START_MS);
      const service = serviceAt(moment);
      if (isRemembered) expect(await service.verify(token)).toBeDefined();
      moment.advance(ageSeconds);
      return (await service.verify(token)) !== undefined;
    };
    const ages = [0, LIFE_SECONDS - 1, LIFE_SECONDS - 0.001, LIFE_SECONDS, LIFE_SECONDS + 0.001, 1e6];
    const verdicts: boolean[] = [];
    for (const age of ages) verdicts.push(await verdictAt(age));
    expect(verdicts).toEqual([true, true, true, false, false, false]);
  });

  it('[D31][K14] parts of two remembered tokens form no third token, nor does one changed character', async () => {
    const [one, other] = [issue(), issue()];
    for (const token of [one, other]) expect(await tokens.verify(token)).toBeDefined();
    const [header, payload, signature] = one.split('.') as [string, string, string];
    const [, otherPayload, otherSignature] = other.split('.') as [string, string, string];
    // The change is in the middle of a part, where every bit of a character is significant.
    const changed = (part: string) => `${part.slice(0, 20)}${part[20] === 'A' ? 'B' : 'A'}${part.slice(21)}`;
    const parts = [
      [header, otherPayload, signature],
      [header, payload, otherSignature],
      [changed(header), payload, signature],
      [header, changed(payload), signature],
      [header, payload, changed(signature)],
    ];
    const verdicts = await Promise.all(parts.map((each) => tokens.verify(each.join('.'))));
    expect(verdicts).toEqual(parts.map(() => undefined));
  });

  it('[5.3.2] a remembered token is forgotten with its signing key', async () => {
    const token = issue();
    expect(await tokens.verify(token)).toBeDefined();
    key = newKey();
    expect(await tokens.verify(token)).toBeUndefined();
    expect(await tokens.verify(issue())).toBeDefined();
  });
});
