// Each access token has one valid encoding. Another encoding of the same signature is rejected.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import {
  AccessTokenService,
  lengthOfAccessToken,
} from '../../../../src/token-exchange/tokens/access-token.service.js';
import type { SigningKeyService } from '../../../../src/token-exchange/tokens/signing-key.service.js';
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

describe('an access token', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { kid: 'k'.repeat(43), privateKey, publicKey, publicJwk: {}, signsFrom: new Date(0) };
  const keys = { find: () => Promise.resolve(key) };
  const clock = new TestClock();
  const options = { issuer: 'https://instance.example' };
  const tokens = new AccessTokenService(
    keys as unknown as SigningKeyService,
    knownRevocations(),
    clock,
    options,
  );

  const claims = (requested_scope?: string) => {
    const iat = Math.floor(clock.nowSeconds());
    return {
      ...{ iss: options.issuer, aud: options.issuer, sub: 'subject', client_id: 'https://partner.example' },
      ...{ requested_scope, jti: randomUUID(), iat, exp: iat + 60, vouched_by: [], logins: [] },
    };
  };
  const issue = () => tokens.sign(claims(), key);

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
